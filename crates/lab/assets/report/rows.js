// One row per algorithm over one scale: runs as dots, means with intervals, differences with their margin.

const ROW = 34;

/* `spec` is asked anew at each drawing, so that a figure can change its subject. */
function rowPlot(figure, spec) {
  const host = figure.querySelector(".rows");
  const draw = () => { if (host.clientWidth) host.replaceChildren(picture(host.clientWidth, spec())); };
  onResize(host, draw);
  on("visible", draw);
  on("focus", (index) => host.querySelectorAll("[data-arm]").forEach((row) => { row.style.opacity = index === null || Number(row.dataset.arm) === index ? "" : ".3"; }));
  return draw;
}

function picture(width, spec) {
  const rows = spec.rows.filter((row) => visible.has(row.arm));
  const stacked = width < 560 || !spec.rows.some((row) => row.text);
  const labels = Math.min(width * 0.4, 10 + 7.4 * Math.max(6, ...rows.map((row) => arms[row.arm].label.length)));
  const height = ROW + (spec.rows.some((row) => row.text) && stacked ? 12 : 0);
  const right = width - (stacked ? 14 : 270), top = spec.band || spec.lines ? 22 : 8, bottom = top + rows.length * height;
  const x = domain(spec, rows, labels + 10, right);
  const picture = svg("svg", { width, height: bottom + 40, role: "img", "aria-label": spec.label });
  if (spec.band) band(picture, spec, x, top, bottom);
  axis(picture, spec, x, { left: labels + 10, right, top, bottom });
  for (const [index, row] of rows.entries()) {
    const y = top + index * height + height / 2 - (stacked && row.text ? 6 : 0);
    picture.append(rowOf(spec, row, x, { y, labels, right, stacked }));
  }
  return picture;
}

function domain(spec, rows, left, right) {
  const values = rows.flatMap((row) => [row.low, row.high, ...(row.values || [])]).filter((value) => value !== null && value !== undefined && Number.isFinite(value));
  if (spec.lines) values.push(...spec.lines.map(([, value]) => value));
  if (spec.band) values.push(spec.band[0], spec.band[1], spec.origin);
  if (!values.length) values.push(0, 1);
  let low = Math.min(...values), high = Math.max(...values);
  const logarithmic = low > 0 && high / low > (spec.band ? 3 : 12);
  if (logarithmic) return Object.assign(scale(low / 1.15, high * 1.15, left, right, true), { logarithmic, low, high });
  if (low === high && low === 0) high = 1;
  if (low >= 0 && low < high * 0.4) low = 0;
  const space = (high - low || Math.abs(high) || 1) * 0.05;
  low = low === 0 ? 0 : low - space;
  high += space;
  return Object.assign(scale(low, high, left, right), { logarithmic, low, high });
}

function axis(picture, spec, x, { left, right, top, bottom }) {
  const unit = unitFor(spec.kind, Math.max(Math.abs(x.low), Math.abs(x.high)));
  const ticks = x.logarithmic ? x.ticks(Math.floor((right - left) / 46)) : linearTicks(x.low / unit[0], x.high / unit[0], Math.floor((right - left) / 62)).map((tick) => tick * unit[0]);
  const labels = x.logarithmic ? ticks.map((tick) => axisLabels([tick], unit)[0]) : axisLabels(ticks, unit);
  for (const [index, tick] of ticks.entries()) {
    picture.append(svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: top, y2: bottom }));
    picture.append(svg("text", { class: "muted", x: x(tick), y: bottom + 16, "text-anchor": "middle" }, labels[index]));
  }
  picture.append(svg("line", { class: "axis", x1: left, x2: right, y1: bottom + 0.5, y2: bottom + 0.5 }));
  const title = `${spec.axis}${unit[1] ? ` [${unit[1]}]` : ""}${x.logarithmic ? ", logarithmic" : ""}`;
  picture.append(svg("text", { class: "muted", x: right, y: bottom + 33, "text-anchor": "end" }, title));
  for (const [name, value] of spec.lines || []) {
    picture.append(svg("line", { x1: x(value), x2: x(value), y1: top - 4, y2: bottom, stroke: "var(--reference)", "stroke-dasharray": "6 4" }));
    picture.append(svg("text", { class: "muted", x: x(value), y: top - 9, "text-anchor": "middle" }, name));
  }
}

function band(picture, spec, x, top, bottom) {
  picture.append(svg("rect", { x: x(spec.band[0]), width: Math.max(1, x(spec.band[1]) - x(spec.band[0])), y: top, height: bottom - top, fill: "var(--accent-soft)" }));
  picture.append(svg("line", { x1: x(spec.origin), x2: x(spec.origin), y1: top, y2: bottom, stroke: "var(--ink-3)" }));
  picture.append(svg("text", { class: "muted", x: x(spec.origin), y: top - 8, "text-anchor": "middle" }, spec.bandLabel));
}

function rowOf(spec, row, x, { y, labels, right, stacked }) {
  const arm = arms[row.arm], colour = arm.yardstick ? "var(--arm-ideal)" : `var(--arm-${arm.style % 8})`;
  const group = svg("g", { "data-arm": row.arm });
  group.append(svg("text", { class: "strong", x: labels, y: y + 4, "text-anchor": "end" }, fitted(arm.label, labels)));
  if (row.flag) group.append(svg("text", { x: labels, y: y + 16, "text-anchor": "end", style: "fill: var(--warn); font-size: 10.5px" }, row.flag));
  if (row.values) dots(group, row.values.filter((value) => value !== null), x, y, colour);
  if (row.low !== null && row.low !== undefined) {
    const thick = row.values ? 3 : 2.5;
    group.append(svg("line", { x1: x(row.low), x2: Math.max(x(row.high), x(row.low) + 1), y1: y, y2: y, stroke: row.values ? "var(--ink)" : colour, "stroke-width": thick, "stroke-linecap": "round" }));
  }
  if (row.mean !== null && row.mean !== undefined) {
    group.append(svg("path", { d: `M${x(row.mean)} ${y - 6}${row.at_least ? "l8 6l-8 6z" : "l4.5 6l-4.5 6l-4.5-6z"}`, fill: row.values ? "var(--ink)" : colour, stroke: "var(--paper)", "stroke-width": 1.5 }));
  }
  if (row.text) {
    const place = stacked ? { x: right, y: y + 20, "text-anchor": "end" } : { x: right + 16, y: y + 4 };
    group.append(svg("text", place, row.text));
  }
  group.append(svg("title", {}, `${arm.label}: ${row.describe || row.text || formatMean(spec.kind, row)}`));
  return group;
}

const fitted = (text, width) => (text.length * 7.2 <= width ? text : `${text.slice(0, Math.max(3, Math.floor(width / 7.2) - 1))}…`);

/* Each run where it belongs, moved aside only as far as the others need. */
function dots(group, values, x, y, colour) {
  const radius = values.length > 60 ? 2 : 2.6, reach = ROW / 2 - radius - 1;
  const placed = [];
  for (const value of [...values].sort((a, b) => a - b)) {
    const at = x(value);
    const near = placed.filter((other) => at - other.at < radius * 2);
    let offset = 0;
    for (let step = 0; step <= Math.ceil(reach); step += 1) {
      const candidate = [step, -step].find((shift) => Math.abs(shift) <= reach && near.every((other) => (at - other.at) ** 2 + (shift - other.offset) ** 2 >= (radius * 1.9) ** 2));
      if (candidate !== undefined) { offset = candidate; break; }
    }
    placed.push({ at, offset });
    group.append(svg("circle", { cx: at.toFixed(1), cy: (y + offset).toFixed(1), r: radius, fill: colour, "fill-opacity": 0.62 }));
  }
}

const distributionSpec = (distribution) => ({
  kind: distribution.kind, axis: distribution.axis, label: distribution.label, lines: distribution.lines, rows: distribution.rows,
});

for (const figure of document.querySelectorAll(".figure[data-distribution]")) {
  rowPlot(figure, () => distributionSpec(data.distributions[Number(figure.dataset.distribution)]));
}

const other = document.querySelector(".figure[data-other]");
if (other) {
  const choice = other.querySelector("select"), meaning = other.querySelector("#other-meaning");
  const draw = rowPlot(other, () => distributionSpec(data.distributions[Number(choice.value)]));
  const chosen = () => { meaning.textContent = data.distributions[Number(choice.value)].meaning; draw(); };
  choice.addEventListener("change", chosen);
  chosen();
}

const differences = document.querySelector(".figure[data-differences]");
if (differences) {
  let against = 0;
  const draw = rowPlot(differences, () => {
    const group = data.differences[against];
    return { kind: group.kind, axis: group.axis, label: group.label, rows: group.rows, band: group.band, bandLabel: group.band_label, origin: group.origin };
  });
  const buttons = [...differences.querySelectorAll("[data-against]")];
  for (const button of buttons) {
    button.addEventListener("click", () => {
      against = Number(button.dataset.against);
      buttons.forEach((each) => each.setAttribute("aria-pressed", String(each === button)));
      draw();
    });
  }
}
