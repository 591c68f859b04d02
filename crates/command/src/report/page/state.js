// What the page shows is in its address, so that it can be sent and the browser's back button works.

/** @type {Set<() => void>} */
const listeners = new Set();

/** @returns {URLSearchParams} */
function parameters() {
  const hash = location.hash.slice(1);
  const at = hash.indexOf("?");
  return new URLSearchParams(at < 0 ? "" : hash.slice(at + 1));
}

/** The view that is shown. */
export function view() {
  return location.hash.slice(1).split("?")[0] || "overview";
}

/** A value; empty if it is not set. @param {string} key */
export function get(key) {
  return parameters().get(key) ?? "";
}

/** The range of time that is chosen, in nanoseconds; null if it is all. @returns {[number, number]|null} */
export function range() {
  const [from, to] = get("time").split("-").map(Number);
  return to > from ? [from * 1e6, to * 1e6] : null;
}

/** Chooses a range of time. @param {[number, number]|null} chosen */
export function setRange(chosen) {
  // Milliseconds are short; those of the ends lie outside of what was chosen.
  set({ time: chosen ? `${Math.floor(chosen[0] / 1e6)}-${Math.ceil(chosen[1] / 1e6)}` : "" });
}

/** Changes values; empty ones go. What is typed replaces the entry in the browser's history. @param {Record<string, string>} changes @param {boolean} [isTyped] */
export function set(changes, isTyped) {
  const all = parameters();
  for (const [key, value] of Object.entries(changes)) {
    if (value) all.set(key, value);
    else all.delete(key);
  }
  go(view(), all, isTyped);
}

/** The address of a view with the range of time that is chosen, or amounts per second. @param {string} name @param {Record<string, string>} [values] */
export function address(name, values) {
  const all = new URLSearchParams(values);
  for (const key of ["time", "per"]) if (get(key)) all.set(key, get(key));
  const text = all.toString();
  return `#${name}${text ? `?${text}` : ""}`;
}

/** @param {string} name @param {URLSearchParams} all @param {boolean} [isTyped] */
function go(name, all, isTyped) {
  const text = all.toString();
  const hash = `#${name}${text ? `?${text}` : ""}`;
  if (hash === location.hash) return;
  if (isTyped) history.replaceState(null, "", hash);
  else history.pushState(null, "", hash);
  listeners.forEach((listener) => listener());
}

/** Calls a function when anything changes. @param {() => void} listener */
export function subscribe(listener) {
  listeners.add(listener);
}

addEventListener("popstate", () => listeners.forEach((listener) => listener()));
