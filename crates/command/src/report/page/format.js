// Numbers as people read them.

/** @param {number} number */
export function count(number) {
  return Math.round(number).toLocaleString("en");
}

/** @param {number} number */
export function bytes(number) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (Math.abs(number) >= 1024 && unit < units.length - 1) {
    number /= 1024;
    unit++;
  }
  return `${unit === 0 ? Math.round(number) : number.toFixed(1)} ${units[unit]}`;
}

/** A length of time. @param {number} nanos */
export function duration(nanos) {
  if (nanos >= 3600e9) return `${Math.floor(nanos / 3600e9)} h ${Math.round((nanos % 3600e9) / 60e9)} min`;
  if (nanos >= 60e9) return `${Math.floor(nanos / 60e9)} min ${((nanos % 60e9) / 1e9).toFixed(0)} s`;
  // What rounds up to the next unit has that one.
  if (nanos >= 999.95e6) return `${(nanos / 1e9).toFixed(2)} s`;
  if (nanos >= 999.95e3) return `${(nanos / 1e6).toFixed(1)} ms`;
  if (nanos >= 999.5) return `${(nanos / 1e3).toFixed(1)} µs`;
  return `${Math.round(nanos)} ns`;
}

/** A moment of the trace. @param {number} nanos */
export function seconds(nanos) {
  return `${(nanos / 1e9).toFixed(3)} s`;
}

/** A part of a whole. @param {number} part @param {number} whole */
export function percent(part, whole) {
  if (!(whole > 0)) return "-";
  const share = (part / whole) * 100;
  return share === 0 ? "0 %" : share < 0.01 ? "<0.01 %" : `${share.toFixed(share < 10 ? 2 : 1)} %`;
}
