// The test passes, but the run must fail: a call misses outside of it.
// says: model calls outside of every test had no recorded answer
// says: "Is anybody there?"
import { afterAll, test } from 'retake/vitest';
import { ask } from './app';

afterAll(async () => {
  await ask('Is anybody there?');
});

test('greeting', async () => {});
