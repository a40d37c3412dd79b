// Import this before your service: it sets the providers' environment variables, which a client reads when it is created.
import { after } from 'node:test';
import { Retake, judgeOutside } from './model.js';
import { Server } from './server.js';

const server = await Server.start();
Object.assign(process.env, server.env);
after(() => judgeOutside(server));

/**
 * Wraps the body of a test that uses a replay model: `test('weather', withRetake(async (retake, t) => { … }))`. A model call
 * without a recorded answer fails the test. An optional first argument has the options `fixtures` (file paths or names) and
 * `unused: 'fail'`.
 */
export function withRetake(...args) {
  const body = args.pop();
  const { fixtures, unused } = args[0] ?? {};
  return async (t) => {
    const retake = await Retake.of(server, { name: t.name, file: t.filePath, fixtures });
    try {
      await body(retake, t);
    } catch (error) {
      // Keep the test's own error, and show the misses next to it: they may be its cause.
      await retake.judge({ failed: true }).catch(({ message }) => message.split('\n').forEach((line) => t.diagnostic(line)));
      throw error;
    }
    await retake.judge({ unused });
  };
}
