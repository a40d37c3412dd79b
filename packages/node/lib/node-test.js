// Import this before your service: it sets the providers' variables, which a client reads when it is made.
import { Retake } from './model.js';
import { Server } from './server.js';

const server = await Server.start();
Object.assign(process.env, server.env);

/**
 * The body of a test with a replay model: `test('weather', withRetake(async (retake, t) => { … }))`. A call that the model
 * cannot answer fails the test. Options before the body: `fixtures`, files or names, and `unused: 'fail'`.
 */
export function withRetake(...args) {
  const body = args.pop();
  const { fixtures, unused } = args[0] ?? {};
  return async (t) => {
    const retake = await Retake.of(server, { name: t.name, file: t.filePath, fixtures });
    try {
      await body(retake, t);
    } catch (error) {
      // The error stays, and what missed is told beside it: it may be why.
      await retake.judge({ failed: true }).catch(({ message }) => message.split('\n').forEach((line) => t.diagnostic(line)));
      throw error;
    }
    await retake.judge({ unused });
  };
}
