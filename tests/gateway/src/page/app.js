// The page: which thread it shows, and what happens when the user sends a message.

import * as api from "./api.js";
import * as thread from "./thread.js";

const find = (selector) => document.querySelector(selector);
const [composer, say, send, signIn] = ["#composer", "#say", "#send", "#sign-in"].map(find);

/** The id of the thread that is shown; undefined before the first message of a new thread. */
let current;
/** Whether an answer is still arriving. */
let busy = false;

async function open() {
  const id = location.pathname.split("/").pop();
  current = id === "new" ? undefined : id;
  thread.clear();
  suggest([]);
  entitle();
  try {
    await listThreads();
    if (current) await load();
  } catch (error) {
    if (error.status === 401) return void askWho();
    thread.showError(error.status === 404 ? "This conversation does not exist." : `Could not load this: ${error.message}`);
  }
  find("#welcome").hidden = !thread.isEmpty();
  composer.hidden = false;
  say.focus();
}

/** Shows the thread, with the messages of all its runs. */
async function load() {
  const [{ title }, runs] = await Promise.all([api.thread(current), api.history(current)]);
  thread.clear();
  for (const run of runs) run.messages.forEach(thread.show);
  entitle(title);
  toTheEnd();
}

/** Waits until the thread's last run has ended, then loads the thread. */
async function loadWhenDone() {
  setBusy(true);
  try {
    suggest([]);
    while ((await api.history(current)).at(-1)?.status === "running") {
      await new Promise((resume) => setTimeout(resume, 300));
    }
    await Promise.all([load(), listThreads()]);
  } catch (error) {
    thread.showError(`Could not load the answer: ${error.message}`, "Try again", loadWhenDone);
  } finally {
    setBusy(false);
  }
}

async function ask(content) {
  if (busy || !content.trim()) return;
  setBusy(true);
  suggest([]);
  find("#welcome").hidden = true;
  say.value = "";
  grow();
  thread.say(content);
  toTheEnd();
  let done = false;
  try {
    if (!current) {
      current = (await api.newThread()).thread_id;
      history.pushState(null, "", `/chat/${current}`);
    }
    for await (const [name, payload] of api.run(current, content)) take(name, payload);
    done = true;
  } catch (error) {
    wentWrong(error, content);
  } finally {
    thread.settle();
    setBusy(false);
  }
  if (!done) return;
  listThreads().catch(() => {});
  const asked = current;
  const questions = await api.suggestions(asked).catch(() => []);
  if (asked === current && !busy) suggest(questions);
}

/** Handles one event of an answer. */
function take(name, payload) {
  const near = isNearTheEnd();
  if (name === "messages") thread.addText(payload.id, payload.content);
  if (name === "tool_result") thread.showResult(payload);
  if (name === "error") thread.showError(`Something went wrong: ${payload.message}`);
  if (name === "values") {
    payload.messages.forEach(thread.show);
    if (payload.title) entitle(payload.title);
  }
  if (near) toTheEnd();
}

function wentWrong(error, content) {
  if (error.status === 401) return void askWho();
  if (error instanceof api.BrokenOff) {
    thread.showError("The connection broke off in the middle of the answer.", "Load the answer", loadWhenDone);
  } else {
    // The service did not accept the message, so put it back into the user's input.
    thread.unsay();
    say.value ||= content;
    grow();
    const reason = error.status ? error.message : "the service cannot be reached.";
    thread.showError(`Your message was not sent: ${reason}`);
  }
  toTheEnd();
}

function suggest(questions) {
  const near = isNearTheEnd();
  const buttons = questions.map((question) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = question;
    button.addEventListener("click", () => ask(question));
    return button;
  });
  find("#suggestions").replaceChildren(...buttons);
  if (near) toTheEnd();
}

async function listThreads() {
  const items = (await api.threads()).map(({ thread_id, title }) => {
    const item = document.createElement("li");
    const link = item.appendChild(document.createElement("a"));
    link.href = `/chat/${thread_id}`;
    link.textContent = title ?? "Untitled";
    if (thread_id === current) link.setAttribute("aria-current", "page");
    return item;
  });
  find("#threads").replaceChildren(...items);
}

function entitle(title) {
  find("#title").textContent = title ?? (current ? "Untitled" : "New chat");
  document.title = title ? `${title} · Gateway` : "Gateway";
}

function askWho() {
  signIn.hidden = false;
  composer.hidden = true;
  find("#welcome").hidden = true;
  find("#email").focus();
}

function setBusy(now) {
  busy = now;
  send.disabled = now;
  find("#messages").setAttribute("aria-busy", String(now));
}

/** Makes the input as high as its text. */
function grow() {
  say.style.height = "auto";
  say.style.height = `${say.scrollHeight}px`;
}

const page = document.scrollingElement;
const isNearTheEnd = () => page.scrollHeight - page.scrollTop - page.clientHeight < 120;
const toTheEnd = () => page.scrollTo({ top: page.scrollHeight });

signIn.addEventListener("submit", async (event) => {
  event.preventDefault();
  const wrong = signIn.querySelector(".wrong");
  wrong.textContent = "";
  try {
    await api.register(find("#email").value);
    signIn.hidden = true;
    await open();
  } catch (error) {
    wrong.textContent = error.status ? `Could not sign you in: ${error.message}.` : "The service cannot be reached.";
  }
});

composer.addEventListener("submit", (event) => {
  event.preventDefault();
  ask(say.value);
});
say.addEventListener("input", grow);
say.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  composer.requestSubmit();
});

function openSide(isOpen) {
  document.body.classList.toggle("side-open", isOpen);
  find("#shade").hidden = !isOpen;
  find("#menu").setAttribute("aria-expanded", String(isOpen));
}
find("#menu").addEventListener("click", () => openSide(true));
find("#shade").addEventListener("click", () => openSide(false));
addEventListener("keydown", (event) => event.key === "Escape" && openSide(false));

const dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (localStorage.getItem("theme") ?? (dark.matches ? "dark" : "light")) === "dark";
const nameTheme = () => (find("#theme span").textContent = isDark() ? "Light colours" : "Dark colours");
find("#theme").addEventListener("click", () => {
  const theme = isDark() ? "light" : "dark";
  localStorage.setItem("theme", theme);
  document.documentElement.dataset.theme = theme;
  nameTheme();
});
dark.addEventListener("change", nameTheme);
nameTheme();

addEventListener("popstate", open);
open();
