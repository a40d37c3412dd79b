// The adapters for OpenAI's SDK: Chat Completions, Responses, and Responses with the id of the previous response.

import OpenAI from "openai";
import { counted, messages } from "../neutral.mjs";

function client(model) {
  return new OpenAI({ baseURL: model.openai, apiKey: model.key });
}

async function chat(model, question) {
  const said = messages(question, {
    user: (text) => ({ role: "user", content: text }),
    answer: (answer) => answer.native,
    results: (results) => results.map(({ call, text }) => ({ role: "tool", tool_call_id: call.id, content: text })),
  });
  const request = {
    model: "gpt-4o-mini",
    messages: [{ role: "system", content: question.system }, ...said],
    tools: question.tools.map((tool) => ({ type: "function", function: tool })),
  };
  const { completions } = client(model).chat;
  let completion;
  if (question.stream) {
    const stream = completions.stream({ ...request, stream_options: { include_usage: true } });
    let text = "";
    stream.on("content", (piece) => (text += piece));
    completion = await stream.finalChatCompletion();
    const { content } = completion.choices[0].message;
    if (text !== (content ?? "")) throw new Error(`the streamed text is ${text}, not ${content}`);
  } else {
    completion = await completions.create(request);
  }
  const [{ message, finish_reason: finish }] = completion.choices;
  const calls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: args } }) => {
    return { id, name, args: JSON.parse(args) };
  });
  const usage = counted(completion.usage.prompt_tokens, completion.usage.completion_tokens);
  return { text: message.content ?? "", calls, finish, usage, native: message };
}

async function responses(model, question, byId = false) {
  let [input, before] = [[], undefined];
  for (const step of question.steps) {
    if (step.user !== undefined) input.push({ role: "user", content: step.user });
    else if (step.results) input.push(...step.results.map(result));
    else if (byId) [input, before] = [[], step.answer.native.id];
    else input.push(...step.answer.native.output);
  }
  const request = {
    model: "gpt-5-mini",
    instructions: question.system,
    input,
    tools: question.tools.map((tool) => ({ type: "function", strict: false, ...tool })),
    previous_response_id: before,
  };
  let response;
  if (question.stream) {
    const stream = client(model).responses.stream(request);
    let text = "";
    stream.on("response.output_text.delta", (event) => (text += event.delta));
    response = await stream.finalResponse();
    if (text !== response.output_text) throw new Error(`the streamed text is ${text}, not ${response.output_text}`);
  } else {
    response = await client(model).responses.create(request);
  }
  const asked = response.output.filter((item) => item.type === "function_call");
  const calls = asked.map((item) => ({ id: item.call_id, name: item.name, args: JSON.parse(item.arguments) }));
  const cut = response.incomplete_details?.reason === "max_output_tokens" ? "length" : response.status;
  const finish = response.status !== "completed" ? cut : calls.length ? "tool_calls" : "stop";
  const usage = counted(response.usage.input_tokens, response.usage.output_tokens);
  return { text: response.output_text, calls, finish, usage, native: response };
}

function result({ call, text }) {
  return { type: "function_call_output", call_id: call.id, output: text };
}

export const adapters = {
  "openai, chat": chat,
  "openai, responses": responses,
  "openai, responses by id": (model, question) => responses(model, question, true),
};
