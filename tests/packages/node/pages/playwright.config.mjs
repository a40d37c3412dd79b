import { defineConfig } from '@playwright/test';

const { MODEL_PORT, PORT, CHROMIUM } = process.env;

export default defineConfig({
  testMatch: '*.spec.mjs',
  outputDir: '../results',
  retries: 1,
  workers: 1,
  reporter: 'line',
  use: {
    baseURL: `http://127.0.0.1:${PORT}`,
    launchOptions: { executablePath: CHROMIUM, args: ['--no-sandbox'] },
  },
  webServer: [
    {
      command: `npx retake serve greeting --repeat --addr 127.0.0.1:${MODEL_PORT} --key test --report report.json`,
      cwd: '..',
      url: `http://127.0.0.1:${MODEL_PORT}/__retake/health`,
      gracefulShutdown: { signal: 'SIGTERM', timeout: 5000 },
    },
    {
      command: 'node server.mjs',
      url: `http://127.0.0.1:${PORT}`,
      env: { PORT, OPENAI_BASE_URL: `http://127.0.0.1:${MODEL_PORT}/v1`, OPENAI_API_KEY: 'test' },
    },
  ],
});
