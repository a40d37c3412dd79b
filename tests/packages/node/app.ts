// A small, typical agent on Vercel's AI SDK behind Hono. It creates its model client when the module is imported.
import { openai } from '@ai-sdk/openai';
import { generateText, stepCountIs, tool } from 'ai';
import { Hono } from 'hono';
import { z } from 'zod';

const model = openai.chat('gpt-4o-mini');
export const weather: Record<string, string> = { Rome: 'The sun shines in Rome.' };

const getWeather = tool({
  description: 'The weather in a city.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => weather[city],
});

export const app = new Hono();

app.post('/chat', async (c) => {
  const { message } = await c.req.json();
  try {
    const { text } = await generateText({
      model,
      prompt: message,
      tools: { get_weather: getWeather },
      stopWhen: stepCountIs(5),
      maxRetries: 0,
    });
    return c.json({ text });
  } catch {
    return c.json({ text: 'Something went wrong, please try again.' });
  }
});

export async function ask(message: string): Promise<string> {
  const response = await app.request('/chat', { method: 'POST', body: JSON.stringify({ message }) });
  return (await response.json()).text;
}
