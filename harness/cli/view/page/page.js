"use strict";
const runs = [...document.querySelectorAll(".run")];
const find = document.getElementById("find"), failed = document.getElementById("failed"), drift = document.getElementById("drift");
const texts = new Map();
const textOf = run => texts.get(run) ?? (texts.set(run, run.textContent.toLowerCase()), texts.get(run));
function filter() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const run of runs) {
    const fits = (!failed.checked || run.classList.contains("failed"))
      && (!drift.checked || "drift" in run.dataset)
      && words.every(word => textOf(run).includes(word));
    run.hidden = !fits;
    shown += fits;
  }
  document.getElementById("none").hidden = shown > 0;
  document.getElementById("found").value = shown === runs.length ? "" : `${shown} of ${runs.length}`;
}
let waiting;
find.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 60); });
for (const box of [failed, drift]) box.addEventListener("change", filter);
find.form.addEventListener("submit", event => { event.preventDefault(); filter(); });
document.addEventListener("keydown", event => {
  if (event.key === "/" && document.activeElement !== find) { event.preventDefault(); find.focus(); }
  if (event.key === "Escape" && document.activeElement === find) { find.value = ""; filter(); }
});
document.addEventListener("click", event => {
  const button = event.target.closest(".copy");
  if (!button) return;
  const said = text => { button.textContent = text; setTimeout(() => { button.textContent = "copy"; }, 1500); };
  navigator.clipboard ? navigator.clipboard.writeText(button.dataset.copy).then(() => said("copied"), () => said("select it")) : said("select it");
});
function open() {
  const run = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (run) { run.open = true; run.scrollIntoView(); }
}
addEventListener("hashchange", open);
open();
