// A browser with a report in it, and what happened there.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.env.BROWSER_TOOLS}/`);
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
  });
}

/// A page with the report; `page.troubles` collects errors, `page.requested` every address asked for.
export async function open(browser, file, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: "light", ...options });
  const page = await context.newPage();
  page.troubles = [];
  page.requested = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) page.troubles.push(message.text()); });
  page.on("pageerror", (error) => page.troubles.push(String(error.stack)));
  page.on("request", (request) => page.requested.push(request.url()));
  page.address = pathToFileURL(file).href;
  await page.goto(page.address);
  if (options.javaScriptEnabled !== false) await settled(page);
  return page;
}

/// Two frames: sizes are observed in the first and drawn by the second.
export const settled = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))));

/// What an accessibility checker finds, as text.
export async function accessibilityFaults(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 3).map((node) => node.html).join(" | ")}`);
}
