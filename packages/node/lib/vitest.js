// Import this before your service: it sets the providers' environment variables, which a client reads when it is created.
import { afterAll, test as base } from 'vitest';
import { Retake, judgeOutside } from './model.js';
import { Server } from './server.js';

const server = await Server.start();
Object.assign(process.env, server.env);
afterAll(() => judgeOutside(server));

/**
 * Vitest's `test` with the fixture `retake`, a replay model. A model call without a recorded answer fails the test, whether or
 * not the test names the fixture.
 */
export const test = base.extend({
  retakeOptions: {},
  retakeOfTest: [
    async ({ task, onTestFinished, retakeOptions }, use) => {
      const { fixtures, unused } = retakeOptions ?? {};
      let retake;
      let asked = false;
      const start = async () => {
        retake = await Retake.of(server, { name: task.name, file: task.file?.filepath, fixtures });
        // Judged here and not after `use`: there the result of the test is not known yet, and vitest reports an error that a
        // fixture throws twice.
        onTestFinished(() => retake.judge({ unused, asked, failed: task.result?.errors?.length > 0 }));
      };
      // Of tests that run at the same time, only one that names the fixture can have the model.
      if (!task.concurrent) await start();
      await use(async () => {
        asked = true;
        if (!retake) await start();
        return retake;
      });
    },
    { auto: true },
  ],
  retake: async ({ retakeOfTest }, use) => use(await retakeOfTest()),
});
export const it = test;
export { afterAll, afterEach, beforeAll, beforeEach, describe, expect, vi } from 'vitest';
