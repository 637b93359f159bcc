// Shared by every part of the report: the data, numbers with units, elements, colours, scales.

const data = JSON.parse(document.getElementById("report-data").textContent);
const arms = data.arms || [];
const root = document.documentElement;

/* Curves come as differences in whole steps. */
for (const run of (data.drawn || []).flatMap((drawn) => drawn.runs)) {
  for (const curve of run ? Object.values(run.series) : []) {
    if (Array.isArray(curve)) continue;
    let t = 0, y = 0;
    curve.t = curve.t.map((step) => inUnits(t += step, curve.te));
    curve.y = curve.y.map((step) => (step === null ? null : inUnits(y += step, curve.ye)));
  }
}

function inUnits(steps, exponent) {
  return exponent < 0 ? steps / 10 ** -exponent : steps * 10 ** exponent;
}

/* Which of the drawn seeds is shown, an index. */
let shownSeed = 0;
const runOf = (arm) => data.drawn[shownSeed]?.runs[arm] ?? null;

/* Which arms are shown, and who wants to know. Every chart listens, so a chip acts everywhere at once. */
const visible = new Set(arms.map((_, index) => index));
const listeners = { visible: [], theme: [], focus: [], seed: [], state: [] };
const on = (what, listener) => listeners[what].push(listener);
const tell = (what, value) => listeners[what].forEach((listener) => listener(value));

const cssValue = (name) => getComputedStyle(root).getPropertyValue(name).trim();
const armColour = (arm) => cssValue(arm.yardstick ? "--arm-ideal" : `--arm-${arm.style % 8}`);

/* Line styles repeat what the colours say, for those who cannot tell these colours apart. */
const DASHES = [[], [9, 3], [2, 3], [10, 3, 2, 3], [16, 4]];
const YARDSTICK_DASH = [3, 3];
/* With colours that come again after eight: forty looks, of which the first sixteen differ in both from their neighbours. */
const dashOf = (style) => (style < 32 ? (Math.floor(style / 4) + Math.floor(style / 16)) % 4 : 4);
const armDash = (arm) => (arm.yardstick ? YARDSTICK_DASH : DASHES[dashOf(arm.style)]);

const narrow = () => window.innerWidth <= 760;

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  return fill(node, attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  return fill(node, attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function swatch(arm) {
  return svg("svg", { class: "swatch", viewBox: "0 0 22 10", "aria-hidden": "true" },
    svg("line", {
      x1: 0, x2: 22, y1: 5, y2: 5, "stroke-width": 2.5,
      stroke: arm.yardstick ? "var(--arm-ideal)" : `var(--arm-${arm.style % 8})`,
      "stroke-dasharray": armDash(arm).join(" ") || null,
    }));
}

/* Numbers. A kind knows its units; `unitFor` picks one for a whole axis, `format` one for a single value. */
const KINDS = {
  time: [[1, "s", 1], [1e-3, "ms", 1], [1e-6, "µs", 0]],
  bytes: [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]],
  rate: [[125e6, "Gbit/s"], [125e3, "Mbit/s"], [125, "kbit/s"], [0.125, "bit/s"]],
  share: [[0.01, "%"]],
  ratio: [[1, "×"]],
  bdp: [[1, "BDP"]],
  count: [[1, ""]],
};

function unitFor(kind, largest) {
  const units = KINDS[kind];
  return units.find(([scale]) => Math.abs(largest) >= scale * 0.9995) || units[units.length - 1];
}

function digits(value, significant = 3) {
  if (value === 0) return "0";
  const magnitude = Math.floor(Math.log10(Math.abs(value)));
  const decimals = Math.max(0, Math.min(6, significant - 1 - magnitude));
  return value.toFixed(decimals);
}

function format(kind, value, unit = unitFor(kind, value)) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const minus = value < 0 ? "\u2212" : "";
  const number = kind === "count" ? String(Math.round(Math.abs(value) * 10) / 10) : digits(Math.abs(value) / unit[0]);
  return minus + number + named(unit);
}

/* A mean of runs of which some were cut off is at least that. */
const formatMean = (kind, { mean, at_least }) => (at_least ? "≥\u202f" : "") + format(kind, mean);

const named = (unit) => (unit[1] && unit[1] !== "×" ? `\u202f${unit[1]}` : unit[1]);

/* A round number of an axis, with its unit: `10 kB`, `0.5 s`. */
function formatTick(kind, value) {
  if (value === 0) return "0";
  const unit = unitFor(kind, value);
  return axisLabels([value], unit)[0] + named(unit);
}

/* Labels of an axis: as many decimals as its step needs, the unit named once in the heading. */
function axisLabels(ticks, unit) {
  const scaled = ticks.map((tick) => tick / unit[0]);
  let decimals = 0;
  while (decimals < 6 && scaled.some((value) => Math.abs(value - Number(value.toFixed(decimals))) > 1e-9 + Math.abs(value) * 1e-6)) decimals += 1;
  return scaled.map((value) => value.toFixed(decimals).replace("-", "\u2212"));
}

function linearTicks(low, high, count) {
  const raw = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999) * power;
  const ticks = [];
  for (let index = Math.ceil(low / step - 1e-9); index * step <= high + step * 1e-9; index += 1) ticks.push(index * step);
  return ticks;
}

function logTicks(low, high, count) {
  const fine = high / low < 12 ? [[1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 7], [1, 1.5, 2, 3, 5, 7]] : [];
  for (const factors of [...fine, [1, 2, 5], [1, 3], [1]]) {
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
      for (const factor of factors) {
        const tick = Number(`${factor}e${power}`);
        if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
      }
    }
    if (ticks.length <= count || factors.length === 1) {
      const every = Math.ceil(ticks.length / Math.max(1, count));
      return ticks.filter((_, index) => index % every === 0);
    }
  }
  return [];
}

/* A horizontal scale in pixels. */
function scale(low, high, left, right, logarithmic = false) {
  const map = logarithmic ? Math.log : (value) => value;
  const from = map(low), to = map(high) > from ? map(high) : from + 1;
  const position = (value) => left + ((map(value) - from) / (to - from)) * (right - left);
  position.ticks = (count) => (logarithmic ? logTicks(low, high, count) : linearTicks(low, high, count));
  return position;
}

/* Index of the last entry that is not after `time`; -1: none. */
function lastAt(times, time) {
  let low = 0, high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1; else high = middle;
  }
  return low - 1;
}

function onResize(node, draw) {
  let width = 0;
  new ResizeObserver(() => {
    const now = Math.round(node.clientWidth);
    if (now && now !== width) { width = now; draw(now); }
  }).observe(node);
}
