// Every test here must fail, and vitest must print the text of the `// says:` comment above it.
import { expect, test } from 'retake/vitest';
import { ask } from './app';

// says: words "Hello" → "Hallo"
test('that fails for a reason of its own', async ({ retake }) => {
  await retake.use('greeting');
  expect(await ask('Hallo')).toBe('Guten Morgen');
});

// says: no call reached the replay model
test('whose calls never reach the model', async ({ retake }) => {
  await retake.use('greeting');
});

// says: there is no fixtures/that_has_no_fixture.json, and no call of retake.use
test('that has no fixture', async ({ retake }) => {
  expect(retake.openaiBaseURL).toMatch(/^http:.*\/v1$/);
  await ask('Hello');
});

// says: words "Hello" → "Good night"
test('that misses before it switches to another fixture', async ({ retake }) => {
  await retake.use('greeting');
  await ask('Good night');
  await retake.use('greeting');
  await ask('Hello');
});

const strict = test.extend({ retakeOptions: { fixtures: ['weather', 'greeting'], unused: 'fail' as const } });

// says: unused: no call asked for turn 1, turn 2
strict('that leaves turns unused', async ({ retake }) => {
  expect(await ask('Hello')).toBe('Good morning');
  expect((await retake.unused()).length).toBe(2);
});

// says: there is no fixtures/that_names_no_model.json, and no call of retake.use
test('that names no model', async () => {
  await ask('Hello');
});

// says: unused: no call asked for turn 1, turn 2, turn 1
strict('that leaves all turns unused and names no model', async () => {});

// says: words "Hello" → "Hullo"
test.extend({ retakeOptions: { fixtures: ['greeting'] } })('that names no model, and misses', async () => {
  await ask('Hullo');
});
