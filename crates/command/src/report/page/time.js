// The time axis: what happened when, and which part of it is looked at.
import { data } from "./data.js";
import { bytes, count, duration, seconds } from "./format.js";
import { button, colour, element, prepare, tooltip } from "./dom.js";
import { range, setRange } from "./state.js";

const HEIGHT = 84;
const BINS = 200;

/** @typedef {{title: string, bins: {begin: number, end: number, value: number}[], format: (value: number) => string, line?: (number|null)[], lineTitle?: string, marks?: (number|null)[], note?: string}} Series */

/** What is drawn beside a view. @param {string} view @returns {Series|null} */
export function series(view) {
  const { allocations, cpu, locks, length } = data;
  const samples = view === "cpu" ? cpu : view === "wall" ? data.wall : null;
  if (samples) {
    const width = length / BINS || 1;
    const bins = even(width);
    samples.moments.slot.forEach((slot, at) => {
      const bin = bins[Math.min(BINS - 1, Math.floor(((slot + 0.5) * samples.moments.width) / width))];
      bin.value += samples.moments.time[at];
    });
    return { title: view === "cpu" ? "CPU time" : "thread time", bins, format: duration };
  }
  if (view === "locks" && locks.waits.since.length > 0) {
    const width = length / BINS || 1;
    const bins = even(width);
    locks.waits.since.forEach((since, at) => {
      if (!locks.waits.contended[at]) return;
      const end = since + locks.waits.length[at];
      for (let bin = Math.floor(since / width); bin < BINS && bin * width < end; bin++) {
        bins[bin].value += Math.min(end, (bin + 1) * width) - Math.max(since, bin * width);
      }
    });
    const { since, left_out: left } = locks.waits;
    const note = left > 0 ? `Bars show only the ${count(since.length)} longest waits; ${count(left)} shorter ones are missing.` : "";
    return { title: "lock wait time", bins, format: duration, note };
  }
  if (allocations && allocations.slices.length > 1) {
    const { slices } = allocations;
    const hasLive = slices.some((slice) => slice.live !== null);
    return {
      title: "allocated bytes per second", format: (value) => `${bytes(value)}/s`,
      bins: slices.map(({ begin, end, bytes }) => ({ begin, end, value: end > begin ? (bytes / (end - begin)) * 1e9 : 0 })),
      line: slices.map((slice) => (hasLive ? slice.live : slice.used)), lineTitle: hasLive ? "live bytes" : "heap used after collections",
      marks: slices.map((slice) => slice.collections),
    };
  }
  return cpu && view !== "cpu" ? series("cpu") : null;
}

/** @param {number} width */
function even(width) {
  return Array.from({ length: BINS }, (_, bin) => ({ begin: bin * width, end: (bin + 1) * width, value: 0 }));
}

/** The axis of a view. @param {string} view @returns {Node} */
export function timeAxis(view) {
  const found = series(view);
  if (!found || data.length === 0) return element("p", { class: "note" }, "The trace has no times, so no time range can be selected.");
  const chosen = range();
  const end = data.length;
  const canvas = element("canvas", { tabindex: "0", role: "img", "data-key": "time", class: "time",
    "aria-label": `Over time: ${found.title}. ${found.note ? `${found.note} ` : ""}Drag to select a range. Arrow keys move it, with Shift they resize it, Escape selects all.` });
  const status = element("p", { class: "status" });
  const mostLine = Math.max(1, ...(found.line ?? []).map((value) => value ?? 0));
  /** What is drawn at a moment. @param {number} moment */
  const inWords = (moment) => {
    const at = found.bins.findIndex((bin) => bin.begin <= moment && moment < bin.end);
    if (at < 0) return "";
    const { begin, end, value } = found.bins[at];
    const line = found.line?.[at];
    return `${seconds(begin)} to ${seconds(end)}: ${found.format(value)}${typeof line === "number" ? `, ${found.lineTitle}: ${bytes(line)}` : ""}`;
  };
  const describe = (/** @type {[number, number]|null} */ range) => {
    const marks = found.marks?.some((mark) => mark) ? "; triangles: collections" : "";
    const line = found.line?.some((value) => value !== null) ? `; line: ${found.lineTitle}, at most ${bytes(mostLine)}` : "";
    const shown = range ? `Range: ${seconds(range[0])} to ${seconds(range[1])}; all views except Overview, Leaks and Heap dump show this range.` : `Bars: ${found.title}, at most ${found.format(Math.max(...found.bins.map((bin) => bin.value)))}${line}${marks}`;
    status.textContent = found.note ? `${shown}${range ? "" : "."} ${found.note}` : shown;
  };
  const draw = (/** @type {[number, number]|null} */ range) => {
    const { context, width } = prepare(canvas, HEIGHT);
    const [plot, x] = [HEIGHT - 16, (/** @type {number} */ time) => (time / end) * width];
    const most = Math.max(...found.bins.map((bin) => bin.value)) || 1;
    context.fillStyle = colour("bar");
    for (const bin of found.bins) {
      const height = (bin.value / most) * (plot - 4);
      context.fillRect(x(bin.begin), plot - height, Math.max(x(bin.end) - x(bin.begin) - 0.5, 0.5), height);
    }
    context.strokeStyle = colour("line");
    context.lineWidth = 2;
    context.beginPath();
    (found.line ?? []).forEach((value, at) => value !== null && context.lineTo(x(found.bins[at].end), plot - (value / mostLine) * (plot - 4)));
    context.stroke();
    context.fillStyle = colour("ink");
    (found.marks ?? []).forEach((mark, at) => {
      if (!mark) return;
      const middle = x((found.bins[at].begin + found.bins[at].end) / 2);
      context.beginPath();
      context.moveTo(middle - 3, plot + 6);
      context.lineTo(middle + 3, plot + 6);
      context.lineTo(middle, plot + 1);
      context.fill();
    });
    // What the axis is of, and how far up it reaches.
    context.textAlign = "left";
    context.fillText(`${found.title}, up to ${found.format(most)}`, 4, 8);
    if (found.line?.some((value) => value !== null)) {
      context.textAlign = "right";
      context.fillStyle = colour("line");
      context.fillText(`${found.lineTitle}, up to ${bytes(mostLine)}`, width - 4, 8);
      context.fillStyle = colour("ink");
    }
    for (let tick = 0; tick <= 4; tick++) {
      const label = seconds((end * tick) / 4);
      context.textAlign = tick === 0 ? "left" : tick === 4 ? "right" : "center";
      context.fillText(label, (width * tick) / 4, HEIGHT - 5);
    }
    if (range) {
      context.fillStyle = colour("shade");
      context.fillRect(0, 0, x(range[0]), plot);
      context.fillRect(x(range[1]), 0, width, plot);
      context.strokeStyle = colour("ink");
      context.strokeRect(x(range[0]), 1, Math.max(x(range[1]) - x(range[0]), 1), plot - 1);
    }
    describe(range);
  };
  const time = (/** @type {MouseEvent} */ event) => Math.min(end, Math.max(0, (event.offsetX / canvas.clientWidth) * end));
  const tip = tooltip(canvas);
  let from = -1;
  canvas.addEventListener("mousedown", (/** @type {MouseEvent} */ event) => (from = time(event)));
  canvas.addEventListener("mousemove", (/** @type {MouseEvent} */ event) => {
    if (from >= 0 && event.buttons) draw([Math.min(from, time(event)), Math.max(from, time(event))]);
    else tip.say(event, inWords(time(event)));
  });
  canvas.addEventListener("mouseup", (/** @type {MouseEvent} */ event) => {
    if (from < 0) return;
    const to = time(event);
    const isClick = Math.abs(to - from) < end / 300;
    setRange(isClick ? null : [Math.min(from, to), Math.max(from, to)]);
    if (isClick) draw(null);
    from = -1;
  });
  canvas.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const step = (event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0) * (end / 50);
    if (event.key === "Escape") setRange(null);
    if (step === 0) return;
    event.preventDefault();
    const [first, last] = chosen ?? [0, end / 10];
    const to = Math.min(end, Math.max(last + step, end / 50));
    setRange(event.shiftKey ? [Math.min(first, to - end / 50), to] : [Math.max(0, Math.min(first + step, to - end / 50)), to]);
  });
  const field = (/** @type {string} */ label, /** @type {number} */ value, /** @type {(value: number) => void} */ change) => {
    const input = element("input", { type: "number", min: 0, max: (end / 1e9).toFixed(3), step: "any", value: (value / 1e9).toFixed(3), "data-key": `time-${label}`, 
      // Once the focus is where Tab takes it.
      change: () => setTimeout(() => change(Math.min(end, Math.max(0, Number(input.value) * 1e9)))) });
    return element("label", {}, `${label} `, input, " s");
  };
  const [first, last] = chosen ?? [0, end];
  const fields = element("div", { class: "tools" },
    field("from", first, (value) => setRange([Math.min(value, end - 1e6), Math.max(last, value + 1e6)])),
    field("to", last, (value) => setRange([Math.min(first, value - 1e6), value])),
    button("Whole trace", () => setRange(null)));
  requestAnimationFrame(() => draw(chosen));
  addEventListener("resize", () => canvas.isConnected && draw(range()));
  return element("section", { class: "axis", "aria-label": "Time range" }, canvas, tip.box, element("div", { class: "below" }, status, fields));
}
