// Registers the model with pi, because the addresses of pi's built-in providers cannot be set by environment variables.
const { WIRE, BASE_URL } = process.env;
const apis = {
  chat: 'openai-completions',
  responses: 'openai-responses',
  anthropic: 'anthropic-messages',
  gemini: 'google-generative-ai',
};

export default function (pi: any) {
  pi.registerProvider('provider', {
    baseUrl: BASE_URL,
    apiKey: 'API_KEY', // the name of the environment variable
    api: apis[WIRE],
    models: [
      {
        id: 'gpt-4o-mini',
        name: 'gpt-4o-mini',
        reasoning: false,
        input: ['text'],
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
        contextWindow: 128000,
        maxTokens: 4096,
        compat: { supportsDeveloperRole: false },
      },
    ],
  });
}
