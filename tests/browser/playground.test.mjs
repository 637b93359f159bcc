// The playground: the engine's runs against those of the native build, and the page as its readers use it.

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { after, before, test } from "node:test";

import { accessibilityFaults, launch, open, settled } from "./browser.mjs";
import { engine, glueText, recordedRuns } from "./engine.mjs";

const { RAMP_PLAYGROUND: file, RAMP_ENGINE: module } = process.env;
const RUNS = recordedRuns(220);
/* Quick to play, with chance and with neighbours. */
const SMALL = "#rate=10+Mbit%2Fs&rtt=20+ms&buffer=1+bdp&size=200+kB&jitter=1+ms&algorithms=slow_start%2Chystart%2Cideal&runs=2&seed=5&neighbours=4";

let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

const done = (page, state = "done") => page.waitForFunction((wanted) => document.body.dataset.state === wanted, state);
async function playground(hash = SMALL, options = {}) {
  const page = await open(browser, file, options);
  await page.evaluate((to) => { location.hash = to; }, hash);
  await page.waitForFunction(() => document.querySelector("#command").textContent.includes("10 Mbit"));
  await done(page);
  return page;
}
const change = async (page, selector, value) => {
  await page.fill(selector, value);
  await page.dispatchEvent(selector, "change");
  await page.waitForFunction(() => document.body.dataset.state === "playing");
};

test("the engine has no imports and plays what was recorded of the native build", async () => {
  assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(readFileSync(module))), []);
  const ask = await engine(module);
  assert.ok(RUNS.length >= 200);
  for (const { scenario, row, told } of RUNS) assert.equal(ask({ recorded: [scenario, row] }).line?.trim(), told, `${scenario}, ${row}`);
  assert.match(ask({ recorded: ["cable", "none"] }).error, /none/);
  assert.match(ask({ play: { job: { path: null, later: 0, seed: 1, row: 0 }, curves: false } }).error, /no comparison/);
});

test("and so it does in the browser", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.addScriptTag({ content: glueText });
  const told = await page.evaluate(async ({ packed, runs }) => {
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const ask = engineOf((await WebAssembly.instantiate(bytes, {})).instance.exports);
    return runs.map(({ scenario, row }) => JSON.parse(ask(JSON.stringify({ recorded: [scenario, row] }))).line?.trim());
  }, { packed: readFileSync(module).toString("base64"), runs: RUNS });
  assert.deepEqual(told, RUNS.map((run) => run.told));
  await context.close();
});

test("plays the path of its address, asks the network for nothing, and says the command", async () => {
  assert.ok(statSync(file).size < 2.5e6);
  const page = await playground();
  assert.deepEqual(page.troubles, []);
  assert.deepEqual(page.requested.filter((url) => !url.startsWith("data:") && !url.startsWith("blob:") && url.split("#")[0] !== page.address), []);
  assert.equal(await page.textContent("#command"), "ramp compare --rate '10 Mbit/s' --rtt '20 ms' --buffer '1 bdp' --size '200 kB' --jitter '1 ms' --algorithms slow_start,hystart,ideal --runs 2 --seed 5 --neighbours 4");
  assert.match(await page.textContent("#results .verdict"), /^(slow_start|hystart) downloads 200 kB in /);
  assert.equal(await page.locator("#summary-table tbody tr").count(), 3);
  assert.equal(await page.locator("#carries").count(), 1, "neighbouring paths were played");
  assert.equal(await page.locator("#lanes li").count(), 3);
  assert.equal(await page.locator("#time .plot canvas").count(), 5);
  assert.equal(await page.$eval('[data-option="jitter"]', (input) => input.value), "1 ms");
  assert.equal(new URL(page.url()).hash.includes("seed=5"), true);
});

test("follows the form, and the address follows, so that another reader sees the same", async () => {
  const page = await playground();
  await change(page, '[data-option="rate"]', "20 Mbit/s");
  await done(page);
  assert.match(await page.textContent("#command"), /--rate '20 Mbit\/s'/);
  await page.fill("#more-row", "late=hystart:low_window=64");
  await page.press("#more-row", "Enter");
  await page.waitForFunction(() => document.querySelector("#command").textContent.includes("late="));
  await done(page);
  const table = await page.$$eval("#summary-table tbody th .label", (labels) => labels.map((label) => label.textContent).sort());
  assert.deepEqual(table, ["hystart", "ideal", "late", "slow_start"]);
  const verdict = await page.textContent("#results .verdict");
  const other = await open(browser, file);
  await other.evaluate((hash) => { location.hash = hash; }, new URL(page.url()).hash);
  await other.waitForFunction(() => document.querySelector("#command").textContent.includes("late="));
  await done(other);
  assert.equal(await other.textContent("#results .verdict"), verdict);
  await page.selectOption("#scenario", "cable");
  await page.waitForFunction(() => document.querySelector("#command").textContent.includes("cable"));
  assert.match(await page.textContent("#command"), /^ramp compare cable /);
  await page.click("#stop");
  assert.match(await page.textContent("#status"), /stopped/);
});

test("a pasted scenario is played, and its mistakes are told with their lines", async () => {
  const page = await playground();
  await page.click("#file summary");
  await page.fill("#text", "size = '100 kB'\n[path]\nrate = '10 Mbit/s'\nrtt = '20 furlongs'\n");
  await page.click("#use-text");
  await done(page, "wrong");
  assert.match(await page.textContent("#wrong"), /line 4/);
  await page.fill("#text", "size = '100 kB'\n[path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\n");
  await page.click("#use-text");
  await page.waitForFunction(() => document.body.dataset.state === "done" && document.querySelector("#command").textContent.includes("my-path.toml"));
  assert.equal(await page.isHidden("#wrong"), true);
  assert.match(await page.textContent("#results .verdict"), /downloads 100 kB/);
});

test("a rate is drawn by keyboard and becomes a curve of the path", async () => {
  const page = await playground();
  await page.click("#draw summary");
  await page.locator("#pad input").first().focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("PageUp");
  await page.fill("#pad-top", "20 Mbit/s");
  await page.focus("#use-drawn");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("#command").textContent.includes("rate-period"));
  await done(page);
  assert.match(await page.textContent("#command"), /--rate '\[\{ at = "0 s", rate = "2 Mbit\/s" \}, \{ at = "1 s", rate = "16 Mbit\/s" \}/);
  assert.match(await page.inputValue("[data-option=rate]"), /^\[\{ at = /);
  await page.selectOption("#pad-of", "rtt");
  await page.fill("#pad-top", "200 ms");
  await page.locator("#pad input").nth(1).fill("0");
  await page.click("#use-drawn");
  const asked = new URLSearchParams((await page.evaluate(() => location.hash)).slice(1));
  assert.match(asked.get("rtt"), /rtt = "2 ms"/, "a round trip takes some time");
  assert.deepEqual(asked.getAll("set").map((text) => text.split("=")[0]), ["path.rate-period", "path.rtt-period"]);
  await done(page);
  assert.equal(await page.isHidden("#wrong"), true);
  await page.click("#no-drawn");
  assert.equal(new URLSearchParams((await page.evaluate(() => location.hash)).slice(1)).getAll("set").length, 1);
  await page.selectOption("#pad-of", "rate");
  await page.click("#no-drawn");
  await page.waitForFunction(() => document.querySelector("#command").textContent.includes("--rate '100 Mbit/s'"));
});

for (const scheme of ["light", "dark"]) {
  test(`passes an accessibility checker and fits small screens, ${scheme}`, async () => {
    const page = await playground(SMALL, { colorScheme: scheme });
    assert.deepEqual(await accessibilityFaults(page), []);
    await page.setViewportSize({ width: 390, height: 844 });
    await settled(page);
    assert.deepEqual(await accessibilityFaults(page), []);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0);
    assert.equal(await page.$eval("#more", (details) => details.open), false);
    assert.deepEqual(page.troubles, []);
  });
}
