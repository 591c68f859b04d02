// The difference of two traces: what a number was before and is after, for all of the time or for each second.
import { data } from "./data.js";
import { count } from "./format.js";
import { choice } from "./dom.js";
import { nameColumn, table } from "./table.js";
import { get, set } from "./state.js";

/** @typedef {{text: string, before: number, after: number, error: number|null}} Change */
/** @typedef {(value: number) => string} Format */

/** Lengths that differ by a smaller part count as one. */
const ALIKE = 0.03;

/** How long both traces ran, in nanoseconds. @returns {[number, number]} */
function lengths() {
  const [before, after] = /** @type {import("./data.js").Head[]} */ (data.diff);
  return [before.length, after.length];
}

/** Whether the traces differ so much in length that rates say more than sums. */
export function hasRates() {
  const [before, after] = lengths();
  return before > 0 && after > 0 && Math.abs(after - before) > ALIKE * Math.max(before, after);
}

/** Whether numbers are for each second. */
export function isRate() {
  return hasRates() && get("per") === "second";
}

/** By what numbers before and after are multiplied. @returns {[number, number]} */
export function factors() {
  const [before, after] = lengths();
  return isRate() ? [1e9 / before, 1e9 / after] : [1, 1];
}

/** How numbers are written. @param {Format} format @returns {Format} */
export function written(format) {
  if (!isRate()) return format;
  const each = format === count ? (/** @type {number} */ value) => value.toLocaleString("en", { maximumFractionDigits: 2 }) : format;
  return (value) => `${each(value)}/s`;
}

/** The choice between all of the time and each second; null if both traces are equally long. */
export function rateChoice() {
  return hasRates() ? choice("amounts", [["", "totals"], ["second", "per second"]], get("per"), (value) => set({ per: value })) : null;
}

/** What has to be known of the numbers. */
export function rateNote() {
  if (!hasRates()) return "";
  return isRate() ? "Rates: totals divided by the length of each trace." : "The traces differ in length: compare amounts per second.";
}

/** A change with its sign. @param {number} change @param {Format} format */
export function signed(change, format) {
  return change > 0 ? `+${format(change)}` : change < 0 ? `−${format(-change)}` : format(0);
}

/** A change as a part of what was before. @param {number} before @param {number} after */
export function relative(before, after) {
  if (before === after) return "0 %";
  if (before === 0) return "new";
  if (after === 0) return "gone";
  const part = (after / before - 1) * 100;
  const size = Math.abs(part);
  return `${part > 0 ? "+" : "−"}${size < 10 ? size.toFixed(2) : size.toLocaleString("en", { maximumFractionDigits: size < 100 ? 1 : 0 })} %`;
}

/** A table of changes, the largest first, whichever way. @param {string} id @param {string} caption @param {string} name @param {Change[]} rows @param {Format} format */
export function changes(id, caption, name, rows, format) {
  const size = (/** @type {Change} */ row) => Math.abs(row.after - row.before);
  const number = (/** @type {string} */ key, /** @type {string} */ title, /** @type {(row: Change) => string} */ text, /** @type {(row: Change) => number} */ sort, help = "") => ({ key, title, number: true, text, sort, help });
  const columns = [
    number("change", "change", (row) => signed(row.after - row.before, format), size, "sorted by absolute value"),
    number("part", "change in %", (row) => relative(row.before, row.after), (row) => (row.before === row.after ? 1 : row.before === 0 ? Infinity : row.after / row.before)),
    number("before", "before", (row) => format(row.before), (row) => row.before),
    number("after", "after", (row) => format(row.after), (row) => row.after),
    nameColumn(name, (/** @type {Change} */ row) => row.text),
  ];
  if (rows.some((row) => row.error !== null)) {
    const text = (/** @type {Change} */ row) => (row.error === null ? "" : `${format(row.error)}${row.error > 0 && row.error >= size(row) ? " (may be chance)" : ""}`);
    columns.splice(1, 0, number("error", "±", text, (row) => row.error ?? 0, "95 % error margin of the change, from both traces"));
  }
  return table(id, `${caption}: ${count(rows.length)} rows`, columns, rows, "change");
}
