// The adapters for Vercel's AI SDK, with its packages for OpenAI, Anthropic and Google.

import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, streamText, tool } from "ai";
import { counted, messages } from "../neutral.mjs";

// Warnings would go to standard output and mix with the results.
globalThis.AI_SDK_LOG_WARNINGS = false;

const FINISH = { "tool-calls": "tool_calls" };

/** Asks a model of any of the SDK's packages. */
export async function ask(model, question) {
  const result = ({ call, text }) => {
    const output = { type: "text", value: text };
    return { type: "tool-result", toolCallId: call.id, toolName: call.name, output };
  };
  const said = messages(question, {
    user: (text) => ({ role: "user", content: text }),
    answer: (answer) => answer.native,
    results: (results) => [{ role: "tool", content: results.map(result) }],
  });
  const request = {
    model,
    system: question.system,
    messages: said.flat(),
    tools: Object.fromEntries(
      question.tools.map(({ name, description, parameters }) => {
        return [name, tool({ description, inputSchema: jsonSchema(parameters) })];
      }),
    ),
  };
  let answer;
  if (question.stream) {
    let failure;
    const streamed = streamText({ ...request, onError: ({ error }) => (failure = error) });
    let text = "";
    for await (const piece of streamed.textStream) text += piece;
    if (failure) throw failure;
    const whole = ["text", "toolCalls", "finishReason", "usage", "response"];
    const values = await Promise.all(whole.map((key) => streamed[key]));
    answer = Object.fromEntries(whole.map((key, i) => [key, values[i]]));
    if (text !== answer.text) throw new Error(`the streamed text is ${text}, not ${answer.text}`);
  } else {
    answer = await generateText(request);
  }
  const calls = answer.toolCalls.map(({ toolCallId, toolName, input }) => {
    return { id: toolCallId, name: toolName, args: input };
  });
  const finish = FINISH[answer.finishReason] ?? answer.finishReason;
  const usage = counted(answer.usage.inputTokens, answer.usage.outputTokens);
  return { text: answer.text, calls, finish, usage, native: answer.response.messages };
}

const openai = (model) => createOpenAI({ baseURL: model.openai, apiKey: model.key });
const anthropic = (model) => createAnthropic({ baseURL: `${model.anthropic}/v1`, apiKey: model.key });
const google = (model) => createGoogleGenerativeAI({ baseURL: `${model.gemini}/v1beta`, apiKey: model.key });

export const adapters = {
  "ai, openai chat": (model, question) => ask(openai(model).chat("gpt-4o-mini"), question),
  "ai, openai responses": (model, question) => ask(openai(model).responses("gpt-5-mini"), question),
  "ai, anthropic": (model, question) => ask(anthropic(model)("claude-sonnet-4-6"), question),
  "ai, google": (model, question) => ask(google(model)("gemini-3-flash-preview"), question),
};
