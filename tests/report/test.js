// Opens reports in Chromium as a reader does: each view, by mouse and by keyboard. Nothing may leave the page, and no name may become more than text.
// Usage: node test.js FOLDER [CHROMIUM] [SCREENSHOTS]; in the folder are reports, and beside each what `martini stats --json` says of its trace.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [folder, executablePath = "/usr/bin/chromium", screenshots] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const VIEWS = ["Overview", "Allocations", "CPU time", "Locks", "Threads", "Leaks"];
/** What is wrong in none of the reports. */
const SERIOUS = ["serious", "critical"];

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".html")).sort()) {
    const open = file.startsWith("diff-") ? difference : file.startsWith("fleet-") ? fleet : report;
    await open(join(resolve(folder), file), file.replace(/\.html$/, ""));
    console.log(`   ok: ${file}`);
  }
} finally {
  await browser.close();
}

/** Opens a report, and notes what must not happen. @param {string} path */
async function opened(path) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, bypassCSP: false });
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("dialog", (dialog) => problems.push(`dialog ${dialog.message()}`) && dialog.dismiss());
  page.on("request", (request) => !/^(file|data):/.test(request.url()) && problems.push(`request ${request.url()}`));
  await page.goto(pathToFileURL(path).href);
  const data = JSON.parse(await page.locator("#data").textContent());
  return { context, page, problems, data };
}

/** Goes to each view. @param {import("playwright-core").Page} page @param {string} name */
async function views(page, name) {
  const links = await page.locator("nav a").allInnerTexts();
  for (const view of VIEWS) assert.ok(links.includes(view), `there is no view ${view}`);
  for (const view of links) {
    await page.getByRole("link", { name: view, exact: true }).click();
    await page.getByRole("heading", { name: view, level: 2 }).waitFor();
    assert.ok((await page.locator("main").innerText()).length > 20, `${view} is empty`);
    await accessible(page, `${name}: ${view}`);
  }
}

/** Opens an answer about many traces. @param {string} path @param {string} name */
async function fleet(path, name) {
  const { context, page, problems, data } = await opened(path);
  const rows = page.locator("#fleet-table > tbody > tr:not([hidden])");
  assert.equal(await rows.count(), data.fleet.rows.length);
  await accessible(page, name);
  if (data.fleet.trend) {
    assert.equal(await page.locator("figure.trend .bars i").count(), data.fleet.trend.days.length);
    await rows.first().getByRole("button").click();
    assert.equal(await page.locator("#fleet-table td table tr").count(), data.fleet.trend.days.length);
    await accessible(page, `${name}: a row`);
  }
  await ended(context, page, problems, name);
}

/** Opens one report and uses all of it. @param {string} path @param {string} name */
async function report(path, name) {
  const { context, page, problems, data } = await opened(path);
  await views(page, name);
  if (data.allocations) await allocations(page, data, path);
  if (data.cpu) await cpu(page, data);
  if (Object.values(data.locks.tables).some((table) => table.rows.length > 0)) await locks(page, data);
  if (data.leaks) await leaks(page, data);
  if (data.dump) await dump(page, data, path);
  if (data.requests) await requests(page, data);
  if (data.calls) await calls(page, data);
  if (screenshots && name === "demo") await pictures(page);

  // An address that nobody made by a click shows a view, too.
  for (const [hash, view] of [["#constructor", "Overview"], ["#locks?by=line", "Locks"], ["#allocations", "Allocations"], ["#locks?kind=waits&by=constructor", "Locks"]]) {
    await go(page, hash);
    await page.getByRole("heading", { name: view, level: 2 }).waitFor();
  }
  // What is in the address is shown again.
  await page.evaluate(() => (location.hash = "#allocations?show=table&by=class"));
  await page.reload();
  await page.getByRole("heading", { name: "Allocations", level: 2 }).waitFor();
  await ended(context, page, problems, name);
}

/** Chooses each entry point; its requests have a bar each, whose segments fill it. */
async function requests(page, data) {
  await go(page, "#requests");
  assert.equal(await page.locator("#entries-table tbody tr").count(), data.requests.entries.length);
  for (const entry of data.requests.entries) {
    await page.getByLabel("Entry point").selectOption(entry.text);
    await page.locator("#divided-table").waitFor();
    assert.equal(await page.locator("#divided-table .parts").count(), entry.divided.length);
    const bars = await page.locator("#divided-table .parts").evaluateAll((bars) =>
      bars.map((bar) => [bar.clientWidth, [...bar.children].reduce((sum, part) => sum + part.getBoundingClientRect().width, 0)]));
    for (const [whole, sum] of bars) assert.ok(Math.abs(whole - sum) <= 1, `${sum} of ${whole}`);
    await page.locator("#divided-table .opener").first().click();
    assert.ok((await page.locator("#divided-table").innerText()).includes(entry.divided[0].why));
  }
}

/** The calls have all methods in a table, and the sum of both numbers in each form. */
async function calls(page, data) {
  for (const [metric, at] of [["base", 0], ["calls", 1]]) {
    const sum = data.calls.values[at].reduce((sum, value) => sum + value, 0);
    const total = metric === "calls" ? `Total: ${sum.toLocaleString("en")}.` : "Total: ";
    for (const show of ["", "tree", "table"]) {
      await go(page, `#calls?metric=${metric}&show=${show}`);
      await page.getByText(total).first().waitFor();
      const methods = (await texts(page, "methods")).map((cells) => cells.at(-1));
      assert.deepEqual(methods, data.calls.rows.slice(0, 100).map((row) => row.text));
    }
  }
}

/** Looks at a page in other colours, and at what happened while it was open. */
async function ended(context, page, problems, name) {
  await page.emulateMedia({ media: "print" });
  await page.emulateMedia({ media: "screen", colorScheme: "dark" });
  await accessible(page, `${name}: dark`);
  assert.equal(await page.evaluate(() => "hacked" in window), false, "a name ran as a script");
  assert.deepEqual(problems, [], name);
  await context.close();
}

/** Opens the difference of two traces and uses all of it. @param {string} path @param {string} name */
async function difference(path, name) {
  const { context, page, problems, data } = await opened(path);
  await views(page, name);
  await go(page, "#overview");
  const overview = await page.locator("main").innerText();
  for (const { path } of data.diff) if (path.length < 300) assert.ok(overview.includes(path), path);
  for (const { summary, changes } of data.changed.measures) for (const text of [summary, ...changes]) assert.ok(overview.includes(text), text);
  for (const view of ["allocations", "cpu"]) {
    if (!data[view]) continue;
    for (const width of ["", "width=before&"]) await changedStacks(page, `#${view}?${width}`, data[view]);
    for (const by of ["method", "line", "class", "package", "site", "thread"]) {
      await go(page, `#${view}?show=table&by=${by}`);
      await page.locator("#changes-table").waitFor();
    }
    await go(page, `#${view}?show=table`);
    await sorted(page, "changes", "");
    if (data[view].sides.some((side) => side.is_estimated)) assert.ok((await page.locator("#changes-table th").allInnerTexts()).includes("±"));
    await go(page, `#${view}?show=tree`);
    assert.match(await page.locator(".tree .amount").first().innerText(), /%|new|gone/);
  }
  for (const by of ["class", "site", "holder", "waiter", "pair"]) {
    for (const kind of ["locks", "waits"]) {
      await go(page, `#locks?by=${by}&kind=${kind}&metric=count`);
      const rows = data.locks.tables[`${kind}.${by}`].rows.length;
      assert.equal(await page.locator("#changes-table tbody tr").count(), Math.max(1, Math.min(100, rows)));
    }
  }
  if (name === "diff-same") await same(page);
  if (name === "diff-planted") await planted(page, path, data);
  await page.evaluate(() => (location.hash = "#allocations?show=table&by=class&per=second"));
  await page.reload();
  await page.getByRole("heading", { name: "Allocations", level: 2 }).waitFor();
  await ended(context, page, problems, name);
}

/** The flame graph of a change: by keyboard, with signs and amounts. */
async function changedStacks(page, hash, { side, values, nodes }) {
  await go(page, hash);
  const drawn = side.some((side, cell) => side === (hash.includes("before") ? 0 : 1) && values[0][cell] > 0);
  if (!drawn) return page.getByText("choose the other width").waitFor();
  await page.getByText(/^all · /).waitFor();
  assert.match(await page.locator("#flame-status").innerText(), /^all · ([+−]\S+ \S+ \(.*(%|new|gone)\)|0 \S+ \(0 %\)) · .* before · .* after/);
  if (nodes.parent.length > 1) {
    const flame = page.locator("canvas.flame");
    await flame.focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Zoom out" }).waitFor();
    assert.match(await address(page), /zoom=/);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Zoom out" }).waitFor({ state: "detached" });
  }
}

/** Of a trace and itself nothing changed. */
async function same(page) {
  await go(page, "#overview");
  await page.getByText("Nothing in both traces changed.").waitFor();
  for (const hash of ["#allocations?show=table&by=line", "#allocations?show=table&metric=live-objects", "#locks", "#threads", "#leaks"]) {
    await go(page, hash);
    const rows = await texts(page, "changes");
    assert.ok(rows.length > 0, hash);
    for (const row of rows) assert.match(row.slice(0, 2).join(" "), /^0 \S* ?0 %$/, hash);
  }
}

/** A change that was made on purpose stands at the top, in numbers that the command has, too. */
async function planted(page, path, data) {
  const top = async (hash) => {
    await go(page, hash);
    return (await texts(page, "changes"))[0];
  };
  const objects = await top("#allocations?show=table&metric=objects");
  assert.deepEqual(objects, ["+1,000", "new", "0", "1,000", "Planted.planted"]);
  assert.deepEqual(await top("#allocations?show=table&metric=bytes"), ["+9.6 MiB", "new", "0 B", "9.6 MiB", "Planted.planted"]);
  assert.deepEqual((await top("#allocations?show=table&metric=live-objects")).at(-1), "Planted.planted");
  assert.match((await top("#leaks?by=class"))[4], /^byte\[\]$/);
  const [change, , before, after, lock] = await top("#locks");
  assert.ok(change.startsWith("+") && lock === "java.util.ArrayList", `${change} ${before} ${after} ${lock}`);
  assert.deepEqual((await top("#locks?metric=count")).slice(0, 4), ["0", "0 %", "1", "1"]);
  await go(page, "#allocations?show=table&by=class&metric=objects");
  await page.getByRole("button", { name: /^Show [\d,]+ more$/ }).click().catch(() => {});
  const shown = new Map((await texts(page, "changes")).map((cells) => [cells.at(-1), cells]));
  for (const [at, times] of [[2, 0], [3, 1000]]) {
    const trace = JSON.parse(readFileSync(join(path, `../planted-${times}.json`), "utf8")).traces[0];
    for (const row of trace.tables.class) assert.equal(shown.get(row.class)?.[at], row.total.toLocaleString("en"), `${row.class} ${times}`);
  }
  // The second trace is longer by a second: rates are offered, and are what they say.
  await go(page, "#overview");
  await page.getByLabel("amounts").selectOption("second");
  assert.match(await address(page), /per=second/);
  await go(page, "#allocations?show=table&metric=objects&per=second");
  const rate = (await texts(page, "changes")).find((row) => row.at(-1) === "Planted.planted");
  assert.equal(rate?.[3], `${(1000 / (data.diff[1].length / 1e9)).toLocaleString("en", { maximumFractionDigits: 2 })}/s`);
  if (screenshots) {
    await go(page, "#allocations");
    await page.getByText(/^all · /).waitFor();
    await page.screenshot({ path: join(screenshots, "report-difference.png") });
  }
}

/** @param {import("playwright-core").Page} page @param {string} what */
async function accessible(page, what) {
  // The page's policy lets no script in, so it comes by the debugger.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  const found = violations.filter((violation) => SERIOUS.includes(violation.impact));
  assert.deepEqual(found.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 200)}`), [], what);
}

/** Goes to a view by its address. @param {import("playwright-core").Page} page @param {string} hash */
async function go(page, hash) {
  await page.evaluate((hash) => {
    history.pushState(null, "", hash);
    dispatchEvent(new PopStateEvent("popstate"));
  }, hash);
}

/** The address as the page has it: the driver hears of a change later. @param {import("playwright-core").Page} page */
function address(page) {
  return page.evaluate(() => location.href);
}

/** Sorts a table by each of its columns, both ways. @param {import("playwright-core").Page} page @param {string} id @param {string} view */
async function sorted(page, id, view) {
  if (view) await page.getByRole("link", { name: view, exact: true }).click();
  const headings = await page.locator(`#${id}-table th`).count();
  for (let at = 0; at < headings; at++) {
    const heading = page.locator(`#${id}-table th`).nth(at);
    const before = await heading.getAttribute("aria-sort");
    await heading.getByRole("button").focus();
    await page.keyboard.press("Enter");
    const now = await page.locator(`#${id}-table th`).nth(at).getAttribute("aria-sort");
    assert.ok(now !== "none" && now !== before, `${id} is not sorted by column ${at}`);
    assert.equal(await page.evaluate(() => document.activeElement?.closest("th") !== null), true, "the focus stays where it is");
  }
}

/** The rows of a table as text. @param {import("playwright-core").Page} page @param {string} id */
async function texts(page, id) {
  return page.locator(`#${id}-table tbody tr:not([hidden])`).evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.innerText)));
}

async function allocations(page, data, path) {
  const { allocations } = data;
  await go(page, "#allocations");
  await page.locator("canvas.flame").waitFor();
  await folded(page);
  await go(page, "#allocations?fold=no");
  if (allocations.nodes.parent.length > 1) await zoomed(page);

  // The same numbers as those of the command.
  const stats = path.replace(/\.html$/, ".json");
  if (existsSync(stats) && !allocations.is_sampled) {
    const trace = JSON.parse(readFileSync(stats, "utf8")).traces[0];
    await go(page, "#allocations?show=table&by=class&metric=objects");
    const shown = new Map((await texts(page, "stacks")).map((cells) => [cells.at(-1), cells[0]]));
    const largest = trace.tables.class.slice().sort((a, b) => b.total - a.total).slice(0, 20).filter((row) => row.total > 0);
    assert.ok(largest.length > 0);
    for (const row of largest) {
      if (row.class.length < 300) assert.equal(shown.get(row.class), row.total.toLocaleString("en"), row.class);
    }
  }
  await go(page, "#allocations?show=table");
  await sorted(page, "stacks", "");
  await go(page, "#allocations?show=table&by=class");
  if (allocations.values[0].some((bytes) => bytes > 0)) {
    // A row has its stacks below it, which are all of it.
    await page.locator("#stacks-table .opener").first().click();
    const [value] = (await texts(page, "stacks"))[0];
    assert.equal(await page.locator("#stacks-table .tree .amount").first().innerText(), `${value} 100.0 %`);
    await accessible(page, "stacks of a row");
  }
  await go(page, "#allocations?show=table");
  const all = await page.locator("#stacks-table tbody tr").count();
  await page.keyboard.press("/");
  await page.keyboard.type("zzz no such name");
  await page.getByText("Nothing to show.").waitFor();
  assert.ok(all >= 1);
  await go(page, "#allocations?show=tree");
  await page.locator(".tree li").first().waitFor();

  if (allocations.slices.length > 1) await ranged(page, "#allocations?show=table&metric=bytes", async () => {
    const value = await page.locator("main .note").first().innerText();
    return value.match(/Total: ([\d.,]+ \w+)/)?.[1];
  });
}

/** Sorts what is alive, and goes from a row to its stacks. */
async function leaks(page, data) {
  await sorted(page, "leaks", "Leaks");
  if (!data.allocations?.has_stacks || !data.allocations.knows_live) return;
  for (const by of ["site", "line", "class"].filter((by) => data.leaks[by].rows.length > 0)) {
    await go(page, `#leaks?by=${by}`);
    await page.locator("#leaks-table .opener").first().click();
    await page.getByRole("link", { name: "Show its call stacks in Allocations" }).click();
    await page.getByText(/^Frames with “.+”: [^0]/).waitFor();
    assert.match(await address(page), /^[^#]*#allocations\?metric=live-bytes&from=bottom&search=/);
  }
}

/** Looks at a heap dump: who holds what was planted, and each table. */
async function dump(page, data, path) {
  await page.getByRole("link", { name: "Heap dump", exact: true }).click();
  await page.getByRole("heading", { name: "Heap dump", level: 2 }).waitFor();
  await accessible(page, "heap dump");
  const first = await page.locator(".findings > li").first().innerText();
  for (const part of ["9.6 MiB", "1,000 × byte[]", "all allocated at Planted.planted(Planted.java:", "KEPT → java.util.ArrayList", "class Planted"]) {
    assert.ok(first.includes(part), `no ${part} in ${first}`);
  }
  for (const show of ["dominators", "histogram", "strings", "collections", "boxes"]) {
    await go(page, `#dump?show=${show}`);
    assert.ok((await texts(page, show)).length > 0, show);
    await sorted(page, show, "");
    await accessible(page, show);
  }
  await go(page, "#dump?show=histogram");
  const known = new Map(JSON.parse(readFileSync(join(path, "../heap-dump.json"), "utf8")).dumps[0].histogram.map((row) => [row.class, row]));
  const shown = await texts(page, "histogram");
  for (const row of shown) assert.equal(row[0], known.get(row.at(-1)).instances.toLocaleString("en"), row.at(-1));
  await go(page, "#dump?show=histogram&search=planted");
  assert.deepEqual((await texts(page, "histogram")).filter((row) => !row.at(-1).includes("Planted")), []);
}

/** Frames of frameworks above own code are one bar, which opens. */
async function folded(page) {
  const flame = page.locator("canvas.flame");
  await flame.focus();
  await page.keyboard.press("ArrowDown");
  const status = page.locator("#flame-status");
  if (!(await status.innerText()).startsWith("…")) return;
  await page.keyboard.press("Enter");
  assert.match(await address(page), /open=/);
  await flame.focus();
  await page.keyboard.press("ArrowDown");
  assert.ok(!(await status.innerText()).startsWith("…"), "it opens");
}

/** Zooms into a flame graph and out again, with the keyboard. */
async function zoomed(page) {
  const flame = page.locator("canvas.flame");
  await flame.focus();
  await page.keyboard.press("ArrowDown");
  const status = await page.locator("#flame-status").innerText();
  assert.match(status, /of all/);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Zoom out" }).waitFor();
  assert.match(await address(page), /zoom=/);
  assert.equal(await page.evaluate(() => document.activeElement?.className), "flame");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Zoom out" }).waitFor({ state: "detached" });
  await flame.click({ position: { x: 30, y: 28 } });
  assert.match(await address(page), /zoom=/);
}

/** Chooses a range by mouse, by keyboard and by its fields: less than all is left, and the back button brings all back. */
async function ranged(page, hash, value) {
  await go(page, hash);
  const whole = await value();
  const axis = page.locator("canvas.time");
  await axis.scrollIntoViewIfNeeded();
  const { x, y, width } = await axis.boundingBox();
  await page.mouse.move(x + width * 0.2, y + 20);
  assert.match(await page.locator(".tip:visible").innerText(), /^[\d.]+ s to [\d.]+ s: /, "the axis names no value");
  await page.mouse.down();
  await page.mouse.move(x + width * 0.5, y + 20, { steps: 4 });
  await page.mouse.up();
  assert.match(await address(page), /time=\d+-\d+/);
  assert.notEqual(await value(), whole, "a range changes nothing");
  await axis.focus();
  const before = await address(page);
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await address(page), before);
  await page.keyboard.press("Escape");
  assert.equal(await value(), whole);
  await page.locator("input[type=number]").first().fill("0");
  await page.goBack();
  assert.match(await address(page), /time=/);
}

async function cpu(page, data) {
  await go(page, "#cpu?fold=no");
  await zoomed(page);
  await page.locator("canvas.heat").focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  assert.match(await address(page), /time=/);
  await go(page, "#cpu?show=table");
  await sorted(page, "stacks", "");
  const sum = data.cpu.values[0].reduce((sum, value) => sum + value, 0);
  const moments = data.cpu.moments.time.reduce((sum, value) => sum + value, 0);
  assert.equal(moments, sum, "what is known by time is all");
}

async function locks(page, data) {
  await sorted(page, "locks", "Locks");
  for (const by of ["monitor", "class", "site", "holder", "waiter", "pair"]) {
    await go(page, `#locks?by=${by}`);
    const shown = await page.locator("#locks-table tbody tr:not([hidden])").count();
    assert.ok(shown >= Math.min(100, data.locks.tables[`locks.${by}`].rows.length), by);
  }
  await page.locator("#locks-table .opener").first().click();
  await page.getByText(/Longest wait/).first().waitFor();
  await go(page, "#threads");
  await page.locator("canvas.threads").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  assert.match(await address(page), /of=/);
  await page.locator("#waits-table").waitFor();
  await sorted(page, "threads", "");
}

/** The picture of the guide. */
async function pictures(page) {
  await page.setViewportSize({ width: 1000, height: 640 });
  await go(page, "#allocations");
  await page.getByText("all · ").waitFor();
  await page.screenshot({ path: join(screenshots, "report-allocations.png") });
  await page.setViewportSize({ width: 1280, height: 900 });
}
