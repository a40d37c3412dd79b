// An agent on Vercel's AI SDK behind Node's own HTTP server. It calls a tool twice in parallel, and streams what `useChat` reads.
import { createServer } from 'node:http';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { convertToModelMessages, pipeUIMessageStreamToResponse, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

// This SDK expects base URLs that end with the version of the API.
const { WIRE, BASE_URL: baseURL, API_KEY: apiKey, PORT } = process.env;
const models = {
  chat: () => createOpenAICompatible({ name: 'provider', baseURL, apiKey })('gpt-4o-mini'),
  responses: () => createOpenAI({ baseURL, apiKey }).responses('gpt-4o-mini'),
  anthropic: () => createAnthropic({ baseURL, apiKey })('claude-haiku-4-5'),
  gemini: () => createGoogleGenerativeAI({ baseURL, apiKey })('gemini-2.5-flash'),
};
const model = models[WIRE]();
const weather = { Paris: 'It rains in Paris.', Rome: 'The sun shines in Rome.' };

const tools = {
  get_weather: tool({
    description: 'The weather in a city.',
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => weather[city],
  }),
};

async function chat(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const { messages } = JSON.parse(Buffer.concat(chunks));
  const result = streamText({
    model,
    system: 'You tell the weather.',
    messages: await convertToModelMessages(messages),
    stopWhen: stepCountIs(5),
    tools,
    experimental_telemetry: { isEnabled: 'OTEL_EXPORTER_OTLP_ENDPOINT' in process.env },
  });
  pipeUIMessageStreamToResponse({ response, stream: result.toUIMessageStream() });
}

createServer((request, response) => {
  if (request.method === 'POST' && request.url === '/api/chat') return chat(request, response);
  response.writeHead(request.url === '/health' ? 200 : 404).end();
}).listen(Number(PORT), '127.0.0.1');
