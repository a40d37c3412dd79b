// Finds the elements of a page that match a target, and prepares the only one for an act, or all for a look. `request` is {by, text, to};
// `given` are the elements that the accessibility tree has found by their role.
function (request, ...given) {
  const squeeze = (text) => (text ?? "").replace(/\s+/g, " ").trim();
  const wanted = squeeze(request.text).toLowerCase();
  const holds = (text) => squeeze(text).toLowerCase().includes(wanted);

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
  const smallest = (element, found = []) => {
    if (!holds(textOf(element))) return found;
    const before = found.length;
    for (const child of children(element)) if (child.nodeType === 1) smallest(child, found);
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
    role: () => given.filter((element) => element.nodeType === 1),
    text: () => (document.body ? smallest(document.body) : []),
    label: () => elements(document).filter((element) => labelsOf(element).some(holds)),
    placeholder: () => elements(document).filter((element) => holds(element.getAttribute("placeholder") ?? "\0")),
    testid: () => elements(document).filter((element) => element.getAttribute("data-testid") === request.text),
    css: () => elements(document).filter((element) => element.matches(request.text)),
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

  const all = finders[request.by]();
  const visible = all.filter(isVisible);
  const answer = {
    hidden: all.length - visible.length,
    found: visible.map((element) => ({ about: about(element), box: box(element) })),
  };
  if (request.to === "look") return { answer, elements: visible, about, children, silent, squeeze };
  if (visible.length !== 1 || !request.to) return answer;

  const [element] = visible;
  if (element.disabled || element.closest("[aria-disabled=true]")) return { ...answer, why: "it is disabled" };
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
