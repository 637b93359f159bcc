// How long the first N bytes take: both axes logarithmic, or as a multiple of the yardstick.

const sizesFigure = document.querySelector("[data-sizes]");

if (sizesFigure && data.sizes.bytes.length > 1) {
  const area = sizesFigure.querySelector(".plot"), values = sizesFigure.querySelector(".values");
  const yardstick = arms.findIndex((arm) => arm.yardstick);
  let relative = false, chosen = data.sizes.bytes.length - 1;

  const reference = (row) => (relative ? data.sizes.rows[yardstick].mean[row] : 1);
  const draw = () => { if (area.clientWidth) { area.replaceChildren(sizesPicture(area.clientWidth)); sizesValues(); } };

  function sizesPicture(width) {
    const height = narrow() ? 250 : 330, left = narrow() ? 52 : 64, right = width - 22, top = 10, bottom = height - 44;
    const { bytes, rows } = data.sizes;
    const all = rows.flatMap((row, arm) => (visible.has(arm) ? bytes.flatMap((_, size) => [row.low[size], row.mean[size], row.high[size]].filter((value) => value > 0).map((value) => value / reference(size))) : []));
    const low = Math.min(...all, relative ? 1 : Infinity), high = Math.max(...all, relative ? 1.1 : 0);
    const logarithmic = !relative || high / low > 8;
    const x = scale(bytes[0], bytes[bytes.length - 1], left, right, true);
    const y = logarithmic ? scale(low / 1.1, high * 1.1, bottom, top, true) : scale(low - (high - low) * 0.05, high + (high - low) * 0.05, bottom, top);
    const picture = svg("svg", { width, height, "aria-hidden": "true" });
    for (const tick of x.ticks(Math.floor((right - left) / 70))) {
      picture.append(svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: top, y2: bottom }), svg("text", { class: "muted", x: x(tick), y: bottom + 17, "text-anchor": "middle" }, formatTick("bytes", tick)));
    }
    for (const tick of y.ticks(6)) {
      const text = relative ? formatTick("ratio", tick) : formatTick("time", tick);
      picture.append(svg("line", { class: "grid", x1: left, x2: right, y1: y(tick), y2: y(tick) }), svg("text", { class: "muted", x: left - 7, y: y(tick) + 4, "text-anchor": "end" }, text));
    }
    picture.append(svg("text", { class: "muted", x: right, y: bottom + 36, "text-anchor": "end" }, "first N bytes of the transfer, logarithmic"));
    picture.append(svg("line", { class: "axis", x1: x(bytes[chosen]), x2: x(bytes[chosen]), y1: top, y2: bottom, "stroke-dasharray": "2 2" }));
    rows.forEach((row, arm) => { if (visible.has(arm)) picture.append(sizeLine(row, arm, x, y)); });
    return picture;
  }

  function sizeLine(row, index, x, y) {
    const arm = arms[index], colour = arm.yardstick ? "var(--arm-ideal)" : `var(--arm-${arm.style % 8})`;
    const known = data.sizes.bytes.map((_, size) => size).filter((size) => row.mean[size] > 0);
    const at = (size, value) => `${x(data.sizes.bytes[size]).toFixed(1)} ${y(value / reference(size)).toFixed(1)}`;
    const group = svg("g", { "data-arm": index });
    const edge = known.map((size) => at(size, row.high[size] ?? row.mean[size])).concat([...known].reverse().map((size) => at(size, row.low[size] ?? row.mean[size])));
    if (known.length) group.append(svg("path", { d: `M${edge.join("L")}Z`, fill: colour, "fill-opacity": 0.16 }));
    if (known.length) group.append(svg("path", { d: `M${known.map((size) => at(size, row.mean[size])).join("L")}`, fill: "none", stroke: colour, "stroke-width": arm.yardstick ? 1.6 : 2, "stroke-dasharray": armDash(arm).join(" ") || null, "stroke-linejoin": "round" }));
    for (const size of known) {
      const [cx, cy] = at(size, row.mean[size]).split(" ");
      group.append(svg("circle", { cx, cy, r: size === chosen ? 4 : 2.4, fill: colour, stroke: "var(--paper)", "stroke-width": size === chosen ? 1.5 : 0 }));
    }
    return group;
  }

  function sizesValues() {
    const { bytes, rows } = data.sizes;
    const order = rows.map((_, arm) => arm).filter((arm) => visible.has(arm)).sort((a, b) => (rows[a].mean[chosen] ?? Infinity) - (rows[b].mean[chosen] ?? Infinity));
    const list = order.map((index) => {
      const mean = rows[index].mean[chosen];
      const number = relative && mean > 0 ? `${(mean / reference(chosen)).toFixed(2)}×` : format("time", mean);
      return element("li", { "data-arm": index }, swatch(arms[index]), element("span", { class: "name" }, arms[index].label), element("span", { class: "number" }, number));
    });
    values.replaceChildren(element("p", {}, `First ${format("bytes", bytes[chosen])}, mean`), element("ol", {}, ...list));
  }

  function choose(size, say) {
    chosen = Math.min(data.sizes.bytes.length - 1, Math.max(0, size));
    draw();
    if (say && announcement) announcement.textContent = values.innerText.replace(/\n+/g, "; ");
  }

  area.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    choose(Number.isFinite(step) ? chosen + step : step < 0 ? 0 : data.sizes.bytes.length - 1, true);
  });
  const pointed = (event) => {
    const box = area.getBoundingClientRect(), left = narrow() ? 52 : 64, share = (event.clientX - box.left - left) / (box.width - left - 22);
    const { bytes } = data.sizes, wanted = Math.log(bytes[0]) + share * Math.log(bytes[bytes.length - 1] / bytes[0]);
    const nearest = bytes.reduce((best, size, index) => (Math.abs(Math.log(size) - wanted) < Math.abs(Math.log(bytes[best]) - wanted) ? index : best), 0);
    if (nearest !== chosen) choose(nearest, false);
  };
  area.addEventListener("pointermove", pointed);
  area.addEventListener("pointerdown", pointed);
  for (const button of sizesFigure.querySelectorAll("[data-relative]")) {
    button.addEventListener("click", () => {
      relative = button.dataset.relative === "yes";
      sizesFigure.querySelectorAll("[data-relative]").forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
      draw();
    });
  }
  onResize(area, draw);
  on("visible", draw);
  on("focus", (index) => sizesFigure.querySelectorAll("[data-arm]").forEach((row) => { row.style.opacity = index === null || Number(row.dataset.arm) === index ? "" : ".25"; }));
}
