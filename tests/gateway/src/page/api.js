// The page's client of the service.

/** An error response, with the service's own message. */
export class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

/** The stream ended before its last event. */
export class BrokenOff extends Error {}

const csrf = () => document.cookie.match(/(?:^|; )csrf_token=([^;]*)/)?.[1] ?? "";

async function send(path, body, method = body === undefined ? "GET" : "POST") {
  const headers = { "Content-Type": "application/json", "X-CSRF-Token": csrf() };
  const response = await fetch(`/api${path}`, { method, headers, body: body && JSON.stringify(body) });
  if (response.ok) return response;
  const { detail } = await response.json().catch(() => ({}));
  throw new Refused(response.status, detail ?? `the service answered ${response.status}`);
}

const json = async (path, body) => (await send(path, body)).json();

export const register = (email) => json("/auth/register", { email });
export const threads = () => json("/threads");
export const thread = (id) => json(`/threads/${id}`);
export const newThread = () => json("/threads", {});
export const suggestions = async (id) => (await json(`/threads/${id}/suggestions`, {})).suggestions;

/** Returns the runs of a thread with their messages, oldest first. The service lists them newest first. */
export async function history(id) {
  const runs = await json(`/threads/${id}/runs`);
  const messages = await Promise.all(runs.map((run) => json(`/threads/${id}/runs/${run.run_id}/messages`)));
  return runs.map((run, index) => ({ ...run, messages: messages[index] })).reverse();
}

/** Sends a message, and yields each event of the answer as `[name, payload]` until the event `end`. */
export async function* run(id, content) {
  const response = await send(`/threads/${id}/runs/stream`, { input: { messages: [{ role: "user", content }] } });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      text += value;
      const frames = text.split("\n\n");
      text = frames.pop();
      for (const frame of frames) {
        const field = (name) => frame.split("\n").find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
        if (field("event") === "end") return;
        if (field("event")) yield [field("event"), JSON.parse(field("data"))];
      }
    }
  } catch (error) {
    throw new BrokenOff(error.message);
  }
  throw new BrokenOff("the stream ended early");
}
