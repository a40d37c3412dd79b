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
// The service swallows the model's error and answers politely: the test is red all the same.
test('red: a tool that says another word', async ({ retake }) => {
  await retake.use('weather');
  weather.Rome = 'The sun shone in Rome.';
  await ask('How is the weather in Rome?');
});
