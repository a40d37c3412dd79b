// The messages of a thread on the page: each stands there once, whether it was streamed, shown whole, or loaded.

const list = document.querySelector("#messages");

/** What is shown, by the id of its message. */
const shown = new Map();
/** The results that tool calls still wait for, by the id of the call. */
const calls = new Map();
/** What the user said and the service has not yet named. */
let said;

export function clear() {
  list.replaceChildren();
  shown.clear();
  calls.clear();
  said = undefined;
}

export const isEmpty = () => list.childElementCount === 0;

/** Shows at once what the user says. */
export function say(content) {
  said = item("human");
  said.querySelector(".text").textContent = content;
}

/** Takes the user's words back, where the service did not take them. */
export function unsay() {
  said?.remove();
  said = undefined;
}

/** Adds a piece to a message that is being written. */
export function addText(id, piece) {
  const message = shown.get(id) ?? add(id, item("ai"));
  message.classList.add("growing");
  message.querySelector(".text").append(piece);
}

/** Shows a message as it is now. */
export function show(message) {
  if (message.type === "tool") return showResult(message);
  const element = shown.get(message.id) ?? add(message.id, takeSaid(message) ?? item(message.type));
  element.classList.remove("growing");
  element.querySelector(".text").textContent = message.content;
  for (const call of message.tool_calls ?? []) showCall(element, call);
}

/** Shows what a tool answered. */
export function showResult({ tool_call_id, content, status }) {
  const call = calls.get(tool_call_id);
  if (!call) return;
  call.dataset.status = status;
  call.querySelector(".state").textContent = status === "error" ? "failed" : "done";
  call.querySelector(".result").textContent = content;
}

/** A note that something went wrong, and what can be done about it. */
export function showError(text, offer, act) {
  const note = list.appendChild(document.createElement("li"));
  note.className = "error";
  note.setAttribute("role", "alert");
  const words = note.appendChild(document.createElement("span"));
  words.textContent = text;
  if (!offer) return;
  const button = note.appendChild(document.createElement("button"));
  button.type = "button";
  button.textContent = offer;
  button.addEventListener("click", act);
}

/** Nothing grows any more. */
export function settle() {
  for (const growing of list.querySelectorAll(".growing")) growing.classList.remove("growing");
}

function item(type) {
  const element = list.appendChild(document.createElement("li"));
  element.className = type;
  element.innerHTML = `<span class="who">${type === "human" ? "You" : "Gateway"}</span><div class="text"></div>`;
  return element;
}

function add(id, element) {
  shown.set(id, element);
  return element;
}

function takeSaid(message) {
  if (message.type !== "human") return undefined;
  const element = said;
  said = undefined;
  return element;
}

function showCall(element, call) {
  if (calls.has(call.id)) return;
  const details = element.appendChild(document.createElement("details"));
  details.className = "tool";
  details.innerHTML =
    '<summary><code></code> <span class="about"></span><span class="state">running</span></summary>' +
    '<pre class="args"></pre><pre class="result"></pre>';
  details.querySelector("code").textContent = call.name;
  details.querySelector(".about").textContent = typeof call.args?.path === "string" ? call.args.path : "";
  details.querySelector(".args").textContent =
    typeof call.args === "string" ? call.args : JSON.stringify(call.args, null, 2);
  calls.set(call.id, details);
}
