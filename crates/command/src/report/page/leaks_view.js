// What stays alive: classes and lines whose survivors grow, and their ages.
import { advice, data } from "./data.js";
import { bytes, count, percent } from "./format.js";
import { choice, element, searchField } from "./dom.js";
import { nameColumn, numberColumn, table } from "./table.js";
import { address, get, range, set } from "./state.js";

/** @typedef {import("./data.js").LeakRow} LeakRow */

/** Leaks. */
export function leaksView() {
  const { leaks } = data;
  if (!leaks) return element("p", { class: "note" }, `The trace has no live objects. To record them: ${advice("--sampled")}`);
  const by = /** @type {"class"|"site"|"line"} */ (get("by") || (leaks.site.rows.length > 0 ? "site" : "class"));
  const found = leaks[by] ?? leaks.site;
  const wanted = get("search").toLowerCase();
  const rows = found.rows.filter((row) => row.text.toLowerCase().includes(wanted));
  const notes = [];
  if (range()) notes.push("Live objects are those at the end of the trace, whatever the range.");
  if (!leaks.has_ages) notes.push("The trace counts live objects without their ages.");
  if (!data.dump) notes.push(`To see what keeps objects alive, take a heap dump (${data.is_attached ? `martini dump ${data.attach ?? "PID"}` : "martini run --dump end java …"}), then martini report TRACE --heap-dump FILE.`);
  if (found.left > 0) notes.push(`${count(found.left)} more rows are not in this page: those with the fewest bytes.`);
  const columns = [
    numberColumn("live_bytes", "live bytes", bytes, "at the end of the trace"), numberColumn("live", "live objects", count, "at the end of the trace"),
    { key: "kept", title: "of allocated", number: true, help: "live share of the allocated objects", text: (/** @type {LeakRow} */ row) => (row.live_error > 0 && row.live >= row.total ? "about all" : percent(row.live, row.total)), sort: (/** @type {LeakRow} */ row) => row.live / (row.total || 1) },
    ...(leaks.has_ages ? [
      numberColumn("survived_bytes", "survived", bytes, "of the live bytes, those that survived a collection; the others were allocated since the last one, and may be garbage"),
      numberColumn("generations", "ages", count, "different ages: many mean that it is allocated steadily and never released"),
      numberColumn("average_age", "age", (value) => value.toFixed(1), "collections survived, on average"),
      numberColumn("oldest", "oldest", count, "collections that the oldest survived"),
      { key: "grows", title: "grows", text: (/** @type {LeakRow} */ row) => (row.is_growing ? "▲ grows" : ""), sort: (/** @type {LeakRow} */ row) => (row.is_growing ? 0 : 1) },
    ] : []),
    nameColumn(by, (row) => row.text),
  ];
  if (rows.some((row) => row.live_error > 0)) columns.splice(1, 0, numberColumn("live_error", "±", bytes, "95 % error margin"));
  /** Where the stacks of a row are. @param {LeakRow} row */
  const stacksOf = (row) => {
    // A row of both names the class in front of the line.
    const search = by === "site" ? row.text.replace(/^.* at /, "") : row.text;
    return element("a", { href: address("allocations", { metric: "live-bytes", from: "bottom", search }) }, "Show its call stacks in Allocations");
  };
  const hasStacks = data.allocations?.has_stacks && data.allocations.knows_live;
  return element("div", {}, element("p", { class: "note" }, notes.join(" ")),
    element("div", { class: "tools" },
      choice("By", [["site", "class and own line"], ["line", "own line"], ["class", "class"]], by, (value) => set({ by: value })),
      searchField("Search", get("search"), (value) => set({ search: value }, true))),
    table("leaks", "Live objects at the end", columns, rows, leaks.has_ages ? "survived_bytes" : "live_bytes", hasStacks ? stacksOf : undefined));
}
