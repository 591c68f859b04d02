// A heat map of CPU time: a column is a second, a row of it 20 ms; of long traces both are longer.
import { data } from "./data.js";
import { duration, seconds } from "./format.js";
import { colour, element } from "./dom.js";
import { range, setRange } from "./state.js";

const SECOND = 1e9;
const ROW = 4;
/** Browsers draw no canvas that is much wider, in pixels. */
const WIDEST = 30000;
const NARROWEST = 3;

/** The heat map of values by piece. @param {import("./data.js").Cpu} cpu @param {string} thread */
export function heatMap(cpu, thread) {
  const { slot, cell, time } = cpu.moments;
  const rows = Math.max(1, Math.round(SECOND / cpu.moments.width));
  // As many slots are one cell, so that all of them have a place.
  const joined = Math.floor(data.length / (rows * cpu.moments.width * (WIDEST / NARROWEST))) + 1;
  const width = cpu.moments.width * joined;
  const columns = Math.floor(data.length / (rows * width)) + 1;
  const heat = new Float64Array(columns * rows);
  for (let at = 0; at < slot.length; at++) {
    const place = Math.floor(slot[at] / joined);
    if (place < heat.length && (thread === "" || String(cpu.thread[cell[at]]) === thread)) heat[place] += time[at];
  }
  const most = heat.reduce((most, value) => Math.max(most, value), 0) || 1;
  const canvas = element("canvas", { class: "heat", tabindex: "0", role: "img", "data-key": "heat",
    "aria-label": `Heat map of CPU time: one column per ${duration(rows * width)}, one row per ${duration(width)}. Drag, or press Enter twice, to select a range; arrow keys move.` });
  const status = element("p", { class: "status", "aria-live": "polite" });
  let cursor = 0;
  let anchor = -1;
  let wide = 4;
  const draw = () => {
    const room = canvas.parentElement?.clientWidth || 800;
    wide = Math.max(NARROWEST, Math.min(24, Math.floor(room / columns)));
    canvas.width = columns * wide;
    canvas.height = rows * ROW;
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const [hot, chosen] = [colour("hot"), range()];
    context.fillStyle = colour("cold");
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.fillStyle = hot;
    heat.forEach((value, at) => {
      if (value === 0) return;
      context.globalAlpha = 0.15 + 0.85 * (value / most);
      const column = Math.floor(at / rows);
      context.fillRect(column * wide, (rows - 1 - (at % rows)) * ROW, wide - 0.5, ROW - 0.5);
    });
    context.globalAlpha = 1;
    context.strokeStyle = colour("ink");
    const frame = (/** @type {number} */ at) => context.strokeRect(Math.floor(at / rows) * wide, (rows - 1 - (at % rows)) * ROW, wide, ROW);
    if (chosen) heat.forEach((_, at) => (at + 0.5) * width >= chosen[0] && (at + 0.5) * width < chosen[1] && (at % rows === 0 || at % rows === rows - 1) && frame(at));
    frame(cursor);
  };
  const say = () => {
    const from = anchor >= 0 ? `; range starts at ${seconds(anchor * width)}` : "";
    status.textContent = `${seconds(cursor * width)}: ${duration(heat[cursor] ?? 0)} of CPU time in ${duration(width)}${from}. Maximum: ${duration(most)}.`;
  };
  const choose = (/** @type {number} */ one, /** @type {number} */ other) => setRange([Math.min(one, other) * width, (Math.max(one, other) + 1) * width]);
  const at = (/** @type {MouseEvent} */ event) => {
    const scale = canvas.width / canvas.clientWidth;
    const row = rows - 1 - Math.floor((event.offsetY * canvas.height) / canvas.clientHeight / ROW);
    return Math.min(heat.length - 1, Math.floor((event.offsetX * scale) / wide) * rows + Math.min(rows - 1, Math.max(0, row)));
  };
  canvas.addEventListener("mousedown", (/** @type {MouseEvent} */ event) => (anchor = at(event)));
  canvas.addEventListener("mousemove", (/** @type {MouseEvent} */ event) => {
    cursor = at(event);
    draw();
    say();
  });
  canvas.addEventListener("mouseup", (/** @type {MouseEvent} */ event) => anchor >= 0 && choose(anchor, at(event)));
  canvas.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    /** @type {Record<string, number>} */
    const steps = { ArrowUp: 1, ArrowDown: -1, ArrowRight: rows, ArrowLeft: -rows };
    if (event.key === "Enter") {
      if (anchor >= 0) return choose(anchor, cursor);
      anchor = cursor;
    } else if (!steps[event.key]) return;
    event.preventDefault();
    cursor = Math.min(heat.length - 1, Math.max(0, cursor + (steps[event.key] ?? 0)));
    draw();
    say();
  });
  requestAnimationFrame(() => {
    draw();
    say();
  });
  return element("section", { class: "graph" }, element("h3", {}, `Heat map: one column per ${duration(rows * width)}, one row per ${duration(width)}, from the bottom`), element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Heat map" }, canvas), status);
}
