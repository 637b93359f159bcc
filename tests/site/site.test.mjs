// The site on a host of its own: every page is whole, at both widths, light and dark, and asks no other host for anything.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { mkdirSync, readFileSync, readdirSync, statSync } from "node:fs";
import { extname, join, normalize } from "node:path";
import { after, before, test } from "node:test";
import { launch, settled } from "../browser/browser.mjs";

const SITE = process.env.RAMP_SITE, SCREENS = process.env.RAMP_SCREENS;
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".svg": "image/svg+xml", ".png": "image/png" };
// In a folder of its host, as many static hosts have it.
const FOLDER = "/some/where/";

const { version } = JSON.parse(readFileSync(join(SITE, "docs/versions.json"), "utf8"))[0];
const figure = readdirSync(join(SITE, "gallery")).filter((name) => name.endsWith(".html") && name !== "index.html").sort()[0];
const docs = (page) => `docs/${version}/${page}`;
const PAGES = ["index.html", "league/league-public.html", "gallery/index.html", `gallery/${figure}`, "docs/", docs(""), docs("install/"), docs("guide/compare/"), docs("guide/scenarios/"), docs("algorithms/"), docs("algorithms/hystart/"), docs("references/"), docs("fidelity/")];

let browser, server, base;
before(async () => {
  server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://site").pathname));
    try {
      assert.ok(path.startsWith(FOLDER));
      let file = join(SITE, path.slice(FOLDER.length));
      if (statSync(file).isDirectory()) file = join(file, "index.html");
      response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
      response.end(readFileSync(file));
    } catch {
      response.writeHead(404);
      response.end();
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  base = `http://127.0.0.1:${server.address().port}${FOLDER}`;
  browser = await launch();
  if (SCREENS) mkdirSync(SCREENS, { recursive: true });
});
after(async () => {
  await browser.close();
  server.close();
});

async function open(address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, colorScheme: "light", ...options });
  const page = await context.newPage();
  page.troubles = [];
  page.on("console", (message) => { if (message.type() === "error") page.troubles.push(message.text()); });
  page.on("pageerror", (error) => page.troubles.push(String(error.stack)));
  page.on("requestfailed", (request) => {
    // A page that leads elsewhere may do so before it is whole itself.
    const leftEarly = request.isNavigationRequest() && request.failure().errorText === "net::ERR_ABORTED";
    if (!leftEarly) page.troubles.push(`${request.url()} failed`);
  });
  page.on("response", (response) => { if (response.status() >= 400) page.troubles.push(`${response.url()}: ${response.status()}`); });
  page.on("request", (request) => {
    if (!request.url().startsWith(base) && !/^(data|blob):/.test(request.url())) page.troubles.push(`asks ${request.url()}`);
  });
  await page.goto(base + address);
  await page.waitForLoadState("networkidle");
  await settled(page);
  return page;
}

for (const address of PAGES) {
  for (const [width, colorScheme] of [[390, "light"], [390, "dark"], [1400, "light"], [1400, "dark"]]) {
    test(`${address || "start"} at ${width} px, ${colorScheme}`, async () => {
      const page = await open(address, { viewport: { width, height: width < 600 ? 844 : 900 }, colorScheme });
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (SCREENS) await page.screenshot({ path: join(SCREENS, `${address.replaceAll("/", "-").replace(/-$/, "")}-${width}-${colorScheme}.png`) });
      assert.deepEqual(page.troubles, []);
      assert.ok(wider <= 0, `${wider} px wider than the window`);
      const dark = await page.evaluate(() => {
        const numbers = getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).map(Number);
        return Math.max(...numbers) < 100;
      });
      assert.equal(dark, colorScheme === "dark");
      await page.context().close();
    });
  }
}

test("whoever comes without a version gets the newest, and the part that was asked for", async () => {
  const page = await open("docs/#install");
  await page.waitForURL(`${base}docs/${version}/index.html#install`);
  assert.equal(await page.locator("h2#install").count(), 1);
  assert.equal(await page.locator(".md-version__current").innerText(), version);
  await page.context().close();
});

test("the search finds a page and leads into it", async () => {
  const page = await open(docs(""));
  await page.locator("input.md-search__input").fill("mahimahi");
  const result = page.locator(".md-search-result__link").first();
  await result.waitFor();
  await result.click();
  await page.waitForURL((url) => url.href.startsWith(base + docs("")) && url.pathname !== new URL(base + docs("")).pathname);
  assert.match(await page.locator("article").innerText(), /mahimahi/i);
  assert.deepEqual(page.troubles, []);
  await page.context().close();
});

test("beneath the playground stands the league's plane", async () => {
  const page = await open("index.html");
  const frame = page.frameLocator("iframe.plane");
  await page.locator("iframe.plane").scrollIntoViewIfNeeded();
  await frame.locator("#plane-chart svg").waitFor();
  assert.equal(await frame.locator("#standings").isVisible(), false);
  for (const place of ["league/league-public.html", "gallery/index.html", "docs/index.html"]) {
    assert.ok(await page.locator(`main a[href="${place}"]`).count() >= 1, place);
  }
  assert.deepEqual(page.troubles, []);
  await page.context().close();
});
