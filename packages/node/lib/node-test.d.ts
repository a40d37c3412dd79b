import type { TestContext } from 'node:test';
import type { Retake, RetakeOptions } from './index.js';

type Body = (retake: Retake, t: TestContext) => unknown;
/** Wraps the body of a test that uses a replay model. A model call without a recorded answer fails the test. */
export function withRetake(body: Body): (t: TestContext) => Promise<void>;
export function withRetake(options: RetakeOptions, body: Body): (t: TestContext) => Promise<void>;
