// What a result costs: the metric that decides against another one, a point per algorithm with its intervals.

const tradeoff = document.querySelector("[data-tradeoff]");

if (tradeoff) {
  const area = tradeoff.querySelector(".plot"), values = tradeoff.querySelector(".values"), choice = tradeoff.querySelector("select");
  const across = data.distributions[Number(tradeoff.dataset.tradeoff)];
  const up = () => data.distributions[Number(choice.value)];
  const draw = () => { if (area.clientWidth) { area.replaceChildren(picture(area.clientWidth)); list(); } };
  const points = () => arms.map((_, arm) => ({ arm, x: across.rows.find((row) => row.arm === arm), y: up().rows.find((row) => row.arm === arm) })).filter(({ arm, x, y }) => visible.has(arm) && Number.isFinite(x?.mean) && Number.isFinite(y?.mean));

  function picture(width) {
    const height = narrow() ? 300 : 380, bottom = height - EDGE.bottom, all = points();
    const x = axisScale(all.map((point) => point.x.mean), leftEdge(), width - EDGE.right);
    const y = axisScale(all.map((point) => point.y.mean), bottom, EDGE.top);
    const picture = framed(width, height, { at: x, kind: across.kind, title: across.axis }, { at: y, kind: up().kind });
    const taken = all.map((point) => box(x(point.x.mean) - 6, y(point.y.mean) - 6, 12, 12)), bars = [];
    for (const { arm, x: h, y: v } of all) {
      const cx = x(h.mean), cy = y(v.mean), colour = armInk(arms[arm]);
      const group = svg("g", { "data-arm": arm });
      const bar = (x1, x2, y1, y2) => {
        bars.push(box(Math.min(x1, x2) - 1, Math.min(y1, y2) - 1, Math.abs(x2 - x1) + 2, Math.abs(y2 - y1) + 2));
        return svg("line", { x1, x2, y1, y2, stroke: colour, "stroke-width": 1.4, "stroke-opacity": 0.6 });
      };
      const within = (value, low, high) => Math.min(high, Math.max(low, value));
      if (h.high > h.low && (!x.logarithmic || h.low > 0)) group.append(bar(within(x(h.low), leftEdge(), width), within(x(h.high), 0, width - 4), cy, cy));
      if (v.high > v.low && (!y.logarithmic || v.low > 0)) group.append(bar(cx, cx, within(y(v.low), 0, bottom), within(y(v.high), 2, bottom)));
      group.append(svg("circle", { cx, cy, r: 5, fill: colour, stroke: "var(--paper)", "stroke-width": 1.5 }));
      group.append(svg("title", {}, `${arms[arm].label}: ${across.title} ${formatMean(across.kind, h)}, ${up().title} ${formatMean(up().kind, v)}`));
      picture.append(group);
    }
    // Over all intervals, whosever they are.
    for (const { arm, x: h, y: v } of all) {
      const place = labelPlace(arms[arm].label, x(h.mean), y(v.mean), { taken, bars }, width, bottom);
      if (place) picture.append(svg("g", { "data-arm": arm }, svg("text", { x: place.x, y: place.y + 11, "text-anchor": "start", stroke: "var(--paper)", "stroke-width": 3, "paint-order": "stroke", "stroke-linejoin": "round" }, fitted(arms[arm].label, 150))));
    }
    return picture;
  }

  const box = (x, y, width, height) => ({ x, y, width, height });
  const apart = (a, b) => a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;

  /* Beside, above or below the point, where nothing is yet and no interval passes, or else where nothing is yet; nowhere if everything
     is taken: the list has the name. */
  function labelPlace(label, cx, cy, { taken, bars }, width, bottom) {
    const long = Math.min(150, label.length * 7.2), high = 14;
    const tries = [[9, -7], [-9 - long, -7], [-long / 2, -22], [-long / 2, 8], [9, -20], [9, 6], [-9 - long, -20], [-9 - long, 6], [14, -34], [14, 20], [-14 - long, -34], [-14 - long, 20]];
    const places = tries.map(([dx, dy]) => box(cx + dx, cy + dy, long, high)).filter((place) => place.x > leftEdge() && place.x + long < width && place.y > 0 && place.y + high < bottom + 4);
    const free = places.filter((place) => taken.every((other) => apart(place, other)));
    const clear = free.find((place) => bars.every((other) => apart(place, other))) ?? free[0];
    if (clear) taken.push(clear);
    return clear;
  }

  function list() {
    const sorted = points().sort((a, b) => a.y.mean - b.y.mean);
    valueList(values, `${up().title}, mean`, sorted.map(({ arm, y }) => [arm, formatMean(up().kind, y)]));
  }

  choice.addEventListener("change", draw);
  onResize(area, draw);
  on("visible", draw);
  on("focus", dimmed(tradeoff));
}
