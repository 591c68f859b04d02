// Collections, and what was in use after them, over time.
import { advice, data } from "./data.js";
import { bytes, count, duration, percent, seconds } from "./format.js";
import { colour, element, prepare, tooltip } from "./dom.js";
import { table } from "./table.js";

const HEIGHT = 220;
const [TOP, BOTTOM] = [16, 18];

/** Collections. */
export function heapView() {
  const { collections, length } = data;
  if (!collections) return element("p", { class: "note" }, `The trace has no collections. To record them: ${advice(data.is_attached ? "--sampled" : "")}.`);
  const { since, pause, used } = collections;
  const order = since.map((_, at) => at);
  const text = `${count(collections.count)} collections stopped the program for ${duration(collections.pauses)}, ${percent(collections.pauses, length)} of the time.`;
  return element("div", {}, element("p", { class: "note" }, text), graph(),
    table("collections", "Collections", [
      { key: "since", title: "began", number: true, text: (at) => seconds(since[at]), sort: (at) => since[at] },
      { key: "pause", title: "pause", number: true, text: (at) => duration(pause[at]), sort: (at) => pause[at] },
      { key: "used", title: "in use after it", number: true, text: (at) => words(used[at]), sort: (at) => used[at] ?? -1 },
    ], order, "pause"));
}

/** @param {number|null} value */
const words = (value) => (value === null ? "not recorded" : bytes(value));

/** Bars are pauses; the line is what was in use after them. */
function graph() {
  const { collections, length } = data;
  const { since, pause, used } = /** @type {NonNullable<typeof collections>} */ (collections);
  const most = pause.reduce((most, value) => Math.max(most, value), 1);
  const mostUsed = used.reduce((/** @type {number} */ most, value) => Math.max(most, value ?? 0), 1);
  const hasUsed = used.some((value) => value !== null);
  const canvas = element("canvas", { tabindex: "0", role: "img", "data-key": "heap", class: "heap",
    "aria-label": `Collections over time: pauses of at most ${duration(most)}${hasUsed ? `, and bytes in use after them, at most ${bytes(mostUsed)}` : ""}. The table below has the same.` });
  const tip = tooltip(canvas);
  const plot = HEIGHT - BOTTOM;
  const x = (/** @type {number} */ time, /** @type {number} */ width) => (time / (length || 1)) * width;
  const y = (/** @type {number} */ part) => plot - part * (plot - TOP);
  const draw = () => {
    const { context, width } = prepare(canvas, HEIGHT);
    context.fillStyle = colour("bar");
    since.forEach((at, index) => {
      const top = y(pause[index] / most);
      context.fillRect(x(at, width), top, Math.max(x(pause[index], width), 1.5), plot - top);
    });
    context.strokeStyle = colour("line");
    context.lineWidth = 2;
    context.beginPath();
    used.forEach((value, index) => value !== null && context.lineTo(x(since[index], width), y(value / mostUsed)));
    context.stroke();
    context.fillStyle = colour("ink");
    context.fillText(`pause, up to ${duration(most)}`, 4, 8);
    for (let tick = 0; tick <= 4; tick++) {
      context.textAlign = tick === 0 ? "left" : tick === 4 ? "right" : "center";
      context.fillText(seconds((length * tick) / 4), (width * tick) / 4, HEIGHT - 7);
    }
    if (hasUsed) {
      context.textAlign = "right";
      context.fillStyle = colour("line");
      context.fillText(`in use after a collection, up to ${bytes(mostUsed)}`, width - 4, 8);
    }
  };
  canvas.addEventListener("mousemove", (/** @type {MouseEvent} */ event) => {
    const time = (event.offsetX / canvas.clientWidth) * length;
    const nearest = since.reduce((best, at, index) => (Math.abs(at - time) < Math.abs(since[best] - time) ? index : best), 0);
    tip.say(event, `${seconds(since[nearest])}: pause ${duration(pause[nearest])}\nin use after it: ${words(used[nearest])}`);
  });
  requestAnimationFrame(draw);
  addEventListener("resize", () => canvas.isConnected && draw());
  const legend = element("ul", { class: "legend" },
    element("li", {}, element("span", { class: "swatch bar" }), "pauses"), hasUsed ? element("li", {}, element("span", { class: "swatch line" }), "bytes in use after a collection") : null);
  return element("section", { class: "graph" }, legend, canvas, tip.box);
}
