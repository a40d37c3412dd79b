// Keeps one comment in a pull request up to date: what `retake report --form markdown` says of the run, and which goldens and
// recordings the pull request changes. Without a token that may write, as in the pull request of a fork, it says so in the summary
// of the job, which has the same report, and the job's result stays what it was.
//
// usage: node comment.mjs REPORT.md

import { appendFileSync, readFileSync } from "node:fs";

const { GITHUB_API_URL, GITHUB_EVENT_PATH, GITHUB_REPOSITORY, GITHUB_STEP_SUMMARY, RETAKE_COMMENT_ARTIFACT, RETAKE_COMMENT_TOKEN } =
  process.env;
// Several projects of a repository have a comment each.
const name = process.env.RETAKE_COMMENT_NAME || "scenarios";
const mark = `<!-- retake: ${name.replace(/[^\w ./-]/g, "")} -->`;
// GitHub takes comments of 65,536 characters at most.
const most = 60_000;

class Refused extends Error {}

async function ask(method, path, body) {
  const headers = { accept: "application/vnd.github+json", authorization: `Bearer ${RETAKE_COMMENT_TOKEN}` };
  const answer = await fetch(`${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}${path}`, { method, headers, body: body && JSON.stringify(body) });
  if (answer.status === 401 || answer.status === 403 || answer.status === 404) {
    throw new Refused(`${method} ${path}: ${answer.status}`);
  }
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status}`);
  return answer.json();
}

async function all(path) {
  const found = [];
  for (let page = 1; ; page++) {
    const some = await ask("GET", `${path}?per_page=100&page=${page}`);
    found.push(...some);
    if (some.length < 100) return found;
  }
}

function say(text) {
  console.log(text);
  if (GITHUB_STEP_SUMMARY) appendFileSync(GITHUB_STEP_SUMMARY, `\n${text}\n`);
}

async function comment(number, report) {
  const files = await all(`/pulls/${number}/files`);
  const held = files.map((file) => file.filename).filter((path) => /(^|\/)(goldens\/.*\.snap|fixtures\/[^/]*\.json)$/.test(path));
  // A path is data of the pull request: it is shown as it is, and nothing in it is Markdown.
  const lines = held.map((path) => `- <code>${path.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`)}</code>`);
  const changed = lines.length ? `\nThis pull request changes what is held:\n\n${lines.join("\n")}\n` : "";
  const cut = report.length > most ? `${report.slice(0, most)}\n\n… the rest is in the summary of the job\n` : report;
  // GitHub's API takes no pictures.
  const kept = RETAKE_COMMENT_ARTIFACT ? `\n[What each run did, with pictures of its pages](${RETAKE_COMMENT_ARTIFACT})\n` : "";
  const body = `${mark}\n${cut}${changed}${kept}`;
  const earlier = (await all(`/issues/${number}/comments`)).find((one) => one.body?.startsWith(mark) && one.user?.type === "Bot");
  if (!earlier) await ask("POST", `/issues/${number}/comments`, { body });
  else if (earlier.body !== body) await ask("PATCH", `/issues/comments/${earlier.id}`, { body });
}

const number = JSON.parse(readFileSync(GITHUB_EVENT_PATH, "utf8")).pull_request?.number;
if (number) {
  try {
    await comment(number, readFileSync(process.argv[2], "utf8"));
  } catch (error) {
    const why = error instanceof Refused
      ? "this job's token may not write comments here, as in pull requests of forks"
      : error.message;
    say(`No comment in the pull request: ${why}. The result of the scenarios stands above.`);
  }
}
