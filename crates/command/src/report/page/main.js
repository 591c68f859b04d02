// Which view is shown.
import { data } from "./data.js";
import { element } from "./dom.js";
import { address, subscribe, view } from "./state.js";
import { timeAxis } from "./time.js";
import { overview } from "./overview.js";
import { allocationsView, callsView, cpuView, waitsView, wallView } from "./stacks_view.js";
import { heapView } from "./heap_view.js";
import { startView } from "./start_view.js";
import { requestsView } from "./requests_view.js";
import { locksView, threadsView } from "./locks_view.js";
import { leaksView } from "./leaks_view.js";
import { dumpView } from "./dump_view.js";
import { allocationsDiff, cpuDiff } from "./diff_stacks.js";
import { fleetView } from "./fleet_view.js";
import { diffOverview, leaksDiff, locksDiff, threadsDiff } from "./diff_views.js";

/** @type {Record<string, [string, () => Node]>} */
const ALL_VIEWS = {
  overview: ["Overview", overview],
  allocations: ["Allocations", allocationsView],
  cpu: ["CPU time", cpuView],
  ...(data.wall ? { wall: ["Wall clock", wallView] } : {}),
  ...(data.calls ? { calls: ["Calls", callsView] } : {}),
  locks: ["Locks", locksView],
  ...(data.wait_stacks ? { waits: ["Waits", waitsView] } : {}),
  threads: ["Threads", threadsView],
  ...(data.collections ? { heap: ["Collections", heapView] } : {}),
  ...(data.start ? { start: ["Start", startView] } : {}),
  ...(data.requests ? { requests: ["Requests", requestsView] } : {}),
  leaks: ["Leaks", leaksView],
  ...(data.dump ? { dump: ["Heap dump", dumpView] } : {}),
};

/** The same views of two traces, which have no time in common. @type {typeof ALL_VIEWS} */
const DIFFERENCES = {
  overview: ["Overview", diffOverview],
  allocations: ["Allocations", allocationsDiff],
  cpu: ["CPU time", cpuDiff],
  locks: ["Locks", locksDiff],
  threads: ["Threads", threadsDiff],
  leaks: ["Leaks", leaksDiff],
};

/** That of a heap dump alone. @type {typeof ALL_VIEWS} */
const DUMP = { dump: ["Heap dump", dumpView] };

/** That of a question about many traces. @type {typeof ALL_VIEWS} */
const FLEET = { fleet: ["Fleet", fleetView] };

const VIEWS = data.fleet ? FLEET : data.diff ? DIFFERENCES : data.is_dump ? DUMP : ALL_VIEWS;

/** What distinguishes an element from others when all of them are made again. @param {Element|null} element */
function keyOf(element) {
  if (!(element instanceof HTMLElement)) return null;
  return element.dataset.key ?? element.getAttribute("aria-label") ?? element.closest("label")?.firstChild?.textContent ?? element.textContent;
}

/** Which view is shown. */
let shown = "";

/** Shows what the address says. What had the focus has it again, and the page stays where it is in the window. */
function show() {
  const name = Object.hasOwn(VIEWS, view()) ? view() : Object.keys(VIEWS)[0];
  const [title, make] = VIEWS[name];
  const main = /** @type {HTMLElement} */ (document.querySelector("main"));
  const nav = /** @type {HTMLElement} */ (document.querySelector("nav"));
  const before = document.activeElement;
  const [tag, isInMain] = [before?.tagName ?? "", main.contains(before)];
  // The text of the whole page, of which the data is a part, would be long.
  const key = isInMain ? keyOf(before) : null;
  const caret = before instanceof HTMLInputElement && before.type === "search" ? before.selectionStart : null;
  const links = Object.entries(VIEWS).map(([each, [text]]) => element("a", { href: address(each), ...(each === name ? { "aria-current": "page" } : {}) }, text));
  const top = name === shown ? scrollY : 0;
  shown = name;
  nav.replaceChildren(...links);
  document.title = `${title} - ${data.path} - Martini`;
  const axis = data.diff || ["fleet", "overview", "leaks", "dump", "waits", "calls", "heap", "requests"].includes(name) ? [] : [timeAxis(name === "threads" ? "locks" : name)];
  main.replaceChildren(element("h2", {}, title), ...axis, make());
  scrollTo(0, top);
  if (!isInMain) {
    if (tag === "A") links.find((link) => link.getAttribute("aria-current"))?.focus();
    return;
  }
  for (const each of main.querySelectorAll(tag)) {
    if (keyOf(each) !== key || !(each instanceof HTMLElement)) continue;
    each.focus({ preventScroll: true });
    if (each instanceof HTMLInputElement && caret !== null) each.setSelectionRange(caret, caret);
    return;
  }
}

const theme = /** @type {HTMLSelectElement} */ (document.getElementById("theme"));
theme.addEventListener("change", () => {
  document.documentElement.dataset.theme = theme.value;
  show();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target instanceof HTMLInputElement) return;
  const field = document.querySelector("main input[type=search]");
  if (field instanceof HTMLElement) {
    event.preventDefault();
    field.focus();
  }
});
subscribe(show);
show();
