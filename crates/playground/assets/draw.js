// A rate or a round-trip time drawn by hand: columns that one drags over, each a slider for the keyboard.

const COLUMNS = 12;
const pad = document.getElementById("pad");
const padOf = document.getElementById("pad-of");
const padTop = document.getElementById("pad-top");
const padPeriod = document.getElementById("pad-period");
const columns = Array.from({ length: COLUMNS }, (_, index) => {
  const slider = element("input", { type: "range", min: 0, max: 100, value: [80, 80, 75, 60, 30, 20, 25, 45, 70, 90, 100, 90][index], "aria-label": `part ${index + 1} of ${COLUMNS}` });
  slider.style.setProperty("--height", `${slider.value}%`);
  slider.addEventListener("input", () => column(index, Number(slider.value)));
  pad.append(slider);
  return slider;
});

function column(index, value) {
  columns[index].value = value;
  columns[index].style.setProperty("--height", `${value}%`);
  columns[index].setAttribute("aria-valuetext", `${value} % of the full height`);
}

let drawing = null;
function drawAt(event) {
  const box = pad.getBoundingClientRect();
  const index = Math.max(0, Math.min(COLUMNS - 1, Math.floor(((event.clientX - box.left) / box.width) * COLUMNS)));
  const value = Math.round(Math.max(0, Math.min(1, (box.bottom - event.clientY) / box.height)) * 100);
  const [from, before] = drawing ?? [index, value];
  const steps = Math.max(1, Math.abs(index - from));
  for (let step = 0; step <= steps; step += 1) column(Math.round(from + ((index - from) * step) / steps), Math.round(before + ((value - before) * step) / steps));
  drawing = [index, value];
}
pad.addEventListener("pointerdown", (event) => { event.preventDefault(); pad.setPointerCapture(event.pointerId); drawing = null; drawAt(event); columns[drawing[0]].focus(); });
pad.addEventListener("pointermove", (event) => { if (drawing) drawAt(event); });
for (const name of ["pointerup", "pointercancel"]) pad.addEventListener(name, () => { drawing = null; });

const quantity = (text) => { const [, number, unit] = /^\s*([\d.]+)\s*(.*?)\s*$/.exec(text) ?? []; return { number: Number(number), unit }; };
/* Whole thousandths, without the noise of binary fractions. */
const neat = (number) => String(Math.round(number * 1000) / 1000);

const TOPS = { rate: "100 Mbit/s", rtt: "200 ms" };
const NAMES = { rate: "The rate over time", rtt: "The round-trip time over time" };
padOf.addEventListener("change", () => { padTop.value = TOPS[padOf.value]; pad.setAttribute("aria-label", NAMES[padOf.value]); });

/* What was drawn as `rate` or `rtt` and its period; null: the height or the period is no quantity. */
function drawnCurve() {
  const top = quantity(padTop.value), period = quantity(padPeriod.value), name = padOf.value;
  if (!(top.number > 0) || !top.unit || !(period.number > 0) || !period.unit) return null;
  // Nothing comes back in no time.
  const least = name === "rtt" ? 1 : 0;
  const steps = columns.map((slider, index) => ({ at: (index * period.number) / COLUMNS, share: Math.max(least, Number(slider.value)) / 100 })).filter(({ share }, index, all) => index === 0 || share !== all[index - 1].share);
  const curve = steps.map(({ at, share }) => `{ at = "${neat(at)} ${period.unit}", ${name} = "${neat(share * top.number)} ${top.unit}" }`).join(", ");
  return { name, curve: `[${curve}]`, period: `${period.number} ${period.unit}` };
}
