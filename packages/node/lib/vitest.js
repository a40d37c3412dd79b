// Import this before your service: it sets the providers' environment variables, which a client reads when it is created.
import { test as base } from 'vitest';
import { Retake } from './model.js';
import { Server } from './server.js';

const server = await Server.start();
Object.assign(process.env, server.env);

/** Vitest's `test` with the fixture `retake`, a replay model. A model call without a recorded answer fails the test. */
export const test = base.extend({
  retakeOptions: {},
  retake: async ({ task, onTestFinished, retakeOptions }, use) => {
    const { fixtures, unused } = retakeOptions ?? {};
    const retake = await Retake.of(server, { name: task.name, file: task.file?.filepath, fixtures });
    // Judged here and not after `use`: there the result of the test is not known yet, and vitest reports an error that a
    // fixture throws twice.
    onTestFinished(() => retake.judge({ unused, failed: task.result?.errors?.length > 0 }));
    await use(retake);
  },
});
export const it = test;
export { afterAll, afterEach, beforeAll, beforeEach, describe, expect, vi } from 'vitest';
