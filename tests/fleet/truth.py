"""What the commands for a trace say of the traces, compared with what the fleet answers."""

import json
import sys
from collections import Counter
from statistics import mean


def compared_with_the_traces(fleet, answers):
    """Ends the program if a number differs."""

    def command(*words):
        return json.loads(fleet.run(words[0], "--json", *words[1:]))

    def equal(what, of, found, expected):
        if found != expected:
            sys.exit(f"   failed: {what} of {of}: the fleet says {found}, the traces say {expected}")

    for key, paths in fleet.traces.items():
        rows = {question: [row for row in rows if (row["service"], row.get("release", key[1])) == key]
                for question, rows in answers.items() if question not in ("shared", "growing", "releases")}
        stats = {by: [command("stats", "--by", by, "--top", "0", path)["traces"][0] for path in paths] for by in ("line", "class")}
        # Without allocations `stats` shows what there is.
        stats = {by: [trace for trace in traces if trace["of"] == "allocations"] for by, traces in stats.items()}
        lines = Counter()
        for row in (row for trace in stats["line"] for row in trace["tables"]["line"]):
            at = row["line"]
            lines[(f"{at['class']}.{at['method']}", at["line"]) if at else ("(no line)", None)] += row["total_bytes"]
        # What callers are sampled for is divided, and the parts are rounded.
        for row in rows["lines"]:
            found, traced = row["bytes"], lines.pop((row["place"], row["line"]), 0)
            if row["bytes_error"] == 0 or abs(found - traced) > row["bytes_error"]:
                equal(f"bytes of {row['place']}:{row['line']}", key, found, traced)
        equal("other lines", key, +lines, Counter())
        equal("all bytes", key, sum(row["bytes"] for row in rows["lines"]), sum(trace["sum"]["total_bytes"] for trace in stats["line"]))
        classes = Counter()
        for row in (row for trace in stats["class"] for row in trace["tables"]["class"]):
            classes[row["class"]] += row["total"]
        equal("objects by class", key, {row["class"]: row["objects"] for row in rows["classes"] if row["objects"]}, +classes)
        equal("bytes that the JVM accounts", key,
              sum(row["accounted"] or 0 for row in rows["coverage"] if row["engine"] == "allocations"),
              sum(trace["coverage"]["accounted_bytes"] for trace in stats["line"] if not trace["coverage"]["why_unknown"]))

        cpu = [command("stats", "--cpu", path)["traces"][0] for path in paths]
        for number in ("nanos", "samples"):
            equal(f"{number} of CPU time", key, sum(row[number] for row in rows["cpu"]), sum(trace[number] for trace in cpu))
        contended = [command("locks", path)["traces"][0]["contended"] for path in paths]
        equal("lock waits", key, (sum(row["nanos"] for row in rows["locks"]), sum(row["waits"] for row in rows["locks"])),
              (sum(locks["total_nanos"] for locks in contended), sum(locks["count"] for locks in contended)))
        requests = {entry["entry"]: round(entry["total_nanos"] / entry["requests"])
                    for path in paths for entry in command("requests", path)["traces"][0]["entries"] if entry["requests"]}
        equal("requests", key, {row["entry"]: row["mean_of_all_nanos"] for row in rows["first-requests"]}, requests)

    # What was planted, and what it was before and after.
    (comparison,) = command("diff", "--by", "method", "--measure", "bytes", *fleet.traces["desk", "1.4"], "--",
                            *fleet.traces["desk", "1.5"])["comparisons"]
    changes = [(f"{change['place']['class']}.{change['place']['method']}", *(round(mean(change["level"][side])) for side in ("before", "after")))
               for change in comparison["changes"]]
    equal("changes", "desk", [(row["place"], row["before_bytes"], row["after_bytes"]) for row in answers["releases"]], changes)
    equal("what they are", "desk", [row["what"] for row in answers["releases"]], ["rise"])
