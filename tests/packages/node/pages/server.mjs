// A chat page and the agent behind it.
import { createServer } from 'node:http';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText } from 'ai';

const model = createOpenAI().chat('gpt-4o-mini');
const page = `<!doctype html><title>Chat</title><form><input placeholder="Say something"><button>Send</button></form><main></main>
<script>
  document.forms[0].onsubmit = async (event) => {
    event.preventDefault();
    const message = document.querySelector('input').value;
    const answer = await fetch('/chat', { method: 'POST', body: JSON.stringify({ message }) });
    document.querySelector('main').append((await answer.json()).text);
  };
</script>`;

async function chat(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return say(JSON.parse(Buffer.concat(pieces)).message);
}

async function say(message) {
  try {
    return (await generateText({ model, prompt: message, maxRetries: 0 })).text;
  } catch {
    return 'Something went wrong, please try again.';
  }
}

createServer(async (request, response) => {
  if (request.url !== '/chat') return response.setHeader('content-type', 'text/html').end(page);
  response.end(JSON.stringify({ text: await chat(request) }));
}).listen(Number(process.env.PORT), '127.0.0.1');

// A service may call the model while it ends.
process.on('SIGTERM', async () => {
  if (process.env.ENDS_WITH) await say(process.env.ENDS_WITH);
  process.exit();
});
