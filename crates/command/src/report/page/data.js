// The data in the page, as the command writes it.

/** @typedef {{count: number[], slice: number[], values: number[][]}} Changes */
/** @typedef {{
 *   node: number[], class: number[], thread: number[], named: number[], innermost: number[], source: number[],
 *   values: number[][], known?: number[][], changes: Changes, nodes: {parent: number[], frame: number[]},
 *   sources: [number, number, number, number, number, number|null][], cut: number
 * }} Cells */
/** @typedef {{begin: number, end: number, bytes: number, live: number|null, used: number|null, collections: number|null, pauses: number|null}} Slice */
/** @typedef {Cells & {has_stacks: boolean, is_counted: boolean, is_sampled: boolean, knows_live: boolean, slices: Slice[]}} Allocations */
/** @typedef {{width: number, slot: number[], cell: number[], samples: number[], time: number[]}} Moments */
/** @typedef {Cells & {moments: Moments, lost: number, kernel: number}} Cpu */
/** @typedef {{waiter: string, owner: string|null, stack: string[], owner_stack: string[]}} Longest */
/** @typedef {{text: string, pair: [string, string]|null, count: number, total: number, error: number|null, mean: number, p50: number, p90: number, p99: number, max: number, open: number, longest: Longest|null}} LockRow */
/** @typedef {{name: string, id: number, group: string, is_java: boolean, members: number, started: number, ended: number, times: number[], cpu: number|null, slices: number[][]}} ThreadRow */
/** @typedef {{left_out: number, thread: number[], id: number[], state: number[], contended: number[], open: number[], since: number[], length: number[], class: number[], at: number[], owner: number[], owner_at: number[]}} Waits */
/** @typedef {{class: string, method: string, source: string, line: number|null}} At */
/** @typedef {{thread: {name: string}, state: string, class: string|null, name: string|null, nanos: number, owner: {name: string}|null, stack: At[]}} Stuck */
/** @typedef {{tables: Record<string, {rows: LockRow[], left: number}>, ends: {deadlocks: {nanos: number, threads: Stuck[]}[], still_blocked: Stuck[], still_blocked_more: number}, threads: ThreadRow[], threads_left: number, slice: number, states: string[], waits: Waits}} Locks */
/** @typedef {{text: string, live: number, live_bytes: number, live_error: number, survived_bytes: number, total: number, average_age: number|null, generations: number, oldest: number|null, is_growing: boolean}} LeakRow */
/** @typedef {{rows: LeakRow[], left: number}} LeakTable */
/** @typedef {{class: LeakTable, site: LeakTable, line: LeakTable, has_ages: boolean}} Leaks */
/** @typedef {{class: string, is_class: string|null, text: string|null, id: string, shallow_bytes: number, retained_bytes: number}} HeapObject */
/** @typedef {{class: string, objects: number, bytes: number, inside: HeapObject[], site: {at: string, frames: string[], objects: number}|null, average_age: number|null, generations: number|null, grows: boolean|null}} Part */
/** @typedef {{bytes: number, percent: number, holder: HeapObject|null, parts: Part[], path: {roots: string[], steps: (HeapObject & {by: string|null})[]}|null}} Suspect */
/** @typedef {{class: string, instances: number, shallow_bytes: number, retained_bytes: number, unreachable: number, average_age: number|null, generations: number}} ClassRow */
/** @typedef {{strings: {strings: number, bytes: number, distinct: number, wasted_bytes: number, duplicates: {text: string|null, strings: number, wasted_bytes: number}[]}, collections: {class: string, instances: number, empty: number, empty_bytes: number, sparse: number, sparse_bytes: number}[], boxes: {class: string, instances: number, bytes: number, distinct: number, wasted_bytes: number}[]}} Waste */
/** As of `martini heap --json`. @typedef {{path: string, objects: number, shallow_bytes: number, reachable_objects: number, reachable_shallow_bytes: number, roots: number, complete: boolean, notes: string[], histogram: ClassRow[], dominators: HeapObject[], suspects: Suspect[], waste: Waste|null}} Dump */
/** @typedef {{text: string, own: number, total: number, begun: number, thread: string|null, caused_by: string|null, stack: string[]}} Initialiser */
/** @typedef {{from: number|null, until: number, classes: number, causes: number[], interpreted: number, code: number, samples: number}} StartInterval */
/** @typedef {{sentences: string[], intervals: StartInterval[], initialisers: Initialiser[], left: number, lookups: {text: string, count: number, caused_by: string|null}[], methods: {text: string, time: number, count: number, discarded: number, bytes: number}[]}} Start */
/** @typedef {{number: number, place: number|null, thread: string, begun: number, took: number, cpu: number|null, bytes: number|null, failed: boolean, parts: {kind: string, text: string, time: number, error: number}[], why: string}} DividedRequest */
/** @typedef {{text: string, kind: string|null, requests: number, failures: number, rate: number|null, mean: number|null, p50: number|null, p90: number|null, p99: number|null, p999: number|null, longest: number|null, cpu: number|null, bytes: number|null, moments: {from: number, until: number, requests: number, p50: number|null, p99: number|null, longest: number|null}[], divided: DividedRequest[]}} RequestEntry */
/** @typedef {{text: string, base: number, cumulative: number, calls: number, average: number|null, min: number|null, max: number|null}} CallRow */
/** @typedef {Cells & {rows: CallRow[], left: number}} Calls */
/** @typedef {{kind: string, head: string, sentences: string[], next?: string, search?: string|null}} Finding */
/** @typedef {{texts: string[], class: number[], method: number[], source: number[], line: number[], whose: number[]}} Names */
/** What is said of a trace of two. @typedef {{path: string, origin: string, options: string|null, sums: string, complete: boolean, truth: string[], length: number}} Head */
/** What one of two traces knows. @typedef {{has: boolean, is_estimated: boolean, is_counted?: boolean, has_stacks?: boolean, knows_live?: boolean, lost?: number}} Side */
/** @typedef {{says: string, given: string[], columns: string[], rows: (string|number|null)[][], trend: {measure: string, days: string[], left_out: number, rows: (number|null)[][]}|null}} Fleet */
/** @typedef {{
 *   diff?: [Head, Head], changed?: {measures: {summary: string, changes: string[], remark: string}[], notes: string[]}, path: string, origin: string, options: string|null, sums: string, complete: boolean, truth: string[], findings: Finding[],
 *   program?: string|null, java?: string|null, began?: number|null, is_attached?: boolean, attach?: string|null, is_dump?: boolean, fleet?: Fleet,
 *   wall_samples: number, safepoints: string|null, length: number, cut: number,
 *   wall: Cpu|null, wait_stacks: Cells|null, calls?: Calls|null, collections: {count: number, pauses: number, since: number[], pause: number[], used: (number|null)[]}|null,
 *   start?: Start|null, requests?: {entries: RequestEntry[], left: number, notes: string[]}|null, allocations: Allocations|null, cpu: Cpu|null, locks: Locks, leaks: Leaks|null, dump: Dump|null, names: Names
 * }} Data */

/** @type {Data} */
export const data = JSON.parse(/** @type {HTMLElement} */ (document.getElementById("data")).textContent ?? "");

/** The command that records what a trace lacks, for a program like its own. @param {string} options */
export function advice(options) {
  const words = data.is_attached ? ["martini attach", data.attach ?? "PID", options] : ["martini run", options, "java …"];
  return words.filter(Boolean).join(" ");
}

/** The kinds of `whose`. */
export const OWN = 0;
export const NATIVE = 3;

/** A text; of no text `none`. @param {number} number @param {string} none */
export function text(number, none) {
  return number === -2 ? "(other threads)" : number < 0 ? none : data.names.texts[number] || "(unnamed)";
}

/** A frame as in a stack trace. @param {number} frame */
export function frameText(frame) {
  const names = data.names;
  if (frame < 0) return "(no line)";
  const method = methodText(frame);
  if (names.class[frame] < 0) return method;
  const line = names.line[frame];
  if (names.source[frame] < 0) return line < 0 ? `${method}(Unknown Source)` : `${method}(line ${line})`;
  const source = names.texts[names.source[frame]];
  return line < 0 ? `${method}(${source})` : `${method}(${source}:${line})`;
}

/** The method of a frame. @param {number} frame */
export function methodText(frame) {
  const names = data.names;
  if (frame < 0) return "(no line)";
  const method = names.texts[names.method[frame]];
  return names.class[frame] < 0 ? method : `${names.texts[names.class[frame]]}.${method}`;
}

/** The class of a frame. @param {number} frame */
export function classText(frame) {
  if (frame < 0) return "(no line)";
  const number = data.names.class[frame];
  return number < 0 ? data.names.texts[data.names.method[frame]] : data.names.texts[number];
}

/** The package in a class name. @param {string} name */
export function packageText(name) {
  const dot = name.lastIndexOf(".");
  return name.startsWith("(") ? name : dot < 0 ? "(default package)" : name.slice(0, dot);
}
