// The drawn runs against each other, as fast as the eye can follow: who has how much of the transfer at an instant.

const race = document.getElementById("race");
const lanes = document.getElementById("lanes");
const clock = document.getElementById("clock");
const runButton = document.getElementById("run-race");
const SHOWN_FOR = 4000;
let runners = [], finish = 1, racing = null, raced = false;

function setRace({ data, swatch, format }) {
  const drawn = data.drawn[0];
  race.hidden = !drawn;
  if (!drawn) return;
  const all = data.arms.map((arm, index) => ({ arm, index, run: drawn.runs[index] })).filter(({ run }) => run && run.series.delivered.t.length);
  const size = drawn.path.size_bytes ?? Math.max(...all.map(({ run }) => run.series.delivered.y.at(-1)), 1);
  // What does not finish keeps nobody waiting.
  const ends = all.map(({ run }) => run.done_s).filter((time) => time !== null);
  finish = Math.max(...(ends.length ? ends : all.map(({ run }) => run.end_s)), 1e-6);
  runners = all.map(({ arm, index, run }) => {
    const bar = element("i", { class: "bar", style: `--colour: ${arm.yardstick ? "var(--arm-ideal)" : `var(--arm-${arm.style % 8})`}` });
    const flag = element("i", { class: "flag", title: "left start-up" });
    const time = element("span", { class: "number" });
    const lane = element("li", { "data-arm": index }, element("span", { class: "name" }, swatch(arm), arm.label), element("span", { class: "lane", "aria-hidden": "true" }, bar, flag), time);
    const { t, y } = run.series.delivered;
    const share = (at) => (run.done_s !== null && at >= run.done_s ? 1 : Math.min(1, (y[lastAt(t, at)] ?? 0) / size));
    const left = run.exit ? share(run.exit.t_s) : null;
    if (left !== null) flag.style.left = `${left * 100}%`;
    return { lane, bar, flag, time, share, run, left, done: run.done_s === null ? "not finished" : format("time", run.done_s) };
  });
  lanes.replaceChildren(...runners.map(({ lane }) => lane));
  clock.max = finish;
  clock.step = finish / 1000;
  document.getElementById("race-of").textContent = `seed ${drawn.seed}`;
  if (racing === null) raceAt(raced ? finish : 0);
  if (!raced) startRace();
}

function raceAt(time) {
  clock.value = time;
  document.getElementById("race-time").textContent = `${time.toFixed(finish < 1 ? 3 : finish < 20 ? 2 : 1)}\u202fs`;
  for (const { bar, flag, time: text, share, run, done } of runners) {
    const now = share(time);
    bar.style.width = `${now * 100}%`;
    flag.hidden = !run.exit || run.exit.t_s > time;
    const over = run.done_s !== null && time >= run.done_s;
    text.textContent = over || time >= finish ? done : `${Math.floor(now * 100)}\u202f%`;
    text.classList.toggle("over", over);
  }
}

function startRace() {
  raced = true;
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) { raceAt(finish); return; }
  let from = null;
  const begin = Number(clock.value) >= finish ? 0 : Number(clock.value);
  const step = (now) => {
    from ??= now;
    const time = Math.min(finish, begin + ((now - from) / SHOWN_FOR) * finish);
    raceAt(time);
    racing = time < finish ? requestAnimationFrame(step) : null;
    runButton.textContent = racing === null ? "Again" : "Pause";
  };
  racing = requestAnimationFrame(step);
}

function stopRace() {
  if (racing !== null) cancelAnimationFrame(racing);
  racing = null;
  runButton.textContent = Number(clock.value) >= finish ? "Again" : "Go on";
}

runButton.addEventListener("click", () => (racing === null ? startRace() : stopRace()));
clock.addEventListener("input", () => { const time = Number(clock.value); stopRace(); raceAt(time); stopRace(); });
