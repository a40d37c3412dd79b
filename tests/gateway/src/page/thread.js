// The messages of a thread on the page. Each is shown once, whether it was streamed, came as a whole, or was loaded.

const list = document.querySelector("#messages");

/** The element of each message that is shown, by the message's id. */
const shown = new Map();
/** The element of each tool call that is shown, by the call's id. */
const calls = new Map();
/** The element of the user's newest message, until the service has given the message an id. */
let said;

export function clear() {
  list.replaceChildren();
  shown.clear();
  calls.clear();
  said = undefined;
}

export const isEmpty = () => list.childElementCount === 0;

/** Shows the user's message at once, before the service has confirmed it. */
export function say(content) {
  said = item("human");
  said.querySelector(".text").textContent = content;
}

/** Removes the user's message again, because the service did not accept it. */
export function unsay() {
  said?.remove();
  said = undefined;
}

/** Adds a piece of text to a message that is still arriving. */
export function addText(id, piece) {
  const message = shown.get(id) ?? add(id, item("ai"));
  message.classList.add("growing");
  message.querySelector(".text").append(piece);
}

/** Shows a message, or replaces its text if it is already shown. */
export function show(message) {
  if (message.type === "tool") return showResult(message);
  const element = shown.get(message.id) ?? add(message.id, takeSaid(message) ?? item(message.type));
  element.classList.remove("growing");
  element.querySelector(".text").textContent = message.content;
  for (const call of message.tool_calls ?? []) showCall(element, call);
}

/** Shows the result of a tool call. */
export function showResult({ tool_call_id, content, status }) {
  const call = calls.get(tool_call_id);
  if (!call) return;
  call.dataset.status = status;
  call.querySelector(".state").textContent = status === "error" ? "failed" : "done";
  call.querySelector(".result").textContent = content;
}

/** Shows an error, with an optional button: its label is `offer`, and a click calls `act`. */
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

/** Marks all messages as complete. */
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
