// What a chart shows, as a file: its numbers as CSV, its picture as SVG or PNG. All of it is made in the page.

const scenarioName = document.querySelector("h1 b")?.textContent ?? "ramp";
const fileName = (chart, ending) => `${scenarioName}-${chart}.${ending}`.replace(/[^\w.+-]+/g, "-");

function download(name, type, content) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/* RFC 4180. */
const csvCell = (value) => (value === null || value === undefined ? "" : /[",\n\r]/.test(String(value)) ? `"${String(value).replace(/"/g, '""')}"` : String(value));
const csvText = (rows) => `${rows.map((row) => row.map(csvCell).join(",")).join("\r\n")}\r\n`;

/* The look of a node where no stylesheet reaches it. */
const LOOKS = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "font-size", "font-weight", "font-family", "opacity"];

function standalone(original) {
  const copy = original.cloneNode(true);
  const from = [original, ...original.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((node, index) => {
    if (node.tagName === "title") return;
    const style = getComputedStyle(node);
    for (const look of LOOKS) to[index].setAttribute(look, style.getPropertyValue(look));
    to[index].removeAttribute("class");
    to[index].removeAttribute("style");
  });
  return copy;
}

/* The picture under its title, with a legend below it. */
function plate(title, picture) {
  const width = Number(picture.getAttribute("width")), height = Number(picture.getAttribute("height"));
  const shown = arms.map((arm, index) => [arm, index]).filter(([, index]) => visible.has(index));
  const column = Math.max(...shown.map(([arm]) => Math.min(arm.label.length, 40) * 7.4 + 44), 90), columns = Math.max(1, Math.floor((width - 20) / column));
  const all = 34 + height + 8 + 20 * Math.ceil(shown.length / columns) + 8;
  const text = { "font-family": "system-ui, 'Segoe UI', 'Liberation Sans', Arial, sans-serif", "font-size": 12 };
  const sheet = svg("svg", { xmlns: "http://www.w3.org/2000/svg", width, height: all, viewBox: `0 0 ${width} ${all}` }, svg("rect", { width, height: all, fill: cssValue("--paper") }), svg("text", { ...text, x: 10, y: 21, "font-size": 14, "font-weight": 600, fill: cssValue("--ink") }, title));
  sheet.append(svg("g", { transform: "translate(0 34)" }, picture));
  shown.forEach(([arm], place) => {
    const x = 10 + (place % columns) * column, y = 34 + height + 18 + 20 * Math.floor(place / columns);
    sheet.append(svg("line", { x1: x, x2: x + 22, y1: y - 4, y2: y - 4, stroke: armColour(arm), "stroke-width": 2.5, "stroke-dasharray": armDash(arm).join(" ") || null }), svg("text", { ...text, x: x + 28, y, fill: cssValue("--ink-2") }, fitted(arm.label, 290)));
  });
  return sheet;
}

const svgText = (sheet) => new XMLSerializer().serializeToString(sheet);

function savePng(name, sheet) {
  const image = new Image();
  image.onload = () => {
    const canvas = element("canvas", { width: image.width * 2, height: image.height * 2 });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(name, "image/png", blob));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(sheet))}`;
}

/* Buttons in a chart's header; `rows` gives the table of its CSV, `picture` an SVG of its own. */
function exportable(host, key, { rows, picture }) {
  const header = host.querySelector("header"), title = header.querySelector("h3").textContent;
  const sheet = () => plate(`${scenarioName}: ${title}`, picture());
  const button = (name, act) => element("button", { type: "button", "data-export": name.toLowerCase(), "aria-label": `${title} as ${name}`, onclick: act }, name);
  header.append(element("span", { class: "segmented export", role: "group", "aria-label": "Save" },
    button("CSV", () => download(fileName(key, "csv"), "text/csv", csvText(rows()))),
    button("SVG", () => download(fileName(key, "svg"), "image/svg+xml", svgText(sheet()))),
    button("PNG", () => savePng(fileName(key, "png"), sheet()))));
}

/* Charts over time are painted on a canvas: for a file they are drawn anew. */
function timePicture(chart) {
  const width = Math.max(640, chart.area.clientWidth), height = 320, right = width - EDGE.right, bottom = height - EDGE.bottom;
  const { min, max } = chart.plot.scales.y;
  const x = Object.assign(scale(view[0], view[1], leftEdge(), right), { logarithmic: false });
  const y = Object.assign(scale(min, max, bottom, EDGE.top, chart.log), { logarithmic: chart.log });
  const picture = framed(width, height, { at: x, kind: "time", title: "time since the opening of the connection" }, { at: y, kind: chart.kind });
  // A picture in the picture cuts off what lies outside.
  const frame = { x: leftEdge(), y: EDGE.top - 6, width: right - leftEdge(), height: bottom - EDGE.top + 6 };
  const curves = svg("svg", { ...frame, viewBox: `${frame.x} ${frame.y} ${frame.width} ${frame.height}`, overflow: "hidden" });
  for (const [name, value] of chart.lines(pathShown())) {
    if (value === null || value === undefined || value > max) continue;
    curves.append(svg("line", { x1: leftEdge(), x2: right, y1: y(value), y2: y(value), stroke: "var(--reference)", "stroke-dasharray": "6 4" }), svg("text", { class: "muted", x: right - 5, y: y(value) - 5, "text-anchor": "end" }, `${name} ${format(chart.kind, value)}`));
  }
  if (chart.capacity) curves.append(polyline(chart.capacity(pathShown().capacity), x, y, { stroke: "var(--reference)", "stroke-dasharray": "5 4" }));
  arms.forEach((arm, index) => {
    const run = runOf(index);
    if (!visible.has(index) || !run) return;
    const { t, y: level } = run.series[chart.key];
    const points = t.map((time, at) => [time, level[at]]).filter(([time, value], at) => value !== null && (!chart.log || value > 0) && (t[at + 1] ?? time) >= view[0] && (t[at - 1] ?? time) <= view[1]);
    curves.append(polyline(points, x, y, { stroke: armInk(arm), "stroke-width": arm.yardstick ? 1.6 : 1.9, "stroke-dasharray": armDash(arm).join(" ") || null }));
    if (run.exit && chart.key === "cwnd") curves.append(svg("circle", { cx: x(run.exit.t_s), cy: y(run.exit.cwnd_bytes), r: 4.5, fill: armInk(arm), stroke: "var(--paper)" }));
  });
  picture.append(curves);
  return mounted(picture);
}

const polyline = (points, x, y, look) => svg("polyline", { points: points.map(([time, value]) => `${x(time).toFixed(1)},${y(value).toFixed(1)}`).join(" "), fill: "none", "stroke-linejoin": "round", ...look });

/* Styles are computed only for what is in the document. */
function mounted(picture) {
  const holder = element("div", { class: "visually-hidden", "aria-hidden": "true" }, picture);
  document.body.append(holder);
  const copy = standalone(picture);
  holder.remove();
  return copy;
}

const drawnIn = (host) => standalone(host.querySelector(".plot svg, .rows svg"));
const eachRun = (distribution) => distribution.rows.flatMap((row) => (row.values || []).map((value, run) => [arms[row.arm].label, data.seeds[run], distribution.id, value])).filter((row) => row[3] !== null);
const RUNS = ["algorithm", "seed", "metric", "value"];

for (const chart of charts) {
  exportable(chart.host, chart.key, {
    picture: () => timePicture(chart),
    rows: () => [["algorithm", "seed", "time_s", chart.kind === "time" ? "seconds" : "bytes"], ...arms.flatMap((arm, index) => {
      const curve = visible.has(index) ? runOf(index)?.series[chart.key] : null;
      return curve ? curve.t.map((time, at) => [arm.label, data.drawn[shownSeed].seed, time, curve.y[at]]) : [];
    })],
  });
}
if (sizesFigure && data.sizes.bytes.length > 1) {
  exportable(sizesFigure, "sizes", {
    picture: () => drawnIn(sizesFigure),
    rows: () => [["algorithm", "bytes", "mean_s", "low_95_s", "high_95_s"], ...data.sizes.rows.flatMap((row, arm) => data.sizes.bytes.map((bytes, size) => [arms[arm].label, bytes, row.mean[size], row.low[size], row.high[size]]))],
  });
}
if (cdf) exportable(cdf, "cdf", { picture: () => drawnIn(cdf), rows: () => [RUNS, ...eachRun(data.distributions[Number(cdf.dataset.cdf)])] });
if (tradeoff) {
  const both = () => [tradeoff.dataset.tradeoff, tradeoff.querySelector("select").value].map((index) => data.distributions[Number(index)]);
  exportable(tradeoff, "trade-off", { picture: () => drawnIn(tradeoff), rows: () => [RUNS, ...both().flatMap(eachRun)] });
}
document.getElementById("all-runs")?.addEventListener("click", () => download(fileName("runs", "csv"), "text/csv", csvText([RUNS, ...data.distributions.flatMap(eachRun)])));
