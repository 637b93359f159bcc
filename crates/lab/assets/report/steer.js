// Panels by keyboard, wheel and touch.

const announcement = document.getElementById("announce");

const zoom = (factor, centre = cursorTime ?? (view[0] + view[1]) / 2) =>
  setView([centre - (centre - view[0]) * factor, centre + (view[1] - centre) * factor]);
const pan = (share) => setView([view[0] + (view[1] - view[0]) * share, view[1] + (view[1] - view[0]) * share]);

document.getElementById("zoom-in")?.addEventListener("click", () => zoom(0.5));
document.getElementById("zoom-out")?.addEventListener("click", () => zoom(2));
document.getElementById("pan-left")?.addEventListener("click", () => pan(-0.25));
document.getElementById("pan-right")?.addEventListener("click", () => pan(0.25));

function steer(chart) {
  const keys = {
    ArrowLeft: (event) => (event.shiftKey ? pan(-0.1) : move(chart, -1)),
    ArrowRight: (event) => (event.shiftKey ? pan(0.1) : move(chart, 1)),
    "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "_": () => zoom(2),
    Home: () => setView(data.view.startup), End: () => setView(whole), Escape: () => setCursor(null),
  };
  chart.area.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key](event);
  });
  chart.area.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 0.8 : 1.25, timeAt(chart, event.clientX));
  }, { passive: false });
  let pinch = null;
  chart.area.addEventListener("touchstart", (event) => {
    pinch = event.touches.length === 2 ? { times: span(chart, event), view: [...view] } : null;
    if (event.touches.length === 1) setCursor(timeAt(chart, event.touches[0].clientX));
  }, { passive: true });
  chart.area.addEventListener("touchmove", (event) => {
    if (event.touches.length === 1 && !pinch) { setCursor(timeAt(chart, event.touches[0].clientX)); return; }
    if (!pinch || event.touches.length !== 2) return;
    event.preventDefault();
    follow(chart, event, pinch);
  }, { passive: false });
}

/* The two fingers stay on the times they took hold of. */
function follow(chart, event, pinch) {
  const box = chart.plot.over.getBoundingClientRect();
  const [a, b] = [...event.touches].map((touch) => (touch.clientX - box.left) / box.width).sort((x, y) => x - y);
  const perShare = (pinch.times[1] - pinch.times[0]) / Math.max(0.02, b - a);
  const from = pinch.times[0] - a * perShare;
  setView([from, from + perShare]);
}

const span = (chart, event) => [...event.touches].map((touch) => timeAt(chart, touch.clientX)).sort((a, b) => a - b);

function timeAt(chart, clientX) {
  const box = chart.plot.over.getBoundingClientRect();
  return view[0] + ((clientX - box.left) / box.width) * (view[1] - view[0]);
}

function move(chart, direction) {
  const step = (view[1] - view[0]) / 100;
  setCursor(cursorTime === null ? (view[0] + view[1]) / 2 : cursorTime + direction * step);
  const values = arms.map((arm, index) => (visible.has(index) && runOf(index) ? `${arm.label} ${valueText(chart, index)}` : null)).filter(Boolean);
  if (announcement) announcement.textContent = `${cursorTime.toFixed(3)} s: ${values.join("; ")}`;
}
