// Runs the cases of `../cases.json` with each Node SDK and each fixture. Prints one JSON line for each result.
//
// With arguments, it runs only the cases with all of these texts in `SDK | fixture | case`.

import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { start } from "./model.mjs";

const table = JSON.parse(readFileSync(new URL("../cases.json", import.meta.url)));
const fixtures = new URL("../fixtures/", import.meta.url);
const words = process.argv.slice(2);
// The time limit for a case, in milliseconds.
const timeLimit = 120_000;

const answers = new Map();
/** Returns a recorded answer in Retake's own form, which is the same for all APIs. */
function answerOf(fixture, turn) {
  const file = new URL(fixture, fixtures).pathname;
  const name = `${file} ${turn}`;
  if (!answers.has(name)) {
    const shown = execFileSync(process.env.RETAKE, ["show", file, "--answer", String(turn + 1)]);
    answers.set(name, JSON.parse(`{${shown}}`).output);
  }
  return answers.get(name);
}

/** Returns the indices of the fixture's turns that answer a conversation. The turns have the order of the table. */
function turnsOf(conversation) {
  const owners = Object.entries(table.conversations).flatMap(([name, steps]) =>
    steps.filter((step) => step.finish).map(() => name),
  );
  return [...owners.keys()].filter((index) => owners[index] === conversation);
}

async function run(ask, model, fixture, kase) {
  const steps = table.conversations[kase.conversation];
  const turns = turnsOf(kase.conversation);
  await model.serve(new URL(fixture, fixtures).pathname);
  const failure = await converse(ask, model, kase, steps, turns.map((turn) => answerOf(fixture, turn)));
  if (failure) return failure;
  const report = await model.reported();
  const served = report.served.map((turn) => turn.turn);
  const expected = turns;
  if (!isDeepStrictEqual(served, expected) || report.missed.length !== (turns.length ? 0 : 1)) {
    return `served ${served}, expected ${expected}; missed ${report.missed.map((miss) => miss.call)}`;
  }
}

async function converse(ask, model, kase, steps, expected) {
  const question = { system: table.system, tools: table.tools, stream: kase.stream, steps: [] };
  if (!steps.at(-1).finish) {
    question.steps.push({ user: steps[0].user });
    return missed(ask, model, question);
  }
  for (const step of steps) {
    if (step.user !== undefined) {
      question.steps.push({ user: step.user });
    } else if (step.results) {
      const { calls } = question.steps.at(-1).answer;
      question.steps.push({ results: step.results.map((text, i) => ({ call: calls[i], text })) });
    } else {
      const answer = await ask(model, question);
      const [found, wanted] = [neutralOfAnswer(answer), neutralOfOutput(expected.shift())];
      for (const what of kase.compare) {
        if (!isDeepStrictEqual(found[what], wanted[what])) {
          return `${what}: ${JSON.stringify(found[what])}, expected ${JSON.stringify(wanted[what])}`;
        }
      }
      if (answer.calls.some((call) => !call.id)) return `a call without an id: ${JSON.stringify(answer.calls)}`;
      question.steps.push({ answer });
    }
  }
}

async function missed(ask, model, question) {
  let answer;
  try {
    answer = await ask(model, question);
  } catch (error) {
    return error.message.includes("replay miss") ? undefined : `the error does not mention the miss: ${error}`;
  }
  return `no error, but ${JSON.stringify(answer)}`;
}

function neutralOfAnswer({ text, calls, finish, usage }) {
  return { text, calls: calls.map(({ name, args }) => ({ name, args })), finish, usage };
}

function neutralOfOutput({ blocks, finish, usage }) {
  const text = blocks.filter((block) => block.type === "text").map((block) => block.text).join("");
  const calls = blocks.filter((block) => block.type === "tool_call").map(({ name, args }) => ({ name, args }));
  return { text, calls, finish, usage: { input: usage.input, output: usage.output } };
}

const model = await start();
for (const file of readdirSync(new URL("adapters/", import.meta.url)).sort()) {
  const { adapters, fixtures: chosen = /^(?!bedrock)/ } = await import(`./adapters/${file}`);
  for (const [name, ask] of Object.entries(adapters)) {
    for (const fixture of readdirSync(fixtures).filter((file) => file.endsWith(".json") && chosen.test(file)).sort()) {
      for (const kase of table.cases) {
        const result = { sdk: `${name} (Node)`, fixture: fixture.replace(".json", ""), case: kase.name };
        if (!words.every((word) => Object.values(result).join(" | ").includes(word))) continue;
        const hangs = setTimeout(() => {
          throw new Error(`the case hangs: ${Object.values(result).join(" | ")}`);
        }, timeLimit);
        const failure = await run(ask, model, fixture, kase).catch((error) => error.stack);
        clearTimeout(hangs);
        console.log(JSON.stringify({ ...result, failure: failure ?? null }));
      }
    }
  }
}
await model.end();
