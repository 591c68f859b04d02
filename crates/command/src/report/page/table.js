// A table that is sorted by a click on a heading, with as many rows as are asked for.
import { count } from "./format.js";
import { button, element, name } from "./dom.js";
import { get, set } from "./state.js";

/** @typedef {{key: string, title: string, number?: boolean, text: (row: any) => string|Node, sort: (row: any) => number|string, isName?: boolean, help?: string}} Column */

const ROWS = 100;

/** A column of numbers; `-` where there is none. @param {string} key @param {string} title @param {(value: number) => string} format @param {string} [help] @returns {Column} */
export function numberColumn(key, title, format, help = "") {
  return { key, title, number: true, help, text: (row) => (row[key] === null ? "-" : format(row[key])), sort: (row) => row[key] ?? -1 };
}

/** A column of the program's names. @param {string} title @param {(row: any) => string} text @returns {Column} */
export function nameColumn(title, text) {
  return { key: "name", title, text, sort: text, isName: true };
}

/** Makes a table. `id`: under what the address has its order. `first`: what it is sorted by at first. @param {string} id @param {string} caption @param {Column[]} columns @param {any[]} rows @param {string} first @param {((row: any) => Node|null)} [detail] */
export function table(id, caption, columns, rows, first, detail) {
  const [key, direction] = (get(`${id}-sort`) || first).split(":");
  const column = columns.find((column) => column.key === key) ?? columns[0];
  const isDown = (direction || (column.number ? "down" : "up")) === "down";
  const sorted = rows.slice().sort((a, b) => {
    const [one, other] = [column.sort(a), column.sort(b)];
    const order = one < other ? -1 : one > other ? 1 : 0;
    return isDown ? -order : order;
  });
  const head = element("tr", {});
  for (const each of columns) {
    const isThis = each === column;
    const next = isThis ? (isDown ? "up" : "down") : each.number ? "down" : "up";
    const sort = button(`${each.title}${isThis ? (isDown ? " ▼" : " ▲") : ""}`, () => set({ [`${id}-sort`]: `${each.key}:${next}` }));
    sort.dataset.key = `${id}-${each.key}`;
    if (each.help) sort.title = each.help;
    head.append(element("th", { scope: "col", class: each.number ? "number" : "", "aria-sort": isThis ? (isDown ? "descending" : "ascending") : "none" }, sort));
  }
  const body = element("tbody", {});
  const more = element("p", {});
  let shown = 0;
  const add = (/** @type {number} */ rows) => {
    const until = Math.min(sorted.length, shown + rows);
    for (; shown < until; shown++) body.append(...row(columns, sorted[shown], detail));
    more.replaceChildren();
    if (shown < sorted.length) {
      more.append(`${count(sorted.length - shown)} more rows `, button(`Show ${count(Math.min(1000, sorted.length - shown))} more`, () => add(1000)));
    }
  };
  add(ROWS);
  if (sorted.length === 0) body.append(element("tr", {}, element("td", { colspan: columns.length }, "Nothing to show.")));
  return element("div", { class: "table" }, element("table", { id: `${id}-table` }, element("caption", {}, caption), element("thead", {}, head), body), more);
}

/** A row, and what stands below it when its name is pressed. @param {Column[]} columns @param {any} row @param {((row: any) => Node|null)} [detail] */
function row(columns, row, detail) {
  const below = element("tr", { hidden: true });
  const cells = columns.map((column) => {
    const value = column.text(row);
    let content = column.isName && typeof value === "string" ? name(value) : value;
    if (column.isName && detail) {
      const opener = element("button", { type: "button", class: "opener", "aria-expanded": "false", click: () => {
        below.hidden = !below.hidden;
        opener.setAttribute("aria-expanded", String(!below.hidden));
        if (!below.hidden && !below.firstChild) below.append(element("td", { colspan: columns.length }, detail(row) ?? "No details."));
      } }, content);
      content = opener;
    }
    return element("td", { class: column.number ? "number" : column.isName ? "names" : "" }, content);
  });
  return detail ? [element("tr", {}, ...cells), below] : [element("tr", {}, ...cells)];
}
