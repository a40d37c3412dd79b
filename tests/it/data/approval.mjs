// The same agent on Node, with a stream of its own for the events of all runs, as services with a queue have it.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

const pending = new Map();
const listeners = new Set();

async function ask(messages) {
  const answer = await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${process.env.OPENAI_API_KEY}` },
    body: JSON.stringify({ model: "small", messages, tools: [{ type: "function", function: { name: "refund" } }] }),
  });
  return (await answer.json()).choices[0].message;
}

const tell = (event, data) => listeners.forEach((out) => out.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`));

async function run(message) {
  const messages = [{ role: "user", content: message }];
  tell("state", { status: "running" });
  let answer;
  while ((answer = await ask(messages)).tool_calls) {
    messages.push(answer);
    for (const call of answer.tool_calls) {
      const approval = randomUUID();
      const decision = new Promise((decided) => pending.set(approval, decided));
      tell("tool_pending", { approval, tool: call.function.name });
      const approved = await decision;
      messages.push({ role: "tool", tool_call_id: call.id, content: approved ? "done" : "the person refused" });
    }
  }
  tell("answer", { text: answer.content });
  tell("state", { status: "finished" });
}

createServer(async (request, response) => {
  let body = "";
  for await (const piece of request) body += piece;
  if (request.url === "/events") {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("event: hello\ndata: {}\n\n");
    return listeners.add(response);
  }
  if (request.url.startsWith("/approvals/")) pending.get(request.url.split("/")[2])(JSON.parse(body).approved);
  if (request.url === "/runs") run(JSON.parse(body).message);
  response.writeHead(200).end();
}).listen(Number(process.env.PORT), "127.0.0.1");
