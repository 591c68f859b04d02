// The views of allocations and of CPU time: flame graph, tree and table of the same numbers.
import { advice, data, text } from "./data.js";
import { bytes, count, duration, percent } from "./format.js";
import { button, choice, element, name, searchField } from "./dom.js";
import { FOLDED, allocationValues, cpuValues, labelText, nodeAt, ofThread, pathOf, rows, slicesOf, tree, whoseLabel } from "./profile.js";
import { nameColumn, numberColumn, table } from "./table.js";
import { byWhose, enter, flame, openWays } from "./flame.js";
import { heatMap } from "./heat.js";
import { get, range, set } from "./state.js";

/** @typedef {import("./profile.js").Tree} Tree */

const BY = [["line", "own line"], ["method", "method"], ["class", "class"], ["package", "package"], ["site", "site (innermost frame)"], ["thread", "thread"]];
/** The same where there are no classes of objects. */
const BY_CODE = BY.filter(([key]) => key !== "class");
const MOST_CHILDREN = 40;

/** What was asked for last, and the answer: a search does not add up again. @type {{key: string, values: Float64Array, trees: Map<string, Tree>}|null} */
let last = null;

/** @param {import("./data.js").Cells} cells @param {string} key @param {() => Float64Array} add */
function remembered(cells, key, add) {
  if (last?.key !== key) last = { key, values: ofThread(cells, add(), get("thread")), trees: new Map() };
  return last;
}

/** Allocations. */
export function allocationsView() {
  const cells = data.allocations;
  if (!cells) return element("p", { class: "note" }, `The trace has no allocations. To record them: ${advice(data.is_attached ? "--sampled" : "")}`);
  /** @type {[string, string][]} */
  const metrics = [["bytes", "allocated bytes"], ["objects", "allocated objects"]];
  if (cells.knows_live) metrics.push(["live-bytes", "live bytes"], ["live-objects", "live objects"], ["freed-bytes", "freed bytes"], ["freed-objects", "freed objects"]);
  const metric = metrics.some(([key]) => key === get("metric")) ? get("metric") : "bytes";
  const chosen = cells.slices.length > 1 ? range() : null;
  // What walks of the heap found has no time.
  const isTimed = !(cells.is_counted && /live|freed/.test(metric));
  const format = metric.endsWith("objects") ? count : bytes;
  const isEstimated = cells.known !== undefined;
  const notes = [];
  if (!cells.has_stacks) notes.push(`The trace has no call stacks of allocations, only the innermost line. To record them: ${advice(data.is_attached ? "--sampled" : "--callers 16k")}.`);
  if (chosen) {
    const [first, end] = slicesOf(cells.slices, chosen);
    const [begin, until] = [cells.slices[first], cells.slices[end - 1]];
    if (begin && until) notes.push(`The range covers whole time slices here: ${(begin.begin / 1e9).toFixed(3)} to ${(until.end / 1e9).toFixed(3)} s.`);
    if (!isTimed) notes.push("Live objects are known only for the whole trace, so the range does not filter them.");
    else if (metric.startsWith("live")) notes.push("Live at the end of the range, of everything allocated since the start of the trace.");
  } else if (range()) notes.push("The trace has no allocation times, so this view covers all of it.");
  if (isEstimated) notes.push(chosen ? "Numbers of a range are sampled estimates; their error margin is unknown." : "Callers are estimated by sampling: ± is the 95 % error margin.");
  const used = isTimed ? chosen : null;
  const { values, trees } = remembered(cells, `a ${metric} ${used} ${get("thread")}`, () => allocationValues(cells, metric, used));
  const hasErrors = isEstimated && metric === "bytes" && !chosen;
  return stacks({ cells, values, trees, format, notes, hasErrors, what: metrics.find(([key]) => key === metric)?.[1] ?? "", by: BY,
    tools: [choice("Show", metrics, metric, (value) => set({ metric: value, zoom: "" }))], exactBy: cells.is_counted ? ["class"] : [] });
}

/** Wall clock time of threads. */
export function wallView() {
  const cells = data.wall;
  if (!cells) return element("p", { class: "note" }, `The trace has no wall clock samples. To record them: ${advice("--wall")}.`);
  const { values, trees } = remembered(cells, `w ${range()} ${get("thread")}`, () => cpuValues(cells, range()));
  const notes = ["Threads were looked at by the clock, whether they ran or waited. ± is the 95 % error margin."];
  return stacks({ cells, values, trees, format: duration, notes, hasErrors: !range(), what: "thread time", by: BY_CODE, tools: [], exactBy: [] });
}

/** Waits, by the stacks of those who waited. */
export function waitsView() {
  const cells = data.wait_stacks;
  if (!cells) return element("p", { class: "note" }, `The trace has no waits. To record them: ${advice("--locks")}.`);
  /** @type {[string, string][]} */
  const metrics = [["locks", "time waited for locks"], ["lock-count", "waits for locks"], ["others", "time in other waits"], ["other-count", "other waits"]];
  const sums = metrics.map((_, at) => cells.values[at].reduce((sum, value) => sum + value, 0));
  const shown = metrics.filter((_, at) => sums[at] > 0);
  const metric = shown.some(([key]) => key === get("metric")) ? get("metric") : shown[0]?.[0] ?? "locks";
  const at = metrics.findIndex(([key]) => key === metric);
  const { values, trees } = remembered(cells, `l ${metric} ${get("thread")}`, () => Float64Array.from(cells.values[at]));
  const notes = range() ? ["This view covers the whole trace; the views Locks and Threads show the range."] : [];
  return stacks({ cells, values, trees, format: metric.endsWith("count") ? count : duration, notes, hasErrors: false, what: metrics[at][1], by: BY_CODE,
    tools: [choice("Show", shown, metric, (value) => set({ metric: value, zoom: "" }))], exactBy: [] });
}

/** Calls of methods. */
export function callsView() {
  const cells = /** @type {NonNullable<typeof data.calls>} */ (data.calls);
  /** @type {[string, string][]} */
  const metrics = [["base", "base time"], ["calls", "calls"]];
  const metric = get("metric") === "calls" ? "calls" : "base";
  const { values, trees } = remembered(cells, `m ${metric} ${get("thread")}`, () => Float64Array.from(cells.values[metric === "calls" ? 1 : 0]));
  const methods = table("methods", "Methods: base is the time without what was called, cumulative with it; average, min and max are of one call", [
    numberColumn("base", "base", duration), numberColumn("cumulative", "cumulative", duration), numberColumn("calls", "calls", count),
    numberColumn("average", "average", duration), numberColumn("min", "min", duration), numberColumn("max", "max", duration),
    nameColumn("method", (row) => row.text)], cells.rows, "base");
  const left = cells.left > 0 ? element("p", { class: "note" }, `${count(cells.left)} more methods are not in this table.`) : null;
  return element("div", {}, stacks({ cells, values, trees, format: metric === "calls" ? count : duration, notes: [], hasErrors: false, what: metric === "calls" ? "calls" : "base time", by: BY_CODE,
    tools: [choice("Show", metrics, metric, (value) => set({ metric: value, zoom: "" }))], exactBy: [] }), methods, left);
}

/** CPU time. */
export function cpuView() {
  const cells = data.cpu;
  if (!cells) {
    const wall = data.wall_samples > 0 ? " It has wall clock samples: see Wall clock." : "";
    return element("p", { class: "note" }, `The trace has no CPU samples. To record them: ${advice("--cpu")}.${wall}`);
  }
  const { values, trees } = remembered(cells, `c ${range()} ${get("thread")}`, () => cpuValues(cells, range()));
  const notes = [`Samples: ${percent(cells.lost, cells.values[0].reduce((sum, value) => sum + value, 0))} of the time has no stack, ${duration(cells.kernel)} was in the kernel. ± is the 95 % error margin.`];
  return stacks({ cells, values, trees, format: duration, notes, hasErrors: !range(), what: "CPU time", by: BY_CODE, tools: [], exactBy: [], above: heatMap(cells, get("thread")) });
}

/** @param {{cells: import("./data.js").Cells, values: Float64Array, trees: Map<string, Tree>, format: (value: number) => string, notes: string[], hasErrors: boolean, what: string, by: string[][], tools: Node[], exactBy: string[], above?: Node}} view */
function stacks(view) {
  const { cells, values, format, what } = view;
  const shape = get("show") || "flame";
  const frames = get("frames") || "line";
  const isBottomUp = get("from") === "bottom";
  const search = get("search");
  const folds = get("fold") !== "no";
  const all = values.reduce((sum, value) => sum + value, 0);
  const threads = [...new Set(cells.thread)].map((thread) => /** @type {[string, string]} */ ([String(thread), text(thread, "(no thread)")]));
  threads.sort((a, b) => a[1].localeCompare(b[1]));
  const notes = [`Total: ${format(all)}.`, ...view.notes, foldedNote(cells, values, all)];
  const show = /** @type {[string, string][]} */ ([["flame", "Flame graph"], ["tree", "Tree"], ["table", "Table"]]);
  const tools = element("div", { class: "tools" },
    element("span", { role: "group", "aria-label": "Form" }, ...show.map(([key, title]) => button(title, () => set({ show: key === "flame" ? "" : key }), key === shape))),
    ...view.tools,
    choice("of", [["", "all threads"], ...threads], get("thread"), (value) => set({ thread: value, zoom: "" })),
    shape === "table"
      ? choice("by", /** @type {[string, string][]} */ (view.by), get("by") || "line", (value) => set({ by: value }))
      : choice("frames by", [["line", "line"], ["method", "method"], ["class", "class"]], frames, (value) => set({ frames: value, zoom: "" })),
    shape === "table" ? null : choice("from", [["", "thread entry"], ["bottom", "innermost frame"]], get("from"), (value) => set({ from: value, zoom: "" })),
    shape === "table" || isBottomUp ? null : button("Fold frameworks", () => set({ fold: folds ? "no" : "", open: "", zoom: "" }), folds),
    searchField("Search", search, (value) => set({ search: value }, true)));
  const content = all === 0 ? element("p", {}, "No such data in the trace or range.") : shape === "table" ? rowsTable(view, all) : tall(view, frames, isBottomUp, shape);
  return element("div", {}, element("p", { class: "note" }, notes.filter(Boolean).join(" ")), view.above ?? null, tools, content);

  /** @param {typeof view} view @param {string} frames @param {boolean} isBottomUp @param {string} shape */
  function tall({ trees }, frames, isBottomUp, shape) {
    const opened = folds && !isBottomUp ? openWays() : null;
    const key = `${frames} ${isBottomUp} ${opened ? get("open") : "-"}`;
    const made = trees.get(key) ?? tree(cells, values, frames, isBottomUp, opened);
    trees.set(key, made);
    const zoomed = nodeAt(made, get("zoom"));
    const found = search ? element("p", { class: "status" }, `Frames with “${search}”: ${format(matching(made, frames, search))} (${percent(matching(made, frames, search), all)}).`) : null;
    const back = zoomed === 0 ? null : element("p", { class: "tools" }, button("Zoom out", () => set({ zoom: pathOf(made, made.parent[zoomed]) })), button("All", () => set({ zoom: "" })), " ", name(labelText(made.label[zoomed], frames)));
    return element("div", {}, back, found, shape === "tree" ? treeList(made, zoomed, frames, (node) => `${format(made.value[node])} ${percent(made.value[node], all)}`, made.value, search) : flame(made, frames, search, what, byWhose(made, frames, format)));
  }
}

/** How much of the values is in stacks that were folded. @param {import("./data.js").Cells} cells @param {Float64Array} values @param {number} all */
export function foldedNote(cells, values, all) {
  const other = data.names.texts.indexOf("(other)");
  const isFolded = (/** @type {number} */ cell) => data.names.method[cells.nodes.frame[cells.node[cell]]] === other && data.names.class[cells.nodes.frame[cells.node[cell]]] < 0;
  const folded = values.reduce((sum, value, cell) => (value > 0 && isFolded(cell) ? sum + value : sum), 0);
  return folded > 0 ? `${percent(folded, all)} is in (other): stacks below ${Number((cells.cut * 100).toPrecision(2))} % of the total.` : "";
}

/** How much is below frames that match. @param {Tree} tree @param {string} frames @param {string} search */
function matching(tree, frames, search) {
  const wanted = search.toLowerCase();
  /** @type {Map<number, boolean>} */
  const labels = new Map();
  for (const label of tree.label) if (!labels.has(label)) labels.set(label, labelText(label, frames).toLowerCase().includes(wanted));
  const inside = new Uint8Array(tree.parent.length);
  let sum = 0;
  for (let node = 1; node < tree.parent.length; node++) {
    if (inside[tree.parent[node]]) inside[node] = 1;
    else if (labels.get(tree.label[node])) {
      inside[node] = 1;
      sum += tree.value[node];
    }
  }
  return sum;
}

/** @param {{cells: import("./data.js").Cells, values: Float64Array, format: (value: number) => string, hasErrors: boolean, exactBy: string[], what: string}} view @param {number} all */
function rowsTable(view, all) {
  const by = get("by") || "line";
  const hasErrors = view.hasErrors && !view.exactBy.includes(by);
  const wanted = get("search").toLowerCase();
  const found = rows(view.cells, view.values, by, hasErrors).filter((row) => row.text.toLowerCase().includes(wanted));
  /** @type {import("./table.js").Column[]} */
  const columns = [
    { key: "value", title: view.what, number: true, text: (row) => view.format(row.value), sort: (row) => row.value },
    { key: "share", title: "share", number: true, text: (row) => percent(row.value, all), sort: (row) => row.value },
    nameColumn(BY.find(([key]) => key === by)?.[1] ?? by, (row) => row.text),
  ];
  if (hasErrors) columns.splice(1, 0, { key: "error", title: "±", number: true, text: (row) => view.format(row.error), sort: (row) => row.error, help: "95 % error margin" });
  /** Who has it made, from the innermost frame. @param {import("./profile.js").Row} row */
  const stacksOf = (row) => {
    const values = new Float64Array(view.values.length);
    for (const cell of row.cells) values[cell] = view.values[cell];
    const made = tree(view.cells, values, "line", true);
    return treeList(made, 0, "line", (node) => `${view.format(made.value[node])} ${percent(made.value[node], row.value)}`, made.value, "", false);
  };
  return table("stacks", `${view.what}, by ${BY.find(([key]) => key === by)?.[1]}: ${count(found.length)} rows`, columns, found, "value", stacksOf);
}

/** The tree as text: what is heavy is open. `zooms`: each node can be zoomed to. @param {Tree} tree @param {number} root @param {string} frames @param {(node: number) => string} amount @param {ArrayLike<number>} weight @param {string} search @param {boolean} [zooms] */
export function treeList(tree, root, frames, amount, weight, search, zooms = true) {
  const wanted = search.toLowerCase();
  const items = (/** @type {number} */ node) => {
    const list = element("ul", {});
    tree.children[node].slice(0, MOST_CHILDREN).forEach((child) => list.append(item(child)));
    const left = tree.children[node].slice(MOST_CHILDREN);
    if (left.length > 0) {
      const more = element("li", {}, button(`${count(left.length)} more`, () => more.replaceWith(...left.map(item))));
      list.append(more);
    }
    return list;
  };
  const item = (/** @type {number} */ node) => {
    const label = labelText(tree.label[node], frames);
    const isFound = wanted !== "" && label.toLowerCase().includes(wanted);
    const head = element("span", { class: `node whose${whoseLabel(tree.label[node])}` },
      element("span", { class: "amount" }, amount(node)), isFound ? element("mark", {}, name(label)) : name(label), " ");
    if (zooms) {
      const zoom = button(tree.label[node] === FOLDED ? "open" : "zoom", () => enter(tree, node));
      zoom.setAttribute("aria-label", `zoom to ${label}`);
      head.append(zoom);
    }
    if (tree.children[node].length === 0) return element("li", {}, head);
    const isOpen = weight[node] > weight[tree.parent[node]] * 0.6 && weight[node] > weight[0] * 0.02 && tree.depth[node] < 60;
    const details = element("details", { open: isOpen }, element("summary", {}, head));
    const fill = () => details.open && details.children.length === 1 && details.append(items(node));
    fill();
    details.addEventListener("toggle", fill);
    return element("li", {}, details);
  };
  return element("div", { class: "tree" }, items(root));
}
