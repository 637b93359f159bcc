// Time series of one run per algorithm: panels over one time axis, hovered and zoomed together.

/* `capacity`: the curve of what the path could have carried, from its steps (time, bytes since the opening). */
const kind = { cwnd: "bytes", in_flight: "bytes", queue: "bytes", rtt: "time", delivered: "bytes", rate: "rate" };
const pathShown = () => data.drawn[shownSeed].path;
const PANELS = [
  { key: "cwnd", lines: (path) => [["BDP", path.bdp_bytes, true], ["BDP + buffer", withBuffer(path), false]] },
  { key: "in_flight", lines: (path) => [["BDP", path.bdp_bytes, true], ["BDP + buffer", withBuffer(path), false]] },
  { key: "queue", lines: (path) => [["buffer", path.buffer_wire_bytes, false]] },
  { key: "rtt", lines: (path) => [["base RTT", path.base_rtt_s, true], ["base RTT + full buffer", path.full_rtt_s, false]] },
  { key: "delivered", lines: (path) => [["size", path.size_bytes, false]], capacity: (steps) => steps },
  { key: "rate", lines: ({ capacity }) => [[capacity.length > 2 ? "mean capacity" : "capacity", meanRate(capacity), true]], capacity: rates },
].filter(({ key }) => document.querySelector(`.chart[data-panel="${key}"]`) && data.drawn.some(({ runs }) => runs.some((run) => run && run.series[key].t.length)));
const meanRate = (steps) => { const [t, bytes] = steps[steps.length - 1]; return bytes / t; };
const withBuffer = (path) => (path.buffer_bytes === null ? null : path.bdp_bytes + path.buffer_bytes);

/* Bytes per second between steps. No two points share a time, which would be one place of the joined table. */
function rates(steps) {
  return steps.slice(1).flatMap(([t, bytes], index) => {
    const [t0, bytes0] = steps[index], rate = (bytes - bytes0) / (t - t0);
    return [[t0 + (t - t0) * 1e-6, rate], [t, rate]];
  });
}

const charts = [];
const whole = data.view.whole;
let view = [...data.view.startup];
let cursorTime = null;

for (const panel of PANELS) {
  const host = document.querySelector(`.chart[data-panel="${panel.key}"]`);
  const chart = { ...panel, host, kind: kind[panel.key], log: panel.key === "cwnd" && farApart(panel.key), plot: null };
  chart.logAtFirst = chart.log;
  chart.area = host.querySelector(".plot");
  chart.values = host.querySelector(".values");
  chart.table = joined(panel);
  charts.push(chart);
  chart.logButton = host.querySelector("[data-log]");
  chart.logButton?.setAttribute("aria-pressed", String(chart.log));
  chart.logButton?.addEventListener("click", () => setLog(chart, !chart.log));
  onResize(chart.area, () => build(chart));
  steer(chart);
}

on("theme", () => charts.forEach(build));
on("visible", () => charts.forEach((chart) => {
  arms.forEach((_, index) => chart.plot?.setSeries(index + 1, { show: visible.has(index) }));
  readOut(chart);
}));
on("focus", (index) => charts.forEach((chart) => {
  chart.plot?.setSeries(index === null ? null : index + 1, { focus: true });
  chart.values.querySelectorAll("li").forEach((row) => { row.style.opacity = index === null || Number(row.dataset.arm) === index ? "" : ".35"; });
}));

function joined(panel) {
  const tables = arms.map((_, index) => {
    const curve = runOf(index)?.series[panel.key];
    return curve && curve.t.length ? [curve.t, curve.y] : [[0], [null]];
  });
  const capacity = panel.capacity?.(pathShown().capacity);
  if (capacity) tables.push([capacity.map(([t]) => t), capacity.map(([, level]) => level)]);
  return uPlot.join(tables);
}

/* Whether most lines would lie on the axis beside the largest. */
function farApart(key) {
  const peaks = arms.map((_, index) => runOf(index)?.series[key]).filter((curve) => curve?.t.length).map(({ t, y }) => y.reduce((most, value, index) => (t[index] <= data.view.startup[1] && value > most ? value : most), 0));
  const largest = Math.max(...peaks);
  return peaks.length > 2 && peaks.filter((peak) => peak < largest / 10).length * 2 >= peaks.length;
}

function setLog(chart, yes) {
  chart.log = yes;
  chart.logButton.setAttribute("aria-pressed", String(yes));
  build(chart);
  tell("state");
}

/* The runs of another seed, everywhere. */
const seedChoice = document.getElementById("seed");
seedChoice?.addEventListener("change", () => setSeed(Number(seedChoice.value)));

function setSeed(index) {
  shownSeed = index;
  if (seedChoice) seedChoice.value = String(index);
  for (const node of document.querySelectorAll("[data-drawn]")) node.hidden = Number(node.dataset.drawn) !== index;
  for (const chart of charts) { chart.table = joined(chart); build(chart); }
  tell("seed", index);
  tell("state");
}

function build(chart) {
  const width = Math.round(chart.area.clientWidth);
  if (!width) return;
  chart.plot?.destroy();
  chart.plot = new uPlot(options(chart, width), chart.table, chart.area);
  chart.plot.setScale("x", { min: view[0], max: view[1] });
  place(chart);
  readOut(chart);
}

function options(chart, width) {
  const series = arms.map((arm, index) => ({
    label: arm.label, show: visible.has(index), stroke: armColour(arm), width: arm.yardstick ? 1.6 : index === data.leader ? 3 : 1.9, dash: armDash(arm),
    points: { show: false },
  }));
  if (chart.capacity) series.push({ label: "capacity", stroke: cssValue("--reference"), width: 1.4, dash: [5, 4], points: { show: false } });
  const last = charts[charts.length - 1] === chart;
  return {
    width, height: narrow() ? 176 : 206, padding: [12, 10, 0, 0], legend: { show: false }, focus: { alpha: 0.16 }, series: [{}, ...series],
    scales: {
      x: { time: false, range: (_, low, high) => (low === null ? view : [low, high]) },
      y: { distr: chart.log ? 3 : 1, range: (_, low, high) => limits(chart, low, high) },
    },
    axes: [
      { ...axisInk(), size: 30, space: 64, values: (_, ticks) => axisLabels(ticks, [1, "s"]).map((text, index, all) => (index === all.length - 1 || last ? `${text} s` : text)) },
      {
        ...axisInk(), size: narrow() ? 58 : 70, space: 32,
        filter: (_, splits) => splits, // uPlot would label powers of ten only
        splits: (u) => ticksBetween(chart, u.scales.y.min, u.scales.y.max),
        values: (u, ticks) => labelled(chart, ticks, u.scales.y.max),
      },
    ],
    cursor: {
      y: false, drag: { setScale: false, x: true, y: false }, dataIdx: nearestSample, points: { size: 7, width: 1.5, fill: (u, index) => u.series[index].stroke(u, index), stroke: () => cssValue("--paper") },
      bind: { dblclick: () => () => setView(data.view.startup) },
    },
    hooks: {
      draw: [drawLeader, (u) => drawReferences(chart, u), (u) => drawExits(chart, u), (u) => drawNames(chart, u)],
      setCursor: [(u) => hovered(chart, u)],
      setScale: [(u, axis) => { if (axis === "x") Object.assign(chart.area.dataset, { from: u.scales.x.min, to: u.scales.x.max }); }],
      setSelect: [(u) => selected(u)],
    },
  };
}

function axisInk() {
  return {
    stroke: cssValue("--ink-3"), font: "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif",
    grid: { stroke: cssValue("--grid"), width: 1 }, ticks: { stroke: cssValue("--line-strong"), width: 1, size: 4 }, gap: 5,
  };
}

/* The lower end is 0 (or a segment, when logarithmic); lines marked `true` are always in sight, the others when near. */
function limits(chart, low, high) {
  const path = pathShown();
  const smallest = chart.kind === "time" ? (path.base_rtt_s || low || 0) * 0.9 : 0;
  let top = high === null ? 0 : high;
  for (const [, value, always] of chart.lines(path)) if (value !== null && (always || value <= top * 1.35)) top = Math.max(top, value);
  if (!(top > 0)) top = chart.kind === "time" ? 0.001 : 1;
  if (chart.log) return [Math.max(1, Math.min(low || 1460, top / 10) * 0.8), top * 1.35];
  const bottom = Math.min(smallest, low ?? smallest);
  return [bottom, bottom + (top - bottom) * 1.1];
}

function ticksBetween(chart, low, high) {
  const unit = unitFor(chart.kind, high)[0];
  return chart.log ? logTicks(low, high, 7) : linearTicks(low / unit, high / unit, 5).map((tick) => tick * unit);
}

function labelled(chart, ticks, high) {
  if (chart.log) return ticks.map((tick) => formatTick(chart.kind, tick));
  const unit = unitFor(chart.kind, high);
  return axisLabels(ticks, unit).map((text) => `${text} ${unit[1]}`);
}

/* Series have their own times; a point of the joined table belongs to few of them. */
function nearestSample(u, series, index) {
  const values = u.data[series];
  if (values[index] !== undefined && values[index] !== null) return index;
  for (let step = 1; step < values.length; step += 1) {
    for (const near of [index - step, index + step]) if (values[near] !== undefined && values[near] !== null) return near;
    if (index - step < 0 && index + step >= values.length) break;
  }
  return index;
}

function drawReferences(chart, u) {
  const { ctx, bbox } = u, ratio = devicePixelRatio;
  ctx.save();
  ctx.font = `${11.5 * ratio}px system-ui, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif`;
  ctx.textAlign = "right";
  const labels = [];
  for (const [name, value] of chart.lines(pathShown())) {
    if (value === null || value === undefined) continue;
    const text = `${name} ${format(chart.kind, value)}`;
    if (value > u.scales.y.max) { labels.push([bbox.top + 13 * ratio, `${text} \u2191`]); continue; }
    const y = Math.round(u.valToPos(value, "y", true)) + 0.5;
    ctx.strokeStyle = cssValue("--reference");
    ctx.lineWidth = ratio;
    ctx.setLineDash([6 * ratio, 4 * ratio]);
    ctx.beginPath(); ctx.moveTo(bbox.left, y); ctx.lineTo(bbox.left + bbox.width, y); ctx.stroke();
    labels.push([y - 5 * ratio, text]);
  }
  if (chart.capacity && pathShown().capacity.length > 1) labels.push(capacityLabel(chart, u, ratio));
  ctx.setLineDash([]);
  let above = -Infinity;
  chart.labelled = [];
  for (const [y, text, x] of labels.filter(Boolean).sort((a, b) => a[0] - b[0])) {
    const clear = x === undefined ? Math.max(y, above + 14 * ratio) : y;
    if (x === undefined) above = clear;
    const at = x ?? bbox.left + bbox.width - 5 * ratio;
    const width = ctx.measureText(text).width;
    chart.labelled.push([at - width - 3 * ratio, clear - 10.5 * ratio, at + 3 * ratio, clear + 3.5 * ratio]);
    ctx.globalAlpha = 0.82;
    ctx.fillStyle = cssValue("--paper");
    ctx.fillRect(at - width - 3 * ratio, clear - 10.5 * ratio, width + 6 * ratio, 14 * ratio);
    ctx.globalAlpha = 1;
    ctx.fillStyle = cssValue("--ink-2");
    ctx.fillText(text, at, clear);
  }
  ctx.restore();
}

/* Beside the capacity's line, where it leaves the picture. */
function capacityLabel(chart, u, ratio) {
  const capacity = chart.capacity(pathShown().capacity);
  const times = capacity.map(([t]) => t), top = u.scales.y.max * 0.86;
  let at = capacity.findIndex(([t, bytes]) => bytes >= top || t >= u.scales.x.max);
  if (at < 0) at = times.length - 1;
  const before = Math.max(0, at - 1), [t0, b0] = capacity[before], [t1, b1] = capacity[at];
  const bytes = Math.min(top, b1), time = b1 > b0 ? t0 + ((bytes - b0) / (b1 - b0)) * (t1 - t0) : t1;
  if (time < u.scales.x.min || time > u.scales.x.max) return null;
  const x = u.valToPos(time, "x", true) - 6 * ratio;
  return x - u.bbox.left < 60 * ratio ? null : [u.valToPos(bytes, "y", true), "capacity", x];
}

/* The leader's line once more, over all others. */
function drawLeader(u) {
  const series = data.leader === null ? null : u.series[data.leader + 1], path = series?.show && series._paths?.stroke;
  if (!path) return;
  const { ctx, bbox } = u, ratio = devicePixelRatio;
  ctx.save();
  ctx.beginPath(); ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height); ctx.clip();
  ctx.globalAlpha = series.alpha;
  ctx.strokeStyle = armColour(arms[data.leader]);
  ctx.lineWidth = 3 * ratio;
  ctx.setLineDash(armDash(arms[data.leader]).map((length) => length * ratio));
  ctx.lineJoin = "round";
  ctx.stroke(path);
  ctx.restore();
}

/* What a line spans in each column of pixels, from its highest to its lowest; where it has no value, nothing. */
function spanned(chart, u, curve) {
  const { bbox } = u, upper = new Float32Array(Math.ceil(bbox.width)).fill(Infinity), lower = new Float32Array(Math.ceil(bbox.width)).fill(-Infinity);
  let before = null;
  for (let at = Math.max(0, lastAt(curve.t, view[0])); at < curve.t.length; at += 1) {
    if (curve.y[at] === null || (chart.log && curve.y[at] <= 0)) { before = null; continue; }
    const x = u.valToPos(curve.t[at], "x", true) - bbox.left, y = u.valToPos(curve.y[at], "y", true), [x0, y0] = before ?? [x, y];
    for (let column = Math.max(0, Math.floor(x0)); column <= Math.min(bbox.width - 1, Math.floor(x)); column += 1) {
      const level = x > x0 ? y0 + (y - y0) * Math.min(1, Math.max(0, (column - x0) / (x - x0))) : y;
      upper[column] = Math.min(upper[column], level);
      lower[column] = Math.max(lower[column], level);
    }
    before = [x, y];
    if (curve.t[at] > view[1]) break;
  }
  return { upper, lower };
}

/* Where a name may stand: above and below its line, first at its end. */
function* spotsOf(u, { upper, lower }, wide, ratio) {
  const { bbox } = u, drawn = upper.findLastIndex(Number.isFinite), first = upper.findIndex(Number.isFinite);
  if (drawn < 0) return;
  for (const share of [1, 0.9, 0.8, 0.65, 0.5, 0.35, 0.2]) {
    const right = Math.max(Math.min(bbox.width - 1, wide + 8 * ratio), first + (drawn - first) * share - 4 * ratio);
    const from = Math.max(0, Math.floor(right - wide)), to = Math.min(bbox.width, Math.ceil(right));
    const near = [upper.subarray(from, to), lower.subarray(from, to)].map((side) => side.filter(Number.isFinite));
    if (!near[0].length) continue;
    const top = Math.min(...near[0]), bottom = Math.max(...near[1]);
    // A name at a steep line would be far from it.
    if (bottom - top > 40 * ratio) continue;
    for (const y of [top - 5 * ratio, bottom + 14 * ratio]) {
      const x = bbox.left + right, box = [x - wide - 3 * ratio, y - 11 * ratio, x + 3 * ratio, y + 3 * ratio];
      if (box[1] >= bbox.top && box[3] <= bbox.top + bbox.height) yield { x, y, box };
    }
  }
}

/* The share of a box's columns in which a line passes through it. */
function covered(u, box, lines) {
  const from = Math.max(0, Math.floor(box[0] - u.bbox.left)), to = Math.min(u.bbox.width, Math.ceil(box[2] - u.bbox.left));
  let columns = 0;
  for (let column = from; column < to; column += 1) if (lines.some(({ upper, lower }) => upper[column] <= box[3] && lower[column] >= box[1])) columns += 1;
  return columns / Math.max(1, to - from);
}

/* A name that covers more of other lines says less than it hides; beside the chart all names are listed. */
const COVERED_MOST = 0.2;

/* Names at the lines in view, the leader's first, where they cover no other label and hardly a line. */
function drawNames(chart, u) {
  if (narrow()) return;
  const { ctx, bbox } = u, ratio = devicePixelRatio, taken = [...chart.labelled, ...chart.exits], before = taken.length;
  ctx.save();
  ctx.font = `600 ${11.5 * ratio}px system-ui, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif`;
  ctx.textAlign = "right";
  const shown = arms.map((_, index) => index).filter((index) => visible.has(index) && runOf(index)?.series[chart.key].t.length);
  const lines = new Map(shown.map((index) => [index, spanned(chart, u, runOf(index).series[chart.key])]));
  let worst = 0;
  for (const index of shown.sort((a, b) => (b === data.leader) - (a === data.leader) || a - b)) {
    const wide = ctx.measureText(arms[index].label).width;
    let best = null;
    for (const spot of spotsOf(u, lines.get(index), wide, ratio)) {
      if (!taken.every((other) => spot.box[0] >= other[2] || spot.box[2] <= other[0] || spot.box[1] >= other[3] || spot.box[3] <= other[1])) continue;
      const hidden = covered(u, spot.box, [...lines.values()]);
      if (hidden <= COVERED_MOST && hidden < (best?.hidden ?? 1)) best = { ...spot, hidden };
      if (best?.hidden === 0) break;
    }
    if (!best) continue;
    const { x, y } = best;
    worst = Math.max(worst, best.hidden);
    taken.push(best.box);
    ctx.lineWidth = 3 * ratio;
    ctx.lineJoin = "round";
    ctx.strokeStyle = cssValue("--paper");
    ctx.strokeText(arms[index].label, x, y);
    ctx.fillStyle = armColour(arms[index]);
    ctx.fillText(arms[index].label, x, y);
  }
  ctx.restore();
  chart.area.dataset.names = taken.length - before;
  chart.area.dataset.covered = worst.toFixed(2);
}

/* Where start-up ended: a ring on the window, elsewhere a tick on the time axis. */
function drawExits(chart, u) {
  const { ctx, bbox } = u, ratio = devicePixelRatio;
  chart.exits = [];
  ctx.save();
  ctx.beginPath(); ctx.rect(bbox.left, bbox.top - 6 * ratio, bbox.width, bbox.height + 12 * ratio); ctx.clip();
  for (const [index, arm] of arms.entries()) {
    const exit = runOf(index)?.exit;
    if (!visible.has(index) || !exit) continue;
    const x = u.valToPos(exit.t_s, "x", true);
    const colour = armColour(arm);
    ctx.fillStyle = colour;
    ctx.strokeStyle = cssValue("--paper");
    ctx.lineWidth = 1.5 * ratio;
    ctx.beginPath();
    if (chart.key === "cwnd") {
      const y = u.valToPos(exit.cwnd_bytes, "y", true);
      chart.exits.push([x - 6 * ratio, y - 6 * ratio, x + 6 * ratio, y + 6 * ratio]);
      ctx.arc(x, y, 5 * ratio, 0, 2 * Math.PI);
    } else {
      const base = bbox.top + bbox.height;
      chart.exits.push([x - 5 * ratio, base - 8 * ratio, x + 5 * ratio, base]);
      ctx.moveTo(x, base - 8 * ratio); ctx.lineTo(x + 4.5 * ratio, base); ctx.lineTo(x - 4.5 * ratio, base); ctx.closePath();
    }
    ctx.stroke(); ctx.fill();
  }
  if (chart.key === "queue") drawDrops(u, ratio);
  ctx.restore();
}

/* Each algorithm's drops on a line of their own below the upper edge. */
function drawDrops(u, ratio) {
  const { ctx, bbox } = u, size = 2.6 * ratio;
  ctx.lineWidth = 1.3 * ratio;
  let line = 0;
  for (const [index, arm] of arms.entries()) {
    const drops = runOf(index)?.series.drops ?? [];
    if (!visible.has(index) || !drops.length) continue;
    const y = bbox.top + (6 + 7 * line) * ratio;
    line += 1;
    ctx.strokeStyle = armColour(arm);
    ctx.beginPath();
    for (const time of drops) {
      const x = u.valToPos(time, "x", true);
      ctx.moveTo(x - size, y - size); ctx.lineTo(x + size, y + size);
      ctx.moveTo(x - size, y + size); ctx.lineTo(x + size, y - size);
    }
    ctx.stroke();
  }
}

/* One hover for all. */
let linking = false;
function hovered(chart, u) {
  if (linking) return;
  cursorTime = u.cursor.left >= 0 ? u.posToVal(u.cursor.left, "x") : null;
  charts.forEach((other) => { if (other !== chart) place(other); });
  charts.forEach(readOut);
}

function setCursor(time) {
  cursorTime = time === null ? null : Math.min(view[1], Math.max(view[0], time));
  charts.forEach((chart) => { place(chart); readOut(chart); });
}

function place(chart) {
  if (!chart.plot) return;
  linking = true;
  const inside = cursorTime !== null && cursorTime >= view[0] && cursorTime <= view[1];
  chart.plot.setCursor(inside ? { left: chart.plot.valToPos(cursorTime, "x"), top: 1 } : { left: -10, top: -10 });
  linking = false;
}

/* One zoom for all. */
function selected(u) {
  if (u.select.width < 4) return;
  const from = u.posToVal(u.select.left, "x"), to = u.posToVal(u.select.left + u.select.width, "x");
  u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  setView([from, to]);
}

function setView([from, to]) {
  const length = Math.min(whole[1] - whole[0], Math.max((whole[1] - whole[0]) * 1e-4, to - from));
  const start = Math.min(whole[1] - length, Math.max(whole[0], from));
  view = [start, start + length];
  charts.forEach((chart) => { chart.plot?.setScale("x", { min: view[0], max: view[1] }); place(chart); readOut(chart); });
  for (const button of document.querySelectorAll("[data-view]")) {
    const [a, b] = data.view[button.dataset.view];
    button.setAttribute("aria-pressed", String(Math.abs(a - view[0]) + Math.abs(b - view[1]) < 1e-6));
  }
  tell("state");
}

/* The values beside a panel: at the cursor, otherwise the largest in view. */
function readOut(chart) {
  const heading = element("p", {}, cursorTime === null ? "Largest in view" : `At ${cursorTime.toFixed(3)}\u202fs`);
  const rows = arms.map((arm, index) => {
    if (!visible.has(index) || !runOf(index)) return null;
    return element("li", { "data-arm": index }, swatch(arm), element("span", { class: "name", title: arm.label }, arm.label), element("span", { class: "number" }, valueText(chart, index)));
  });
  chart.values.replaceChildren(heading, element("ol", {}, ...rows));
}

/* A download that is over has no window, queue or round trip any more. */
function valueText(chart, index) {
  const run = runOf(index);
  if (cursorTime !== null && run.done_s !== null && cursorTime >= run.done_s) return "done";
  return format(chart.kind, valueOf(chart, run));
}

function valueOf(chart, run) {
  const { t, y } = run.series[chart.key];
  if (cursorTime !== null) return cursorTime > run.end_s ? null : y[lastAt(t, cursorTime)];
  let largest = null;
  for (let index = Math.max(0, lastAt(t, view[0])); index < t.length && t[index] <= view[1]; index += 1) if (y[index] !== null && (largest === null || y[index] > largest)) largest = y[index];
  return largest;
}

for (const button of document.querySelectorAll("[data-view]")) button.addEventListener("click", () => setView(data.view[button.dataset.view]));
setView(view);
