// Starts `retake serve`.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** Starts a replay model. Returns its base URLs `openai`, `anthropic`, `gemini` and `ollama`, its `key`, and functions. */
export async function start(...fixturesAndOptions) {
  const folder = await mkdtemp(join(tmpdir(), "model-"));
  const report = join(folder, "report.json");
  const errors = join(folder, "errors");
  const process_ = spawn(process.env.RETAKE, ["serve", ...fixturesAndOptions, "--report", report], {
    stdio: ["ignore", "pipe", openSync(errors, "w")],
  });
  const ended = once(process_, "exit");
  const died = ended.then(async () => Promise.reject(new Error(await readFile(errors, "utf8"))));
  const [line] = await Promise.race([once(createInterface(process_.stdout), "line"), died]);
  const urls = JSON.parse(line);
  const control = async (path, body) => {
    const method = body ? "POST" : "GET";
    const answer = await fetch(`${urls.url}/__retake/${path}`, { method, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  };
  /** Forgets what was served, and serves this fixture from its first turn on. */
  const serve = (fixture) => control("reset", { fixtures: [fixture] });
  /** Returns the report: what was served, missed and left unused. */
  const reported = () => control("report");
  /** Stops the server, and returns its report. */
  const end = async () => {
    process_.kill("SIGTERM");
    const [code] = await ended;
    if (code !== 0 && code !== 1) throw new Error(await readFile(errors, "utf8"));
    const text = await readFile(report, "utf8");
    await rm(folder, { recursive: true });
    return JSON.parse(text);
  };
  return { ...urls, serve, reported, end };
}
