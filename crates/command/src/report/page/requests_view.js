// How long requests took over time, and where the time of the first and the slowest went.
import { data } from "./data.js";
import { bytes, count, duration, percent, seconds } from "./format.js";
import { choice, colour, element, prepare, tooltip } from "./dom.js";
import { get, set } from "./state.js";
import { nameColumn, numberColumn, table } from "./table.js";

/** @typedef {import("./data.js").RequestEntry} RequestEntry */
/** @typedef {import("./data.js").DividedRequest} DividedRequest */

const HEIGHT = 200;
const [TOP, BOTTOM] = [16, 18];
/** The colours of parts. @type {Record<string, string>} */
const COLOURS = {
  initialisers: "own", loading: "class", exceptions: "more", interpreted: "runtime", compiled: "running", native: "native", "other-cpu": "bar", cpu: "bar",
  monitors: "blocked", locks: "line", waiting: "waiting", parked: "parked", sleeping: "sleeping", collections: "ink", safepoints: "jdk", ready: "less", rest: "same",
};

/** Requests. */
export function requestsView() {
  const { entries, left, notes } = /** @type {NonNullable<typeof data.requests>} */ (data.requests);
  const entry = entries.find((each) => each.text === get("entry")) ?? entries[0];
  const chosen = choice("Entry point", entries.map((each) => [each.text, each.text]), entry.text, (text) => set({ entry: text }));
  return element("div", {},
    table("entries", "Entry points; percentiles are at most a sixteenth too long, CPU time and bytes are averages", [
      numberColumn("requests", "requests", count), numberColumn("failures", "failed", count), numberColumn("rate", "per s", (rate) => rate.toFixed(1)),
      numberColumn("mean", "mean", duration), numberColumn("p50", "p50", duration), numberColumn("p90", "p90", duration), numberColumn("p99", "p99", duration),
      numberColumn("p999", "p99.9", duration), numberColumn("longest", "max", duration), numberColumn("cpu", "CPU", duration), numberColumn("bytes", "bytes", bytes),
      nameColumn("entry point", (row) => row.text)], entries, "requests"),
    left > 0 ? element("p", { class: "note" }, `${count(left)} more entry points are not in this page.`) : null,
    ...notes.map((note) => element("p", { class: "note" }, note)),
    element("div", { class: "tools" }, chosen),
    latency(entry),
    divided(entry));
}

/** The first and the slowest requests, each as a bar of its parts. @param {RequestEntry} entry */
function divided(entry) {
  const kinds = new Map(entry.divided.flatMap((row) => row.parts.map((part) => [part.kind, part.text])));
  const legend = Object.keys(COLOURS).filter((kind) => kinds.has(kind)).map((kind) => element("li", {}, swatch(kind), kinds.get(kind) ?? ""));
  return element("section", {},
    element("ul", { class: "legend" }, ...legend),
    table("divided", "Where the time of the first, tenth ... request went, and of the slowest", [
      { key: "number", title: "request", number: true, text: (/** @type {DividedRequest} */ row) => `#${count(row.number)}${row.failed ? " failed" : ""}`, sort: (/** @type {DividedRequest} */ row) => row.number },
      { key: "begun", title: "began at", number: true, text: (/** @type {DividedRequest} */ row) => seconds(row.begun), sort: (/** @type {DividedRequest} */ row) => row.begun },
      numberColumn("took", "took", duration), numberColumn("cpu", "CPU", duration), numberColumn("bytes", "bytes", bytes),
      { key: "parts", title: "parts of its time", text: bar, sort: (/** @type {DividedRequest} */ row) => row.took },
      nameColumn("thread", (row) => row.thread),
    ], entry.divided, "number:up", parts));
}

/** @param {string} kind */
function swatch(kind) {
  return element("span", { class: "swatch", style: `background: var(--${COLOURS[kind]})` });
}

/** @param {DividedRequest} row */
function bar(row) {
  const text = row.parts.map((part) => `${part.text} ${percent(part.time, row.took)}`).join(", ");
  const segments = row.parts.map((part) => element("span", { style: `width: ${(part.time / row.took) * 100}%; background: var(--${COLOURS[part.kind]})`, title: `${part.text}: ${duration(part.time)}` }));
  return element("div", { class: "parts", role: "img", "aria-label": text }, ...segments);
}

/** All parts of a request in words. @param {DividedRequest} row */
function parts(row) {
  const line = (/** @type {DividedRequest["parts"][0]} */ part) => element("li", {}, swatch(part.kind), `${duration(part.time)}${part.error > 0 ? ` ± ${duration(part.error)}` : ""} (${percent(part.time, row.took)}) ${part.text}`);
  return element("div", {}, element("p", {}, row.why), element("ul", { class: "legend" }, ...row.parts.map(line)));
}

/** How long requests took over time: from half of them to 99 % as a band, the longest as a line. @param {RequestEntry} entry */
function latency(entry) {
  const moments = entry.moments.filter((moment) => moment.requests > 0 && moment.longest !== null);
  if (moments.length === 0) return element("p", { class: "note" }, "The trace has no durations over time.");
  const most = moments.reduce((most, moment) => Math.max(most, moment.longest ?? 0), 1);
  const least = moments.reduce((least, moment) => Math.min(least, moment.p50 ?? most), most);
  // Each step is ten times the one below.
  const [floor, ceiling] = [Math.floor(Math.log10(Math.max(least, 1))), Math.max(Math.ceil(Math.log10(most)), Math.floor(Math.log10(Math.max(least, 1))) + 1)];
  const begin = moments[0].from;
  const end = Math.max(moments[moments.length - 1].until, begin + 1);
  const plot = HEIGHT - BOTTOM;
  const y = (/** @type {number} */ time) => plot - ((Math.log10(Math.max(time, 1)) - floor) / (ceiling - floor)) * (plot - TOP);
  const canvas = element("canvas", { tabindex: "0", role: "img", "data-key": "latency", class: "heap",
    "aria-label": `How long requests of ${entry.text} took over time, at most ${duration(most)}: the band is from half of them to 99 %, the line is the longest.` });
  const tip = tooltip(canvas);
  const draw = () => {
    const { context, width } = prepare(canvas, HEIGHT);
    const x = (/** @type {number} */ time) => ((time - begin) / (end - begin)) * width;
    for (const moment of moments) {
      const [left, length] = [x(moment.from), Math.max(x(moment.until) - x(moment.from), 1.5)];
      const [low, high] = [y(moment.p50 ?? 1), y(moment.p99 ?? 1)];
      context.fillStyle = colour("bar");
      context.fillRect(left, high, length, Math.max(low - high, 1.5));
      context.fillStyle = colour("line");
      context.fillRect(left, y(moment.longest ?? 1) - 1, length, 2);
    }
    context.fillStyle = colour("ink");
    context.textAlign = "left";
    for (let power = floor; power <= ceiling; power++) context.fillText(duration(10 ** power), 4, y(10 ** power));
    for (let tick = 0; tick <= 4; tick++) {
      context.textAlign = tick === 0 ? "left" : tick === 4 ? "right" : "center";
      context.fillText(seconds(begin + ((end - begin) * tick) / 4), (width * tick) / 4, HEIGHT - 7);
    }
  };
  canvas.addEventListener("mousemove", (/** @type {MouseEvent} */ event) => {
    const time = begin + (event.offsetX / canvas.clientWidth) * (end - begin);
    const moment = moments.find((moment) => moment.from <= time && time < moment.until);
    const text = (/** @type {number|null} */ time) => duration(time ?? 0);
    tip.say(event, moment ? `${seconds(moment.from)} to ${seconds(moment.until)}: ${count(moment.requests)} requests\np50 ${text(moment.p50)}, p99 ${text(moment.p99)}, max ${text(moment.longest)}` : "");
  });
  requestAnimationFrame(draw);
  addEventListener("resize", () => canvas.isConnected && draw());
  const legend = element("ul", { class: "legend" },
    element("li", {}, element("span", { class: "swatch bar" }), "from p50 to p99"), element("li", {}, element("span", { class: "swatch line" }), "longest"));
  return element("section", { class: "graph" }, legend, canvas, tip.box);
}
