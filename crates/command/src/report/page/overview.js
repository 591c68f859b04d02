// What ran, what stands out, and how complete the trace is.
import { data } from "./data.js";
import { bytes, duration, percent } from "./format.js";
import { element, name } from "./dom.js";
import { allocationValues, cpuValues, rows } from "./profile.js";
import { address } from "./state.js";

/** The view that shows more of a finding. @param {import("./data.js").Finding} finding */
function link(finding) {
  const search = finding.search ?? "";
  /** @type {Record<string, [string, string, Record<string, string>]>} */
  const views = {
    deadlock: ["Locks", "locks", {}],
    stuck: ["Locks", "locks", {}],
    lock: ["Locks", "locks", { search }],
    growth: ["Leaks", "leaks", { search, by: "line" }],
    churn: ["Allocations", "allocations", { search }],
    cpu: ["CPU time", "cpu", { search }],
    calls: ["Calls", "calls", { search }],
  };
  const found = views[finding.kind];
  if (!found) return null;
  const [title, view, values] = found;
  return element("a", { href: address(view, search ? values : {}) }, `Show in ${title}`);
}

/** How many lines are named of each kind. */
const MOST = 3;

/** Lines of the overview: where most of something is. @param {string} title @param {string} view @param {{text: string, value: number}[]} rows @param {number} all @param {(value: number) => string} format @param {Record<string, string>} values */
function most(title, view, rows, all, format, values) {
  const found = rows.filter((row) => row.value > 0).sort((a, b) => b.value - a.value).slice(0, MOST);
  if (found.length === 0) return [];
  return [element("dt", {}, element("a", { href: address(view, values) }, title)),
    element("dd", {}, ...found.map((row) => element("div", {}, `${format(row.value)} (${percent(row.value, all)}) `, name(row.text))))];
}

/** Where most of everything is, whether that is much or not. */
function mostOfAll() {
  const { allocations, cpu, leaks, locks } = data;
  const sum = (/** @type {ArrayLike<number>} */ values) => Array.from(values).reduce((sum, value) => sum + value, 0);
  const table = { show: "table" };
  const found = [];
  if (allocations) {
    const values = allocationValues(allocations, "bytes", null);
    found.push(...most("Allocated", "allocations", rows(allocations, values, "line", false), sum(values), bytes, table));
  }
  if (leaks) {
    const alive = leaks.line.rows.map((row) => ({ text: row.text, value: leaks.has_ages ? row.survived_bytes : row.live_bytes }));
    found.push(...most(leaks.has_ages ? "Survived a collection" : "Live at the end", "leaks", alive, alive.reduce((sum, row) => sum + row.value, 0), bytes, { by: "line" }));
  }
  if (cpu) {
    const values = cpuValues(cpu, null);
    found.push(...most("CPU time", "cpu", rows(cpu, values, "line", false), sum(values), duration, table));
  }
  const waits = locks.tables["locks.site"].rows.map((row) => ({ text: row.text, value: row.total }));
  found.push(...most("Waited for locks", "locks", waits, waits.reduce((sum, row) => sum + row.value, 0), duration, { by: "site" }));
  return found.length > 0 ? [element("h3", {}, "Largest shares"), element("dl", {}, ...found)] : [];
}

/** The overview. */
export function overview() {
  const facts = element("dl", {});
  const fact = (/** @type {string} */ title, /** @type {string|null} */ text) => text && facts.append(element("dt", {}, title), element("dd", {}, element("bdi", {}, text)));
  fact("Program", data.program ?? null);
  fact("Java", data.java ?? null);
  fact("Began", data.began ? new Date(data.began).toLocaleString() : null);
  fact("Trace", data.path);
  fact("Recorded by", data.origin);
  fact("Options", data.options);
  fact("Length", data.length > 0 ? duration(data.length) : "the trace has no times");
  fact("Total", data.sums);
  fact("Safepoints", data.safepoints);
  if (!data.complete) fact("Incomplete", "the trace is truncated or damaged; this page shows what could be read");
  const findings = data.findings.map((finding) => element("li", {},
    element("strong", {}, finding.kind === "nothing" ? "" : `${finding.kind}: `), element("bdi", {}, finding.head),
    ...finding.sentences.map((sentence) => element("p", {}, element("bdi", {}, sentence))),
    finding.next ? element("p", {}, link(finding) ?? "", " or type ", element("code", {}, finding.next)) : null));
  const has = [["Allocations", data.allocations], ["CPU time", data.cpu], ["Locks", Object.values(data.locks.tables).some((table) => table.rows.length > 0)], ["Live objects", data.leaks]];
  const missing = has.filter(([, found]) => !found).map(([title]) => title);
  return element("div", {}, facts, ...mostOfAll(),
    element("h3", {}, "Main findings"), element("ul", { class: "findings" }, ...findings),
    element("h3", {}, "Accuracy"),
    element("ul", { class: "truth" }, ...data.truth.map((line) => element("li", {}, element("bdi", {}, line))),
      ...(missing.length > 0 ? [element("li", {}, `Not in the trace: ${missing.join(", ").toLowerCase()}.`)] : [])));
}
