// The test passes, but the run must fail: its call misses, and it has no model.
// says: model calls outside of every test had no recorded answer
// says: "Hello"
import { test } from 'node:test';
import 'retake/node-test';

test('without a model', async () => {
  const { OPENAI_BASE_URL: url, OPENAI_API_KEY: key } = process.env;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] });
  await fetch(`${url}/chat/completions`, { method: 'POST', headers, body });
});
