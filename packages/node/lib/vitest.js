// Import this before your service: it sets the providers' variables, which a client reads when it is made.
import { test as base } from 'vitest';
import { Retake } from './model.js';
import { Server } from './server.js';

const server = await Server.start();
Object.assign(process.env, server.env);

/** Vitest's `test` with `retake`, a replay model. A call that it cannot answer fails the test. */
export const test = base.extend({
  retakeOptions: {},
  retake: async ({ task, onTestFinished, retakeOptions }, use) => {
    const { fixtures, unused } = retakeOptions ?? {};
    const retake = await Retake.of(server, { name: task.name, file: task.file?.filepath, fixtures });
    // Vitest does not tell a fixture how its test ended, and reports twice what a fixture throws.
    onTestFinished(() => retake.judge({ unused, failed: task.result?.errors?.length > 0 }));
    await use(retake);
  },
});
export const it = test;
export { afterAll, afterEach, beforeAll, beforeEach, describe, expect, vi } from 'vitest';
