import { withRetake } from 'retake/playwright';

const { MODEL_PORT, PORT, CHROMIUM } = process.env;

export default withRetake({ fixtures: ['greeting'], port: Number(MODEL_PORT), report: 'report.json' }, {
  testMatch: '*.spec.mjs',
  outputDir: '../results',
  retries: 1,
  workers: 1,
  reporter: 'line',
  use: {
    baseURL: `http://127.0.0.1:${PORT}`,
    launchOptions: { executablePath: CHROMIUM, args: ['--no-sandbox'] },
  },
  webServer: {
    command: 'node server.mjs',
    url: `http://127.0.0.1:${PORT}`,
    env: { PORT },
    gracefulShutdown: { signal: 'SIGTERM', timeout: 5000 },
  },
});
