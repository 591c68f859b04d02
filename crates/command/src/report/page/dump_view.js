// A heap dump: where memory accumulates, and who holds it; what retains most; what is wasted.
import { data } from "./data.js";
import { bytes, count, percent } from "./format.js";
import { choice, element, name, searchField } from "./dom.js";
import { nameColumn, numberColumn, table } from "./table.js";
import { get, set } from "./state.js";

/** @typedef {import("./data.js").HeapObject} HeapObject */
/** @typedef {import("./data.js").Suspect} Suspect */

/** @type {[string, string][]} */
const PARTS = [["suspects", "where memory accumulates"], ["dominators", "largest retained size"], ["histogram", "classes"], ["strings", "duplicate strings"], ["collections", "empty and sparse collections"], ["boxes", "boxed numbers"]];

/** An object in words. @param {HeapObject} object */
function objectText(object) {
  const text = object.text === null ? "" : ` "${object.text.length > 60 ? `${object.text.slice(0, 60)}…` : object.text}"`;
  return object.is_class === null ? `${object.class} ${object.id}${text}` : `class ${object.is_class}`;
}

/** What holds an object: from a root on. @param {Suspect["path"]} path */
function pathList(path) {
  if (!path) return null;
  const steps = path.steps.map((step) => element("li", {}, step.by === null ? "" : name(step.by), step.by === null ? "" : " → ", name(objectText(step)), ` retains ${bytes(step.retained_bytes)}`));
  return element("div", {}, element("p", {}, "Root: ", name(path.roots.join(", ") || "unknown")), element("ol", { class: "stack" }, ...steps));
}

/** One place where memory accumulates. @param {Suspect} suspect */
function suspectItem(suspect) {
  const parts = suspect.parts.map((part) => {
    const age = part.average_age === null ? "" : `, ${part.average_age.toFixed(1)} collections old on average${part.grows ? ", growing" : ""}`;
    const inside = part.inside.length > 0 ? element("p", {}, "most of it in ", name(part.inside.map((object) => object.class).join(" > "))) : null;
    const site = part.site ? element("p", {}, `${part.site.objects === part.objects ? "all" : count(part.site.objects)} allocated at `, name(part.site.at)) : null;
    return element("li", {}, `${count(part.objects)} × `, name(part.class), `, ${bytes(part.bytes)}${age}`, site, inside);
  });
  const place = suspect.holder ? element("span", {}, "accumulate in ", name(objectText(suspect.holder))) : element("span", {}, "are in objects of one class without a common holder");
  return element("li", {}, element("strong", {}, `${bytes(suspect.bytes)} (${suspect.percent.toFixed(1)} %) `), place,
    element("ul", {}, ...parts), element("p", {}, suspect.holder ? "Held by:" : "For example held by:"), pathList(suspect.path));
}

/** The heap dump. */
export function dumpView() {
  const dump = /** @type {import("./data.js").Dump} */ (data.dump);
  const wanted = get("search").toLowerCase();
  const part = PARTS.some(([key]) => key === get("show")) ? get("show") : "suspects";
  const withText = (/** @type {any[]} */ rows, /** @type {(row: any) => string} */ text) => rows.filter((row) => text(row).toLowerCase().includes(wanted));
  const ofClass = (/** @type {any} */ row) => row.class;
  const shown = () => {
    switch (part) {
      case "dominators":
        return table("dominators", "Largest dominators", [
          numberColumn("retained_bytes", "retained", bytes, "bytes that would be freed with the object"), numberColumn("shallow_bytes", "shallow", bytes, "bytes of the object itself"),
          { key: "part", title: "of all", number: true, text: (/** @type {HeapObject} */ row) => percent(row.retained_bytes, dump.reachable_shallow_bytes), sort: (/** @type {HeapObject} */ row) => row.retained_bytes },
          nameColumn("object", objectText)], withText(dump.dominators, objectText), "retained_bytes");
      case "histogram": {
        const hasAges = dump.histogram.some((row) => row.average_age !== null);
        return table("histogram", "Classes", [
          numberColumn("instances", "objects", count), numberColumn("shallow_bytes", "shallow", bytes, "bytes of the objects themselves"), numberColumn("retained_bytes", "retained", bytes, "bytes that would be freed with them"),
          ...(hasAges ? [numberColumn("average_age", "age", (age) => age.toFixed(1), "collections survived, on average"), numberColumn("generations", "ages", count, "different ages: many mean that it is allocated steadily and never released")] : []),
          nameColumn("class", ofClass)], withText(dump.histogram, ofClass), "retained_bytes");
      }
      case "strings": case "collections": case "boxes": {
        const { waste } = dump;
        if (!waste) return element("p", { class: "note" }, "The dump has no contents, so waste is unknown.");
        if (part === "collections") {
          return table("collections", "Empty collections, and unused slots of sparse ones", [
            numberColumn("empty_bytes", "size of empty ones", bytes), numberColumn("sparse_bytes", "unused", bytes), numberColumn("empty", "empty", count), numberColumn("sparse", "sparse", count), numberColumn("instances", "collections", count),
            nameColumn("class", ofClass)], withText(waste.collections, ofClass), "sparse_bytes");
        }
        if (part === "boxes") {
          return table("boxes", "Boxed numbers with duplicate values", [
            numberColumn("wasted_bytes", "wasted", bytes), numberColumn("bytes", "size", bytes), numberColumn("instances", "boxes", count), numberColumn("distinct", "values", count),
            nameColumn("class", ofClass)], withText(waste.boxes, ofClass), "wasted_bytes");
        }
        const { strings } = waste;
        const text = (/** @type {any} */ row) => row.text ?? "";
        return table("strings", `${count(strings.strings)} strings (${bytes(strings.bytes)}) of ${count(strings.distinct)} different texts; duplicates: ${bytes(strings.wasted_bytes)}`, [
          numberColumn("wasted_bytes", "wasted", bytes), numberColumn("strings", "strings", count), nameColumn("text", text)], withText(strings.duplicates, text), "wasted_bytes");
      }
      default: {
        const found = dump.suspects.filter((suspect) => wanted === "" || JSON.stringify(suspect).toLowerCase().includes(wanted));
        return found.length > 0 ? element("ol", { class: "findings" }, ...found.map(suspectItem)) : element("p", { class: "note" }, "No place accumulates much of the heap.");
      }
    }
  };
  const notes = [...(dump.complete ? [] : ["The dump is truncated; this page shows what could be read."]), ...dump.notes.map((note) => `${note}.`)];
  return element("div", {},
    element("p", {}, name(dump.path), `: ${count(dump.objects)} objects (${bytes(dump.shallow_bytes)}), of which ${count(dump.reachable_objects)} (${bytes(dump.reachable_shallow_bytes)}) are held by ${count(dump.roots)} roots`),
    element("p", { class: "note" }, notes.join(" ")),
    element("div", { class: "tools" }, choice("Show", PARTS, part, (value) => set({ show: value })), searchField("Search", get("search"), (value) => set({ search: value }, true))),
    shown());
}
