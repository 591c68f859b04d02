// What ran, what stands out, and how complete the trace is.
import { data } from "./data.js";
import { duration } from "./format.js";
import { element } from "./dom.js";
import { address } from "./state.js";

/** The view that shows more of a finding. @param {import("./data.js").Finding} finding */
function link(finding) {
  const search = finding.search ?? "";
  /** @type {Record<string, [string, string, Record<string, string>]>} */
  const views = {
    deadlock: ["Locks", "locks", {}],
    stuck: ["Locks", "locks", {}],
    lock: ["Locks", "locks", { search }],
    growth: ["Leaks", "leaks", {}],
    churn: ["Allocations", "allocations", { search }],
    cpu: ["CPU time", "cpu", { search }],
  };
  const found = views[finding.kind];
  if (!found) return null;
  const [title, view, values] = found;
  return element("a", { href: address(view, values.search ? values : {}) }, `Show in ${title}`);
}

/** The overview. */
export function overview() {
  const facts = element("dl", {});
  const fact = (/** @type {string} */ title, /** @type {string|null} */ text) => text && facts.append(element("dt", {}, title), element("dd", {}, element("bdi", {}, text)));
  fact("Trace", data.path);
  fact("Recorded by", data.origin);
  fact("Options", data.options);
  fact("Length", data.length > 0 ? duration(data.length) : "the trace has no times");
  fact("In all", data.sums);
  fact("Safepoints", data.safepoints);
  if (!data.complete) fact("Not complete", "the trace was cut off, or could not be read to its end: what is shown is what it has");
  const findings = data.findings.map((finding) => element("li", {},
    element("strong", {}, finding.kind === "nothing" ? "" : `${finding.kind}: `), element("bdi", {}, finding.head),
    ...finding.sentences.map((sentence) => element("p", {}, element("bdi", {}, sentence))),
    finding.next ? element("p", {}, link(finding) ?? "", " or type ", element("code", {}, finding.next)) : null));
  const has = [["Allocations", data.allocations], ["CPU time", data.cpu], ["Locks", Object.values(data.locks.tables).some((table) => table.rows.length > 0)], ["What is alive", data.leaks]];
  const missing = has.filter(([, found]) => !found).map(([title]) => title);
  return element("div", {}, facts,
    element("h3", {}, "What stands out"), element("ul", { class: "findings" }, ...findings),
    element("h3", {}, "How true this is"),
    element("ul", { class: "truth" }, ...data.truth.map((line) => element("li", {}, element("bdi", {}, line))),
      ...(missing.length > 0 ? [element("li", {}, `Not in the trace: ${missing.join(", ").toLowerCase()}.`)] : [])));
}
