// Returns the contrast between a text and what is painted behind it, as WCAG defines it: between two pictures of the window, one
// with the text and one without it, in the middle of its lines. `origin` is where its document stands in the window. `null` if it has moved in the meantime. `this` is as in `look.js`.
async function (shown, hidden, areas, canHide, origin) {
  const hasMoved = this.areas() !== areas;
  this.undo();
  if (hasMoved) return null;
  const [one, other] = [await pixels(shown), await pixels(hidden)];
  const linear = (part) => (part <= 10 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const light = ({ data }, at) => 0.2126 * linear(data[at]) + 0.7152 * linear(data[at + 1]) + 0.0722 * linear(data[at + 2]);
  const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const scale = one.width / origin.width;
  let most = 1;
  for (const area of JSON.parse(areas)) {
    const [left, right] = [area.left + origin.left, area.right + origin.left];
    const [top, bottom] = [area.top + origin.top, area.bottom + origin.top];
    const quarter = (right - left) / 4;
    let [darkest, lightest] = [1, 0];
    for (let y = Math.floor(top * scale); y < Math.min(bottom * scale, one.height); y++) {
      for (let x = Math.floor((left + quarter) * scale); x < Math.min((right - quarter) * scale, one.width); x++) {
        const at = 4 * (y * one.width + x);
        const now = light(one, at);
        [darkest, lightest] = [Math.min(darkest, now), Math.max(lightest, now)];
        if (canHide) most = Math.max(most, ratio(now, light(other, at)));
      }
    }
    // A text that cannot be left out is compared with its surroundings.
    if (!canHide) most = Math.max(most, ratio(lightest, darkest));
  }
  return most;
}
