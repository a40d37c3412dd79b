// The adapter for Anthropic's SDK.

import Anthropic from "@anthropic-ai/sdk";
import { counted, messages as said } from "../neutral.mjs";

export const FINISH = { end_turn: "stop", tool_use: "tool_calls", max_tokens: "length" };

/** Asks through a client, Anthropic's own if none is given. */
export async function messages(model, question, client, name = "claude-sonnet-4-6") {
  const result = ({ call, text }) => ({ type: "tool_result", tool_use_id: call.id, content: text });
  const request = {
    model: name,
    max_tokens: 1024,
    system: question.system,
    messages: said(question, {
      user: (text) => ({ role: "user", content: text }),
      answer: (answer) => ({ role: "assistant", content: answer.native }),
      results: (results) => [{ role: "user", content: results.map(result) }],
    }),
    tools: question.tools.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters })),
  };
  client ??= new Anthropic({ baseURL: model.anthropic, apiKey: model.key });
  let [message, streamed] = [undefined, ""];
  if (question.stream) {
    const stream = client.messages.stream(request).on("text", (piece) => (streamed += piece));
    message = await stream.finalMessage();
  } else {
    message = await client.messages.create(request);
  }
  const { content, stop_reason: reason, usage } = message;
  const text = content.filter((block) => block.type === "text").map((block) => block.text).join("");
  if (question.stream && streamed !== text) throw new Error(`the streamed text is ${streamed}, not ${text}`);
  const asked = content.filter((block) => block.type === "tool_use");
  const calls = asked.map(({ id, name, input }) => ({ id, name, args: input }));
  const counts = counted(usage.input_tokens, usage.output_tokens);
  return { text, calls, finish: FINISH[reason] ?? reason, usage: counts, native: content };
}

export const fixtures = /./;

export const adapters = { anthropic: messages };
