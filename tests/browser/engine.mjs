// The playground's engine in this process, as its workers have it.

import { readFileSync } from "node:fs";

const root = new URL("../../", import.meta.url);
const glue = readFileSync(new URL("crates/playground/assets/engine.js", root), "utf8");

/// Asks a module of WebAssembly: JSON in, JSON out.
export async function engine(file) {
  const { instance } = await WebAssembly.instantiate(readFileSync(file), {});
  const ask = new Function(`${glue}\nreturn engineOf;`)()(instance.exports);
  return (question) => JSON.parse(ask(JSON.stringify(question)));
}

/// The text of the function that makes it, for a page.
export const glueText = glue;

/// The shortest of the simulator's recorded runs: scenario, row and what was recorded of the native build.
export function recordedRuns(count) {
  const lines = readFileSync(new URL("crates/sim/tests/recorded.txt", root), "utf8").split("\n").filter((line) => line && !line.startsWith("#"));
  const runs = lines.map((line) => {
    const [, scenario, row, told] = /^(\S+)\s+(\S+) (.*)$/.exec(line);
    const [flows, links, events] = told.trim().split(/\s+/).map(Number);
    return { scenario, row, told: told.trim(), length: flows + links + events };
  });
  return runs.sort((a, b) => a.length - b.length).slice(0, count);
}
