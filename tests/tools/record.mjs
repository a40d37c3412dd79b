// An agent without a model. It makes the given tool calls on an MCP server, and writes them into FOLDER as an OpenHands
// conversation.
//
//     node record.mjs FOLDER CALLS SERVER…
//
// CALLS is a JSON list of answers. An answer is a list of calls, [tool, arguments], which are made in parallel. SERVER is the URL
// of a server or the command that starts one.
import { mkdir, writeFile } from "node:fs/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [folder, calls, ...server] = process.argv.slice(2);
const transport = server[0].startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(server[0]))
  : new StdioClientTransport({ command: server[0], args: server.slice(1), stderr: "inherit" });
const client = new Client({ name: "recorder", version: "1" });
await client.connect(transport);

const events = [];
const add = (event) => events.push({ id: `${events.length}`.padStart(8, "0"), timestamp: new Date().toISOString(), ...event });
const text = (value) => [{ type: "text", text: value }];
const says = (source, value) =>
  add({ kind: "MessageEvent", source, llm_message: { role: source === "user" ? "user" : "assistant", content: text(value) } });

says("user", "Please do what is needed.");
for (const [number, answer] of JSON.parse(calls).entries()) {
  const actions = answer.map(([tool, data], place) => {
    const id = `call_${number}_${place}`;
    add({
      kind: "ActionEvent", source: "agent", tool_name: tool, tool_call_id: id, llm_response_id: `answer-${number}`,
      thought: text("I had better look."), summary: "looks", action: { kind: "MCPToolAction", data },
      tool_call: { id, name: tool, arguments: JSON.stringify(data), origin: "completion" },
    });
    return { id, tool, data, action: events.at(-1).id };
  });
  const observed = await Promise.all(actions.map(({ tool, data }) => client.callTool({ name: tool, arguments: data })));
  for (const [place, result] of observed.entries()) {
    const { id, tool, action } = actions[place];
    const content = result.content.map((block) =>
      block.type === "image" ? { type: "image", image_urls: [`data:${block.mimeType};base64,${block.data}`] } : block);
    add({
      kind: "ObservationEvent", source: "environment", tool_name: tool, tool_call_id: id, action_id: action,
      observation: {
        kind: "MCPToolObservation", tool_name: tool, is_error: result.isError ?? false,
        content: [...text(`[Tool '${tool}' executed.]`), ...content],
      },
    });
  }
  says("agent", `Answer ${number} is done.`);
}
await client.close();

await mkdir(`${folder}/events`, { recursive: true });
await writeFile(`${folder}/base_state.json`, JSON.stringify({ leaf_event_id: events.at(-1).id }));
for (const [number, event] of events.entries()) {
  await writeFile(`${folder}/events/event-${`${number}`.padStart(5, "0")}-${event.id}.json`, JSON.stringify(event));
}
console.log(`${events.length} events`);
