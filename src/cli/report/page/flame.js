// A flame graph: the tree from the top, each node as wide as its part of what is zoomed to.
import { percent } from "./format.js";
import { colour, element, fitted, prepare } from "./dom.js";
import { labelText, nodeAt, pathOf, whoseLabel } from "./profile.js";
import { get, set } from "./state.js";

const ROW = 19;
const MOST_ROWS = 80;
/** What is narrower is not drawn. */
const NARROWEST = 0.5;
const COLOURS = ["own", "runtime", "jdk", "native", "class"];

/** @typedef {{node: number, x: number, width: number, row: number}} Box */

/** Makes a flame graph. @param {import("./profile.js").Tree} tree @param {string} frames @param {string} search @param {(value: number) => string} format @param {string} what */
export function flame(tree, frames, search, format, what) {
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
    "aria-label": `Flame graph of ${what}. Arrow keys go from frame to frame, Enter zooms in, Escape zooms out. The view Tree shows the same as text.` });
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
    const colours = COLOURS.map(colour);
    const [ink, line] = [colour("flame-ink"), colour("flame-line")];
    for (const { node, x, width, row } of boxes) {
      const whose = whoseLabel(tree.label[node]);
      context.globalAlpha = wanted && !isMatch(node) ? 0.35 : 1;
      context.fillStyle = colours[whose];
      context.fillRect(x, row * ROW, Math.max(width - 0.7, 0.5), ROW - 1);
      context.globalAlpha = 1;
      if (width > 22) {
        // Own code is bold, that of the JDK slanted: not by its colour alone.
        context.font = `${whose === 0 ? "bold " : whose === 2 ? "italic " : ""}12px system-ui, sans-serif`;
        context.fillStyle = ink;
        context.fillText(fitted(context, labelText(tree.label[node], frames), width - 8), x + 4, row * ROW + ROW / 2);
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
    const value = tree.value[node];
    const parts = [labelText(tree.label[node], frames), format(value), `${percent(value, tree.value[0])} of all`];
    if (tree.own[node] > 0 && tree.own[node] < value) parts.push(`${format(tree.own[node])} in itself`);
    status.textContent = parts.join(" · ");
  };

  const zoom = (/** @type {number} */ node) => set({ zoom: pathOf(tree, node) });
  const at = (/** @type {MouseEvent} */ event) => {
    const row = Math.floor(event.offsetY / ROW);
    return boxes.find((box) => box.row === row && event.offsetX >= box.x && event.offsetX < box.x + Math.max(box.width, 1));
  };
  canvas.addEventListener("mousemove", (/** @type {MouseEvent} */ event) => {
    const box = at(event);
    canvas.style.cursor = box ? "pointer" : "default";
    if (box && box.node !== current) select(box.node);
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
  const whole = element("div", { class: "graph" }, canvas, status, legend());
  // It is as wide as what it will be in.
  requestAnimationFrame(() => select(root));
  addEventListener("resize", () => canvas.isConnected && draw());
  return whole;
}

/** What the colours mean. */
function legend() {
  const items = [["own", "your code (bold)"], ["runtime", "known frameworks"], ["jdk", "JDK (slanted)"], ["native", "native code, VM, other"], ["class", "class of the objects (new …)"]];
  return element("ul", { class: "legend" }, ...items.map(([key, text]) => element("li", {}, element("span", { class: `swatch ${key}` }), text)));
}
