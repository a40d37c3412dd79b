import type { TestContext } from 'node:test';
import type { Retake, RetakeOptions } from './index.js';

type Body = (retake: Retake, t: TestContext) => unknown;
/** The body of a test with a replay model. A call that the model cannot answer fails the test. */
export function withRetake(body: Body): (t: TestContext) => Promise<void>;
export function withRetake(options: RetakeOptions, body: Body): (t: TestContext) => Promise<void>;
