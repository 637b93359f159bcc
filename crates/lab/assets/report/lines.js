// What charts drawn as SVG share: a frame with two axes, and the list of values beside them.

const EDGE = { top: 10, right: 22, bottom: 46 };
const leftEdge = () => (narrow() ? 54 : 66);

/* An empty picture with grid and labels; `x` and `y` say kind, title and scale (made by `axisScale`). */
function framed(width, height, x, y) {
  const left = leftEdge(), right = width - EDGE.right, bottom = height - EDGE.bottom;
  const picture = svg("svg", { width, height, "aria-hidden": "true" });
  for (const tick of x.at.ticks(Math.floor((right - left) / 70))) {
    picture.append(svg("line", { class: "grid", x1: x.at(tick), x2: x.at(tick), y1: EDGE.top, y2: bottom }), svg("text", { class: "muted", x: x.at(tick), y: bottom + 17, "text-anchor": "middle" }, formatTick(x.kind, tick)));
  }
  for (const tick of y.at.ticks(6)) {
    picture.append(svg("line", { class: "grid", x1: left, x2: right, y1: y.at(tick), y2: y.at(tick) }), svg("text", { class: "muted", x: left - 7, y: y.at(tick) + 4, "text-anchor": "end" }, formatTick(y.kind, tick)));
  }
  picture.append(svg("line", { class: "axis", x1: left, x2: right, y1: bottom + 0.5, y2: bottom + 0.5 }));
  picture.append(svg("text", { class: "muted", x: right, y: bottom + 36, "text-anchor": "end" }, `${x.title}${x.at.logarithmic ? ", logarithmic" : ""}`));
  return picture;
}

/* A scale over the values with some room around them, logarithmic where they are far apart. */
function axisScale(values, from, to, fixed) {
  const known = values.filter((value) => Number.isFinite(value));
  let low = Math.min(...known), high = Math.max(...known);
  if (!known.length) { low = 0; high = 1; }
  const logarithmic = !fixed && low > 0 && high / low > 12;
  if (logarithmic) return Object.assign(scale(low / 1.2, high * 1.2, from, to, true), { logarithmic });
  if (fixed) return Object.assign(scale(...fixed, from, to), { logarithmic });
  const room = (high - low || Math.abs(high) || 1) * 0.07;
  low = low >= 0 && low < high * 0.4 ? 0 : low - room;
  return Object.assign(scale(low, high + room, from, to), { logarithmic });
}

const armInk = (arm) => (arm.yardstick ? "var(--arm-ideal)" : `var(--arm-${arm.style % 8})`);

function valueList(host, heading, entries) {
  const items = entries.map(([arm, text]) => element("li", { "data-arm": arm }, swatch(arms[arm]), element("span", { class: "name", title: arms[arm].label }, arms[arm].label), element("span", { class: "number" }, text)));
  host.replaceChildren(element("p", {}, heading), element("ol", {}, ...items));
}

const dimmed = (host) => (index) => host.querySelectorAll("[data-arm]").forEach((row) => { row.style.opacity = index === null || Number(row.dataset.arm) === index ? "" : ".25"; });
