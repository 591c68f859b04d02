// The difference of allocations and of CPU time: flame graph, tree and table.
import { data } from "./data.js";
import { bytes, count, duration } from "./format.js";
import { button, choice, colour, element, name, searchField } from "./dom.js";
import { allocationValues, errorOf, groups, labelText, nodeAt, pathOf, sums, tree } from "./profile.js";
import { flame, legendOf } from "./flame.js";
import { foldedNote, treeList } from "./stacks_view.js";
import { changes, factors, rateChoice, rateNote, relative, signed, written } from "./change.js";
import { get, set } from "./state.js";

/** @typedef {import("./profile.js").Tree} Tree */
/** @typedef {import("./data.js").Cells & {side: number[], sides: import("./data.js").Side[]}} Both */
/** @typedef {{cells: Both, values: Float64Array, by: [string, string][], format: (value: number) => string, what: string, notes: string[], hasErrors: boolean, isRate: boolean, tools: Node[]}} View */

const BY = /** @type {[string, string][]} */ ([["method", "method"], ["line", "own line"], ["class", "class"], ["package", "package"], ["site", "site (innermost frame)"], ["thread", "thread"]]);

/** How allocations changed. */
export function allocationsDiff() {
  const cells = /** @type {(Both & import("./data.js").Allocations)|null} */ (data.allocations);
  if (!cells) return element("p", { class: "note" }, "Neither trace has allocations.");
  const notes = missing(cells, "allocations");
  /** @type {[string, string][]} */
  const metrics = [["bytes", "allocated bytes"], ["objects", "allocated objects"]];
  if (cells.sides.every((side) => side.knows_live)) metrics.push(["live-bytes", "live bytes"], ["live-objects", "live objects"], ["freed-bytes", "freed bytes"], ["freed-objects", "freed objects"]);
  else notes.push("Live objects are not compared: only traces that both have them can be.");
  if (cells.sides.filter((side) => side.has && !side.has_stacks).length === 1) notes.push("One trace has no call stacks, only the innermost line: compare tables, not stacks.");
  const metric = metrics.some(([key]) => key === get("metric")) ? get("metric") : "bytes";
  const estimated = cells.sides.filter((side) => side.is_estimated).length;
  if (estimated === 0) notes.push("Both traces have counts: the numbers are exact.");
  else notes.push(`${estimated === 2 ? "Both traces have" : "One trace has"} sampled call stacks${metric === "bytes" ? ": ± is the 95 % error margin of the change, from both traces" : ", so these are estimates; only allocated bytes have an error margin"}.`);
  return stacks({ cells, values: allocationValues(cells, metric, null), by: BY, notes, hasErrors: estimated > 0 && metric === "bytes", isRate: !metric.startsWith("live"),
    format: metric.endsWith("objects") ? count : bytes, what: metrics.find(([key]) => key === metric)?.[1] ?? "",
    tools: [choice("Show", metrics, metric, (value) => set({ metric: value, zoom: "" }))] });
}

/** How CPU time changed. */
export function cpuDiff() {
  const cells = /** @type {Both|null} */ (data.cpu);
  if (!cells) return element("p", { class: "note" }, "Neither trace has CPU samples. To record them: martini run --cpu java …");
  const notes = missing(cells, "CPU samples");
  notes.push(`Samples: ± is the 95 % error margin of the change, from both traces. Time without a stack: ${cells.sides.map((side) => duration(side.lost ?? 0)).join(" before, ")} after.`);
  return stacks({ cells, values: Float64Array.from(cells.values[0]), by: BY.filter(([key]) => key !== "class"), notes, hasErrors: true, isRate: true, format: duration, what: "CPU time", tools: [] });
}

/** What only one trace has. @param {Both} cells @param {string} what */
function missing(cells, what) {
  const without = cells.sides.findIndex((side) => !side.has);
  return without < 0 ? [] : [`The trace ${without === 0 ? "before" : "after"} has no ${what}: everything is in the other trace.`];
}

/** @param {View} view */
function stacks(view) {
  const { cells, what } = view;
  const shape = ["tree", "table"].includes(get("show")) ? get("show") : "flame";
  const frames = ["line", "class"].includes(get("frames")) ? get("frames") : "method";
  const by = view.by.some(([key]) => key === get("by")) ? get("by") : "method";
  const isBottomUp = get("from") === "bottom";
  const format = view.isRate ? written(view.format) : view.format;
  const [before, after] = (view.isRate ? factors() : [1, 1]).map((factor, side) => view.values.map((value, cell) => (cells.side[cell] === side ? value * factor : 0)));
  const [sumBefore, sumAfter] = [before, after].map((values) => values.reduce((sum, value) => sum + value, 0));
  const notes = [`Total: ${format(sumBefore)} before, ${format(sumAfter)} after, ${signed(sumAfter - sumBefore, format)} (${relative(sumBefore, sumAfter)}).`,
    view.isRate ? rateNote() : "Live objects at the end are not a rate.", ...view.notes, foldedNote(cells, view.values, view.values.reduce((sum, value) => sum + value, 0))];
  const forms = /** @type {[string, string][]} */ ([["flame", "Flame graph"], ["tree", "Tree"], ["table", "Table"]]);
  const tools = element("div", { class: "tools" },
    element("span", { role: "group", "aria-label": "Form" }, ...forms.map(([key, title]) => button(title, () => set({ show: key === "flame" ? "" : key }), key === shape))),
    ...view.tools, view.isRate ? rateChoice() : null,
    shape === "table" ? choice("by", view.by, by, (value) => set({ by: value }))
      : choice("frames by", [["", "method"], ["line", "line"], ["class", "class"]], frames === "method" ? "" : frames, (value) => set({ frames: value, zoom: "" })),
    shape === "table" ? null : choice("from", [["", "thread entry"], ["bottom", "innermost frame"]], get("from"), (value) => set({ from: value, zoom: "" })),
    shape === "flame" ? choice("width", [["", "after"], ["before", "before"]], get("width"), (value) => set({ width: value })) : null,
    searchField("Search", get("search"), (value) => set({ search: value }, true)));
  const content = sumBefore + sumAfter === 0 ? element("p", {}, "The traces have no such data.")
    : shape === "table" ? rowsTable(view, before, after, by, format) : stacked(view, before, after, { frames, isBottomUp, shape, format, what });
  return element("div", {}, element("p", { class: "note" }, notes.filter(Boolean).join(" ")), tools, content);
}

/** The error of the change of some pieces. @param {View} view @param {number[]} group @param {Float64Array} before @param {Float64Array} after @param {string} by */
function errorOfChange({ cells, isRate }, group, before, after, by) {
  const scale = isRate ? factors() : [1, 1];
  const errors = [before, after].map((values, side) => {
    // Each class is counted, whatever called.
    if (by === "class" && cells.sides[side].is_counted) return 0;
    const pieces = group.filter((cell) => cells.side[cell] === side);
    const sum = pieces.reduce((sum, cell) => sum + values[cell], 0);
    return errorOf(cells, pieces, sum / scale[side]) * scale[side];
  });
  return Math.hypot(errors[0], errors[1]);
}

/** @param {View} view @param {Float64Array} before @param {Float64Array} after @param {string} by @param {(value: number) => string} format */
function rowsTable(view, before, after, by, format) {
  const wanted = get("search").toLowerCase();
  const sum = (/** @type {Float64Array} */ values, /** @type {number[]} */ group) => group.reduce((sum, cell) => sum + values[cell], 0);
  const found = [...groups(view.cells, view.values, by)].filter(([text]) => text.toLowerCase().includes(wanted)).map(([text, group]) => (
    { text, before: sum(before, group), after: sum(after, group), error: view.hasErrors ? errorOfChange(view, group, before, after, by) : null }));
  return changes("changes", `Changes of ${view.what}, by ${view.by.find(([key]) => key === by)?.[1]}`, by, found, format);
}

/** @param {View} view @param {Float64Array} before @param {Float64Array} after @param {{frames: string, isBottomUp: boolean, shape: string, format: (value: number) => string, what: string}} how */
function stacked(view, before, after, { frames, isBottomUp, shape, format, what }) {
  const made = tree(view.cells, view.values, frames, isBottomUp);
  const [old, now] = [before, after].map((values) => sums(made, values));
  const change = now.value.map((value, node) => value - old.value[node]);
  const width = get("width") === "before" ? old : now;
  const order = shape === "tree" ? change.map(Math.abs) : width.value;
  made.children = made.children.map((children) => children.filter((child) => shape === "tree" || order[child] > 0).sort((a, b) => order[b] - order[a] || made.label[a] - made.label[b]));
  made.value = width.value;
  made.own = width.own;
  const search = get("search");
  const zoomed = nodeAt(made, get("zoom"));
  const amounts = (/** @type {number} */ node) => `${signed(change[node], format)} (${relative(old.value[node], now.value[node])})`;
  const back = zoomed === 0 ? null : element("p", { class: "tools" }, button("Zoom out", () => set({ zoom: pathOf(made, made.parent[zoomed]) })), button("All", () => set({ zoom: "" })), " ", name(labelText(made.label[zoomed], frames)));
  if (shape === "tree") return element("div", {}, back, treeList(made, zoomed, frames, (node) => `${amounts(node)} ${format(old.value[node])} → ${format(now.value[node])}`, order, search));
  if (made.value[zoomed] === 0) return element("div", {}, back, element("p", {}, "The trace that sets the width has no such data: choose the other width."));
  /** @param {number} node */
  const error = (node) => {
    // Those below a node have larger numbers.
    const inside = new Uint8Array(made.parent.length);
    inside[node] = 1;
    for (let below = node + 1; below < inside.length; below++) inside[below] = inside[made.parent[below]];
    return errorOfChange(view, [...made.ends.keys()].filter((cell) => inside[made.ends[cell]]), before, after, "");
  };
  return element("div", {}, back, flame(made, frames, search, `the change of ${what}`, {
    fills: () => {
      const [same, more, less] = ["same", "more", "less"].map(colour);
      return (context, node, alpha, box) => {
        const most = Math.max(old.value[node], now.value[node]);
        for (const [fill, part] of /** @type {[string, number][]} */ ([[same, 1], [change[node] > 0 ? more : less, most > 0 ? Math.abs(change[node]) / most : 0]])) {
          context.fillStyle = fill;
          context.globalAlpha = alpha * Math.sqrt(part);
          context.fillRect(...box);
        }
      };
    },
    text: (node) => `${signed(change[node], format)} ${labelText(made.label[node], frames)}`,
    // Where no text fits, the sign does.
    mark: (node) => (change[node] > 0 ? "+" : change[node] < 0 ? "−" : ""),
    style: () => "",
    parts: (node) => [amounts(node), `${format(old.value[node])} before`, `${format(now.value[node])} after`, ...(view.hasErrors ? [`± ${format(error(node))}`] : [])],
    legend: () => legendOf([["more", "+ more than before"], ["less", "− less than before"], ["same", "the same"]]),
  }));
}

/** The largest changes for the overview. @param {import("./data.js").Cells|null} given @param {string} by @param {number} most @returns {import("./change.js").Change[]} */
export function largest(given, by, most) {
  const cells = /** @type {Both|null} */ (given);
  if (!cells) return [];
  const scale = factors();
  const sum = (/** @type {number[]} */ group, /** @type {number} */ side) => group.reduce((sum, cell) => sum + (cells.side[cell] === side ? cells.values[0][cell] : 0), 0) * scale[side];
  const found = [...groups(cells, Float64Array.from(cells.values[0]), by)].map(([text, group]) => ({ text, before: sum(group, 0), after: sum(group, 1), error: null }));
  return found.filter((row) => row.before !== row.after).sort((a, b) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before)).slice(0, most);
}
