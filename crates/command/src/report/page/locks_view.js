// Locks and threads: who waits for what, who blocks whom, and what each thread did when.
import { advice, data, text } from "./data.js";
import { count, duration, percent, seconds } from "./format.js";
import { choice, colour, element, fitted, name, prepare, searchField, tooltip } from "./dom.js";
import { nameColumn, table } from "./table.js";
import { get, range, set } from "./state.js";

const ROW = 20;
/** How high a strip is drawn. */
const HIGH = 16;
const NAMES = 190;
/** What the states are called. What is no wait is running, ready to run or inside the VM, or was not recorded. */
const states = () => data.locks.states;
/** What the style calls them. */
const STYLES = ["blocked", "waiting", "parked", "sleeping", "running"];
const MOST_PAIRS = 16;

/** @typedef {import("./data.js").LockRow} LockRow */

/** What distinguishes a thread from others of its name. @param {string} name @param {number} id */
const keyOf = (name, id) => (id < 0 ? name : `${id}:${name}`);

/** Waits of the range that is chosen, as rows. @param {string} by @param {boolean} isLocks @returns {LockRow[]} */
function rowsOfRange(by, isLocks) {
  const { waits } = data.locks;
  const [from, to] = /** @type {[number, number]} */ (range());
  /** @type {Map<string, {lengths: number[], open: number, pair: [string, string]}>} */
  const groups = new Map();
  waits.since.forEach((since, at) => {
    const end = since + waits.length[at];
    if (Boolean(waits.contended[at]) !== isLocks || end < from || since > to) return;
    const [waiter, owner, lock] = [text(waits.thread[at], "(unknown)"), text(waits.owner[at], "(unknown)"), text(waits.class[at], "(unknown class)")];
    const key = by === "waiter" ? waiter : by === "pair" ? `${waiter} <- ${owner} (${lock})` : by === "site" ? `${lock} at ${text(waits.at[at], "(no site)")}`
      : by === "holder" ? `${lock} at ${text(waits.owner_at[at], "(no site)")}` : lock;
    const group = groups.get(key) ?? { lengths: [], open: 0, pair: [waiter, owner] };
    group.lengths.push(Math.min(end, to) - Math.max(since, from));
    group.open += waits.open[at];
    groups.set(key, group);
  });
  return [...groups].map(([text, { lengths, open, pair }]) => {
    lengths.sort((a, b) => a - b);
    const total = lengths.reduce((sum, length) => sum + length, 0);
    const percentile = (/** @type {number} */ part) => lengths[Math.max(0, Math.ceil(part * lengths.length) - 1)];
    return { text, pair, count: lengths.length, total, error: null, mean: total / lengths.length, p50: percentile(0.5), p90: percentile(0.9), p99: percentile(0.99), max: lengths[lengths.length - 1], open, longest: null };
  });
}

/** Locks. */
export function locksView() {
  const { locks } = data;
  const isLocks = get("kind") !== "waits";
  const kind = isLocks ? "locks" : "waits";
  const by = Object.hasOwn(locks.tables, `${kind}.${get("by")}`) ? get("by") : "monitor";
  const chosen = range();
  const found = locks.tables[`${kind}.${by}`];
  const wanted = get("search").toLowerCase();
  const rows = (chosen ? rowsOfRange(by, isLocks) : found.rows).filter((row) => row.text.toLowerCase().includes(wanted));
  const notes = [];
  if (chosen && by === "monitor") notes.push("In a range, locks are grouped by class.");
  if (chosen) notes.push("Waits count with their share inside the range.");
  if (chosen && locks.waits.left_out > 0) notes.push(`Only the ${count(locks.waits.since.length)} longest waits have times in this page; ${count(locks.waits.left_out)} shorter ones are missing from ranges.`);
  if (!chosen && found.left > 0) notes.push(`${count(found.left)} more rows are not in this page: those with the least time.`);
  if (Object.values(locks.tables).every((table) => table.rows.length === 0)) notes.push(`The trace has no waits. To record them: ${advice("--locks")}`);
  const time = (/** @type {keyof LockRow} */ key, /** @type {string} */ title) => ({ key, title, number: true, text: (/** @type {any} */ row) => duration(row[key]), sort: (/** @type {any} */ row) => row[key] });
  const columns = [
    { key: "count", title: isLocks ? "contended" : "waits", number: true, text: (/** @type {LockRow} */ row) => count(row.count), sort: (/** @type {LockRow} */ row) => row.count },
    time("total", "total"), time("mean", "mean"), time("p50", "p50"), time("p90", "p90"), time("p99", "p99"), time("max", "max"),
    nameColumn("lock", (row) => row.text),
  ];
  if (rows.some((row) => row.error !== null)) {
    notes.push("Waits with a ± are estimates, from looks at parked threads: it is the 95 % error margin of the total.");
    columns.splice(2, 0, { key: "error", title: "±", number: true, text: (/** @type {LockRow} */ row) => (row.error === null ? "" : duration(row.error)), sort: (/** @type {LockRow} */ row) => row.error ?? 0 });
  }
  const pairs = chosen ? rowsOfRange("pair", true) : locks.tables["locks.pair"].rows;
  return element("div", {}, element("p", { class: "note" }, notes.join(" ")), ends(),
    element("div", { class: "tools" },
      choice("Show", [["", "lock waits"], ["waits", "other waits"]], get("kind"), (value) => set({ kind: value })),
      choice("by", [["monitor", "lock"], ["class", "class"], ["site", "waiting site"], ["holder", "owner's site"], ["waiter", "waiting thread"], ["pair", "thread pair"]], by, (value) => set({ by: value })),
      searchField("Search", get("search"), (value) => set({ search: value }, true))),
    table("locks", isLocks ? "Waits for locks" : "Other waits", columns, rows, "total", longest),
    element("h3", {}, `Who blocks whom: the ${MOST_PAIRS} thread pairs with the most time`),
    element("p", { class: "note" }, "Thicker lines mean more time. For numbers see the table by thread pair."), graph(pairs));
}

/** The longest wait of a row. @param {LockRow} row */
function longest({ longest }) {
  if (!longest) return null;
  const stack = (/** @type {string[]} */ frames) => (frames.length ? element("ol", {}, ...frames.map((frame) => element("li", {}, name(frame)))) : element("p", {}, "(not in the trace)"));
  return element("div", { class: "columns" },
    element("div", {}, element("p", {}, "Longest wait, by ", name(longest.waiter), ", at:"), stack(longest.stack)),
    longest.owner === null ? null : element("div", {}, element("p", {}, "The owner, ", name(longest.owner), ", was at:"), stack(longest.owner_stack)));
}

/** Deadlocks, and threads that still waited at the end. */
function ends() {
  const { deadlocks, still_blocked: stuck } = data.locks.ends;
  const line = (/** @type {import("./data.js").Stuck} */ each) => {
    const at = each.stack[0];
    const owner = each.owner ? `, owned by ${each.owner.name}` : "";
    return element("li", {}, name(`${each.thread.name} waits ${duration(each.nanos)} for ${each.name ?? each.class ?? "(unknown)"}${owner}${at ? ` at ${at.class}.${at.method}(${at.source}:${at.line})` : ""}`));
  };
  if (deadlocks.length === 0 && stuck.length === 0) return null;
  return element("section", {}, ...deadlocks.map((deadlock) => element("div", {}, element("h3", {}, `Deadlock, for ${duration(deadlock.nanos)}`), element("ul", {}, ...deadlock.threads.map(line)))),
    stuck.length ? element("div", {}, element("h3", {}, "Still waiting for a lock at the end"), element("ul", {}, ...stuck.slice(0, 50).map(line))) : null);
}

/** Owners at the left, those that wait for them at the right. @param {LockRow[]} rows */
function graph(rows) {
  /** @type {Map<string, {owner: string, waiter: string, total: number}>} */
  const edges = new Map();
  for (const { pair, total } of rows) {
    if (!pair) continue;
    const edge = edges.get(pair.join("\n")) ?? { owner: pair[1], waiter: pair[0], total: 0 };
    edge.total += total;
    edges.set(pair.join("\n"), edge);
  }
  const shown = [...edges.values()].sort((a, b) => b.total - a.total).slice(0, MOST_PAIRS);
  if (shown.length === 0) return element("p", {}, "No thread waited for another thread's lock.");
  const [owners, waiters] = [[...new Set(shown.map((edge) => edge.owner))], [...new Set(shown.map((edge) => edge.waiter))]];
  const height = Math.max(owners.length, waiters.length) * 30 + 24;
  const svg = (/** @type {string} */ tag, /** @type {Record<string, string|number>} */ attributes, text = "") => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
    made.textContent = text;
    return made;
  };
  const picture = svg("svg", { viewBox: `0 0 900 ${height}`, role: "img", class: "pairs", "aria-label": `Who blocks whom: ${shown.map((edge) => `${edge.owner} blocks ${edge.waiter} for ${duration(edge.total)}`).join("; ").slice(0, 2000)}` });
  const place = (/** @type {string[]} */ list, /** @type {string} */ each) => list.indexOf(each) * 30 + 36;
  for (const edge of shown) {
    const [from, to] = [place(owners, edge.owner), place(waiters, edge.waiter)];
    picture.append(svg("path", { d: `M300 ${from} C 420 ${from}, 420 ${to}, 540 ${to}`, "stroke-width": 1 + 7 * (edge.total / shown[0].total) }));
  }
  /** What all lines of a thread have: on each line it could not be read where many cross. @param {"owner"|"waiter"} side @param {string} each */
  const sum = (side, each) => duration(shown.reduce((sum, edge) => (edge[side] === each ? sum + edge.total : sum), 0));
  const short = (/** @type {string} */ text) => (text.length > 42 ? `${text.slice(0, 41)}…` : text);
  picture.append(svg("text", { x: 292, y: 14, "text-anchor": "end", class: "head" }, "owner"), svg("text", { x: 548, y: 14, class: "head" }, "waits for it"));
  owners.forEach((each) => picture.append(svg("text", { x: 292, y: place(owners, each) + 4, "text-anchor": "end" }, `${short(each)} · ${sum("owner", each)}`)));
  waiters.forEach((each) => picture.append(svg("text", { x: 548, y: place(waiters, each) + 4 }, `${sum("waiter", each)} · ${short(each)}`)));
  return picture;
}

/** Threads. */
export function threadsView() {
  const { locks } = data;
  const wanted = get("search").toLowerCase();
  const threads = locks.threads.filter((thread) => thread.name.toLowerCase().includes(wanted));
  const time = (/** @type {number} */ state) => ({ key: states()[state], title: states()[state], number: true, text: (/** @type {any} */ row) => duration(row.times[state]), sort: (/** @type {any} */ row) => row.times[state] });
  const columns = [4, 0, 1, 2, 3].map(time);
  columns.splice(1, 0, { key: "cpu", title: "CPU", number: true, text: (row) => (row.cpu === null ? "-" : duration(row.cpu)), sort: (row) => row.cpu ?? -1 });
  const notes = ["Each strip shows the share of time in each state; drag on the time axis to zoom, select a thread to see its waits."];
  if (!Object.values(locks.tables).some((kind) => kind.rows.length > 0)) notes.push("This trace has no waits; record them with --locks.");
  if (locks.threads_left > 0) notes.push(`${count(locks.threads_left)} more threads are not in this page.`);
  if (locks.waits.left_out > 0) notes.push(`Only the ${count(locks.waits.since.length)} longest waits are shown one by one.`);
  return element("div", {}, element("p", { class: "note" }, notes.join(" ")),
    element("div", { class: "tools" }, searchField("Search", get("search"), (value) => set({ search: value }, true))),
    threads.length ? timeline(threads) : element("p", {}, "No thread to show."), waitsOf(get("of")),
    table("threads", `Threads, over the whole trace: ${count(threads.length)}`, [...columns, nameColumn("thread", (row) => row.name)], threads, "blocked"));
}

/**
 * How long a thread was in each state, for each column of pixels: by its waits if the page has all of them, or by its slices.
 * @param {import("./data.js").ThreadRow} thread @param {number[]} single @param {number} from @param {number} to @param {number} columns
 */
function shares(thread, single, from, to, columns) {
  const { locks } = data;
  const step = (to - from) / columns;
  const sums = Array.from({ length: columns }, () => STYLES.map(() => 0));
  /** Spreads time evenly. @param {number} state @param {number} since @param {number} until @param {number} time */
  const add = (state, since, until, time) => {
    const [begin, end] = [Math.max(since, from), Math.min(until, to)];
    for (let column = Math.floor((begin - from) / step); column < columns && from + column * step < end; column++) {
      const inside = Math.min(end, from + (column + 1) * step) - Math.max(begin, from + column * step);
      if (inside > 0) sums[column][state] += (inside / (until - since)) * time;
    }
  };
  if (locks.waits.left_out > 0) {
    thread.slices.forEach((states, slice) => states.forEach((time, state) => time > 0 && add(state, slice * locks.slice, (slice + 1) * locks.slice, time)));
    return sums;
  }
  const rest = STYLES.length - 1;
  add(rest, thread.started, thread.ended, thread.ended - thread.started);
  for (const at of single) {
    const [since, length] = [locks.waits.since[at], locks.waits.length[at]];
    if (length > 0) add(locks.waits.state[at], since, since + length, length);
  }
  // What is no wait is left.
  for (const states of sums) states[rest] = Math.max(0, states[rest] - states.slice(0, rest).reduce((sum, time) => sum + time, 0));
  return sums;
}

/** @param {import("./data.js").ThreadRow[]} threads */
function timeline(threads) {
  const { locks, length } = data;
  const [from, to] = range() ?? [0, length || 1];
  const canvas = element("canvas", { tabindex: "0", role: "img", class: "threads", "data-key": "threads",
    "aria-label": "Threads over time, one row each. Up and Down select a thread, Enter shows its waits; the table below has the same sums." });
  const status = element("p", { class: "status", "aria-live": "polite" });
  let current = Math.max(0, threads.findIndex((thread) => keyOf(thread.name, thread.id) === get("of")));
  /** @type {Map<string, number[]>} */
  const waits = new Map();
  locks.waits.since.forEach((since, at) => {
    if (since > to || since + locks.waits.length[at] < from) return;
    const key = keyOf(text(locks.waits.thread[at], ""), locks.waits.id[at]);
    const known = waits.get(key);
    if (known) known.push(at);
    else waits.set(key, [at]);
  });
  const draw = () => {
    const { context, width } = prepare(canvas, threads.length * ROW);
    const colours = STYLES.map((state) => colour(state));
    /** @param {number} state @param {number} left @param {number} wide @param {number} top @param {number} high */
    const box = (state, left, wide, top, high) => {
      context.fillStyle = colours[state];
      context.fillRect(left, top, wide, high);
    };
    threads.forEach((thread, row) => {
      const top = row * ROW + 1;
      context.fillStyle = colour("ink");
      context.font = `${row === current ? "bold " : ""}12px system-ui, sans-serif`;
      context.fillText(fitted(context, thread.name, NAMES - 10), 4, top + ROW / 2);
      shares(thread, waits.get(keyOf(thread.name, thread.id)) ?? [], from, to, Math.max(1, Math.floor(width - NAMES))).forEach((states, column) => {
        const whole = states.reduce((sum, time) => sum + time, 0);
        let bottom = top + HIGH;
        states.forEach((time, state) => {
          const high = whole > 0 ? (time / whole) * HIGH : 0;
          bottom -= high;
          if (high > 0) box(state, NAMES + column, 1, bottom, high);
        });
      });
      if (row === current) {
        context.strokeStyle = colour("ink");
        context.strokeRect(1, top, width - 2, ROW - 2);
      }
    });
  };
  const say = () => {
    const thread = threads[current];
    const whole = thread.times.reduce((sum, time) => sum + time, 0);
    status.textContent = `${thread.name}: ${thread.times.map((time, state) => (time > 0 ? `${states()[state]} ${percent(time, whole)}` : "")).filter(Boolean).join(", ")}; from ${seconds(thread.started)} to ${seconds(thread.ended)}`;
  };
  const go = (/** @type {number} */ row) => {
    current = Math.min(threads.length - 1, Math.max(0, row));
    draw();
    say();
  };
  const choose = () => set({ of: keyOf(threads[current].name, threads[current].id) });
  const tip = tooltip(canvas);
  canvas.addEventListener("mousemove", (/** @type {MouseEvent} */ event) => {
    go(Math.floor(event.offsetY / ROW));
    tip.say(event, status.textContent ?? "");
  });
  canvas.addEventListener("click", choose);
  canvas.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (event.key === "Enter") choose();
    if (step === 0) return;
    event.preventDefault();
    go(current + step);
  });
  requestAnimationFrame(() => go(current));
  addEventListener("resize", () => canvas.isConnected && draw());
  const legend = element("ul", { class: "legend" }, ...states().map((state, at) => element("li", {}, element("span", { class: `swatch ${STYLES[at]}` }), state)));
  return element("section", { class: "graph" }, legend, element("div", { class: "tall scroll", tabindex: "0", role: "group", "aria-label": "Threads over time" }, canvas), tip.box, status);
}

/** The waits of a thread, in the range that is chosen. @param {string} thread */
function waitsOf(thread) {
  if (!thread) return null;
  const { waits } = data.locks;
  const [from, to] = range() ?? [0, Infinity];
  /** @type {number[]} */
  const found = [];
  waits.since.forEach((since, at) => keyOf(text(waits.thread[at], ""), waits.id[at]) === thread && since <= to && since + waits.length[at] >= from && found.push(at));
  return table("waits", `Waits of ${thread.replace(/^\d+:/, "").slice(0, 200)}: ${count(found.length)}`, [
    { key: "since", title: "since", number: true, text: (at) => seconds(waits.since[at]), sort: (at) => waits.since[at] },
    { key: "length", title: "length", number: true, text: (at) => duration(waits.length[at]), sort: (at) => waits.length[at] },
    { key: "state", title: "state", text: (at) => states()[waits.state[at]], sort: (at) => waits.state[at] },
    { key: "lock", title: "for", text: (at) => text(waits.class[at], "-"), sort: (at) => text(waits.class[at], ""), isName: true },
    { key: "at", title: "at", text: (at) => text(waits.at[at], "-"), sort: (at) => text(waits.at[at], ""), isName: true },
    { key: "owner", title: "owner", text: (at) => text(waits.owner[at], "-"), sort: (at) => text(waits.owner[at], ""), isName: true },
    { key: "owner_at", title: "owner was at", text: (at) => text(waits.owner_at[at], "-"), sort: (at) => text(waits.owner_at[at], ""), isName: true },
  ], found, "length");
}
