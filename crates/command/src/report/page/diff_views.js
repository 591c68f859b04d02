// The difference of two traces: what they are, what changed most, and waits, threads and what is alive.
import { data } from "./data.js";
import { bytes, count, duration } from "./format.js";
import { choice, element, name, searchField } from "./dom.js";
import { changes, factors, hasRates, rateChoice, rateNote, relative, signed, written } from "./change.js";
import { largest } from "./diff_stacks.js";
import { address, get, set } from "./state.js";

/** @typedef {{text: string, before: number[]|null, after: number[]|null}} PairRow */
/** @typedef {{rows: PairRow[], left: number}} PairTable */
/** @typedef {import("./change.js").Format} Format */

/** Rows as changes of one of their numbers. @param {PairRow[]} rows @param {number} column @param {boolean} isRate @param {number} [variance] Where the square of the error is. */
function changesOf(rows, column, isRate, variance) {
  const [old, now] = isRate ? factors() : [1, 1];
  const wanted = get("search").toLowerCase();
  return rows.filter((row) => row.text.toLowerCase().includes(wanted)).map((row) => ({
    text: row.text, before: (row.before?.[column] ?? 0) * old, after: (row.after?.[column] ?? 0) * now,
    error: variance === undefined ? null : Math.sqrt((row.before?.[variance] ?? 0) + (row.after?.[variance] ?? 0)),
  }));
}

/** A view of pairs of rows: one of their numbers at a time. @param {string} id @param {PairTable} table @param {[string, string, Format, boolean, number?][]} columns Name, title, format, whether it is of all of the time, its error. @param {string} title @param {string} nameTitle @param {(Node|null)[]} tools @param {string[]} notes */
function pairs(id, table, columns, title, nameTitle, tools, notes) {
  const at = Math.max(0, columns.findIndex(([key]) => key === get("metric")));
  const [key, what, format, isRate, variance] = columns[at];
  const rows = changesOf(table.rows, at, isRate, variance);
  if (isRate) notes.push(rateNote());
  if (table.left > 0) notes.push(`${count(table.left)} more rows are not in this page: those with the least ${columns[0][1]} in both traces.`);
  return element("div", {}, element("p", { class: "note" }, notes.filter(Boolean).join(" ")),
    element("div", { class: "tools" }, choice("Show", columns.map(([key, title]) => [key, title]), key, (value) => set({ metric: value })), ...tools, isRate ? rateChoice() : null,
      searchField("Search", get("search"), (value) => set({ search: value }, true))),
    changes(id, `${title}: changes of ${what}`, nameTitle, rows, isRate ? written(format) : format));
}

/** How waits changed. */
export function locksDiff() {
  const tables = /** @type {Record<string, PairTable>} */ (/** @type {unknown} */ (data.locks.tables));
  const isLocks = get("kind") !== "waits";
  const kind = isLocks ? "locks" : "waits";
  const bys = /** @type {[string, string][]} */ ([["class", "class"], ["site", "waiting site"], ["holder", "owner's site"], ["waiter", "waiting threads"], ["pair", "thread pair"]]);
  const [by, title] = bys.find(([key]) => key === get("by")) ?? bys[0];
  const notes = ["Threads whose names differ only in numbers are merged."];
  if (Object.values(tables).every((table) => table.rows.length === 0)) notes.push("Neither trace has waits. To record them: martini run --locks java …");
  return pairs("changes", tables[`${kind}.${by}`], [["time", "time waited", duration, true], ["count", "number of waits", count, true]], isLocks ? "Waits for locks" : "Other waits", title, [
    choice("of", [["", "locks"], ["waits", "other waits"]], get("kind"), (value) => set({ kind: value })),
    choice("by", bys, by, (value) => set({ by: value })),
  ], notes);
}

/** How the times of threads changed. */
export function threadsDiff() {
  const threads = /** @type {PairTable} */ (/** @type {unknown} */ (data.locks.threads));
  return pairs("changes", threads, [["blocked", "time blocked", duration, true], ["waiting", "time waiting", duration, true], ["parked", "time parked", duration, true], ["sleeping", "time sleeping", duration, true],
    ["running", "time not waiting", duration, true], ["cpu", "CPU time", duration, true], ["threads", "number of threads", count, false]],
  "Threads", "threads", [], ["Threads whose names differ only in numbers are merged. CPU time covers ended threads only, if the trace has it; not waiting is the time without a recorded wait."]);
}

/** How what is alive changed. */
export function leaksDiff() {
  const leaks = /** @type {Record<string, PairTable>|null} */ (/** @type {unknown} */ (data.leaks));
  if (!leaks) return element("p", { class: "note" }, "At least one trace has no live objects.");
  const bys = /** @type {[string, string][]} */ ([["site", "class and own line"], ["line", "own line"], ["class", "class"]]);
  const [by, title] = bys.find(([key]) => key === get("by")) ?? bys[0];
  const table = leaks[by];
  const hasErrors = table.rows.some((row) => (row.before?.[3] ?? 0) > 0 || (row.after?.[3] ?? 0) > 0);
  return pairs("changes", table, [["bytes", "live bytes", bytes, false, hasErrors ? 3 : undefined], ["objects", "live objects", count, false], ["survived", "bytes that survived a collection", bytes, false]],
    "Live objects at the end", title, [choice("by", bys, by, (value) => set({ by: value }))], ["At the end of each trace, so not a rate."]);
}

/** Which two traces, and what changed most. */
export function diffOverview() {
  const heads = /** @type {import("./data.js").Head[]} */ (data.diff);
  const facts = (/** @type {import("./data.js").Head} */ head) => {
    const list = element("dl", {});
    const fact = (/** @type {string} */ title, /** @type {string|null} */ text) => text && list.append(element("dt", {}, title), element("dd", {}, element("bdi", {}, text)));
    fact("Trace", head.path);
    fact("Recorded by", head.origin);
    fact("Options", head.options);
    fact("Length", head.length > 0 ? duration(head.length) : "the trace has no times");
    fact("Total", head.sums);
    if (!head.complete) fact("Incomplete", "the trace is truncated or damaged; this page shows what could be read");
    return list;
  };
  const tables = /** @type {Record<string, PairTable>} */ (/** @type {unknown} */ (data.locks.tables));
  const locks = changesOf(tables["locks.class"].rows, 0, true).filter((row) => row.before !== row.after);
  locks.sort((a, b) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before));
  const most = /** @type {[string, string, import("./change.js").Change[], Format][]} */ ([
    ["Allocated bytes by method", "allocations", largest(data.allocations, "method", 3), bytes],
    ["CPU time by method", "cpu", largest(data.cpu, "method", 3), duration],
    ["Lock wait time by class", "locks", locks.slice(0, 3), duration],
  ]).filter(([, , rows]) => rows.length > 0);
  const line = (/** @type {import("./change.js").Change} */ row, /** @type {Format} */ format) => element("li", {},
    element("strong", {}, `${signed(row.after - row.before, format)} (${relative(row.before, row.after)}) `), name(row.text), `: ${format(row.before)} before, ${format(row.after)} after`);
  const changed = data.changed ?? { measures: [], notes: [] };
  const said = (/** @type {string} */ text) => element("bdi", {}, text);
  return element("div", {},
    element("h3", {}, "More than chance"),
    ...changed.measures.map((measure) => element("div", {}, element("p", {}, element("strong", {}, said(measure.summary))),
      element("ul", { class: "findings" }, ...measure.changes.map((text) => element("li", {}, said(text)))), element("p", { class: "note" }, measure.remark))),
    ...changed.notes.map((note) => element("p", { class: "note" }, said(note))),
    element("h3", {}, "Before"), facts(heads[0]), element("h3", {}, "After"), facts(heads[1]),
    hasRates() ? element("div", { class: "tools" }, rateChoice()) : null, element("p", { class: "note" }, rateNote()),
    element("h3", {}, "Largest changes"),
    ...(most.length === 0 ? [element("p", {}, "Nothing in both traces changed.")] : most.map(([title, view, rows, format]) => element("div", {},
      element("p", {}, `${title} `, element("a", { href: address(view, { show: "table" }), "aria-label": `All changes: ${title}` }, "all changes")), element("ul", {}, ...rows.map((row) => line(row, written(format))))))),
    element("h3", {}, "Accuracy"),
    ...heads.map((head, side) => element("div", {}, element("p", {}, side === 0 ? "Before:" : "After:"), element("ul", { class: "truth" }, ...head.truth.map((text) => element("li", {}, element("bdi", {}, text)))))));
}
