import type { TestAPI } from 'vitest';
import type { Retake, RetakeOptions } from './index.js';

export { afterAll, afterEach, beforeAll, beforeEach, describe, expect, vi } from 'vitest';
/** Vitest's `test` with the fixture `retake`, a replay model. A model call without a recorded answer fails the test. */
export const test: TestAPI<{ retake: Retake; retakeOptions: RetakeOptions }>;
export const it: typeof test;
