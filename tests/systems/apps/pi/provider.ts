// Tells pi of the model: its own providers' addresses cannot be changed by variables.
export default function (pi: any) {
  pi.registerProvider('compatible', {
    baseUrl: process.env.OPENAI_BASE_URL,
    apiKey: 'OPENAI_API_KEY', // the variable's name
    api: 'openai-completions',
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
