// Tests that have to fail, each with the words of the comment before it in what vitest prints.
import { expect, test } from 'retake/vitest';
import { ask } from './app';

// says: words "Hello" → "Hallo"
test('that fails by itself', async ({ retake }) => {
  await retake.use('greeting');
  expect(await ask('Hallo')).toBe('Guten Morgen');
});

// says: no call reached the replay model
test('whose client reaches another model', async ({ retake }) => {
  await retake.use('greeting');
});

// says: there is no fixtures/that_has_none.json, and it names none
test('that has none', async ({ retake }) => {
  expect(retake.openaiBaseURL).toMatch(/^http:.*\/v1$/);
  await ask('Hello');
});

// says: words "Hello" → "Good night"
test('that misses before it lays in another', async ({ retake }) => {
  await retake.use('greeting');
  await ask('Good night');
  await retake.use('greeting');
  await ask('Hello');
});

const strict = test.extend({ retakeOptions: { fixtures: ['weather', 'greeting'], unused: 'fail' as const } });
// says: unused: no call asked for turns[0] by nobody, turns[1] by nobody
strict('that leaves turns', async ({ retake }) => {
  expect(await ask('Hello')).toBe('Good morning');
  expect((await retake.unused()).length).toBe(2);
});
