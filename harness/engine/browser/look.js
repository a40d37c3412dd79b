// Looks at one element as a person would. `this` holds what `find.js` has found, with its helpers. Brings the element into view if
// it `scrolls`, and returns why it cannot be seen, that it is seen, or the areas in which its text has to be painted. `undo` puts
// back what was changed on the page for the look.
async function (index, text, scrolls) {
  const HIGHLIGHT = "retake-look";
  // What is not seen where it is now may be seen after scrolling to it.
  const further = !scrolls;
  const { about, children, silent, squeeze, moved = (this.moved = []) } = this;
  this.undo = () => {
    CSS.highlights?.delete(HIGHLIGHT);
    for (const { root, sheet } of this.sheets ?? []) root.adoptedStyleSheets = root.adoptedStyleSheets.filter((own) => own !== sheet);
    for (const { node, left, top } of moved.splice(0).reverse()) node.scrollTo({ left, top, behavior: "instant" });
  };
  const found = this.elements[index];
  // A control that is drawn by what is around it, such as a switch, is often transparent itself.
  const isDrawnAround = found.matches("input[type=checkbox], input[type=radio], input[type=file]");
  const element = isDrawnAround ? (found.labels?.[0] ?? found.parentElement) : found;
  const styleOf = (node, pseudo) => getComputedStyle(node, pseudo);
  // An element and all elements around it, from the inside out.
  const around = (node) => {
    const all = [];
    for (let at = node; at; at = at.assignedSlot ?? at.parentNode ?? at.host) if (at.nodeType === 1) all.push(at);
    return all;
  };

  // The text of the element, as ranges; if it was found by its text, only the part that was looked for.
  const texts = [];
  const collect = (node) => {
    if (node.nodeType === 3) texts.push(node);
    else if (node.nodeType === 1 && !silent.has(node.tagName)) children(node).forEach(collect);
  };
  collect(element);
  const wanted = squeeze(text).toLowerCase();
  const matched = () => {
    const letters = texts.flatMap((node) => [...node.data.matchAll(/\s+|./gsu)].flatMap(({ 0: letter, index: at }) =>
      [...(letter.trim() ? letter.toLowerCase() : " ")].map((as) => ({ as, node, at, to: at + letter.length }))));
    const single = letters.filter(({ as }, i) => as !== " " || letters[i - 1]?.as !== " ");
    const whole = single.map(({ as }) => as).join("");
    const from = whole.includes(wanted) ? [...whole.slice(0, whole.indexOf(wanted))].length : 0;
    const own = single.slice(from, whole.includes(wanted) ? from + [...wanted].length : undefined).filter(({ as }) => as !== " ");
    return [...new Set(own.map(({ node }) => node))].map((node) => {
      const letters = own.filter((letter) => letter.node === node);
      return { node, from: letters.at(0).at, to: letters.at(-1).to };
    });
  };
  const all = () => texts.filter(({ data }) => data.trim()).map((node) => ({ node, from: 0, to: node.data.length }));
  const isShown = ({ node }) => node.parentElement?.checkVisibility({ visibilityProperty: true });
  const ranges = (wanted ? matched() : all()).filter(isShown).slice(0, 100).map(({ node, from, to }) => {
    const range = new Range();
    range.setStart(node, from);
    range.setEnd(node, to);
    return range;
  });
  const lines = () => ranges.flatMap((range) =>
    [...range.getClientRects()].map((box) => ({ box, of: range.startContainer.parentElement })));
  const hasText = lines().length > 0;
  // What has to be seen: a line of the text, or the element itself if it has none.
  const pieces = () => (hasText ? lines() : [{ box: element.getBoundingClientRect(), of: element }]);
  const innermost = pieces()[0].of;

  // The part of a box that neither an element around it nor the window cuts off.
  const windowBox = () => ({ left: 0, top: 0, right: innerWidth, bottom: innerHeight });
  const cut = ({ box, of }) => {
    const area = { left: box.left, top: box.top, right: box.right, bottom: box.bottom };
    const isOpen = () => area.right - area.left > 2 && area.bottom - area.top > 2;
    const limit = ({ left, top, right, bottom }, x = true, y = true) => {
      if (x) [area.left, area.right] = [Math.max(area.left, left), Math.min(area.right, right)];
      if (y) [area.top, area.bottom] = [Math.max(area.top, top), Math.min(area.bottom, bottom)];
    };
    let position = "static";
    for (const node of around(of)) {
      const { position: own, overflowX, overflowY, transform } = styleOf(node);
      const isMoved = transform !== "none";
      // An element that is positioned ignores those around it that are not.
      if (position === "fixed" ? !isMoved : position === "absolute" && own === "static" && !isMoved) continue;
      position = own;
      if (node === document.documentElement || node === document.body) continue;
      const wasOpen = isOpen();
      limit(node.getBoundingClientRect(), overflowX !== "visible", overflowY !== "visible");
      if (wasOpen && !isOpen()) area.by = about(node);
    }
    limit(windowBox());
    return { ...area, isOpen: isOpen() };
  };
  const areas = () => pieces().map(cut).filter(({ isOpen }) => isOpen);

  // Scrolls to its middle, as far as a person can: not what hides what is beyond it.
  if (scrolls) {
    const root = document.scrollingElement;
    const ofRoot = styleOf(root).overflowY === "visible" && document.body ? document.body : root;
    for (const node of around(innermost)) {
      const { overflowX, overflowY } = styleOf(node === root ? ofRoot : node);
      const [x, y] = [overflowX, overflowY].map((overflow) =>
        ["auto", "scroll"].includes(overflow) || (node === root && overflow === "visible"));
      if (!x && !y) continue;
      const { box } = pieces()[0];
      const frame = node === root ? windowBox() : node.getBoundingClientRect();
      moved.push({ node, left: node.scrollLeft, top: node.scrollTop });
      node.scrollBy({
        left: x ? (box.left + box.right - frame.left - frame.right) / 2 : 0,
        top: y ? (box.top + box.bottom - frame.top - frame.bottom) / 2 : 0,
        behavior: "instant",
      });
    }
    // What appears only once it is scrolled to gets two frames for it.
    for (const wait of [1, 2]) await new Promise((done) => requestAnimationFrame(done) && setTimeout(done, 100 * wait));
  }
  const opacities = around(innermost).map((node) => ({ node, opacity: Number(styleOf(node).opacity) }));
  if (opacities.reduce((all, { opacity }) => all * opacity, 1) < 0.05) {
    const { node, opacity } = opacities.reduce((least, other) => (other.opacity < least.opacity ? other : least));
    return { why: `the opacity of ${about(node)} is ${opacity}`, further };
  }
  const { width, height } = pieces()[0].box;
  if (pieces().every(({ box }) => box.width < 1 || box.height < 1)) {
    return { why: `its size is ${width.toFixed()} × ${height.toFixed()} pixels`, further };
  }

  const seen = areas();
  if (!seen.length) {
    const by = pieces().map(cut).find(({ by }) => by)?.by;
    return { why: by ? `it is cut off by ${by}` : "it is outside the window and cannot be scrolled to", further };
  }

  // What is in front of its middle, of all that paints something there.
  const isPart = (one, other) => around(one).includes(other) || around(other).includes(one);
  const paints = (node) => {
    const isColoured = (pseudo) => {
      const { backgroundColor, backgroundImage, content } = styleOf(node, pseudo);
      return (!pseudo || content !== "none") && (!/^transparent$|[,/] ?0\)$/.test(backgroundColor) || backgroundImage !== "none");
    };
    const isReplaced = node.matches("img, video, canvas, iframe, object, embed, input, textarea, select, svg, svg *");
    const hasOwnText = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
    const isPainted = isReplaced || hasOwnText || [undefined, "::before", "::after"].some(isColoured);
    return isPainted && around(node).every((each) => Number(styleOf(each).opacity) > 0.05);
  };
  const allAt = (root, x, y) => root.elementsFromPoint(x, y).filter((node) => node.getRootNode() === root)
    .flatMap((node) => [...(node.shadowRoot ? allAt(node.shadowRoot, x, y) : []), node]);
  const inFront = ({ left, top, right, bottom }) => {
    for (const node of allAt(document, (left + right) / 2, (top + bottom) / 2)) {
      if ([element, found, ...(found.labels ?? [])].some((own) => isPart(own, node))) return null;
      if (paints(node)) return node;
    }
    return null;
  };
  const front = seen.map(inFront);
  const covered = front.every(Boolean) ? `it is covered by ${about(front[0])}` : null;
  if (!hasText) return covered && styleOf(element).pointerEvents !== "none" ? { why: covered, further } : { seen: true };

  // A text is judged by its pixels, with and without it. Some texts are not painted in their own colour, and cannot be left out.
  const isPaintedOtherwise = (node) => node instanceof SVGElement || styleOf(node).webkitBackgroundClip?.includes("text");
  const canHide = "highlights" in CSS && !around(innermost).some(isPaintedOtherwise);
  this.hide = () => {
    if (!canHide) return;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`::highlight(${HIGHLIGHT}) { color: transparent; -webkit-text-fill-color: transparent; text-shadow: none }`);
    this.sheets = [...new Set(ranges.map((range) => range.startContainer.getRootNode()))].map((root) => ({ root, sheet }));
    for (const { root } of this.sheets) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
    CSS.highlights.set(HIGHLIGHT, Object.assign(new Highlight(...ranges), { priority: 1000 }));
  };
  this.areas = () => JSON.stringify(areas());
  return { areas: this.areas(), canHide, covered, further };
}
