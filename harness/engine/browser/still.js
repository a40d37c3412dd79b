// Holds a page still for a picture: what fades or moves comes to its end at once, what never ends stands at its start, and the
// caret does not blink. Called again, it holds what has begun since. `release` lets the page go on.
() => {
  const held = (globalThis.__retakeHeld ??= { paused: [], sheets: [] });
  const roots = [document];
  for (const root of roots) {
    for (const node of root.querySelectorAll("*")) if (node.shadowRoot) roots.push(node.shadowRoot);
    if (!held.sheets.some((own) => own.root === root)) {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync("*, ::before, ::after { caret-color: transparent !important }");
      root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
      held.sheets.push({ root, sheet });
    }
    for (const animation of root.getAnimations()) {
      // What is paused, or follows the scrolling, stands still by itself.
      if (animation.playState !== "running" || !(animation.timeline instanceof DocumentTimeline)) continue;
      if (Number.isFinite(animation.effect?.getComputedTiming().endTime) && animation.playbackRate !== 0) animation.finish();
      else {
        animation.pause();
        animation.currentTime = 0;
        held.paused.push(animation);
      }
    }
  }
  held.release = () => {
    for (const { root, sheet } of held.sheets) root.adoptedStyleSheets = root.adoptedStyleSheets.filter((own) => own !== sheet);
    for (const animation of held.paused) animation.play();
    delete globalThis.__retakeHeld;
  };
}
