// Adds up the pieces of a profile: those of a range of time, of a thread; as tables and as trees.
import { NATIVE, OWN, data, frameText, methodText, classText, packageText, text } from "./data.js";

/** @typedef {import("./data.js").Cells} Cells */
/** @typedef {{parent: number[], label: number[], value: Float64Array, own: Float64Array, children: number[][], depth: number[], ends: number[]}} Tree */
/** @typedef {{id: string, title: string, unit: "bytes"|"count"|"time"}} Metric */
/** `cells`: the pieces that it sums up. @typedef {{text: string, value: number, error: number|null, cells: number[]}} Row */

/** A label of a tree below this is a class of objects. */
const CLASSES = -10;
const ROOT_LABEL = -1;
/** Frames of frameworks and the JDK above the user's own code, folded into one. */
export const FOLDED = -2;

/** The chosen range as slices: from the first to the one behind the last. @param {{begin: number, end: number}[]} slices @param {[number, number]} range @returns {[number, number]} */
export function slicesOf(slices, range) {
  const isIn = (/** @type {{begin: number, end: number}} */ slice) => {
    const middle = (slice.begin + slice.end) / 2;
    return middle >= range[0] && middle < range[1];
  };
  const first = slices.findIndex(isIn);
  if (first >= 0) return [first, slices.findLastIndex(isIn) + 1];
  // The range lies within one slice, or between two.
  const middle = (range[0] + range[1]) / 2;
  const at = slices.findIndex((slice) => slice.end > middle);
  return at < 0 ? [slices.length, slices.length] : [at, at + 1];
}

/** Of each piece the number that is asked for. @param {import("./data.js").Allocations} cells @param {string} metric @param {[number, number]|null} range @returns {Float64Array} */
export function allocationValues(cells, metric, range) {
  const size = metric.endsWith("objects") ? 1 : 0;
  const of = metric.replace(/-.*/, "");
  if (!range || cells.slices.length === 0) {
    const [allocated, live] = [cells.values[size], cells.values[2 + size]];
    return Float64Array.from(allocated, (value, at) => (of === "live" ? live[at] : of === "freed" ? value - live[at] : value));
  }
  const [from, to] = slicesOf(cells.slices, range);
  const { count, slice, values } = cells.changes;
  const [allocated, died] = [values[size], values[2 + size]];
  const sums = new Float64Array(count.length);
  for (let cell = 0, at = 0; cell < count.length; cell++) {
    for (const end = at + count[cell]; at < end; at++) {
      const isIn = slice[at] >= from && slice[at] < to;
      if (of === "live") sums[cell] += slice[at] < to ? allocated[at] - died[at] : 0;
      else if (isIn) sums[cell] += of === "freed" ? died[at] : allocated[at];
    }
  }
  return sums;
}

/** Of each piece the time in a range. @param {import("./data.js").Cpu} cells @param {[number, number]|null} range @returns {Float64Array} */
export function cpuValues(cells, range) {
  if (!range) return Float64Array.from(cells.values[0]);
  const { width, slot, cell, time } = cells.moments;
  const sums = new Float64Array(cells.node.length);
  for (let at = 0; at < slot.length; at++) {
    const middle = (slot[at] + 0.5) * width;
    if (middle >= range[0] && middle < range[1]) sums[cell[at]] += time[at];
  }
  return sums;
}

/** Takes out what other threads did. @param {Cells} cells @param {Float64Array} values @param {string} thread */
export function ofThread(cells, values, thread) {
  return thread === "" ? values : values.map((value, cell) => (String(cells.thread[cell]) === thread ? value : 0));
}

/** Of a whole, the standard error of a part's share, squared: as the command's tables have it. @param {number[]} whole @param {number[]} part */
function varianceOfShare(whole, part) {
  const [samples, weight, variance] = whole;
  if (!(weight > 0)) return 1;
  const share = Math.min(1, Math.max(0, part[1] / weight));
  const elsewhere = Math.max(0, variance - part[2]);
  const ofRatio = ((1 - share) ** 2 * part[2] + share ** 2 * elsewhere) / weight ** 2;
  const likely = (Math.min(part[0], samples) + 1) / (samples + 2);
  return Math.max(ofRatio, (likely * (1 - likely)) / (samples + 3));
}

/** How samples know a source: they are all that is known; it is exact; the JIT may have removed some, or it has. */
const [SAMPLED, EXACT, , KEPT] = [0, 1, 2, 3];

/** How far the sum of some pieces may be off, with a confidence of 95 %: as the command's tables have it. @param {Cells} cells @param {number[]} group @param {number} sum */
export function errorOf(cells, group, sum) {
  /** Samples, what they stand for, its variance; and what is shown. @type {Map<number, number[]>} */
  const parts = new Map();
  for (const cell of group) {
    if (cells.source[cell] < 0 || !cells.known) continue;
    const part = parts.get(cells.source[cell]) ?? [0, 0, 0, 0];
    [...cells.known, cells.values[0]].forEach((column, at) => (part[at] += column[cell]));
    parts.set(cells.source[cell], part);
  }
  const own = { variance: 0, few: 0, moved: 0 };
  const ofShares = { variance: 0, few: 0, moved: 0 };
  let elsewhere = 0;
  for (const [source, part] of parts) {
    const [weight, kind, samples, sampled, variance, most] = cells.sources[source];
    const whole = [samples, sampled, variance];
    if (kind === SAMPLED || kind === EXACT) {
      const added = kind === SAMPLED ? part[2] : weight ** 2 * varianceOfShare(whole, part);
      own.variance += added;
      ofShares.variance += added;
      continue;
    }
    elsewhere += weight - part[3];
    own.moved += part[3] - part[1];
    // What was removed has a negative variance: with it the part is what other callers are not.
    const callers = part[2] >= 0 ? part : [samples - part[0], Math.max(0, weight - part[1]), -part[2]];
    if (callers[2] <= variance * 1e-9) continue;
    const few = (3 * variance) / Math.max(1, samples);
    own.variance += 1.21 * callers[2];
    own.few = Math.max(own.few, few);
    if (kind === KEPT) {
      ofShares.variance += 1.21 * callers[2];
      ofShares.few = Math.max(ofShares.few, few);
    } else {
      ofShares.variance += weight ** 2 * varianceOfShare(whole, callers);
      ofShares.moved = Math.max(ofShares.moved, callers[1] > 0 ? ((most ?? Infinity) * callers[1]) / sampled : 0);
    }
  }
  const errors = [own, ofShares].map(({ variance, few, moved }) => 2 * Math.sqrt(variance + few) + Math.abs(moved));
  return Math.min(...errors, Math.max(sum, elsewhere));
}

/** What a piece counts for in a table. @param {Cells} cells @param {string} by @returns {(cell: number) => string} */
function subject(cells, by) {
  switch (by) {
    case "class": return (cell) => text(cells.class[cell], "(no class)");
    case "package": return (cell) => packageText(cells.class[cell] >= 0 ? text(cells.class[cell], "") : classText(cells.named[cell]));
    case "method": return (cell) => methodText(cells.named[cell]);
    case "site": return (cell) => (cells.class[cell] < 0 ? "" : `${text(cells.class[cell], "")} at `) + frameText(cells.innermost[cell]);
    case "thread": return (cell) => text(cells.thread[cell], "(no thread)");
    default: return (cell) => frameText(cells.named[cell]);
  }
}

/** The pieces that are one row of a table, by its text. @param {Cells} cells @param {Float64Array} values @param {string} by */
export function groups(cells, values, by) {
  /** @type {Map<string, number[]>} */
  const groups = new Map();
  const textOf = subject(cells, by);
  for (let cell = 0; cell < values.length; cell++) {
    // What was removed makes rows exact that have all of a site.
    if (values[cell] === 0 && !((cells.known?.[2][cell] ?? 0) < 0)) continue;
    const key = textOf(cell);
    const group = groups.get(key);
    if (group) group.push(cell);
    else groups.set(key, [cell]);
  }
  for (const [key, group] of groups) if (group.every((cell) => values[cell] === 0)) groups.delete(key);
  return groups;
}

/** The rows of a table. `withErrors`: what is estimated has its error. @param {Cells} cells @param {Float64Array} values @param {string} by @param {boolean} withErrors @returns {Row[]} */
export function rows(cells, values, by, withErrors) {
  return [...groups(cells, values, by)].map(([text, group]) => {
    const value = group.reduce((sum, cell) => sum + values[cell], 0);
    return { text, value, error: withErrors ? errorOf(cells, group, value) : null, cells: group };
  });
}

/** What a node of a tree is called. @param {number} label @param {string} frames */
export function labelText(label, frames) {
  if (label === ROOT_LABEL) return "all";
  if (label === FOLDED) return "… frameworks and JDK (open)";
  if (label <= CLASSES) return `new ${text(CLASSES - label, "(no class)")}`;
  return frames === "class" ? classText(label) : frames === "method" ? methodText(label) : frameText(label);
}

/** Whose code a node is; 4 of a class of objects. @param {number} label */
export function whoseLabel(label) {
  return label <= CLASSES ? 4 : label === FOLDED ? 1 : label < 0 ? 3 : data.names.whose[label];
}

/** Of each frame the first one with the same text. @type {Map<string, number[]>} */
const sameFrames = new Map();

/** @param {string} frames */
function representatives(frames) {
  const known = sameFrames.get(frames);
  if (known) return known;
  /** @type {Map<string, number>} */
  const first = new Map();
  const found = data.names.class.map((_, frame) => {
    const key = labelText(frame, frames);
    if (!first.has(key)) first.set(key, frame);
    return /** @type {number} */ (first.get(key));
  });
  sameFrames.set(frames, found);
  return found;
}

/** Which nodes are frames of frameworks or of the JDK that call code of the user's own. @param {Cells} cells */
function callersOfOwn(cells) {
  const { parent, frame } = cells.nodes;
  const { whose } = data.names;
  const hasOwn = new Uint8Array(parent.length);
  // Below a node stand nodes with larger numbers.
  for (let node = parent.length - 1; node > 0; node--) if (hasOwn[node] || whose[frame[node]] === OWN) hasOwn[parent[node]] = 1;
  return parent.map((_, node) => node > 0 && hasOwn[node] === 1 && whose[frame[node]] !== OWN && whose[frame[node]] !== NATIVE);
}

/**
 * The pieces as a tree. `opened`: frames of frameworks above own code are folded, but below nodes at these ways; none is if it is null.
 * @param {Cells} cells @param {Float64Array} values @param {string} frames @param {boolean} isBottomUp @param {Set<string>|null} [opened] @returns {Tree}
 */
export function tree(cells, values, frames, isBottomUp, opened = null) {
  /** @type {Tree} */
  const made = { parent: [0], label: [ROOT_LABEL], value: new Float64Array(), own: new Float64Array(), children: [[]], depth: [0], ends: [] };
  /** @type {Map<number, number>} */
  const index = new Map();
  const labels = data.names.class.length + data.names.texts.length + 20;
  /** @param {number} parent @param {number} label */
  const child = (parent, label) => {
    // Frames of one method or class that follow each other are one.
    if (parent > 0 && made.label[parent] === label) return parent;
    const key = parent * labels + (label < 0 ? data.names.class.length - label : label);
    const known = index.get(key);
    if (known !== undefined) return known;
    const node = made.parent.length;
    made.parent.push(parent);
    made.label.push(label);
    made.depth.push(made.depth[parent] + 1);
    made.children.push([]);
    made.children[parent].push(node);
    index.set(key, node);
    return node;
  };
  const same = representatives(frames);
  const { parent, frame } = cells.nodes;
  const { ends } = made;
  if (isBottomUp) {
    for (let cell = 0; cell < values.length; cell++) {
      let at = 0;
      if (values[cell] > 0) {
        if (cells.class[cell] >= 0) at = child(at, CLASSES - cells.class[cell]);
        for (let node = cells.node[cell]; node > 0; node = parent[node]) at = child(at, same[frame[node]]);
      }
      ends.push(at);
    }
  } else {
    /** @type {number[]} */
    const places = [0];
    // Above a node stand nodes with smaller numbers. Those that have nothing are not made.
    const isNeeded = new Uint8Array(parent.length);
    for (let cell = 0; cell < values.length; cell++) {
      for (let node = values[cell] > 0 ? cells.node[cell] : 0; node > 0 && !isNeeded[node]; node = parent[node]) isNeeded[node] = 1;
    }
    const folds = opened ? callersOfOwn(cells) : [];
    /** Whether each node is in a row of folded frames that is open. */
    const isOpen = new Uint8Array(parent.length);
    for (let node = 1; node < parent.length; node++) {
      const [up, above] = [parent[node], places[parent[node]]];
      if (!isNeeded[node]) {
        places.push(0);
      } else if (opened && folds[node]) {
        isOpen[node] = folds[up] ? isOpen[up] : Number(opened.has(pathOf(made, above)));
        places.push(child(above, isOpen[node] ? same[frame[node]] : FOLDED));
      } else {
        places.push(child(above, same[frame[node]]));
      }
    }
    for (let cell = 0; cell < values.length; cell++) {
      const node = places[cells.node[cell]];
      ends.push(values[cell] > 0 && cells.class[cell] >= 0 ? child(node, CLASSES - cells.class[cell]) : node);
    }
  }
  Object.assign(made, sums(made, values));
  for (const children of made.children) children.sort((a, b) => made.value[b] - made.value[a] || made.label[a] - made.label[b]);
  return made;
}

/** What each node of a tree has, in itself and with those below. @param {Tree} tree @param {Float64Array} values */
export function sums(tree, values) {
  const own = new Float64Array(tree.parent.length);
  tree.ends.forEach((node, cell) => (own[node] += values[cell]));
  const value = own.slice();
  for (let node = tree.parent.length - 1; node > 0; node--) value[tree.parent[node]] += value[node];
  return { own, value };
}

/** The way to a node, as it stands in an address. @param {Tree} tree @param {number} node */
export function pathOf(tree, node) {
  /** @type {string[]} */
  const path = [];
  for (; node > 0; node = tree.parent[node]) path.unshift(tree.label[node].toString(36));
  return path.join(".");
}

/** The node at the end of a way; the last one that is there. @param {Tree} tree @param {string} path */
export function nodeAt(tree, path) {
  let node = 0;
  for (const step of path ? path.split(".") : []) {
    const label = parseInt(step, 36);
    const next = tree.children[node].find((child) => tree.label[child] === label);
    if (next === undefined) break;
    node = next;
  }
  return node;
}
