// How long a reader waits for a report in Chromium: for the first view, for the flame graph, and for a zoom in it.
// Usage: node measure.js REPORT [CHROMIUM]; prints medians in microseconds. `bench report` runs it.
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [report, executablePath = "/usr/bin/chromium"] = process.argv.slice(2);
const OPENED = 3;
const ZOOMS = 20;

const median = (/** @type {number[]} */ times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)];

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  const [first, flame] = [[], []];
  let zooms = [];
  for (let time = 0; time < OPENED; time++) {
    first.push(await opened("", "main h2 + div"));
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    flame.push(await opened("#allocations", "#flame-status:not(:empty)", page));
    zooms = await page.evaluate(zoomed, ZOOMS);
    await page.close();
  }
  for (const [key, times] of Object.entries({ first, flame, zoom: zooms })) console.log(`${key}_micros=${Math.round(median(times) * 1000)}`);
} finally {
  await browser.close();
}

/** From the start of the navigation until what is looked for has been painted, in milliseconds. */
async function opened(hash, selector, given) {
  const page = given ?? (await browser.newPage({ viewport: { width: 1280, height: 900 } }));
  await page.addInitScript((selector) => {
    const look = () => {
      if (!document.querySelector(selector)) return requestAnimationFrame(look);
      // A task behind a frame runs when that has been painted.
      requestAnimationFrame(() => setTimeout(() => (window.painted = performance.now())));
    };
    requestAnimationFrame(look);
  }, selector);
  await page.goto(pathToFileURL(report).href + hash);
  const painted = await page.waitForFunction(() => window.painted);
  const time = await painted.jsonValue();
  if (!given) await page.close();
  return time;
}

/** Zooms into the widest frame, again and again, and out where there is nothing more. Runs in the page. */
async function zoomed(times) {
  const found = [];
  const press = (key) => document.querySelector("canvas.flame").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const settled = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  while (found.length < times) {
    press("ArrowDown");
    const before = location.hash;
    const start = performance.now();
    press("Enter");
    await settled();
    if (location.hash !== before) found.push(performance.now() - start);
    else {
      history.replaceState(null, "", "#allocations");
      dispatchEvent(new PopStateEvent("popstate"));
      await settled();
    }
  }
  return found;
}
