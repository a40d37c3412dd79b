// Starts `retake serve` with one fixture.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** Starts a replay model. Returns its base URLs `openai`, `anthropic`, `gemini` and `ollama`, its `key`, and a function `end`. */
export async function start(fixture, ...options) {
  const folder = await mkdtemp(join(tmpdir(), "model-"));
  const report = join(folder, "report.json");
  const process_ = spawn(process.env.RETAKE, ["serve", fixture, "--report", report, ...options], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = once(process_, "exit");
  const [line] = await once(createInterface(process_.stdout), "line");
  /** Stops the server, and returns its report: what was served, missed and left unused. */
  const end = async () => {
    process_.kill("SIGTERM");
    await ended;
    const text = await readFile(report, "utf8");
    await rm(folder, { recursive: true });
    return JSON.parse(text);
  };
  return { ...JSON.parse(line), end };
}
