// The page of the league as its readers use it.

import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { after, before, test } from "node:test";

import { accessibilityFaults, launch, open, settled } from "./browser.mjs";

const file = process.env.RAMP_LEAGUE;

let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

const ranks = (page) => page.$$eval("#standings tbody tr", (rows) => rows.map((row) => row.dataset.row));
const indices = (page) => page.$$eval("#standings tbody tr", (rows) => rows.map((row) => parseFloat(row.querySelector("td").textContent)));
const slide = (page, selector, value) => page.$eval(selector, (input, to) => { input.value = to; input.dispatchEvent(new Event("input")); }, value);
const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

test("opens without an error, asks the network for nothing, and is small", async () => {
  assert.ok(statSync(file).size < 2e6);
  const page = await open(browser, file);
  assert.deepEqual(page.troubles, []);
  assert.deepEqual(page.requested.filter((url) => url !== page.address && !url.startsWith("data:")), []);
  assert.equal(await page.locator("#again pre").textContent(), "ramp league <sample> & more");
});

test("ranks follow weights and what counts, and sort by any column", async () => {
  const page = await open(browser, file);
  const first = await ranks(page);
  assert.equal(first.length, 5);
  assert.equal(first[4], "ideal", "the yardstick is no contender");
  const before = await indices(page);
  assert.deepEqual([...before.slice(0, 4)].sort((a, b) => a - b), before.slice(0, 4));
  for (const id of ["data-centre", "fibre", "cable", "dsl", "wifi", "cellular", "leo"]) await slide(page, `[data-weight="${id}"]`, 0);
  const satellite = await indices(page);
  assert.notDeepEqual(satellite, before);
  await slide(page, '[data-weight="geo"]', 0);
  assert.equal(await page.$eval('[data-weight="geo"]', (input) => input.value), "1", "something counts");
  await page.click("#all-alike");
  assert.deepEqual(await indices(page), before);
  for (const [what, usual] of [["loss", 0], ["harm", 0]]) {
    await slide(page, `#count-${what}`, 2);
    assert.notDeepEqual(await indices(page), before, what);
    await slide(page, `#count-${what}`, usual);
    assert.deepEqual(await indices(page), before, what);
  }
  await page.selectOption("#size", "0");
  assert.notDeepEqual(await indices(page), before);
  await page.selectOption("#size", "pooled");
  await page.click("#standings thead th:nth-child(1) button");
  assert.deepEqual((await ranks(page)).slice(0, 4), ["best", "hystart", "limited", "slow_start"]);
  assert.equal(await page.$eval("#standings thead th", (th) => th.getAttribute("aria-sort")), "ascending");
});

test("the headline and the address follow the weights", async () => {
  const page = await open(browser, file);
  const lead = (which, of) => page.locator(`[data-lead="${which}"] [data-of="${of}"]`).textContent();
  const times = () => page.$$eval("#standings tbody tr", (rows) => rows.map((row) => [row.dataset.row, row.querySelectorAll("td")[1].firstChild.textContent]));
  const agrees = async () => {
    const [[label, time]] = await times();
    assert.equal(await lead("fastest", "label"), label, "the headline names the first row");
    assert.equal(await lead("fastest", "time"), time);
    assert.equal(await lead("linux", "time"), (await times()).find(([row]) => row === "hystart")[1]);
  };
  await agrees();
  const before = await lead("linux", "time");
  for (const id of ["data-centre", "fibre", "cable", "dsl", "wifi", "cellular", "leo"]) await slide(page, `[data-weight="${id}"]`, 0);
  await agrees();
  assert.notEqual(await lead("linux", "time"), before);
  assert.equal(await page.locator("#standings .tag", { hasText: "tied" }).count(), 0, "ties are of the given weights");
  await slide(page, "#count-loss", 2);
  const [address, shown] = [page.url(), await ranks(page)];
  assert.match(address, /#view\?weights=.*loss=2/);
  const other = await open(browser, file);
  await other.evaluate((hash) => { location.hash = hash; }, new URL(address).hash);
  await settled(other);
  assert.deepEqual(await ranks(other), shown);
  assert.equal(await other.$eval("#count-loss", (input) => input.value), "2");
  assert.equal(await page.locator("#standings .spread circle").count(), 5);
});

test("the plane has every algorithm, marks the chosen one, and follows the weights", async () => {
  const page = await open(browser, file);
  const points = () => page.$$eval("#plane circle", (all) => all.map((circle) => [circle.parentNode.dataset.plane, Number(circle.getAttribute("cx")).toFixed(1)]));
  const before = await points();
  assert.deepEqual(before.map(([label]) => label).sort(), ["best", "hystart", "ideal", "limited", "slow_start"]);
  assert.ok(await page.locator("#plane .front").count() >= 1);
  assert.equal(await page.locator('#plane .front[data-plane="ideal"]').count(), 0, "the yardstick is no contender");
  await page.click('#standings [data-row="limited"] button');
  assert.equal(await page.locator('#plane [data-plane="limited"].own').count(), 1);
  await page.click("#today");
  assert.notDeepEqual(await points(), before);
  assert.equal(await page.$eval('[data-weight="wifi"]', (input) => input.value), "10");
  await page.click("#all-alike");
  assert.deepEqual((await points()).sort(), before.sort());
});

test("a field of the map lists its paths, and a path gives its command", async () => {
  const page = await open(browser, file);
  const all = await page.locator("#paths tbody tr").count();
  assert.ok(all > 16);
  const cells = page.locator("[data-cell]");
  const counts = await cells.evaluateAll((all) => all.map((cell) => Number(cell.textContent.split("·")[1])));
  assert.equal(counts.reduce((sum, count) => sum + count, 0), all);
  await cells.first().click();
  assert.equal(await page.locator("#paths tbody tr").count(), counts[0]);
  await page.click("#all-paths");
  await page.click('#standings [data-row="limited"] button');
  assert.equal(await page.locator("#fails-of").textContent(), "limited");
  await page.click('[data-map="selected"]');
  assert.match(await cells.first().textContent(), /×/);
  const name = await page.locator("#paths tbody th").first().textContent();
  await page.locator("#paths tbody th button").first().click();
  const command = await page.locator("#path-command pre").textContent();
  assert.match(command, new RegExp(`^ramp compare league:${name} --algorithms limited,.*ideal$`));
  assert.equal(await page.locator("#path-bars i").count(), 5);
});

for (const scheme of ["light", "dark"]) {
  test(`has no accessibility fault, ${scheme}`, async () => {
    const page = await open(browser, file, { colorScheme: scheme });
    await page.locator("#paths tbody th button").first().click();
    await settled(page);
    assert.deepEqual(await accessibilityFaults(page), []);
  });
}

test("time and harm take the page's width", async () => {
  const page = await open(browser, file, { viewport: { width: 1400, height: 900 } });
  const share = () => page.$eval("#plane-chart", (place) => place.firstChild.getBoundingClientRect().width / place.clientWidth);
  assert.ok(Math.abs(await share() - 1) < 0.01, `${await share()}`);
  await page.setViewportSize({ width: 1100, height: 900 });
  await page.waitForFunction(() => { const place = document.querySelector("#plane-chart"); return Math.abs(place.firstChild.clientWidth / place.clientWidth - 1) < 0.01; });
});

test("fits a phone, and says the ranks without scripts", async () => {
  const phone = await open(browser, file, { viewport: { width: 390, height: 844 }, isMobile: true });
  assert.ok(await overflow(phone) <= 0);
  const plain = await open(browser, file, { javaScriptEnabled: false });
  assert.equal(await plain.locator("#standings tbody tr").count(), 5);
  assert.match(await plain.locator(".verdict").textContent(), /Fastest on average: .* × ideal/);
});
