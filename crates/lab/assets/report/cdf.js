// The share of runs that are done within a time; a run that did not finish counts among all and is never done.

const cdf = document.querySelector("[data-cdf]");

if (cdf) {
  const distribution = data.distributions[Number(cdf.dataset.cdf)];
  const area = cdf.querySelector(".plot"), values = cdf.querySelector(".values");
  const rows = distribution.rows.map((row) => ({ arm: row.arm, all: arms[row.arm].n, sorted: (row.values || []).filter((value) => value !== null).sort((a, b) => a - b) }));
  const share = (row, value) => (row.all ? (lastAt(row.sorted, value) + 1) / row.all : 0);
  const known = rows.flatMap((row) => row.sorted).sort((a, b) => a - b);
  let x = null, chosen = null;

  const draw = () => { if (area.clientWidth) { area.replaceChildren(picture(area.clientWidth)); list(); } };

  function picture(width) {
    const height = narrow() ? 250 : 320, right = width - EDGE.right, bottom = height - EDGE.bottom;
    x = axisScale(rows.filter((row) => visible.has(row.arm)).flatMap((row) => row.sorted), leftEdge(), right);
    const y = axisScale([], bottom, EDGE.top, [0, 1]);
    const picture = framed(width, height, { at: x, kind: distribution.kind, title: distribution.axis }, { at: y, kind: "share" });
    if (chosen !== null) picture.append(svg("line", { class: "axis", x1: x(chosen), x2: x(chosen), y1: EDGE.top, y2: bottom, "stroke-dasharray": "2 2" }));
    for (const row of rows) {
      if (!visible.has(row.arm) || !row.sorted.length) continue;
      const arm = arms[row.arm];
      const steps = row.sorted.map((value, index) => `H${x(value).toFixed(1)}V${y((index + 1) / row.all).toFixed(1)}`).join("");
      picture.append(svg("g", { "data-arm": row.arm }, svg("path", { d: `M${leftEdge()} ${y(0)}${steps}H${right}`, fill: "none", stroke: armInk(arm), "stroke-width": arm.yardstick ? 1.6 : 2, "stroke-dasharray": armDash(arm).join(" ") || null }), svg("title", {}, arm.label)));
    }
    return picture;
  }

  function list() {
    const at = chosen ?? known[Math.floor(known.length / 2)] ?? 0;
    const entries = rows.filter((row) => visible.has(row.arm)).map((row) => [row.arm, format("share", share(row, at))]);
    valueList(values, `Runs at ${format(distribution.kind, at)} or less`, entries.sort((a, b) => share(rows[b[0]], at) - share(rows[a[0]], at)));
  }

  const choose = (value, say) => {
    chosen = value;
    draw();
    if (say && announcement) announcement.textContent = values.innerText.replace(/\n+/g, "; ");
  };
  const pointed = (event) => {
    if (!x || !known.length) return;
    const at = event.clientX - area.getBoundingClientRect().left;
    choose(known.reduce((best, value) => (Math.abs(x(value) - at) < Math.abs(x(best) - at) ? value : best), known[0]), false);
  };
  area.addEventListener("pointermove", pointed);
  area.addEventListener("pointerdown", pointed);
  area.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey || !known.length) return;
    event.preventDefault();
    const now = chosen === null ? Math.floor(known.length / 2) : lastAt(known, chosen);
    choose(known[Math.min(known.length - 1, Math.max(0, now + step))], true);
  });
  onResize(area, draw);
  on("visible", draw);
  on("focus", dimmed(cdf));
}
