import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withRetake } from 'retake/node-test';

async function ask(content) {
  const { OPENAI_BASE_URL: url, OPENAI_API_KEY: key } = process.env;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] });
  const answer = await (await fetch(`${url}/chat/completions`, { method: 'POST', headers, body })).json();
  return answer.choices?.[0].message.content ?? 'Something went wrong, please try again.';
}

test('greeting', withRetake(async (retake) => {
  assert.equal(await ask('Hello'), 'Good morning');
  assert.deepEqual(await retake.misses(), []);
}));

// says: words "Hello" → "Hallo"
test('red: a different word', withRetake({ fixtures: ['greeting'] }, async () => {
  await ask('Hallo');
}));

// says: words "Hello" → "Good night"
test('red: fails for a reason of its own', withRetake({ fixtures: ['greeting'] }, async () => {
  assert.equal(await ask('Good night'), 'Gute Nacht');
}));
