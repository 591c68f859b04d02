// The answer to a question about many traces, and what it was on each day.
import { data } from "./data.js";
import { bytes, count, duration } from "./format.js";
import { element } from "./dom.js";
import { table } from "./table.js";

/** @typedef {import("./table.js").Column} Column */

/** How numbers of a column are written: its name says what they are. @param {string} column @returns {(value: number) => string} */
function format(column) {
  if (/(^|_)bytes(_error)?$/.test(column)) return bytes;
  if (/(^|_)nanos(_error)?$/.test(column)) return duration;
  return column.endsWith("line") ? String : count;
}

/** A bar for each day, as high as its number. @param {(number|null)[]} values @param {number} most @param {(value: number|null, day: number) => string} says @param {string} size */
function bars(values, most, says, size) {
  const bar = (/** @type {number|null} */ value, /** @type {number} */ day) =>
    element("i", { style: `height: ${most > 0 ? Math.max(value ? 4 : 0, (100 * (value ?? 0)) / most) : 0}%`, title: says(value, day) });
  return element("div", { class: `bars ${size}`, role: "img", "aria-label": values.map(says).join("; ").slice(0, 2000) }, ...values.map(bar));
}

/** The view. */
export function fleetView() {
  const fleet = /** @type {import("./data.js").Fleet} */ (data.fleet);
  const { trend, columns, rows } = fleet;
  const written = trend ? format(trend.measure) : count;
  const says = (/** @type {number|null} */ value, /** @type {number} */ day) => `${trend?.days[day]}: ${value === null ? "nothing" : written(value)}`;
  const isNumber = columns.map((_, at) => rows.every((row) => row[at] === null || typeof row[at] === "number"));
  const records = rows.map((row, at) => ({ cells: row, trend: trend?.rows[at] ?? [] }));
  const isName = columns.indexOf(["place", "lock_name", "class", "entry", "service"].find((column) => columns.includes(column)) ?? columns[0]);
  /** @type {Column[]} */
  const shown = columns.map((column, at) => ({
    key: column,
    title: column.replaceAll("_", " "),
    number: isNumber[at],
    isName: at === isName,
    text: (row) => (row.cells[at] === null ? "-" : isNumber[at] ? format(column)(row.cells[at]) : String(row.cells[at])),
    sort: (row) => row.cells[at] ?? (isNumber[at] ? -1 : ""),
  }));
  const change = (/** @type {{trend: (number|null)[]}} */ row) => (row.trend.at(-1) ?? 0) - (row.trend.at(-2) ?? 0);
  if (trend) {
    shown.push({
      key: "trend",
      title: `${trend.measure.replaceAll("_", " ")} by day`,
      help: "Sorts by the change from the day before the last one to the last",
      text: (row) => bars(row.trend, Math.max(...row.trend.map((/** @type {number|null} */ value) => value ?? 0)), says, "small"),
      sort: change,
    });
  }
  const detail = (/** @type {{trend: (number|null)[]}} */ row) =>
    element("table", {}, element("tbody", {}, ...row.trend.map((value, day) =>
      element("tr", {}, element("td", {}, trend?.days[day] ?? ""), element("td", { class: "number" }, value === null ? "-" : written(value))))));
  const sum = trend ? trend.days.map((_, day) => records.reduce((sum, row) => sum + (row.trend[day] ?? 0), 0)) : [];
  const parts = [
    element("p", { class: "note" }, `Store ${data.path}${fleet.given.length > 0 ? `; ${fleet.given.join(", ")}` : ""}. A column … error says how far the one before it may be off (95 %).`),
    table("fleet", fleet.says, shown, records, `${columns.find((_, at) => isNumber[at] && columns[at] === trend?.measure) ?? columns[0]}:${trend ? "down" : ""}`, trend ? detail : undefined),
  ];
  if (trend && sum.length > 0) {
    const [first, last] = [trend.days[0], trend.days.at(-1)];
    const left = trend.left_out > 0 ? `; ${count(trend.left_out)} earlier days are not shown` : "";
    parts.splice(1, 0, element("figure", { class: "trend" }, bars(sum, Math.max(...sum), says, "large"),
      element("figcaption", {}, element("span", {}, first), element("span", {}, `${trend.measure.replaceAll("_", " ")} of the rows below, by day; at most ${written(Math.max(...sum))}${left}`), element("span", {}, last ?? ""))));
  }
  return element("div", {}, ...parts);
}
