import { expect, test } from 'retake/vitest';
import { ask, weather } from './app';

test('weather', async ({ retake }) => {
  expect(await ask('How is the weather in Rome?')).toBe('It is sunny in Rome.');
  expect(await retake.misses()).toEqual([]);
});

test('says hello', async ({ retake }) => {
  await retake.use('greeting');
  expect(await ask('Hello')).toBe('Good morning');
});

// says: words "shines" → "shone"
// The service catches the model's error and answers politely, but the test fails all the same.
test('red: a tool that returns a different word', async ({ retake }) => {
  await retake.use('weather');
  weather.Rome = 'The sun shone in Rome.';
  await ask('How is the weather in Rome?');
});
