// A command-line agent with the official MCP client. It calls its model and the tools that the model asks for, and prints the
// final answer.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { TOOLS, OPENAI_BASE_URL, OPENAI_API_KEY } = process.env;
const client = new Client({ name: "agent", version: "1" });
if (TOOLS.startsWith("http")) {
  await client.connect(new StreamableHTTPClientTransport(new URL(TOOLS)));
} else {
  const [command, ...args] = JSON.parse(TOOLS);
  await client.connect(new StdioClientTransport({ command, args }));
}
const tools = (await client.listTools()).tools.map(({ name, description, inputSchema }) => ({
  type: "function", function: { name, description, parameters: inputSchema },
}));
const { prompts } = await client.listPrompts();
const { messages: prompted } = await client.getPrompt({ name: prompts[0].name });
const messages = [{ role: "user", content: prompted[0].content.text }];
for (;;) {
  const response = await fetch(`${OPENAI_BASE_URL}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${OPENAI_API_KEY}` },
    body: JSON.stringify({ model: "m", messages, tools }),
  });
  const { message } = (await response.json()).choices[0];
  messages.push(message);
  if (!message.tool_calls) {
    console.log(JSON.stringify({ type: "answer", text: message.content }));
    break;
  }
  const results = await Promise.all(message.tool_calls.map((call) =>
    client.callTool({ name: call.function.name, arguments: JSON.parse(call.function.arguments) })));
  for (const [place, { content }] of results.entries()) {
    messages.push({ role: "tool", tool_call_id: message.tool_calls[place].id, content: content[0].text });
  }
}
await client.close();
