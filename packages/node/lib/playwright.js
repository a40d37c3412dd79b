// Adds a replay model to the configuration of Playwright. The run fails if a model call had no recorded answer.
import { fileURLToPath } from 'node:url';
import { findRetake } from './binary.js';
import { environment } from './server.js';

const own = (name) => fileURLToPath(new URL(name, import.meta.url));

/**
 * Returns a configuration of Playwright with a replay model that serves `fixtures` (file paths or names) on `port`. The servers of
 * `config.webServer` are started after it, with the providers' variables in their environment.
 */
export function withRetake({ fixtures, port, report = 'retake-report.json' }, config) {
  const url = `http://127.0.0.1:${port}`;
  const quoted = [findRetake(), ...fixtures, report].map((text) => `"${text}"`);
  const model = {
    command: `${quoted[0]} serve ${quoted.slice(1, -1).join(' ')} --repeat --addr 127.0.0.1:${port} --key test --report ${quoted.at(-1)}`,
    cwd: process.cwd(),
    url: `${url}/__retake/health`,
    gracefulShutdown: { signal: 'SIGTERM', timeout: 5000 }, // so that it writes its report
  };
  const env = environment({ openai: `${url}/v1`, anthropic: url, gemini: url, ollama: url, key: 'test' });
  const servers = [config.webServer ?? []].flat().map((server) => ({ ...server, env: { ...env, ...server.env } }));
  const usual = config.reporter ?? (process.env.CI ? 'dot' : 'list');
  const reporters = typeof usual === 'string' ? [[usual]] : usual;
  const teardown = own('playwright-teardown.js');
  // The teardown runs in this process, and gets no options.
  process.env.RETAKE_MODEL_URL = url;
  return {
    ...config,
    webServer: [model, ...servers],
    globalTeardown: config.globalTeardown ? [config.globalTeardown, teardown].flat() : teardown,
    reporter: [...reporters, [own('playwright-reporter.js'), { report }]],
  };
}
