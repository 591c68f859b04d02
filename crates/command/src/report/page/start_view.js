// Where the start of the JVM went: its own counters over time, static initialisers, failed look-ups, compilations.
import { data } from "./data.js";
import { bytes, count, duration, percent, seconds } from "./format.js";
import { colour, element, prepare, tooltip } from "./dom.js";
import { nameColumn, numberColumn, table } from "./table.js";

/** @typedef {import("./data.js").Initialiser} Initialiser */
/** @typedef {import("./data.js").StartInterval} StartInterval */

const ROW = 16;
const MOST_BARS = 20;
/** In the order of the data. */
const CAUSES = ["load", "link", "verify", "initialise", "compile", "collect", "stopped"];
/** Fewer samples say nothing. */
const LEAST_SAMPLES = 10;

/** The start. */
export function startView() {
  const start = /** @type {NonNullable<typeof data.start>} */ (data.start);
  const causes = CAUSES.map((title, at) => ({ key: title, title, number: true,
    text: (/** @type {StartInterval} */ row) => (row.causes[at] > 0 ? duration(row.causes[at]) : "-"), sort: (/** @type {StartInterval} */ row) => row.causes[at] }));
  const interpreted = { key: "interpreted", title: "interpreted", number: true, help: "share of the program's CPU time, of samples",
    text: (/** @type {StartInterval} */ row) => (row.samples < LEAST_SAMPLES ? "-" : percent(row.interpreted, row.code)), sort: (/** @type {StartInterval} */ row) => (row.samples < LEAST_SAMPLES ? -1 : row.interpreted / row.code) };
  const ends = { key: "until", title: "until", number: true, text: (/** @type {StartInterval} */ row) => (row.from === null ? "before" : seconds(row.until)), sort: (/** @type {StartInterval} */ row) => row.until };
  const hasSamples = start.intervals.some((row) => row.samples > 0);
  const left = start.left > 0 ? element("p", { class: "note" }, `${count(start.left)} more initialisers are not in this page.`) : null;
  return element("div", {},
    ...start.sentences.map((sentence) => element("p", { class: "note" }, sentence)),
    start.initialisers.length > 0 ? bars(start.initialisers) : null,
    table("start", "The JVM's own counters over time, summed over all threads", [ends, numberColumn("classes", "classes", count, "loaded"), ...causes, ...(hasSamples ? [interpreted] : [])], start.intervals, "until:up"),
    table("initialisers", "Static initialisers of 1 ms and more", [
      numberColumn("own", "own", duration, "without other initialisers that it caused"), numberColumn("total", "total", duration),
      { key: "begun", title: "began at", number: true, text: (/** @type {Initialiser} */ row) => seconds(row.begun), sort: (/** @type {Initialiser} */ row) => row.begun },
      { key: "cause", title: "caused by", text: (/** @type {Initialiser} */ row) => row.caused_by ?? "-", sort: (/** @type {Initialiser} */ row) => row.caused_by ?? "" },
      nameColumn("class", (row) => row.text),
    ], start.initialisers, "own", (/** @type {Initialiser} */ row) => (row.stack.length > 0 ? element("pre", {}, row.stack.join("\n")) : null)),
    left,
    start.lookups.length > 0 ? table("lookups", "Look-ups of classes that failed", [
      numberColumn("count", "failed", count), { key: "cause", title: "caused by", text: (row) => row.caused_by ?? "-", sort: (row) => row.caused_by ?? "" },
      nameColumn("loader", (row) => row.text)], start.lookups, "count") : null,
    table("methods", "Compiled methods", [
      numberColumn("time", "compiling", duration), numberColumn("count", "times", count), numberColumn("discarded", "discarded", count, "optimised code that was discarded"),
      numberColumn("bytes", "bytecode", bytes), nameColumn("method", (row) => row.text)], start.methods, "time"));
}

/** The longest initialisers as bars over time. @param {Initialiser[]} initialisers */
function bars(initialisers) {
  const rows = initialisers.slice(0, MOST_BARS).sort((a, b) => a.begun - b.begun);
  const end = rows.reduce((end, row) => Math.max(end, row.begun + row.total), 1);
  const height = rows.length * ROW + 18;
  const canvas = element("canvas", { tabindex: "0", role: "img", "data-key": "start", class: "heap",
    "aria-label": `The ${rows.length} static initialisers that took longest, over time. The table below has the same.` });
  const tip = tooltip(canvas);
  const draw = () => {
    const { context, width } = prepare(canvas, height);
    rows.forEach((row, at) => {
      const left = (row.begun / end) * width;
      const length = Math.max((row.total / end) * width, 2);
      context.fillStyle = colour("bar");
      context.fillRect(left, at * ROW + 2, length, ROW - 4);
      context.fillStyle = colour("ink");
      // Where there is more room.
      const isLeft = left > width / 2;
      context.textAlign = isLeft ? "right" : "left";
      context.fillText(`${row.text}  ${duration(row.total)}`, isLeft ? left - 4 : left + length + 4, at * ROW + ROW / 2);
    });
    context.fillStyle = colour("ink");
    for (let tick = 0; tick <= 4; tick++) {
      context.textAlign = tick === 0 ? "left" : tick === 4 ? "right" : "center";
      context.fillText(seconds((end * tick) / 4), (width * tick) / 4, height - 7);
    }
  };
  canvas.addEventListener("mousemove", (/** @type {MouseEvent} */ event) => {
    const row = rows[Math.floor(event.offsetY / ROW)];
    if (row) tip.say(event, `${row.text}\n${duration(row.total)}, ${duration(row.own)} of it its own\ncaused by ${row.caused_by ?? "an unknown line"}`);
  });
  requestAnimationFrame(draw);
  addEventListener("resize", () => canvas.isConnected && draw());
  return element("section", { class: "graph" }, canvas, tip.box);
}
