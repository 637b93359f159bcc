// The HTML report as its readers use it: by mouse, by keyboard, on a phone, on paper, without scripts.

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { after, before, test } from "node:test";

import { accessibilityFaults, launch, open as opened, settled } from "./browser.mjs";

const report = process.env.RAMP_REPORT;
const hostile = process.env.RAMP_HOSTILE_REPORT;
const overview = process.env.RAMP_OVERVIEW;
const crowded = process.env.RAMP_CROWDED_REPORT;
const PANELS = ["cwnd", "in_flight", "queue", "rtt", "delivered", "rate"];

/// With every folded section open, as most readers of one will have it.
const open = async (...what) => {
  const page = await opened(...what);
  await page.$$eval("details.fold", (all) => all.forEach((fold) => { fold.open = true; }));
  if (what[2]?.javaScriptEnabled !== false) await settled(page);
  return page;
};

let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

/// How many pixels of each panel are painted, and a checksum of them.
const painted = (page) => page.$$eval(".chart[data-panel] canvas", (canvases) => canvases.map((canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let pixels = 0, sum = 0;
  for (let i = 0; i < data.length; i += 4) if (data[i + 3]) { pixels += 1; sum = (sum * 31 + data[i] * 65536 + data[i + 1] * 256 + data[i + 2] + i) % 4294967291; }
  return { pixels, sum };
}));
const spans = (page) => page.$$eval(".chart[data-panel] .plot", (plots) => plots.map((plot) => [Number(plot.dataset.from), Number(plot.dataset.to)]));
const middle = async (page, panel, share = 0.5) => {
  const over = page.locator(`.chart[data-panel="${panel}"] .u-over`);
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  return { x: box.x + box.width * share, y: box.y + box.height / 2 };
};
const same = (all) => all.every((one) => JSON.stringify(one) === JSON.stringify(all[0]));

test("stays below 2 MB", () => assert.ok(statSync(report).size < 2e6));

test("opens without an error and asks the network for nothing", async () => {
  const page = await open(browser, report);
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await settled(page);
  assert.deepEqual(page.troubles, []);
  assert.deepEqual(page.requested.filter((url) => url !== page.address && !url.startsWith("data:")), []);
  const refused = await page.evaluate(() => fetch("https://example.invalid/").then(() => "answered", () => "refused"));
  assert.equal(refused, "refused");
});

test("the answer comes first, and a link opens what is folded", async () => {
  const page = await opened(browser, report, { viewport: { width: 390, height: 844 } });
  const folds = await page.$$eval("details.fold", (all) => all.map((fold) => [fold.parentElement.id, fold.open]));
  assert.ok(folds.length >= 2 && folds.every(([, isOpen]) => !isOpen), JSON.stringify(folds));
  for (const id of ["summary", "time", "exits"]) assert.equal(await page.locator(`#${id} details.fold`).count(), 0, id);
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.$eval('nav a[href="#distributions"]', (link) => link.click());
  await settled(page);
  assert.equal(await page.$eval("#distributions details.fold", (fold) => fold.open), true);
  assert.ok((await page.$$eval("#distributions .rows svg", (all) => all.length)) >= 1, "it is drawn once it is seen");
  assert.ok((await page.evaluate(() => document.documentElement.scrollHeight)) > height + 300);
  const again = await opened(browser, `${report}`, {});
  await again.goto(`${again.address}#differences`);
  await again.reload();
  await settled(again);
  assert.equal(await again.$eval("#differences details.fold", (fold) => fold.open), true, "the address opens it");
});

test("draws every chart", async () => {
  const page = await open(browser, report);
  const panels = await page.$$eval(".chart[data-panel]", (charts) => charts.map((chart) => chart.dataset.panel));
  assert.deepEqual(panels, PANELS);
  const drawn = await painted(page);
  assert.equal(drawn.length, PANELS.length);
  drawn.forEach(({ pixels }, index) => assert.ok(pixels > 3000, `${PANELS[index]}: ${pixels} pixels`));
  const arms = await page.locator(".chip").count();
  assert.ok(arms > 0);
  const distributions = await page.$$eval(".figure[data-distribution] .rows", (rows) => rows.map((row) => row.querySelectorAll("svg circle").length));
  assert.ok(distributions.length >= 1 && distributions.every((dots) => dots >= arms), String(distributions));
  assert.equal(await page.locator("[data-sizes] svg g[data-arm]").count(), arms);
  assert.ok(await page.locator(".figure[data-differences] .rows svg path").count() >= 1);
});

test("every algorithm is in the table, the legend and the exits", async () => {
  const page = await open(browser, report);
  const chips = await page.$$eval(".chip", (all) => all.map((chip) => chip.textContent));
  const rows = await page.$$eval("#summary-table tbody th", (all) => all.map((row) => row.dataset.value));
  assert.deepEqual([...rows].sort(), [...chips].sort());
  assert.equal(await page.locator("#exits li:visible").count(), chips.length);
});

test("neighbouring paths are drawn, hidden with their row, and can be taken away", async () => {
  const page = await open(browser, report);
  await page.$$eval("#carries details.others", (all) => all.forEach((folded) => { folded.open = true; }));
  const fields = await page.$$eval("#carries figure", (all) => all.map((figure) => figure.dataset.field));
  assert.equal(fields[0], "path.reverse.rate", "what decides most comes first");
  assert.equal(new Set(fields).size, 3);
  const dots = await page.$$eval("#carries figure path.regrets", (all) => all.map((path) => path.getAttribute("d").split("M").length - 1));
  assert.ok(dots.length >= 6 && dots.every((count) => count === 64), String(dots));
  const phone = await open(browser, report, { viewport: { width: 390, height: 844 } });
  await phone.$eval(".facts dd small", (note) => { note.textContent = "0.93 BDP; typed: 1 bdp, of the delay alone, and more"; });
  assert.ok(await phone.$$eval(".facts dd", (all) => all.every((fact) => fact.scrollWidth <= fact.clientWidth)), "a long note is broken");
  const widths = await phone.$$eval("#carries > .carries-grid path.regrets", (all) => all.map((path) => path.getBoundingClientRect().width));
  assert.ok(widths.length >= 3 && widths.every((width) => width > 100), `on a telephone: ${widths}`);
  const inside = await page.$$eval("#carries figure svg", (all) => all.every((svg) => {
    const { width, height } = svg.viewBox.baseVal, box = svg.getBBox();
    return box.x >= -1 && box.y >= -1 && box.x + box.width <= width + 1 && box.y + box.height <= height + 1;
  }));
  assert.ok(inside, "nothing is drawn outside of its figure");
  const leader = page.locator(".chip", { hasText: /^best$/ });
  const seen = () => page.locator("#carries path.leader:visible").count();
  assert.equal(await seen(), 3);
  await leader.click();
  assert.equal(await seen(), 0);
  await leader.click();
  assert.equal(await seen(), 3);
  const [href, text] = await page.$eval("#carries", (section) => [section.querySelector("a[download]").href, section.querySelector("pre").textContent]);
  assert.equal(decodeURIComponent(href.slice(href.indexOf(",") + 1)), text);
  await page.locator("#carries details", { hasText: "All paths" }).locator("summary").click();
  assert.equal(await page.locator("#carries details tbody tr").count(), 64);
});

test("curves come before the neighbours, and the leader's line is over the others with its name", async () => {
  const page = await open(browser, report);
  const order = await page.$$eval("main > section", (all) => all.map((section) => section.id));
  assert.ok(order.indexOf("time") < order.indexOf("carries"), String(order));
  const links = await page.$$eval("nav a", (all) => all.map((link) => link.hash));
  assert.ok(links.indexOf("#time") < links.indexOf("#carries"), String(links));
  assert.ok(await page.$eval('.chart[data-panel="cwnd"] .plot', (plot) => Number(plot.dataset.names)) >= 1);
  for (const share of await page.$$eval(".chart[data-panel] .plot", (plots) => plots.map((plot) => plot.dataset.covered))) assert.ok(Number(share) <= 0.2, `a name covers ${share} of its place's lines`);
  const data = JSON.parse(await page.locator("#report-data").textContent());
  assert.equal(data.arms[data.leader].label, "best");
});

test("a hover is seen in every panel", async () => {
  const page = await open(browser, report);
  const { x, y } = await middle(page, "cwnd", 0.6);
  await page.mouse.move(x, y);
  await settled(page);
  const headings = await page.$$eval(".chart[data-panel] .values p", (all) => all.map((p) => p.textContent));
  assert.match(headings[0], /^At \d/);
  assert.ok(same(headings), String(headings));
  const lines = await page.$$eval(".chart[data-panel] .u-cursor-x", (all) => all.map((line) => Math.round(line.getBoundingClientRect().x)));
  assert.ok(Math.max(...lines) - Math.min(...lines) <= 2 && Math.abs(lines[0] - x) <= 3, `${lines} at ${x}`);
});

test("a download that is over is done", async () => {
  const page = await open(browser, report);
  await page.click("[data-view=whole]");
  const { x, y } = await middle(page, "delivered", 0.995);
  await page.mouse.move(x, y);
  await settled(page);
  const shown = await page.$$eval(".chart[data-panel]", (charts) => charts.map((chart) => [...chart.querySelectorAll(".values .number")].map((number) => number.textContent)));
  assert.ok(shown.flat().filter((text) => text === "done").length >= PANELS.length, String(shown[0]));
});

test("the seeds are one for all curves, and chosen", async () => {
  const page = await open(browser, report);
  const choice = page.locator("#seed");
  assert.ok(await choice.locator("option").count() > 1);
  const seedOf = async () => {
    const cards = (await page.locator("#exits .ledger:visible").allTextContents()).map((text) => text.match(/seed (\d+)/)[1]);
    assert.equal(new Set(cards).size, 1);
    return cards[0];
  };
  const named = (text) => text.match(/seed (\d+)/)[1];
  const first = await seedOf(), looks = await painted(page);
  assert.equal(named(await choice.locator("option").first().textContent()), first);
  await choice.selectOption("1");
  await settled(page);
  const second = await seedOf();
  assert.notEqual(second, first);
  assert.equal(named(await choice.locator("option").nth(1).textContent()), second);
  assert.notDeepEqual(await painted(page), looks);
  await choice.selectOption("0");
  await page.mouse.move(0, 0);
  await settled(page);
  assert.deepEqual(await painted(page), looks);
});

test("a zoom is followed by every panel", async () => {
  const page = await open(browser, report);
  const start = await spans(page), looks = await painted(page);
  assert.ok(same(start));
  const from = await middle(page, "in_flight", 0.3), to = await middle(page, "in_flight", 0.5);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps: 4 });
  await page.mouse.up();
  await settled(page);
  const zoomed = await spans(page);
  assert.ok(same(zoomed));
  const share = (zoomed[0][1] - zoomed[0][0]) / (start[0][1] - start[0][0]);
  assert.ok(share > 0.17 && share < 0.23, String(share));
  (await painted(page)).forEach((now, index) => assert.notEqual(now.sum, looks[index].sum, PANELS[index]));
  assert.equal(await page.getAttribute("[data-view=startup]", "aria-pressed"), "false");
  await page.click("[data-view=whole]");
  const whole = await spans(page);
  assert.ok(same(whole) && whole[0][0] === 0 && whole[0][1] >= start[0][1]);
  assert.equal(await page.getAttribute("[data-view=whole]", "aria-pressed"), "true");
  await page.dblclick(".chart[data-panel=rtt] .u-over");
  assert.deepEqual(await spans(page), start);
});

test("the legend works by keyboard", async () => {
  const page = await open(browser, report);
  const chip = page.locator(".chip").first();
  const name = await chip.textContent();
  const listed = () => page.$$eval(".chart .values", (all, wanted) => all.filter((values) => [...values.querySelectorAll(".name")].some((n) => n.textContent === wanted)).length, name);
  const everywhere = await page.locator(".chart").count();
  assert.equal(everywhere, PANELS.length + 3);
  assert.equal(await listed(), everywhere);
  const looks = await painted(page);
  await chip.focus();
  await page.keyboard.press("Space");
  await settled(page);
  assert.equal(await chip.getAttribute("aria-pressed"), "false");
  assert.equal(await listed(), 0);
  assert.ok((await painted(page)).some((now, index) => now.sum !== looks[index].sum));
  await page.keyboard.press("Enter");
  assert.equal(await chip.getAttribute("aria-pressed"), "true");
  assert.equal(await listed(), everywhere);
  await page.keyboard.press("Shift+Enter");
  assert.equal(await page.locator(".chip[aria-pressed=true]").count(), 1);
  await page.click("#show-all");
  assert.equal(await page.locator(".chip[aria-pressed=false]").count(), 0);
});

test("charts are read, zoomed and panned by keyboard", async () => {
  const page = await open(browser, report);
  const [[, end]] = await spans(page);
  await page.focus(".chart[data-panel=queue] .plot");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.match(await page.textContent("#announce"), /^\d+\.\d{3} s: .+ \d/);
  await page.keyboard.press("+");
  const zoomed = await spans(page);
  assert.ok(same(zoomed) && Math.abs(zoomed[0][1] - zoomed[0][0] - end / 2) < end * 0.01, String(zoomed[0]));
  await page.keyboard.press("Shift+ArrowLeft");
  const panned = await spans(page);
  assert.ok(same(panned) && panned[0][0] < zoomed[0][0]);
  await page.keyboard.press("End");
  assert.equal(await page.getAttribute("[data-view=whole]", "aria-pressed"), "true");
  await page.keyboard.press("Home");
  assert.deepEqual((await spans(page))[0], [0, end]);
  await page.focus("[data-sizes] .plot");
  await page.keyboard.press("Home");
  const first = await page.textContent("[data-sizes] .values p");
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await page.textContent("[data-sizes] .values p"), first);
});

test("focus is always visible and follows the page", async () => {
  const page = await open(browser, report);
  assert.equal(await page.locator("[tabindex]:not([tabindex='0']):not([tabindex='-1'])").count(), 0);
  let seen = 0;
  for (let step = 0; step < 60; step += 1) {
    await page.keyboard.press("Tab");
    const focus = await page.evaluate(() => {
      const node = document.activeElement;
      if (!node || node === document.body) return null;
      const { outlineStyle, outlineWidth } = getComputedStyle(node);
      return { what: node.outerHTML.slice(0, 80), outline: outlineStyle !== "none" && parseFloat(outlineWidth) >= 1 };
    });
    if (!focus) break;
    seen += 1;
    assert.ok(focus.outline, focus.what);
  }
  assert.ok(seen > 30, `${seen} stops`);
});

test("the address holds what is shown, and brings it back", async () => {
  const page = await open(browser, report);
  await page.locator("#seed").selectOption("1");
  await page.locator(".chip").nth(2).click();
  await page.click("[data-log]");
  await page.focus(".chart[data-panel=queue] .plot");
  await page.keyboard.press("+");
  await settled(page);
  await settled(page);
  const address = await page.evaluate(() => location.href);
  assert.match(address, /#view\?.*seed=\d+.*t=.*hide=.*log=/);
  const state = async (page) => ({
    seed: await page.inputValue("#seed"), spans: await spans(page), log: await page.getAttribute("[data-log]", "aria-pressed"),
    chips: await page.$$eval(".chip", (all) => all.map((chip) => chip.getAttribute("aria-pressed"))),
  });
  const before = await state(page);
  assert.equal(before.chips[2], "false");
  const again = await open(browser, report);
  await again.goto("about:blank");
  await again.goto(address);
  await settled(again);
  const after = await state(again);
  assert.deepEqual({ ...after, spans: null }, { ...before, spans: null });
  after.spans[0].forEach((time, end) => assert.ok(Math.abs(time - before.spans[0][end]) < 1e-3 * before.spans[0][1], `${after.spans[0]} ${before.spans[0]}`));
  await page.evaluate(() => { location.hash = "#view?hide=nobody&seed=none&t=9_1&log=x"; });
  await settled(page);
  assert.equal(await page.locator(".chip[aria-pressed=false]").count(), 0);
  assert.deepEqual(page.troubles, []);
});

const saved = async (page, button) => {
  const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return { name: file.suggestedFilename(), content: readFileSync(await file.path()) };
};

test("every chart is saved as numbers and as a picture", async () => {
  const page = await open(browser, report);
  const arms = await page.$$eval(".chip", (all) => all.map((chip) => chip.textContent));
  const charts = await page.locator(".chart").count();
  assert.ok(charts > 0);
  for (let index = 0; index < charts; index += 1) {
    // A page of its own for each: Chromium drops downloads of one page beyond ten within a second.
    const page = await open(browser, report);
    const chart = page.locator(".chart").nth(index);
    const csv = await saved(page, chart.locator("[data-export=csv]"));
    const lines = csv.content.toString().trim().split("\r\n");
    assert.match(csv.name, /\.csv$/);
    assert.ok(lines[0].startsWith("algorithm,") && lines.length > arms.length, `${csv.name}: ${lines.length} lines`);
    assert.ok(arms.every((arm) => lines.some((line) => line.startsWith(`${arm},`) || line.startsWith('"'))), csv.name);
    assert.ok(lines.every((line) => !line.includes("NaN") && !line.includes("undefined")), csv.name);
    const svg = (await saved(page, chart.locator("[data-export=svg]"))).content.toString();
    assert.ok(svg.startsWith("<svg") && !svg.includes("var(--") && !svg.includes("NaN"), `${csv.name}: ${svg.slice(0, 200)}`);
    assert.ok(arms.every((arm) => svg.includes(`>${arm}<`)), csv.name);
    const png = (await saved(page, chart.locator("[data-export=png]"))).content;
    assert.ok(png.length > 5000 && png.subarray(1, 4).toString() === "PNG", `${csv.name}: ${png.length}`);
    assert.deepEqual(page.troubles, []);
    await page.context().close();
  }
  const runs = (await saved(page, page.locator("#all-runs"))).content.toString().trim().split("\r\n");
  assert.equal(runs[0], "algorithm,seed,metric,value");
  assert.ok(runs.filter((line) => line.includes("download_time")).length >= arms.length);
  assert.deepEqual(page.troubles, []);
});

test("the share of runs rises to all of them", async () => {
  const page = await open(browser, report);
  const cdf = page.locator("[data-cdf]");
  assert.equal(await cdf.locator("svg g[data-arm]").count(), await page.locator(".chip").count());
  await cdf.locator(".plot").focus();
  const shares = () => cdf.locator(".number").allTextContents().then((all) => all.map((text) => Number.parseFloat(text.replace("–", "0"))));
  await page.keyboard.press("Home");
  const first = await shares();
  assert.ok(first.some((share) => share > 0) && first.some((share) => share === 0), String(first));
  await page.keyboard.press("End");
  assert.deepEqual([...new Set(await shares())], [100]);
});

test("what it costs: a point with its name for each row", async () => {
  const page = await open(browser, report);
  const figure = page.locator("[data-tradeoff]");
  assert.equal(await figure.locator("svg circle").count(), await page.locator(".chip").count());
  const before = await figure.locator(".values").textContent();
  await figure.locator("select").selectOption({ index: 1 });
  assert.notEqual(await figure.locator(".values").textContent(), before);
  await page.locator(".chip").first().click();
  assert.equal(await figure.locator("svg circle").count(), await page.locator(".chip").count() - 1);
});

test("the window's scale becomes logarithmic and back", async () => {
  const page = await open(browser, report);
  const before = await painted(page);
  await page.click("[data-log]");
  await settled(page);
  const logarithmic = await painted(page);
  assert.notEqual(logarithmic[0].sum, before[0].sum);
  assert.equal(logarithmic[1].sum, before[1].sum);
  assert.equal(await page.getAttribute("[data-log]", "aria-pressed"), "true");
  await page.click("[data-log]");
  await page.mouse.move(0, 0);
  await settled(page);
  assert.equal((await painted(page))[0].sum, before[0].sum);
});

test("light and dark: the system's choice, then the reader's", async () => {
  const page = await open(browser, report, { colorScheme: "dark" });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await background(), looks = await painted(page);
  assert.equal(await page.getAttribute("#theme", "aria-pressed"), "true");
  await page.focus("#theme");
  await page.keyboard.press("Enter");
  await settled(page);
  assert.notEqual(await background(), dark);
  assert.equal(await page.getAttribute("#theme", "aria-pressed"), "false");
  (await painted(page)).forEach((now, index) => assert.notEqual(now.sum, looks[index].sum, PANELS[index]));
  const light = await open(browser, report);
  assert.equal(await light.getAttribute("#theme", "aria-pressed"), "false");
});

test("the table is sorted, and by any column", async () => {
  const page = await open(browser, report);
  const column = (index) => page.$$eval("#summary-table tbody:first-of-type tr", (rows, at) => rows.map((row) => row.cells[at].dataset.value), index);
  const ascending = (values) => { const known = values.filter((v) => v !== "").map(Number); return known.every((v, i) => i === 0 || known[i - 1] <= v); };
  const sorted = await page.$$eval("#summary-table thead th", (all) => all.findIndex((th) => th.hasAttribute("aria-sort")));
  const direction = await page.locator("#summary-table thead th").nth(sorted).getAttribute("aria-sort");
  const values = await column(sorted);
  assert.ok(ascending(direction === "ascending" ? values : values.reverse()));
  const last = await page.locator("#summary-table thead th").count() - 1;
  const heading = page.locator("#summary-table thead th").nth(last);
  await heading.locator("button").focus();
  await page.keyboard.press("Enter");
  assert.equal(await heading.getAttribute("aria-sort"), "ascending");
  assert.ok(ascending(await column(last)));
  await page.keyboard.press("Enter");
  assert.equal(await heading.getAttribute("aria-sort"), "descending");
  assert.ok(ascending((await column(last)).reverse()));
  assert.equal(await page.locator("#summary-table thead th[aria-sort]").count(), 1);
  if (await page.locator("#summary-table tbody.yardstick").count()) {
    assert.equal(await page.$eval("#summary-table", (table) => table.tBodies[table.tBodies.length - 1].className), "yardstick");
  }
});

test("a phone shows it without sideways scrolling", async () => {
  const page = await open(browser, report, { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 });
  for (const details of await page.locator("details").all()) await details.evaluate((node) => { node.open = true; });
  await settled(page);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 360);
  const outside = await page.evaluate(() => [...document.querySelectorAll("main *")].filter((node) => {
    const box = node.getBoundingClientRect();
    return box.width > 0 && (box.right > 361 || box.left < -1) && !node.closest(".scroll, pre, .chips, .visually-hidden, .skip");
  }).map((node) => node.outerHTML.slice(0, 90)));
  assert.deepEqual(outside, []);
  (await painted(page)).forEach(({ pixels }, index) => assert.ok(pixels > 1000, PANELS[index]));
  const { x, y } = await middle(page, "rtt", 0.5);
  await page.touchscreen.tap(x, y);
  await settled(page);
  assert.match(await page.textContent(".chart[data-panel=cwnd] .values p"), /^At /);
  assert.deepEqual(page.troubles, []);
});

test("a change of width redraws to the width", async () => {
  const page = await open(browser, report);
  await page.setViewportSize({ width: 700, height: 900 });
  await settled(page);
  await settled(page);
  const widths = await page.$$eval(".chart[data-panel]", (charts) => charts.map((chart) => [chart.querySelector(".plot").clientWidth, chart.querySelector(".uplot").offsetWidth]));
  for (const [room, used] of widths) assert.ok(Math.abs(room - used) <= 1, `${room} ${used}`);
});

for (const colorScheme of ["light", "dark"]) {
  test(`an accessibility checker finds nothing (${colorScheme})`, async () => {
    const page = await open(browser, report, { colorScheme });
    for (const details of await page.locator("details").all()) await details.evaluate((node) => { node.open = true; });
    assert.deepEqual(await accessibilityFaults(page), []);
  });
}

test("paper is white, whatever the screen was", async () => {
  const page = await open(browser, report, { colorScheme: "dark" });
  await page.setViewportSize({ width: 700, height: 990 }); // A4 within its margins
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await page.emulateMedia({ media: "print" });
  await settled(page);
  const wide = await page.$$eval("#summary .scroll, .tools, pre", (all) => all.filter((node) => node.scrollWidth > node.clientWidth + 1).map((node) => node.className));
  assert.deepEqual(wide, []);
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
  assert.equal(await page.locator(".tools [data-view]").first().isVisible(), false);
  const pdf = await page.pdf({ format: "A4" });
  assert.ok(pdf.length > 50_000, String(pdf.length));
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
});

test("without scripts the words and tables are there", async () => {
  const page = await open(browser, report, { javaScriptEnabled: false });
  assert.ok(await page.locator(".verdict").isVisible());
  assert.ok(await page.locator("#summary-table tbody tr").first().isVisible());
  assert.ok(await page.locator("#exits ul:not([hidden]) li").first().isVisible());
  assert.equal(await page.locator(".chart").first().isVisible(), false);
});

test("many rows with long names fit a phone and a screen", { skip: crowded ? false : "a report was given" }, async () => {
  for (const width of [390, 820, 1400]) {
    const page = await open(browser, crowded, { viewport: { width, height: 900 } });
    for (const details of await page.locator("details").all()) await details.evaluate((node) => { node.open = true; });
    await settled(page);
    const used = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(used <= width, `${width}: ${used}`);
    const table = page.locator("#summary .scroll").first();
    await table.evaluate((node) => { node.scrollLeft = node.scrollWidth; });
    const [box, cell] = [await table.boundingBox(), await table.locator("tbody th").first().boundingBox()];
    assert.ok(Math.abs(cell.x - box.x) <= 2 && cell.width < box.width * 0.55, `${width}: the first column is ${cell.width} of ${box.width} wide, at ${cell.x - box.x}`);
    assert.deepEqual(page.troubles, []);
  }
});

test("a sweep: lines over the values, a table with a way to each report", { skip: overview ? false : "a report was given" }, async () => {
  const page = await open(browser, overview);
  assert.equal(await page.locator("[data-facet] svg g[data-arm]").count(), await page.locator(".chip").count());
  assert.equal(await page.locator("#sweep-table tbody tr a").count(), await page.locator("#sweep-table tbody tr").count());
  const before = await page.textContent("[data-facet] .values");
  await page.focus("[data-facet] .plot");
  await page.keyboard.press("Home");
  assert.notEqual(await page.textContent("[data-facet] .values"), before);
  assert.match(await page.textContent("[data-facet] .values"), /limited≥\u202f60/);
  assert.equal(await page.locator("[data-facet] svg path.least").count(), 1);
  await page.selectOption("#metric", { index: 1 });
  assert.match(await page.textContent("[data-facet] svg"), /exit|goodput/);
  assert.deepEqual(await accessibilityFaults(page), []);
  assert.deepEqual(page.troubles, []);
  const phone = await open(browser, overview, { viewport: { width: 390, height: 800 } });
  assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth) <= 390);
});

test("hostile text stays text", { skip: hostile ? false : "a report was given" }, async () => {
  const page = await open(browser, hostile);
  assert.equal(await page.evaluate(() => globalThis.broken), undefined);
  assert.deepEqual(page.troubles, []);
  assert.ok((await page.textContent(".verdict")).includes("</script><script>window.broken"));
  assert.equal(await page.locator("main img").count(), 0);
  assert.ok((await painted(page)).every(({ pixels }) => pixels > 3000));
});
