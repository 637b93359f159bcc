// The league: weights, what counts, ranks, the map, the paths. Times come as ratios to the yardstick's, by row and case.

const { rows, paths, cases, access, sizes } = data;
const contenders = rows.map((row, index) => index).filter((index) => !rows[index].yardstick);
const feature = Object.fromEntries(data.features.map(({ id }, index) => [id, index]));
const standard = rows.findIndex(({ label }) => label === data.standard);
const BOUNDS = {
  rate: [0, 3, 10, 30, 100, 300, 1000, 3000, Infinity],
  rtt: [0, 3, 10, 30, 100, 300, Infinity],
};
const LARGE_BDP = data.large_bdp, NEAR = data.near;

const state = {
  weights: access.map(({ weight }) => weight), size: "pooled", time: 1, loss: 0, harm: 0,
  selected: contenders[0], cell: null, map: "winner", path: null, sort: ["index", 1],
};

/* In a frame of another page: one part, `?only=plane`. */
const only = document.getElementById(new URLSearchParams(location.search).get("only"));
if (only) {
  document.body.classList.add("part");
  only.classList.add("only");
}

/* Statistics, with weights. */
function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a[0] - b[0]);
  const total = sorted.reduce((sum, [, weight]) => sum + weight, 0);
  let soFar = 0;
  for (const [value, weight] of sorted) {
    soFar += weight;
    if (soFar >= share * total * (1 - 1e-12)) return value;
  }
  return sorted.length ? sorted[sorted.length - 1][0] : NaN;
}

function mean(values) {
  let sum = 0, total = 0;
  for (const [value, weight] of values) { sum += value * weight; total += weight; }
  return total > 0 ? sum / total : NaN;
}

const geometric = (values) => Math.exp(mean(values.map(([value, weight]) => [Math.log(value), weight])));

const counts = access.map((_, kind) => paths.filter((path) => path.access === kind).length);
const weightOf = (path) => state.weights[paths[path].access] / counts[paths[path].access];

/* Of each path the sizes that are compared. */
const played = paths.map(() => new Set());
for (const [path, size] of cases) played[path].add(size);

/* Pooled: the large sizes, or all of a path that has none of them. */
const pooled = paths.map((_, path) => {
  const small = data.large.every((size) => size >= paths[path].sizes);
  return [...played[path]].filter((size) => small || data.large.includes(size));
});

/* Cases that count, with their weights: of a path with three sizes each a third. */
function counted() {
  const list = [];
  cases.forEach(([path, size], index) => {
    const chosen = state.size === "pooled" ? pooled[path] : [Number(state.size)];
    if (!chosen.includes(size)) return;
    const of = chosen.filter((other) => played[path].has(other)).length;
    const weight = weightOf(path) / of;
    if (weight > 0) list.push([index, weight, path]);
  });
  return list;
}

function standings(list) {
  const fastest = new Map(list.map(([at]) => [at, Math.min(...contenders.map((row) => data.ideal[row][at]))]));
  const weighted = paths.map((_, path) => [path, weightOf(path)]).filter(([, weight]) => weight > 0);
  const long = data.others.paths.map((path, at) => [at, weightOf(path)]).filter(([, weight]) => weight > 0);
  return rows.map((row, index) => {
    const own = data.ideal[index];
    const values = list.map(([at, weight]) => [own[at], weight]);
    const share = (holds) => mean(list.map(([at, weight]) => [holds(at) ? 1 : 0, weight]));
    const large = weighted.filter(([path]) => paths[path].f[feature.bdp] >= LARGE_BDP && data.lost[index][path] !== null);
    const lost = large.map(([path, weight]) => [data.lost[index][path], weight]);
    const queue = weighted.map(([path, weight]) => [data.queue[index][path], weight]);
    const found = {
      row: index, label: row.label, yardstick: row.yardstick,
      time: geometric(values), median: quantile(values, 0.5), p95: quantile(values, 0.95), worst: Math.max(...values.map(([value]) => value)),
      bound: quantile(list.filter(([, , path]) => paths[path].clean).map(([at, weight]) => [data.causal[index][at], weight]), 0.95),
      two: share((at) => own[at] > 2),
      best: row.yardstick ? NaN : share((at) => own[at] <= fastest.get(at) * 1.001),
      near: row.yardstick ? NaN : share((at) => own[at] <= fastest.get(at) * (1 + NEAR)),
      slower: share((at) => own[at] > data.ideal[standard][at] * (1 + NEAR)),
      lost: mean(lost), lost95: quantile(lost, 0.95), queue: quantile(queue, 0.5),
      running: mean(long.map(([at, weight]) => [data.others.lost[index][at], weight])),
      harm: data.among[index]?.[0] ?? NaN,
      together: row.together ? row.together[2] : NaN,
    };
    found.index = found.time ** state.time * (1 + (found.lost || 0)) ** state.loss * (found.harm || 1) ** state.harm;
    return found;
  });
}

const ratio = (value) => (Number.isFinite(value) ? `${value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)}` : "–");
const percent = (value) => (Number.isFinite(value) ? `${(100 * value).toFixed(0)}\u202f%` : "–");
const milliseconds = (value) => (Number.isFinite(value) ? `${value < 10 ? value.toFixed(1) : value.toFixed(0)}\u202fms` : "–");

const COLUMNS = [
  ["label", "Algorithm", "", (value) => value],
  ["index", "Index", "what counts", ratio],
  ["time", "Time", "× ideal: mean, and median to 95 %", ratio],
  ["p95", "95 %", "× ideal", ratio],
  ["worst", "Worst", "× ideal", ratio],
  ["bound", "Clean paths", "× bound, 95 %", ratio],
  ["two", "Over twice", "share", percent],
  ["best", "Fastest", "share", percent],
  ["near", "Within 5 %", "of the fastest", percent],
  ["slower", "Slower", "than slow start", percent],
  ["lost", "Lost", "start-up / (BDP + buffer)", ratio],
  ["lost95", "Lost, 95 %", "of paths", ratio],
  ["queue", "Queue", "median path", milliseconds],
  ["harm", "Harm", "others' 95 %, × beside slow start", ratio],
  ["running", "Running flow", "losses / (BDP + buffer)", ratio],
  ["together", "Two together", "share ratio, 10 s", ratio],
];

/* Ties were found with the weights and sizes of the command. */
const given = access.map(({ weight }) => weight);
const judgedFirst = contenders.find((row) => !data.against[row]);
const weighted = () => state.size !== "pooled" || !alikeWeights(state.weights, given);
function alikeWeights(some, others) {
  const scale = Math.max(...some) / Math.max(...others);
  return some.every((weight, kind) => Math.abs(weight - scale * others[kind]) < 1e-9);
}

/* What stands beside a label. */
function tagOf({ row, yardstick }) {
  const against = data.against[row];
  const words = yardstick ? "knows the path" : rows[row].candidate ? "candidate" : rows[row].same ? `is ${rows[row].same} here`
    : !weighted() && against && against.low <= 1 && against.high >= 1 ? `time tied with ${rows[judgedFirst].label}` : null;
  return words ? element("span", { class: "tag" }, words) : null;
}

/* Time over ideal's on a logarithmic scale: a dot for the mean, a line from the median to the 95th percentile. */
function spread({ label, time, median, p95 }, farthest) {
  const width = 150, x = (value) => 5 + (width - 10) * Math.log(Math.max(value, 0.9) / 0.9) / Math.log(farthest / 0.9);
  return svg("svg", { class: "spread", viewBox: `0 0 ${width} 16`, width, height: 16, role: "img", "aria-label": `${label}: mean ${ratio(time)}, median ${ratio(median)}, 95 % ${ratio(p95)}` },
    svg("title", {}, `mean ${ratio(time)}, median ${ratio(median)}, 95 % ${ratio(p95)}; grey: 1, 2, 5, 10, 20 … × ideal`),
    ...[1, 2, 5, 10, 20, 50, 100].filter((value) => value <= farthest).map((value) => svg("line", { x1: x(value), x2: x(value), y1: 0, y2: 16, class: value === 1 ? "one" : "grid" })),
    svg("line", { x1: x(median), x2: x(p95), y1: 8, y2: 8, class: "range" }),
    svg("circle", { cx: x(time), cy: 8, r: 3.5 }));
}

/* The headline, by the same weights. */
function drawLeads(all) {
  const byTime = all.filter(({ yardstick }) => !yardstick).sort((a, b) => a.time - b.time);
  const most = all.find(({ label }) => label === data.standard)?.lost;
  const found = {
    fastest: byTime[0],
    gentle: byTime.find(({ lost }) => !(lost > most)),
    linux: byTime.find(({ label }) => label === data.linux),
  };
  for (const line of document.querySelectorAll("[data-lead]")) {
    const row = found[line.dataset.lead];
    line.querySelector('[data-of="label"]').textContent = row.label;
    line.querySelector('[data-of="time"]').textContent = ratio(row.time);
  }
}

function drawStandings(all) {
  const [key, direction] = state.sort;
  const order = (a, b) => {
    if (a.yardstick !== b.yardstick) return a.yardstick ? 1 : -1;
    const [x, y] = [a[key], b[key]];
    if (typeof x === "string") return direction * x.localeCompare(y);
    return direction * ((Number.isFinite(x) ? x : Infinity) - (Number.isFinite(y) ? y : Infinity));
  };
  const head = element("tr", {}, ...COLUMNS.map(([id, name, unit]) =>
    element("th", { scope: "col", "aria-sort": key === id ? (direction > 0 ? "ascending" : "descending") : null },
      element("button", { type: "button", onclick: () => { state.sort = [id, key === id ? -direction : 1]; redraw(); document.querySelector(`#standings thead th:nth-child(${COLUMNS.findIndex(([c]) => c === id) + 1}) button`)?.focus(); } },
        element("span", {}, name, unit ? element("span", { class: "unit" }, unit) : null)))));
  const farthest = Math.max(...all.map(({ p95 }) => p95));
  const body = [...all].sort(order).map((row) =>
    element("tr", { "aria-selected": String(row.row === state.selected), "data-row": row.label },
      ...COLUMNS.map(([id, , , show], column) => {
        if (column === 0) {
          return element("th", { scope: "row" },
            element("button", { type: "button", "aria-pressed": String(row.row === state.selected), onclick: () => { state.selected = row.row; redraw(); } }, row.label),
            tagOf(row));
        }
        return element("td", {}, show(row[id]), id === "time" ? spread(row, farthest) : null);
      })));
  const table = document.querySelector("#standings table");
  table.querySelector("thead").replaceChildren(head);
  table.querySelector("tbody").replaceChildren(...body);
}

/* Time against what others suffer, as wide as the page; a narrow one scrolls. */
const PLANE = { least: 860, width: 860, height: 430, left: 62, right: 24, top: 16, bottom: 44 };
function svg(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
function ticks(low, high) {
  const step = [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5].find((width) => (high - low) / width <= 8) || 10;
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, at) => (first + at) * step);
}
function drawPlane(all) {
  const place = document.querySelector("#plane-chart");
  if (!place) return;
  PLANE.width = Math.max(PLANE.least, place.clientWidth);
  const shown = all.filter(({ row }) => data.among[row] && !(rows[row].same && String(data.among[row]) === String(data.among[standard])));
  const own = shown.filter(({ yardstick }) => !yardstick).sort((a, b) => a.time - b.time || a.harm - b.harm);
  let gentlest = Infinity;
  const front = new Set(own.filter(({ harm }) => harm < gentlest && ((gentlest = harm), true)).map(({ row }) => row));
  const bounds = (values) => { const [low, high] = [Math.min(...values), Math.max(...values)]; const room = 0.04 * (high - low || 1); return [low - room, high + room]; };
  const [left, right] = bounds(shown.map(({ time }) => time));
  const [bottom, top] = bounds(shown.flatMap(({ row }) => data.among[row]));
  const x = (value) => PLANE.left + (value - left) / (right - left) * (PLANE.width - PLANE.left - PLANE.right);
  const y = (value) => PLANE.height - PLANE.bottom - (value - bottom) / (top - bottom) * (PLANE.height - PLANE.top - PLANE.bottom);
  const base = PLANE.height - PLANE.bottom;
  const grid = [
    ...ticks(left, right).flatMap((value) => [svg("line", { x1: x(value), x2: x(value), y1: PLANE.top, y2: base, class: "grid" }), svg("text", { x: x(value), y: base + 16, "text-anchor": "middle" }, ratio(value))]),
    ...ticks(bottom, top).flatMap((value) => [svg("line", { x1: PLANE.left, x2: PLANE.width - PLANE.right, y1: y(value), y2: y(value), class: Math.abs(value - 1) < 1e-9 ? "one" : "grid" }), svg("text", { x: PLANE.left - 8, y: y(value) + 4, "text-anchor": "end" }, ratio(value))]),
    svg("text", { x: (PLANE.left + PLANE.width - PLANE.right) / 2, y: PLANE.height - 6, "text-anchor": "middle" }, "download time over ideal's"),
    svg("text", { transform: `translate(14 ${(PLANE.top + base) / 2}) rotate(-90)`, "text-anchor": "middle" }, "others' 95th percentile, over slow start's"),
  ];
  /* Labels step aside until they are free, of ranges where they can; a point whose label finds no place is told by its title. */
  const taken = [];
  const spots = [[8, 4, "start"], [-8, 4, "end"], [0, -9, "middle"], [0, 18, "middle"], [8, -9, "start"], [-8, -9, "end"], [8, 17, "start"], [-8, 17, "end"]];
  const rank = ({ row }) => (row === state.selected ? 0 : front.has(row) ? 1 : rows[row].yardstick ? 2 : 3);
  const points = [...shown].sort((a, b) => rank(b) - rank(a)).map(({ row, label, time, harm, yardstick }) => {
    const [, low, high] = data.among[row];
    return svg("g", { class: `${front.has(row) ? "front" : ""} ${row === state.selected ? "own" : ""} ${yardstick ? "knows" : ""}`, "data-plane": label },
      svg("title", {}, `${label}: ${ratio(time)} × ideal; others ${ratio(harm)} × (${ratio(low)} to ${ratio(high)})`),
      svg("line", { x1: x(time), x2: x(time), y1: y(low), y2: y(high), class: "range" }),
      svg("circle", { cx: x(time), cy: y(harm), r: 5 }));
  });
  const free = (box) => taken.every((other) => box[0] > other[2] || box[2] < other[0] || box[1] > other[3] || box[3] < other[1]);
  for (const { time, harm } of shown) taken.push([x(time) - 6, y(harm) - 6, x(time) + 6, y(harm) + 6]);
  const ranges = shown.map(({ row, time }) => [x(time) - 1, y(data.among[row][2]), x(time) + 1, y(data.among[row][1])]);
  const clear = (box) => ranges.every((other) => box[0] > other[2] || box[2] < other[0] || box[1] > other[3] || box[3] < other[1]);
  const labels = [...shown].sort((a, b) => rank(a) - rank(b)).flatMap(({ row, label, time, harm }) => {
    const own = row === state.selected, wide = (own ? 7.3 : 6.6) * label.length;
    const places = spots.map(([dx, dy, anchor]) => {
      const from = x(time) + dx - (anchor === "end" ? wide : anchor === "middle" ? wide / 2 : 0);
      return { dx, dy, anchor, box: [from, y(harm) + dy - 11, from + wide, y(harm) + dy + 2] };
    }).filter(({ box }) => box[0] >= PLANE.left && box[2] <= PLANE.width && free(box));
    const chosen = places.find(({ box }) => clear(box)) ?? places[0];
    if (!chosen) return [];
    taken.push(chosen.box);
    return [svg("text", { x: x(time) + chosen.dx, y: y(harm) + chosen.dy, "text-anchor": chosen.anchor, class: own ? "own" : null, stroke: "var(--paper)", "stroke-width": 3, "paint-order": "stroke", "stroke-linejoin": "round" }, label)];
  });
  place.replaceChildren(svg("svg", { viewBox: `0 0 ${PLANE.width} ${PLANE.height}`, width: PLANE.width, role: "img", "aria-label": `Time and harm of ${shown.length} algorithms; none is both as fast and as gentle as ${own.filter(({ row }) => front.has(row)).map(({ label }) => label).join(", ")}.` }, ...grid, ...points, ...labels));
}

/* The map over rate and round-trip time. */
const binOf = (value, bounds) => bounds.findIndex((bound, index) => value >= bound && value < bounds[index + 1]);
const cellOf = (path) => `${binOf(paths[path].f[feature.rtt], BOUNDS.rtt)},${binOf(paths[path].f[feature.rate], BOUNDS.rate)}`;
const between = (bounds, at, unit) => (bounds[at + 1] === Infinity ? `from ${bounds[at]}` : bounds[at] ? `${bounds[at]} to ${bounds[at + 1]}` : `below ${bounds[at + 1]}`) + ` ${unit}`;
const rateName = (at) => (BOUNDS.rate[at] >= 1000 ? between(BOUNDS.rate.map((rate) => rate / 1000), at, "Gbit/s") : between(BOUNDS.rate, at, "Mbit/s"));
const shade = (value) => `color-mix(in srgb, var(--arm-1) ${Math.round(Math.min(1, Math.max(0, Math.log(value) / Math.log(4))) * 42)}%, var(--raised))`;

function drawMap(list) {
  const cells = new Map();
  for (const entry of list) {
    const cell = cellOf(entry[2]);
    if (!cells.has(cell)) cells.set(cell, []);
    cells.get(cell).push(entry);
  }
  const meanIn = (row, entries) => geometric(entries.map(([at, weight]) => [data.ideal[row][at], weight]));
  const head = element("tr", {}, element("th", { scope: "col" }, "RTT \\ rate"),
    ...BOUNDS.rate.slice(0, -1).map((_, at) => element("th", { scope: "col" }, rateName(at))));
  const lines = BOUNDS.rtt.slice(0, -1).map((_, rtt) => element("tr", {},
    element("th", { scope: "row" }, between(BOUNDS.rtt, rtt, "ms")),
    ...BOUNDS.rate.slice(0, -1).map((__, rate) => {
      const key = `${rtt},${rate}`, entries = cells.get(key);
      if (!entries) return element("td", { class: "none" }, "–");
      const number = new Set(entries.map(([, , path]) => path)).size;
      const best = contenders.map((row) => [meanIn(row, entries), row]).sort((a, b) => a[0] - b[0])[0];
      const [value, row] = state.map === "winner" ? best : [meanIn(state.selected, entries), state.selected];
      const alike = contenders.filter((other) => other !== best[1] && meanIn(other, entries) <= best[0] * (1 + NEAR)).length;
      const winner = alike === contenders.length - 1 && alike > 0 ? "all alike" : `${rows[row].label}${alike ? ` +${alike}` : ""}`;
      return element("td", {}, element("button", {
        type: "button", "aria-pressed": String(state.cell === key), style: `background: ${shade(value)}`, "data-cell": key,
        title: `${number} ${number === 1 ? "path" : "paths"}; fastest: ${rows[best[1]].label}, ${ratio(best[0])} × ideal; ${alike} ${alike === 1 ? "other" : "others"} within 5 % of it`,
        onclick: () => { state.cell = state.cell === key ? null : key; redraw(); document.querySelector(`[data-cell="${key}"]`)?.focus(); },
      }, element("b", {}, state.map === "winner" ? winner : `${ratio(value)} ×`),
        state.map === "winner" ? `${ratio(value)} × · ${number}` : `${number} ${number === 1 ? "path" : "paths"}`));
    })));
  const table = document.querySelector("#map table");
  table.querySelector("thead").replaceChildren(head);
  table.querySelector("tbody").replaceChildren(...lines);
  for (const button of document.querySelectorAll("[data-map]")) button.setAttribute("aria-pressed", String(button.dataset.map === state.map));
}

/* What a path is, in words. */
function words(path) {
  const f = paths[path].f, said = [];
  const has = (id) => f[feature[id]];
  said.push(`buffer ${ratio(has("buffer"))} BDP`);
  if (has("aqm")) said.push("RED or CoDel");
  if (has("noise")) said.push(`noise ${percent(has("noise"))} of the RTT`);
  if (has("bunching")) said.push(`ACKs held ${percent(has("bunching"))} of it`);
  if (has("thinning") > 1) said.push(`one ACK in ${has("thinning")}`);
  if (has("return") < 0.1) said.push(`return link ${percent(has("return"))}`);
  if (has("loss")) said.push(`loss ${digits(has("loss"), 2)}\u202f%`);
  if (has("cbr")) said.push(`${percent(has("cbr"))} cross traffic`);
  if (has("window") < 1000) said.push(`receive window ${ratio(has("window"))} BDP`);
  for (const { id, name, whether } of data.features) if (whether && id !== "aqm" && has(id)) said.push(name);
  return said.join(", ");
}

function drawPaths(list) {
  const byPath = new Map();
  for (const [at, weight, path] of list) {
    if (state.cell && cellOf(path) !== state.cell) continue;
    if (!byPath.has(path)) byPath.set(path, []);
    byPath.get(path).push([at, weight]);
  }
  const of = (row, entries) => geometric(entries.map(([at, weight]) => [data.ideal[row][at], weight]));
  const found = [...byPath].map(([path, entries]) => {
    const best = contenders.map((row) => [of(row, entries), row]).sort((a, b) => a[0] - b[0])[0];
    return { path, own: of(state.selected, entries), best };
  }).sort((a, b) => b.own - a.own);
  document.querySelector("#picked").textContent = `${found.length} ${found.length === 1 ? "path" : "paths"}${state.cell ? " of the chosen field of the map" : ""}, those on which ${rows[state.selected].label} takes longest first.`;
  const heads = ["Path", "Rate", "RTT", "BDP", rows[state.selected].label, "Fastest", "What it is"];
  const table = document.querySelector("#paths table");
  table.querySelector("thead").replaceChildren(element("tr", {}, ...heads.map((head, at) => element("th", { scope: "col", class: at === 6 ? "text" : null }, head))));
  table.querySelector("tbody").replaceChildren(...found.slice(0, 200).map(({ path, own, best }) => {
    const f = paths[path].f;
    return element("tr", {},
      element("th", { scope: "row" }, element("button", { type: "button", onclick: () => { state.path = path; drawDetail(); document.querySelector("#path-detail").scrollIntoView({ block: "nearest" }); } }, paths[path].name)),
      element("td", {}, f[feature.rate] >= 1000 ? `${digits(f[feature.rate] / 1000)}\u202fGbit/s` : `${digits(f[feature.rate])}\u202fMbit/s`),
      element("td", {}, `${digits(f[feature.rtt])}\u202fms`),
      element("td", {}, `${Math.round(f[feature.bdp])}`),
      element("td", {}, `${ratio(own)} ×`),
      element("td", {}, `${rows[best[1]].label}, ${ratio(best[0])} ×`),
      element("td", { class: "text" }, words(path)));
  }));
}

/* One path: every algorithm on it, and the command that shows why. */
function drawDetail() {
  const place = document.querySelector("#path-detail");
  if (state.path === null) { place.hidden = true; return; }
  place.hidden = false;
  const path = state.path;
  const largest = Math.max(...played[path]);
  const at = cases.findIndex(([other, size]) => other === path && size === largest);
  const all = rows.map((row, index) => [data.ideal[index][at], index]).sort((a, b) => a[0] - b[0]);
  const longest = Math.max(...all.map(([value]) => value));
  const first = all.find(([, index]) => !rows[index].yardstick)[1];
  const named = [...new Set([state.selected, first, ...rows.map((_, index) => index).filter((index) => rows[index].yardstick)])]
    .filter((index) => !rows[index].candidate).map((index) => rows[index].label).join(",");
  document.querySelector("#path-name").textContent = `${paths[path].name}: ${access[paths[path].access].what}`;
  document.querySelector("#path-words").textContent = `${digits(paths[path].f[feature.rate])} Mbit/s, ${digits(paths[path].f[feature.rtt])} ms, ${words(path)}. Download of ${sizes[largest].name}, × ideal:`;
  document.querySelector("#path-bars").replaceChildren(...all.flatMap(([value, index]) => {
    const own = index === state.selected ? "own" : null;
    return [element("span", { class: own }, rows[index].label), element("i", { style: `width: ${(100 * Math.log(1 + value) / Math.log(1 + longest)).toFixed(1)}%` }), element("span", { class: own }, `${ratio(value)} ×`)];
  }));
  document.querySelector("#path-command pre").textContent = `ramp compare ${data.prefix}${paths[path].name} --algorithms ${named}`;
  const open = document.querySelector("#path-open");
  open.hidden = !data.playground;
  open.href = `${data.playground}#${new URLSearchParams({ text: paths[path].text, algorithms: named, seed: 1 })}`;
}

function drawFails() {
  const { fails, label, idea } = rows[state.selected];
  document.querySelector("#fails-of").textContent = label;
  document.querySelector("#fails-idea").textContent = idea;
  document.querySelector("#fails ul").replaceChildren(...fails.map((line) => element("li", {}, line)));
}

function redraw() {
  const list = counted();
  const all = standings(list);
  drawLeads(all);
  drawStandings(all);
  drawPlane(all);
  drawMap(list);
  drawPaths(list);
  drawFails();
  drawDetail();
  const leader = all.filter((row) => !row.yardstick).sort((a, b) => a.index - b.index)[0];
  writeView();
  document.querySelector("#announce").textContent = `${leader.label} leads with an index of ${ratio(leader.index)}.`;
}

/* The address says what is chosen, so that it can be sent to somebody else. */
const MARK = "#view?";
const atFirst = { weights: [...given], size: state.size, time: state.time, loss: state.loss, harm: state.harm };
let first = null;
function viewText() {
  const view = new URLSearchParams();
  if (!alikeWeights(state.weights, atFirst.weights)) view.set("weights", state.weights.map((weight) => Number(weight.toPrecision(4))).join("_"));
  for (const what of ["size", "time", "loss", "harm"]) if (state[what] !== atFirst[what]) view.set(what, state[what]);
  if (first !== null && state.selected !== first) view.set("row", rows[state.selected].label);
  return view.toString();
}
function writeView() {
  if (first === null) return;
  const text = viewText();
  if (!text && !location.hash.startsWith(MARK)) return;
  try { history.replaceState(null, "", text ? MARK + text : "#standings"); } catch { /* some viewers keep their address */ }
}
function readView() {
  if (!location.hash.startsWith(MARK)) return;
  const view = new URLSearchParams(location.hash.slice(MARK.length));
  const weights = (view.get("weights") ?? "").split("_").map(Number);
  const usable = weights.length === access.length && weights.every((weight) => weight >= 0 && Number.isFinite(weight)) && weights.some((weight) => weight > 0);
  state.weights = usable ? weights : [...atFirst.weights];
  const size = view.get("size");
  state.size = size !== null && sizes[Number(size)] && /^[0-9]+$/.test(size) ? size : atFirst.size;
  for (const what of ["time", "loss", "harm"]) {
    const value = Number(view.get(what) ?? atFirst[what]);
    state[what] = value >= 0 && value <= 2 ? value : atFirst[what];
  }
  const row = rows.findIndex(({ label }) => label === view.get("row"));
  state.selected = row >= 0 ? row : first;
  showControls();
  redraw();
}

/* Controls. At least one access type counts. */
access.forEach(({ id, what }, kind) => {
  const output = element("output", {}, "1");
  const input = element("input", {
    type: "range", min: 0, max: 10, step: 1, value: 1, "aria-label": `Weight of ${id}`, "data-weight": id,
    oninput: () => { state.weights[kind] = Number(input.value); if (state.weights.every((weight) => weight === 0)) { input.value = 1; state.weights[kind] = 1; } output.textContent = input.value; redraw(); },
  });
  document.querySelector("#weights").append(element("label", { title: what }, id, input, output));
});
/* Ranges have whole numbers: they show weights as tenths of the largest, and what counts is as given. */
function showControls() {
  const most = Math.max(...state.weights), whole = state.weights.every((weight) => Number.isInteger(weight) && weight <= 10);
  const factor = whole ? 1 : state.weights.every((weight) => Math.abs(weight - most) < 1e-9) ? 1 / most : 10 / most;
  document.querySelectorAll("[data-weight]").forEach((input, kind) => {
    input.value = Math.round(factor * state.weights[kind]);
    input.nextElementSibling.textContent = input.value;
  });
  for (const what of ["time", "loss", "harm"]) {
    const input = document.querySelector(`#count-${what}`);
    input.value = state[what];
    input.nextElementSibling.textContent = input.value;
  }
  document.querySelector("#size").value = state.size;
}
function weigh(weights) { state.weights = weights; showControls(); redraw(); }
document.querySelector("#all-alike").addEventListener("click", () => weigh(access.map(() => 1)));
const mix = document.querySelector("#today");
mix.hidden = access.every(({ today }) => !today);
mix.addEventListener("click", () => weigh(access.map(({ today }) => today)));
for (const what of ["time", "loss", "harm"]) {
  const input = document.querySelector(`#count-${what}`);
  input.disabled = what === "harm" && data.among.every((row) => !row);
  input.addEventListener("input", () => { state[what] = Number(input.value); input.nextElementSibling.textContent = input.value; redraw(); });
}
const choice = document.querySelector("#size");
choice.append(element("option", { value: "pooled" }, `${data.pooled.map((size) => sizes[size].name).join(", ")} together`), ...sizes.map(({ name }, size) => element("option", { value: size }, name)));
choice.addEventListener("change", () => { state.size = choice.value; redraw(); });
for (const button of document.querySelectorAll("[data-map]")) button.addEventListener("click", () => { state.map = button.dataset.map; redraw(); });
document.querySelector("#all-paths").addEventListener("click", () => { state.cell = null; redraw(); });
/* The first look is at the leader. */
state.selected = standings(counted()).filter((row) => !row.yardstick).sort((a, b) => a.index - b.index)[0].row;
first = state.selected;
showControls();
redraw();
readView();
window.addEventListener("hashchange", readView);
window.addEventListener("resize", () => drawPlane(standings(counted())));
