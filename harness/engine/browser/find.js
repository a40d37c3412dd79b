// Finds the elements of a page that match a target, and prepares the only one for an act, or all for a look. `request` is {by, text,
// exact, markdown, nth, in, to}; `given` are the elements that the accessibility tree has found by their role, after `in.given` of
// those for the element that they have to be in.
function (request, ...given) {
  const squeeze = (text) => (text ?? "").replace(/\s+/g, " ").trim();
  // What a text in Markdown has in common with the page that shows it: letters and digits, without addresses and numbers of lists.
  const letters = (text) => (text ?? "").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
  const rendered = (text) => letters(text.replace(/^\s*(```|~~~).*$/gm, "").replace(/^\s*\d+[.)]\s/gm, "")
    .replace(/!\[[^\]]*\]\([^)]*\)/g, "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/&(amp|lt|gt|quot|nbsp);/g, " "));
  const matcher = ({ text, exact, markdown }) => {
    const wanted = markdown ? rendered(text) : exact ? squeeze(text) : squeeze(text).toLowerCase();
    if (markdown) return (own) => wanted !== "" && letters(own).includes(wanted);
    return exact ? (own) => squeeze(own) === wanted : (own) => squeeze(own).toLowerCase().includes(wanted);
  };

  // The nodes of a shadow tree count as children of its host.
  const children = (node) => [...(node.shadowRoot?.childNodes ?? []), ...node.childNodes];
  const elements = (root, found = []) => {
    for (const child of children(root)) {
      if (child.nodeType !== 1) continue;
      found.push(child);
      elements(child, found);
    }
    return found;
  };

  const silent = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD"]);
  const texts = new Map();
  const textOf = (node) => {
    if (node.nodeType === 3) return node.data;
    if (node.nodeType !== 1 || silent.has(node.tagName)) return "";
    if (node.tagName === "INPUT" && ["submit", "button", "reset"].includes(node.type)) return node.value;
    let text = texts.get(node);
    if (text === undefined) texts.set(node, (text = children(node).map(textOf).join("")));
    return text;
  };
  // Of nested elements, the smallest is meant.
  const smallest = (element, holds, exact, found = []) => {
    const fits = holds(textOf(element));
    if (!fits && !exact) return found;
    const before = found.length;
    for (const child of children(element)) if (child.nodeType === 1) smallest(child, holds, exact, found);
    if (!fits) return found;
    if (found.length === before) found.push(element);
    return found;
  };

  const labelsOf = (element) => {
    const named = (element.getAttribute("aria-labelledby") ?? "").split(/\s+/).filter(Boolean);
    const ids = named.map((id) => element.getRootNode().getElementById?.(id)).filter(Boolean);
    return [element.getAttribute("aria-label"), ids.length ? ids.map(textOf).join(" ") : null,
      ...[...(element.labels ?? [])].map(textOf)].filter((text) => text !== null);
  };

  const finders = {
    role: (_, holds, given) => given.filter((element) => element.nodeType === 1),
    text: ({ exact }, holds) => (document.body ? smallest(document.body, holds, exact) : []),
    label: (_, holds) => elements(document).filter((element) => labelsOf(element).some(holds)),
    placeholder: (_, holds) => elements(document).filter((element) => holds(element.getAttribute("placeholder") ?? "\0")),
    testid: ({ text }) => elements(document).filter((element) => element.getAttribute("data-testid") === text),
    css: ({ text }) => elements(document).filter((element) => element.matches(text)),
  };
  const isIn = (element, scope) => {
    for (let at = element; at; at = at.parentNode ?? at.host) if (at === scope) return true;
    return false;
  };

  const box = (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return { x: x + scrollX, y: y + scrollY, width, height };
  };
  const isVisible = (element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 0 && height > 0 && element.checkVisibility({ visibilityProperty: true });
  };
  const short = (text) => (text.length > 60 ? text.slice(0, 60) + "…" : text);
  const about = (element) => {
    const of = element.getAttribute("class");
    const named = element.id ? `#${element.id}` : of ? ` class=${JSON.stringify(short(of))}` : "";
    return `<${element.tagName.toLowerCase()}${named}> ${JSON.stringify(short(squeeze(textOf(element))))}`;
  };

  for (const { by, text } of [request, request.in].filter(Boolean)) {
    try {
      if (by === "css") document.querySelector(text);
    } catch {
      return { wrong: `\`${text}\` is not a CSS selector` };
    }
  }
  // A field for files is often hidden behind what a person clicks.
  const isUsable = ["upload", "look for files"].includes(request.to) ? () => true : isVisible;
  const matches = (wanted, given) => finders[wanted.by](wanted, matcher(wanted), given);
  const only = ({ nth }, visible) => (typeof nth === "number" ? [visible.at(nth)].filter(Boolean) : visible);
  const scopes = request.in && only(request.in, matches(request.in, given.splice(0, request.in.given)).filter(isVisible));
  const all = (scopes && scopes.length !== 1 ? [] : matches(request, given))
    .filter((element) => !scopes || (element !== scopes[0] && isIn(element, scopes[0])));
  const usable = all.filter(isUsable);
  const visible = only(request, usable);
  const answer = {
    hidden: all.length - usable.length,
    found: visible.map((element) => ({ about: about(element), box: box(element) })),
  };
  if (scopes && scopes.length !== 1) {
    answer.why = `${scopes.length || "no"} element${scopes.length === 1 ? "" : "s"} match${scopes.length === 1 ? "es" : ""} \`in\``;
  } else if (!visible.length && usable.length) {
    answer.why = `${usable.length} element${usable.length === 1 ? " matches" : "s match"}, so there is none with nth = ${request.nth}`;
  }
  if (request.to?.startsWith("look")) return { answer, elements: visible, about, children, silent, squeeze };
  if (visible.length !== 1 || !request.to) return answer;

  const [element] = visible;
  if (request.to === "fill" && element.matches("input[type=file]")) {
    return { ...answer, wrong: "it is a field for files, and takes no text: use `upload` with `files`" };
  }
  if (request.to === "upload" && !element.matches("input[type=file]")) return { ...answer, why: "it is not a field for files" };
  if (element.disabled || element.closest("[aria-disabled=true]")) return { ...answer, why: "it is disabled" };
  if (request.to === "upload") return { ...answer, ready: true };
  element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  if (request.to === "fill") {
    const isField = ["INPUT", "TEXTAREA"].includes(element.tagName);
    if (!isField && !element.isContentEditable) return { ...answer, why: "text cannot be entered into it" };
    if (element.readOnly) return { ...answer, why: "it is read-only" };
    element.focus();
    if (isField) element.select();
    else getSelection().selectAllChildren(element);
    return { ...answer, ready: true };
  }
  const { left, top, width, height } = element.getBoundingClientRect();
  const point = { x: left + width / 2, y: top + height / 2 };
  let hit = document.elementFromPoint(point.x, point.y);
  while (hit?.shadowRoot) {
    const inner = hit.shadowRoot.elementFromPoint(point.x, point.y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  if (!hit) return { ...answer, why: "it cannot be scrolled into view" };
  const reaches = element === hit || element.contains(hit) || element.shadowRoot?.contains(hit) ||
    hit.closest("label")?.control === element;
  if (!reaches) return { ...answer, why: `${about(hit)} is in front of it` };
  return { ...answer, ready: true, point };
}
