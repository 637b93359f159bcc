// One line per algorithm over the values of a sweep; a chart for each combination of the other fields.

const lines = data.overview;
const metricChoice = document.getElementById("metric");
const announcement = document.getElementById("announce");
const facetCharts = [...document.querySelectorAll(".chart[data-facet]")].map(facetChart);

metricChoice.addEventListener("change", () => facetCharts.forEach((draw) => draw()));

function facetChart(host) {
  const facet = lines.facets[Number(host.dataset.facet)];
  const area = host.querySelector(".plot"), values = host.querySelector(".values");
  let chosen = facet.points.length - 1;
  let x = null;

  const rows = () => facet.values[Number(metricChoice.value)];
  const metric = () => lines.metrics[Number(metricChoice.value)];
  const draw = () => { if (area.clientWidth) { area.replaceChildren(picture(area.clientWidth)); list(); } };

  function horizontal(left, right) {
    const xs = facet.points.map((point) => point.x), low = Math.min(...xs), high = Math.max(...xs);
    if (lines.numeric && low > 0 && high / low > 6) return scale(low / 1.04, high * 1.04, left, right, true);
    const space = (high - low || 1) * 0.03;
    return scale(low - space, high + space, left, right);
  }

  function picture(width) {
    const height = narrow() ? 260 : 360, left = narrow() ? 56 : 70, right = width - 20, top = 10, bottom = height - 46;
    const shown = rows().filter((_, arm) => visible.has(arm)).flat().filter(Boolean);
    const all = shown.flatMap((value) => value.slice(0, 3)), low = Math.min(...all), high = Math.max(...all);
    const logarithmic = low > 0 && high / low > 6;
    const space = (high - low || Math.abs(high) || 1) * 0.06;
    // From 0, so that rows that are alike look alike.
    const y = logarithmic ? scale(low / 1.12, high * 1.12, bottom, top, true) : scale(low >= 0 ? 0 : low - space, high + space, bottom, top);
    x = horizontal(left, right);
    const picture = svg("svg", { width, height, "aria-hidden": "true" });
    if (!all.length) return picture;
    const { kind, title } = metric();
    for (const tick of y.ticks(6)) {
      picture.append(svg("line", { class: "grid", x1: left, x2: right, y1: y(tick), y2: y(tick) }), svg("text", { class: "muted", x: left - 7, y: y(tick) + 4, "text-anchor": "end" }, formatTick(kind, tick)));
    }
    let after = -Infinity;
    for (const point of facet.points) {
      const at = x(point.x), half = point.text.length * 3.4;
      picture.append(svg("line", { class: "grid", x1: at, x2: at, y1: top, y2: bottom }));
      if (at - half < after + 6) continue;
      after = at + half;
      picture.append(svg("text", { class: "muted", x: Math.min(at, right - half + 14), y: bottom + 17, "text-anchor": "middle" }, point.text));
    }
    picture.append(svg("line", { class: "axis", x1: x(facet.points[chosen].x), x2: x(facet.points[chosen].x), y1: top, y2: bottom, "stroke-dasharray": "2 2" }));
    picture.append(svg("text", { class: "muted", x: right, y: bottom + 37, "text-anchor": "end" }, `${lines.axis}; ${title.toLowerCase()}${logarithmic ? ", logarithmic" : ""}`));
    rows().forEach((row, arm) => { if (visible.has(arm)) picture.append(line(row, arm, y)); });
    return picture;
  }

  function line(row, index, y) {
    const arm = arms[index], colour = arm.yardstick ? "var(--arm-ideal)" : `var(--arm-${arm.style % 8})`;
    const group = svg("g", { "data-arm": index });
    const known = row.map((value, point) => [value, point]).filter(([value]) => value);
    const at = ([[mean], point]) => `${x(facet.points[point].x).toFixed(1)} ${y(mean).toFixed(1)}`;
    if (known.length) group.append(svg("path", { d: `M${known.map(at).join("L")}`, fill: "none", stroke: colour, "stroke-width": arm.yardstick ? 1.6 : 2, "stroke-dasharray": armDash(arm).join(" ") || null, "stroke-linejoin": "round" }));
    for (const [[mean, low, high, least], point] of known) {
      const cx = x(facet.points[point].x);
      if (high > low) group.append(svg("line", { x1: cx, x2: cx, y1: y(low), y2: y(high), stroke: colour, "stroke-width": 1.4 }));
      const cy = y(mean), r = point === chosen ? 4.4 : 3, ink = { fill: colour, stroke: "var(--paper)", "stroke-width": 1.2 };
      // What is at least so much points to more.
      group.append(least ? svg("path", { class: "least", d: `M${cx - r - 1} ${cy + 1}h${2 * r + 2}l${-r - 1} ${-2 * r - 3}z`, ...ink }) : svg("circle", { cx, cy, r, ...ink }));
    }
    group.append(svg("title", {}, arm.label));
    return group;
  }

  function list() {
    const value = (arm) => rows()[arm][chosen]?.[0] ?? null, least = (arm) => rows()[arm][chosen]?.[3] === 1;
    const order = arms.map((_, arm) => arm).filter((arm) => visible.has(arm)).sort((a, b) => (value(a) ?? Infinity) - (value(b) ?? Infinity));
    const items = order.map((arm) => element("li", { "data-arm": arm }, swatch(arms[arm]), element("span", { class: "name", title: arms[arm].label }, arms[arm].label), element("span", { class: "number" }, formatMean(metric().kind, { mean: value(arm), at_least: least(arm) }))));
    values.replaceChildren(element("p", {}, `At ${facet.points[chosen].text}, mean`), element("ol", {}, ...items));
  }

  function choose(point, say) {
    chosen = Math.min(facet.points.length - 1, Math.max(0, point));
    draw();
    if (say) announcement.textContent = values.innerText.replace(/\n+/g, "; ");
  }

  area.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: chosen - 1, ArrowRight: chosen + 1, Home: 0, End: facet.points.length - 1 }[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    choose(step, true);
  });
  const pointed = (event) => {
    if (!x) return;
    const at = event.clientX - area.getBoundingClientRect().left;
    const nearest = facet.points.reduce((best, point, index) => (Math.abs(x(point.x) - at) < Math.abs(x(facet.points[best].x) - at) ? index : best), 0);
    if (nearest !== chosen) choose(nearest, false);
  };
  area.addEventListener("pointermove", pointed);
  area.addEventListener("pointerdown", pointed);
  onResize(area, draw);
  on("visible", draw);
  on("focus", (index) => host.querySelectorAll("[data-arm]").forEach((row) => { row.style.opacity = index === null || Number(row.dataset.arm) === index ? "" : ".25"; }));
  return draw;
}
