// The address says what is shown: the seed, the stretch of time, the hidden rows, the scale. It can be sent to somebody else.

const MARK = "#view?";
const startView = data.view.startup.join("_");
let writing = false;

function stateText() {
  const state = new URLSearchParams();
  if (shownSeed > 0) state.set("seed", data.drawn[shownSeed].seed);
  const now = view.map((time) => Number(time.toPrecision(6))).join("_");
  if (now !== startView) state.set("t", now);
  for (const [index, arm] of arms.entries()) if (!visible.has(index)) state.append("hide", arm.label);
  const logarithmic = charts.find((chart) => chart.logButton);
  if (logarithmic && logarithmic.log !== logarithmic.logAtFirst) state.set("log", logarithmic.log ? "1" : "0");
  return state.toString();
}

function writeState() {
  if (writing) return;
  writing = true;
  requestAnimationFrame(() => {
    writing = false;
    const text = stateText(), ours = location.hash.startsWith(MARK);
    if (!text && !ours) return;
    try { history.replaceState(null, "", text ? MARK + text : "#time"); } catch { /* some viewers keep their address */ }
  });
}

function readState() {
  if (!location.hash.startsWith(MARK)) return;
  const state = new URLSearchParams(location.hash.slice(MARK.length));
  const seed = data.drawn.findIndex((drawn) => String(drawn.seed) === state.get("seed"));
  if (data.drawn.length) setSeed(Math.max(0, seed));
  const times = (state.get("t") ?? startView).split("_").map(Number);
  if (times.length === 2 && times.every(Number.isFinite) && times[0] < times[1]) setView(times);
  const hidden = new Set(state.getAll("hide"));
  arms.forEach((arm, index) => { if (hidden.has(arm.label)) visible.delete(index); else visible.add(index); });
  shown();
  const logarithmic = charts.find((chart) => chart.logButton);
  if (logarithmic) setLog(logarithmic, state.has("log") ? state.get("log") === "1" : logarithmic.logAtFirst);
  document.getElementById("time")?.scrollIntoView();
}

on("state", writeState);
window.addEventListener("hashchange", readState);
readState();

document.getElementById("copy-link")?.addEventListener("click", async (event) => {
  const button = event.currentTarget;
  const address = location.href.split("#")[0] + (stateText() ? MARK + stateText() : "#time");
  try {
    await navigator.clipboard.writeText(address);
    button.textContent = "Copied";
  } catch {
    location.hash = address.slice(address.indexOf("#"));
    button.textContent = "In the address bar";
  }
  setTimeout(() => { button.textContent = "Copy link"; }, 1600);
});
