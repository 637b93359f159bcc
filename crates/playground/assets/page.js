// The page: the form, the players, and what they find.

let about = null, report = null, turn = 0, kept = null;
const results = document.getElementById("results");
const statusLine = document.getElementById("status");
const progressBar = document.getElementById("done");
const stopButton = document.getElementById("stop");
const commandText = document.getElementById("command");
const wrong = document.getElementById("wrong");
const reportData = document.getElementById("report-data");

on("theme", (theme) => report?.retheme(theme));

/* What the form shows of what is asked. */
function showAsk(fields = null) {
  scenarioChoice.value = asking.text === null ? asking.scenario ?? "" : "text";
  const own = asking.text === null && !asking.scenario;
  for (const input of inputs) {
    const name = input.dataset.option, value = optionOf(name);
    if (document.activeElement !== input) input.value = value;
    if (input.tagName === "INPUT") input.placeholder = fields?.[name] ?? input.dataset.none ?? "";
    // A graph has no single path: its file says what its links are.
    input.disabled = !own && fields !== null && !("rtt" in fields || "rate" in fields || "trace" in fields) && name !== "size";
  }
  const rows = rowsAsked();
  document.getElementById("groups").querySelectorAll("button").forEach((button) => button.setAttribute("aria-pressed", String((asking.algorithms.length ? asking.algorithms : ["default"]).join() === button.dataset.group)));
  showRows(rows);
  for (const [name, input] of Object.entries(numbers)) if (document.activeElement !== input) input.value = asking[name] ?? "";
}

function showRows(rows) {
  const own = rows.filter((row) => !about.algorithms.some(({ id }) => id === row));
  const box = (id, idea) => element("label", { title: idea, class: "row" }, element("input", { type: "checkbox", value: id, ...(rows.includes(id) ? { checked: "" } : {}) }), id);
  const list = document.getElementById("row-list");
  const focused = list.contains(document.activeElement) ? document.activeElement.value : null;
  const first = about.algorithms.filter(({ id, groups, yardstick }) => rows.includes(id) || groups.includes("default") || yardstick);
  const rest = about.algorithms.filter((row) => !first.includes(row));
  const open = list.querySelector("details")?.open;
  list.replaceChildren(element("div", {}, ...first.map(({ id, idea }) => box(id, idea)), ...own.map((row) => box(row, "a row with parameters"))),
    rest.length ? element("details", open ? { open: "" } : {}, element("summary", {}, `${rest.length} more`), element("div", {}, ...rest.map(({ id, idea }) => box(id, idea)))) : null);
  if (focused) list.querySelector(`input[value="${CSS.escape(focused)}"]`)?.focus();
}

const listed = [...document.querySelectorAll("#ask input[data-option]")];
for (const input of listed) input.dataset.none = input.placeholder;

function changed() { history.replaceState(null, "", addressOf(asking)); showAsk(); start(); }

for (const input of inputs) input.addEventListener("change", () => { setOption(input.dataset.option, input.value.trim()); changed(); });
for (const [name, input] of Object.entries(numbers)) input.addEventListener("change", () => { asking[name] = input.value === "" || !input.checkValidity() ? null : Number(input.value); changed(); });
document.getElementById("ask").addEventListener("submit", (event) => event.preventDefault());
document.getElementById("ask").addEventListener("keydown", (event) => { if (event.key === "Enter" && event.target.matches("input[data-option], input[type=number]")) event.target.dispatchEvent(new Event("change")); });
scenarioChoice.addEventListener("change", () => {
  const name = scenarioChoice.value;
  if (name === "text") return;
  Object.assign(asking, { scenario: name || null, text: null, options: name ? {} : { ...OWN }, set: [], uncertain: [] });
  changed();
});
document.getElementById("use-text").addEventListener("click", () => { Object.assign(asking, { scenario: null, text: scenarioText.value, options: {}, set: [], uncertain: [] }); changed(); });
document.getElementById("save-text").addEventListener("click", () => {
  const link = element("a", { href: URL.createObjectURL(new Blob([scenarioText.value], { type: "text/plain" })), download: "my-path.toml" });
  link.click();
  URL.revokeObjectURL(link.href);
});
document.getElementById("use-drawn").addEventListener("click", () => {
  const found = drawnCurve();
  if (!found) { say(new Error("The curve's height is a rate, such as 100 Mbit/s, or a time, such as 200 ms, and it repeats after a time, such as 12 s.")); return; }
  setOption(found.name, found.curve);
  forgetPeriod(found.name);
  asking.set.push(`${PERIODS[found.name]}=${found.period}`);
  changed();
});
document.getElementById("no-drawn").addEventListener("click", () => { setOption(padOf.value, asking.scenario || asking.text !== null ? "" : OWN[padOf.value]); changed(); });
document.getElementById("row-list").addEventListener("change", (event) => {
  const rows = rowsAsked().filter((row) => row !== event.target.value);
  if (event.target.checked) rows.push(event.target.value);
  if (rows.length) askRows(rows);
  changed();
});
const moreRow = document.getElementById("more-row");
function addRow() {
  const row = moreRow.value.trim();
  if (!row) return;
  askRows([...rowsAsked().filter((other) => other !== row), row]);
  moreRow.value = "";
  changed();
}
document.getElementById("add-row").addEventListener("click", addRow);
moreRow.addEventListener("keydown", (event) => { if (event.key === "Enter") addRow(); });
/* Before there is anything to choose from, `open` reads the address. */
window.addEventListener("hashchange", () => { if (about && location.hash !== addressOf(asking)) { asking = askOf(location.hash); changed(); } });

/* Only the last call within a moment plays. */
let soon = null;
function start() {
  clearTimeout(soon);
  soon = setTimeout(play, 60);
}

async function play() {
  turn += 1;
  const mine = turn;
  const wanted = () => mine === turn;
  wrong.hidden = true;
  raced = false;
  stopButton.hidden = false;
  progressBar.removeAttribute("value");
  statusLine.textContent = "Starting …";
  document.body.dataset.state = "playing";
  try {
    await playAll(structuredClone(asking), {
      wanted,
      begun: (path) => {
        commandText.textContent = path.command;
        if (document.activeElement !== scenarioText) scenarioText.value = path.text;
        showAsk(path.fields);
        numbers.runs.placeholder = path.runs;
        numbers.seed.placeholder = path.seed;
      },
      progressed: (done, total) => {
        if (!wanted()) return;
        progressBar.max = Math.max(total, done);
        progressBar.value = done;
        statusLine.textContent = `${done} of ${Math.max(total, done)} runs`;
      },
      shown: (answer, stage) => { show(answer, stage); },
    });
    if (!wanted()) return;
    statusLine.textContent = `${progressBar.value} runs: everything is played.`;
    progressBar.value = progressBar.max;
    document.body.dataset.state = "done";
  } catch (trouble) {
    if (!wanted()) return;
    say(trouble);
    document.body.dataset.state = "wrong";
    progressBar.value = 0;
    statusLine.textContent = "";
    // An engine that failed is in no state to be asked again.
    if (!(trouble instanceof Refused)) { team.forEach((one) => one.end()); team = []; }
  }
  stopButton.hidden = true;
}

stopButton.addEventListener("click", () => {
  turn += 1;
  stopButton.hidden = true;
  statusLine.textContent += ": stopped.";
  document.body.dataset.state = "stopped";
});

function say(trouble) {
  wrong.hidden = false;
  wrong.replaceChildren(...[trouble.message, trouble.help].filter(Boolean).flatMap((text) => text.split("\n")).map((text) => element("p", {}, text)));
}

/* What the runs say, in the place of what they said before; what a reader has chosen and opened stays. */
function show({ body, data: text }, stage) {
  const open = new Set([...results.querySelectorAll("details[open] > summary")].map((summary) => summary.textContent));
  const shut = new Set([...results.querySelectorAll("details:not([open]) > summary")].map((summary) => summary.textContent));
  const reachable = () => [...results.querySelectorAll("button, select, [tabindex], summary, a")];
  const focused = reachable().indexOf(document.activeElement);
  if (report) { kept = report.choice(); report.end(); }
  results.style.minHeight = `${results.clientHeight}px`;
  results.innerHTML = body;
  for (const details of results.querySelectorAll("details")) {
    const name = details.querySelector("summary").textContent;
    if (open.has(name)) details.open = true; else if (shut.has(name)) details.open = false;
  }
  reportData.textContent = text;
  report = drawReport(kept);
  results.style.minHeight = "";
  if (focused >= 0) reachable()[focused]?.focus({ preventScroll: true });
  if (stage > 0 || raced) setRace(report);
  document.body.dataset.shown = Number(document.body.dataset.shown ?? 0) + 1;
}

async function copy(button, text) {
  const name = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(commandText);
    button.textContent = "Selected";
  }
  setTimeout(() => { button.textContent = name; }, 1600);
}
document.getElementById("copy-command").addEventListener("click", (event) => copy(event.currentTarget, commandText.textContent));
document.getElementById("copy-address").addEventListener("click", (event) => copy(event.currentTarget, location.href.split("#")[0] + addressOf(asking)));

/* On a small screen the answer comes before the choice of rows. */
const beside = matchMedia("(min-width: 1081px)");
const fold = () => { document.getElementById("more").open = beside.matches; };
beside.addEventListener("change", fold);
fold();

async function open() {
  about = await asked(freshTeam()[0], "about");
  scenarioChoice.append(element("option", { value: "text", hidden: "" }, "the text below"), element("optgroup", { label: "Shipped" }, ...about.scenarios.map(({ name, description }) => element("option", { title: description.trim() }, name))));
  document.getElementById("groups").append(...about.groups.map(({ word, meaning }) => element("button", { type: "button", "data-group": word, title: meaning, onclick: () => { askRows(membersOf(word)); changed(); } }, word)));
  document.getElementById("parameters").append(...about.algorithms.flatMap(({ id, parameters }) => parameters.map(({ name, default: usual, meaning }) => element("option", { value: `${id}:${name}=${usual}` }, meaning))));
  asking = askOf(location.hash);
  history.replaceState(null, "", addressOf(asking));
  showAsk();
  await play();
}
open().catch(say);
