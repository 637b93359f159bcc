// The legend: one button per algorithm, acting on every chart of the page.

const chips = arms.map((arm, index) => element("button", {
  class: "chip", type: "button", "aria-pressed": "true", title: "Shift-click: only this one",
  onclick: (event) => (event.shiftKey ? showOnly(index) : show(index, !visible.has(index))),
  onkeydown: (event) => { if (event.key === "Enter" && event.shiftKey) { event.preventDefault(); showOnly(index); } },
  onpointerenter: () => tell("focus", visible.has(index) ? index : null),
  onpointerleave: () => tell("focus", null),
  onfocus: (event) => { if (event.target.matches(":focus-visible")) tell("focus", visible.has(index) ? index : null); },
  onblur: () => tell("focus", null),
}, swatch(arm), element("span", {}, arm.label)));

document.getElementById("chips")?.append(...chips);
const everyone = document.getElementById("show-all");
everyone?.addEventListener("click", () => { arms.forEach((_, index) => visible.add(index)); shown(); });

function show(index, yes) {
  if (yes) visible.add(index); else visible.delete(index);
  shown();
}

function showOnly(index) {
  visible.clear();
  visible.add(index);
  shown();
}

function shown() {
  chips.forEach((chip, index) => chip.setAttribute("aria-pressed", String(visible.has(index))));
  if (everyone) everyone.disabled = visible.size === arms.length;
  tell("focus", null);
  tell("visible");
  tell("state");
}
