// A flame graph: the tree from the top, each node as wide as its part of what is zoomed to.
import { percent } from "./format.js";
import { colour, element, fitted, prepare, tooltip } from "./dom.js";
import { FOLDED, labelText, nodeAt, pathOf, whoseLabel } from "./profile.js";
import { get, set } from "./state.js";

const ROW = 19;
const MOST_ROWS = 80;
/** What is narrower is not drawn. */
const NARROWEST = 0.5;
const COLOURS = ["own", "runtime", "jdk", "native", "class"];

/** @typedef {{node: number, x: number, width: number, row: number}} Box */

/**
 * How frames look. `fills` is asked once for each picture; `mark`: what stands where no text fits; `parts`: what is said of a frame.
 * @typedef {{
 *   fills: () => (context: CanvasRenderingContext2D, node: number, alpha: number, box: [number, number, number, number]) => void,
 *   text: (node: number) => string, mark: (node: number) => string, style: (node: number) => string, parts: (node: number) => string[], legend: () => Node
 * }} Look
 */

/** By whose code they are. @param {import("./profile.js").Tree} tree @param {string} frames @param {(value: number) => string} format @returns {Look} */
export function byWhose(tree, frames, format) {
  return {
    fills: () => {
      const colours = COLOURS.map(colour);
      return (context, node, alpha, box) => {
        context.globalAlpha = alpha;
        context.fillStyle = colours[whoseLabel(tree.label[node])];
        context.fillRect(...box);
      };
    },
    text: (node) => labelText(tree.label[node], frames),
    mark: () => "",
    // Own code is bold, that of the JDK slanted: not by its colour alone.
    style: (node) => ["bold ", "", "italic "][whoseLabel(tree.label[node])] ?? "",
    parts: (node) => {
      const [value, own] = [tree.value[node], tree.own[node]];
      return [format(value), `${percent(value, tree.value[0])} of all`, ...(own > 0 && own < value ? [`${format(own)} self`] : [])];
    },
    legend: () => legendOf([["own", "your code (bold)"], ["runtime", "known frameworks"], ["jdk", "JDK (italic)"], ["native", "native code, VM, other"], ["class", "class of the objects (new …)"]]),
  };
}

/** Zooms to a node; opens it if it is folded frames. @param {import("./profile.js").Tree} tree @param {number} node */
export function enter(tree, node) {
  if (tree.label[node] !== FOLDED) return set({ zoom: pathOf(tree, node) });
  const above = pathOf(tree, tree.parent[node]);
  set({ zoom: above, open: [...openWays(), above].map((way) => way || ROOT).join(" ") });
}

/** What stands for the way to the root, which is empty. */
const ROOT = "all";

/** The ways to nodes below which folded frames are open. */
export function openWays() {
  const ways = get("open").split(" ").filter(Boolean);
  return new Set(ways.map((way) => (way === ROOT ? "" : way)));
}

/** Makes a flame graph. @param {import("./profile.js").Tree} tree @param {string} frames @param {string} search @param {string} what @param {Look} look */
export function flame(tree, frames, search, what, look) {
  const wanted = search.toLowerCase();
  /** @type {Map<number, boolean>} */
  const matches = new Map();
  const isMatch = (/** @type {number} */ node) => {
    const label = tree.label[node];
    const known = matches.get(label);
    if (known !== undefined) return known;
    const found = label !== -1 && labelText(label, frames).toLowerCase().includes(wanted);
    matches.set(label, found);
    return found;
  };
  const canvas = element("canvas", { tabindex: "0", role: "img", class: "flame", "data-key": "flame", "aria-describedby": "flame-status",
    "aria-label": `Flame graph of ${what}. Arrow keys move between frames, Enter zooms in, Escape zooms out. The Tree view shows the same as text.` });
  const status = element("p", { id: "flame-status", class: "status", "aria-live": "polite" });
  const root = nodeAt(tree, get("zoom"));
  let current = root;
  /** @type {Box[]} */
  let boxes = [];

  /** The nodes to draw: those above the zoomed one in full width, and what is below. */
  const layout = (/** @type {number} */ width) => {
    boxes = [];
    for (let node = tree.parent[root], at = root; at !== 0; at = node, node = tree.parent[node]) boxes.unshift({ node, x: 0, width, row: tree.depth[node] });
    const base = tree.depth[root];
    const pending = [{ node: root, x: 0 }];
    const scale = width / (tree.value[root] || 1);
    while (pending.length > 0) {
      const { node, x } = /** @type {{node: number, x: number}} */ (pending.pop());
      boxes.push({ node, x, width: tree.value[node] * scale, row: tree.depth[node] });
      let left = x;
      for (const child of tree.children[node]) {
        const wide = tree.value[child] * scale;
        if (wide >= NARROWEST && tree.depth[child] < base + MOST_ROWS) pending.push({ node: child, x: left });
        left += wide;
      }
    }
  };

  const draw = () => {
    const width = canvas.parentElement?.clientWidth || 800;
    layout(width);
    const rows = boxes.reduce((most, box) => Math.max(most, box.row + 1), 1);
    const { context } = prepare(canvas, rows * ROW + 2);
    const fill = look.fills();
    const [ink, line] = [colour("flame-ink"), colour("flame-line")];
    for (const { node, x, width, row } of boxes) {
      fill(context, node, wanted && !isMatch(node) ? 0.35 : 1, [x, row * ROW, Math.max(width - 0.7, 0.5), ROW - 1]);
      context.globalAlpha = 1;
      if (width > 8) {
        const isWide = width > 22;
        context.font = `${look.style(node)}12px system-ui, sans-serif`;
        context.fillStyle = ink;
        const text = isWide ? fitted(context, look.text(node), width - 8) : look.mark(node);
        if (text) context.fillText(text, x + (isWide ? 4 : 1), row * ROW + ROW / 2);
      }
      if (node === current || (wanted && isMatch(node))) {
        context.strokeStyle = line;
        context.lineWidth = node === current ? 2.5 : 1;
        context.strokeRect(x + 1, row * ROW + 1, Math.max(width - 3, 1), ROW - 3);
      }
    }
  };

  const select = (/** @type {number} */ node) => {
    current = node;
    draw();
    status.textContent = inWords(node).join(" · ");
  };
  const inWords = (/** @type {number} */ node) => [labelText(tree.label[node], frames), ...look.parts(node)];

  const zoom = (/** @type {number} */ node) => enter(tree, node);
  const tip = tooltip(canvas);
  const at = (/** @type {MouseEvent} */ event) => {
    const row = Math.floor(event.offsetY / ROW);
    return boxes.find((box) => box.row === row && event.offsetX >= box.x && event.offsetX < box.x + Math.max(box.width, 1));
  };
  canvas.addEventListener("mousemove", (/** @type {MouseEvent} */ event) => {
    const box = at(event);
    canvas.style.cursor = box ? "pointer" : "default";
    if (box && box.node !== current) select(box.node);
    tip.say(event, box ? inWords(box.node).join("\n") : "");
  });
  canvas.addEventListener("click", (/** @type {MouseEvent} */ event) => {
    const box = at(event);
    if (box) zoom(box.node);
  });
  canvas.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const siblings = current === 0 ? [0] : tree.children[tree.parent[current]];
    const place = siblings.indexOf(current);
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowDown: () => tree.children[current].length > 0 && select(tree.children[current][0]),
      ArrowUp: () => select(tree.parent[current]),
      ArrowRight: () => select(siblings[Math.min(place + 1, siblings.length - 1)]),
      ArrowLeft: () => select(siblings[Math.max(place - 1, 0)]),
      Home: () => select(root),
      Enter: () => zoom(current),
      Escape: () => zoom(tree.parent[root]),
    };
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
  });
  const whole = element("div", { class: "graph" }, look.legend(), status, canvas, tip.box);
  // It is as wide as what it will be in.
  requestAnimationFrame(() => select(current));
  addEventListener("resize", () => canvas.isConnected && draw());
  return whole;
}

/** What the colours mean. @param {[string, string][]} items */
export function legendOf(items) {
  return element("ul", { class: "legend" }, ...items.map(([key, text]) => element("li", {}, element("span", { class: `swatch ${key}` }), text)));
}
