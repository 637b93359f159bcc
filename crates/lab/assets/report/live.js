// A report that is drawn again while the page is open: what a reader chose before, and how to ask for it.

const startup = [...data.view.startup];
if (kept) {
  arms.forEach((arm, index) => { if (kept.hidden.includes(arm.label)) visible.delete(index); });
  shown();
  const logarithmic = charts.find((chart) => chart.logButton);
  if (logarithmic && kept.log !== null) setLog(logarithmic, kept.log);
  if (kept.view) setView(kept.view === "whole" ? whole : kept.view);
}

function choice() {
  const logarithmic = charts.find((chart) => chart.logButton);
  const is = ([a, b]) => Math.abs(a - view[0]) + Math.abs(b - view[1]) < 1e-6;
  return {
    hidden: arms.filter((_, index) => !visible.has(index)).map(({ label }) => label),
    log: logarithmic && logarithmic.log !== logarithmic.logAtFirst ? logarithmic.log : null,
    view: is(startup) ? null : is(whole) ? "whole" : view,
  };
}

const end = () => charts.forEach((chart) => chart.plot?.destroy());

return { data, choice, end, retheme: (theme) => tell("theme", theme), focus: (index) => tell("focus", index), swatch, format, armInk };
