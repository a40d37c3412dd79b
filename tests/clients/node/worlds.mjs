// Runs each official SDK over each way in which a model's answer can fail on its way, and compares with what the SDK's source says: how
// many calls arrive, and whether the program learns of the failure, or sees a stream that simply ends. `../python/worlds.py` does the same.

import { readFileSync } from "node:fs";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { Ollama } from "ollama";
import OpenAI from "openai";
import { start } from "./model.mjs";

const table = JSON.parse(readFileSync(new URL("../cases.json", import.meta.url)));
// The second turn of each fixture. Its answer is long enough to be cut.
const [question, turn] = [table.conversations.story[0].user, "turn2"];
const user = { role: "user", content: question };
const conversation = [{ role: "system", content: table.system }, user];
const functions = table.tools.map((tool) => ({ type: "function", function: tool }));
const openai = (model) => new OpenAI({ baseURL: model.openai, apiKey: model.key, logLevel: "off" });

const chat = (model) =>
  openai(model).chat.completions.create({
    model: "gpt-4o-mini",
    messages: conversation,
    tools: functions,
    stream: true,
    stream_options: { include_usage: true },
  });

const responses = (model) =>
  openai(model).responses.create({
    model: "gpt-5-mini",
    instructions: table.system,
    input: question,
    tools: table.tools.map((tool) => ({ type: "function", strict: false, ...tool })),
    stream: true,
  });

const messages = (model) =>
  new Anthropic({ baseURL: model.anthropic, apiKey: model.key, logLevel: "off" }).messages.create({
    model: "claude-sonnet-4-6",
    max_tokens: 1024,
    system: table.system,
    messages: [user],
    tools: table.tools.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters })),
    stream: true,
  });

const generateContent = (model) =>
  new GoogleGenAI({ apiKey: model.key, httpOptions: { baseUrl: model.gemini } }).models.generateContentStream({
    model: "gemini-3-flash-preview",
    contents: question,
    config: {
      systemInstruction: table.system,
      tools: [
        {
          functionDeclarations: table.tools.map(({ parameters, ...tool }) => {
            return { ...tool, parametersJsonSchema: parameters };
          }),
        },
      ],
    },
  });

const ollama = (model) =>
  new Ollama({ host: model.ollama, headers: { authorization: `Bearer ${model.key}` } }).chat({
    model: "qwen3:8b",
    messages: conversation,
    tools: functions,
    stream: true,
  });

// Both SDKs of this generator make three attempts (`maxRetries` 2) for 429 and 5xx and for connections that break before the head,
// and none after it.
const BEFORE_HEAD = ["rate-limit", "overloaded", "error-500", "reset"];
const all = (end) => Object.fromEntries(BEFORE_HEAD.map((fault) => [fault, end]));
const [error, silent] = [[1, "error"], [1, "silent"]];
const RETRIES = { ...all([2, "answer"]), exhausted: [3, "error"] };
// One attempt, whatever happens: `retryOptions` are off in google-genai, and Ollama's SDK has none.
const ONCE = { ...all(error), exhausted: error };
const BREAKS = { "cut-dirty": error, "cut-clean": silent, garbage: error, empty: silent, "error-event": error };

const SDKS = {
  "openai, chat": [chat, "chat-stream", { ...RETRIES, ...BREAKS }],
  // A `data` without a truthy `error` is no error: the program gets an event of the type `error`.
  "openai, responses": [responses, "responses-stream", { ...RETRIES, ...BREAKS, "error-event": silent }],
  anthropic: [messages, "anthropic-stream", { ...RETRIES, ...BREAKS }],
  "google-genai": [generateContent, "gemini-stream", { ...ONCE, ...BREAKS }],
  // It throws unless a line says `done`. A line that is no JSON gets a warning on the console, and is left out.
  ollama: [ollama, "ollama-stream", { ...ONCE, ...BREAKS, "cut-clean": error, empty: error, garbage: silent }],
};

let sent = 0;
const send = globalThis.fetch;
globalThis.fetch = (...request) => {
  sent += 1;
  return send(...request);
};
// What the SDKs themselves print does not matter here.
const say = console.log;
console.log = console.warn = console.error = () => {};

async function pieces(ask, model) {
  let count = 0;
  for await (const _ of await ask(model)) count += 1;
  return count;
}

let [passed, failed] = [0, 0];
for (const [name, [ask, fixture, expected]] of Object.entries(SDKS)) {
  const path = new URL(`../fixtures/${fixture}.json`, import.meta.url).pathname;
  const whole = await start(path);
  const complete = await pieces(ask, whole);
  await whole.end();
  for (const [fault, [calls, end]] of Object.entries(expected)) {
    const model = await start(path, "--world", `${turn}/${fault}`);
    sent = 0;
    let found;
    try {
      const came = await pieces(ask, model);
      // What an SDK returns in spite of a fault is the whole answer, or a part of it that looks whole.
      found = came === complete && calls > 1 ? "answer" : "silent";
    } catch {
      found = "error";
    }
    await model.end();
    if (sent === calls && found === end) {
      passed += 1;
    } else {
      failed += 1;
      say(`${name} (Node) | ${fault}: expected ${[calls, end]}, found ${[sent, found]}`);
    }
  }
}
say(`worlds (Node): ${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
