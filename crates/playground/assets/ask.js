// What is compared: one object, which the form shows, the address keeps and the engines are asked.

/* A rate and a round-trip time that change, and after which time they do so again. */
const PERIODS = { rate: "path.rate-period", rtt: "path.rtt-period" };
const OWN = { rate: "100 Mbit/s", rtt: "50 ms", buffer: "1 bdp", size: "10 MB" };
const START = { scenario: "geo-satellite", text: null, options: {}, set: [], algorithms: [], runs: null, seed: null, neighbours: null, uncertain: [] };
let asking = structuredClone(START);

const inputs = [...document.querySelectorAll("[data-option]")];
const scenarioChoice = document.getElementById("scenario");
const scenarioText = document.getElementById("text");
const numbers = { runs: document.getElementById("runs"), seed: document.getElementById("seed-of"), neighbours: document.getElementById("neighbours") };
const CROSS = "path.cross-traffic=";

/* Fields of the form that are no options of the command are settings of it. */
const optionOf = (name) => (name === "cross-traffic" ? asking.set.find((text) => text.startsWith(CROSS))?.slice(CROSS.length) ?? "" : asking.options[name] ?? "");

function setOption(name, value) {
  if (name === "cross-traffic") {
    asking.set = asking.set.filter((text) => !text.startsWith(CROSS));
    if (value) asking.set.push(CROSS + value);
    return;
  }
  if (value) asking.options[name] = value; else delete asking.options[name];
  // What is constant has no period, and a measured link no rate.
  if (name in PERIODS && !value.startsWith("[")) forgetPeriod(name);
  if (name === "trace" && value) { delete asking.options.rate; forgetPeriod("rate"); }
  if (name === "rate" && value) delete asking.options.trace;
}

function forgetPeriod(name) { asking.set = asking.set.filter((text) => !text.startsWith(`${PERIODS[name]}=`)); }

/* The address after the sign #: the names of the command's options. */
function addressOf(ask) {
  const state = new URLSearchParams();
  if (ask.scenario) state.set("scenario", ask.scenario);
  if (ask.text !== null) state.set("text", ask.text);
  for (const [name, value] of Object.entries(ask.options)) state.set(name, value);
  for (const name of ["set", "uncertain"]) for (const value of ask[name]) state.append(name, value);
  state.set("algorithms", ask.algorithms.join(",") || "default");
  for (const name of ["runs", "seed", "neighbours"]) if (ask[name] !== null) state.set(name, ask[name]);
  if (ask.seed === null) state.set("seed", "1");
  return `#${state}`;
}

function askOf(address) {
  const state = new URLSearchParams(address.replace(/^#/, ""));
  const known = ["scenario", "text", "set", "uncertain", "algorithms", "runs", "seed", "neighbours"];
  if (![...state.keys()].length) return structuredClone(START);
  const number = (name) => (/^\d+$/.test(state.get(name) ?? "") ? Number(state.get(name)) : null);
  const rows = (state.get("algorithms") ?? "").split(",").filter(Boolean);
  const ask = {
    scenario: state.get("scenario"), text: state.get("text"), options: {}, set: state.getAll("set"), uncertain: state.getAll("uncertain"),
    algorithms: rows.length === 1 && rows[0] === "default" ? [] : wholeRows(rows), runs: number("runs"), seed: number("seed"), neighbours: number("neighbours"),
  };
  for (const [name, value] of state) if (!known.includes(name)) ask.options[name] = value;
  if (ask.text === null && !ask.scenario && !Object.keys(ask.options).length && !ask.set.length) ask.scenario = START.scenario;
  return ask;
}

/* A comma also separates the settings of one row: `best:a=1,b=2,hystart`. */
function wholeRows(pieces) {
  const rows = [];
  for (const piece of pieces) {
    const setting = /^[a-z0-9_]+=/.test(piece) && !piece.includes(":") && !about.algorithms.some(({ id }) => id === piece.split("=")[1]);
    if (setting && rows.length && rows.at(-1).includes(":")) rows[rows.length - 1] += `,${piece}`; else rows.push(piece);
  }
  return rows;
}

/* The rows as the form ticks them: ids, those of groups among them, and rows with parameters. */
function rowsAsked() {
  const asked = asking.algorithms.length ? asking.algorithms : ["default"];
  return [...new Set(asked.flatMap((word) => (about.groups.some((group) => group.word === word) ? membersOf(word) : [word])))];
}
const membersOf = (word) => about.algorithms.filter(({ groups, yardstick }) => word === "all" || yardstick || groups.includes(word)).map(({ id }) => id);

/* A choice that a group has is called by the group. */
function askRows(rows) {
  const same = (word) => { const members = membersOf(word); return members.length === rows.length && members.every((id) => rows.includes(id)); };
  const group = ["default", ...about.groups.map(({ word }) => word)].find(same);
  asking.algorithms = group === "default" ? [] : group ? [group] : rows;
}
