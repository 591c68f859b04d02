// Writes a trace whose names try to be more than text.
import { readFileSync, writeFileSync } from "node:fs";

const NAMES = {
  "demo.Cell": "</script><script>hacked = 1</script>",
  "demo.Worker": "<img src=https://example.com/x onerror='hacked = 1'>",
  "worker-1": "\"'`${hacked = 1}` --> ]]> &lt; %3Cscript%3E",
  "worker-2": "\u202eright to left\u2066\u2028\u2029\u0000\u{1f4a9}",
  "java.util.Arrays": `long.${"x".repeat(65536)}`,
  "Cache.java": "__proto__",
  "name=\"load\"": "name=\"constructor\"",
};
const escaped = (name) => name.replaceAll("\u0000", "").replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);

let trace = readFileSync(new URL("../traces/explain.trcxml", import.meta.url), "utf8");
for (const [from, to] of Object.entries(NAMES)) trace = trace.replaceAll(from, from.includes("=") ? to : escaped(to));
// Half of a letter is no XML: what has it is left out.
trace = trace.replace("<methodDef", "<methodDef name=\"half &#xD83D;\" signature=\"()V\" methodId=\"999\" classIdRef=\"10\"/>\n<methodDef");
writeFileSync(process.argv[2], trace);
