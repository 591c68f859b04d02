"""Opens what `martini export` writes with the tools that it is for; called by `check`, which finds them."""

import argparse
import csv
import importlib.util
import json
import re
import subprocess
import xml.etree.ElementTree as xml
from pathlib import Path

arguments = argparse.ArgumentParser()
for name in ["martini", "traces", "work", "schema", "go", "jfr", "java", "jmc", "reader"]:
    arguments.add_argument(f"--{name}")
a = arguments.parse_args()
work = Path(a.work)
csv.field_size_limit(1 << 24)

HOSTILE = "&lt;script&gt;&quot;',;%s$(x)\\ud800\\u0000&#10;\u202e\u2028é" + "x" * 65536
# What `martini locks --json` calls the waits of an event.
WAITS = {"jdk.JavaMonitorEnter": "blocked", "jdk.JavaMonitorWait": "waiting",
         "jdk.ThreadPark": "parked", "jdk.ThreadSleep": "sleeping"}


def run(*command, status=0):
    ended = subprocess.run([str(word) for word in command], capture_output=True, timeout=60)
    assert ended.returncode == status, (command, ended.returncode, ended.stderr.decode(errors="replace")[-2000:])
    return ended.stdout


def same(what, found, expected):
    assert found == expected, f"{what}: {found}, and the trace has {expected}"


def hostile(source):
    """The trace with names that no compiler makes."""
    text = Path(a.traces, source).read_text(encoding="utf-8")
    for name in ["demo.Worker", "run", "main", "byte[]", "Worker.java"]:
        text = text.replace(f'="{name}"', f'="{HOSTILE}"')
    made = work / f"hostile-{source}"
    made.write_text(text, encoding="utf-8")
    return made


def empty():
    """A trace of nothing."""
    frame = re.compile(r"<(\?xml|/?TRACE|node|processCreate|agentCreate|traceStart|traceEnd|agentDestroy)\b")
    lines = Path(a.traces, "callers.trcxml").read_text(encoding="utf-8").splitlines(keepends=True)
    made = work / "empty.trcxml"
    made.write_text("".join(line for line in lines if frame.match(line)), encoding="utf-8")
    return made


def truth(trace):
    """What a trace says, by other commands, and of samples by the trace itself."""
    sums = json.loads(run(a.martini, "stats", "--json", trace))["traces"][0].get("sum") or {}
    locks = json.loads(run(a.martini, "locks", "--json", trace))["traces"][0]
    samples = xml.parse(trace).getroot().findall("cpuSample")
    lengths = [int(sample.get("cpuTime").replace(".", "")) for sample in samples]
    return {
        "objects": sums.get("total", 0),
        "bytes": sums.get("total_bytes", 0),
        "live-objects": sums.get("live", 0),
        "live-bytes": sums.get("active_bytes", 0),
        "cpu-samples": len(lengths),
        "cpu": sum(lengths),
        "lock-count": locks["contended"]["count"],
        "lock-wait": locks["contended"]["total_nanos"],
        "waits": {event: (locks[kind]["count"], locks[kind]["total_nanos"]) for event, kind in WAITS.items()},
        "collections": len(xml.parse(trace).getroot().findall("gcFinish")),
    }


def export(trace, to, *more):
    out = work / f"out.{to}"
    out.unlink(missing_ok=True)
    run(a.martini, "export", trace, "--to", to, "-o", out, *more)
    return out


def collapsed(trace, expected):
    for value in ["bytes", "objects", "live-bytes", "cpu", "lock-wait", "lock-count"]:
        if expected[value]:
            lines = export(trace, "collapsed", "--value", value, "--threads").read_text().split("\n")[:-1]
            parts = [re.fullmatch(r"([^;]+(;[^;]+)*) (\d+)", line) for line in lines]
            same(value, sum(int(part[3]) for part in parts), expected[value])


def speedscope(trace, expected):
    import jsonschema

    file = json.loads(export(trace, "speedscope").read_text())
    jsonschema.validate(file, json.loads(Path(a.schema).read_text()))
    sums = {}
    for profile in file["profiles"]:
        assert len(profile["samples"]) == len(profile["weights"])
        assert all(0 <= at < len(file["shared"]["frames"]) for sample in profile["samples"] for at in sample)
        sums[profile["name"], profile["unit"]] = sum(profile["weights"])
    names = {
        "bytes": ("Bytes allocated", "bytes"),
        "objects": ("Objects allocated", "none"),
        "live-bytes": ("Bytes alive at the end", "bytes"),
        "cpu": ("CPU time", "nanoseconds"),
        "lock-wait": ("Time waited for locks", "nanoseconds"),
    }
    for value, name in names.items():
        same(name, sums.get(name, 0), expected[value])


def pprof(trace, expected):
    kinds = {
        "bytes": [("alloc_objects/count", "objects"), ("alloc_space/bytes", "bytes"),
                  ("inuse_objects/count", "live-objects"), ("inuse_space/bytes", "live-bytes")],
        "cpu": [("samples/count", "cpu-samples"), ("cpu/nanoseconds", "cpu")],
        "lock-wait": [("contentions/count", "lock-count"), ("delay/nanoseconds", "lock-wait")],
    }
    for value, columns in kinds.items():
        if not expected[value]:
            continue
        out = export(trace, "pprof", "--value", value)
        raw = run(a.go, "tool", "pprof", "-symbolize=none", "-raw", out).decode(errors="replace")
        head = re.search(r"^Samples:\n(.*)\n", raw, re.M)[1].split()
        same("kinds", [kind.removesuffix("[dflt]") for kind in head], [kind for kind, _ in columns])
        rows = re.findall(r"^ +((?: *\d+)+): ((?:\d+ )*)\s*$", raw[:raw.index("\nLocations\n")], re.M)
        sums = [sum(column) for column in zip(*([int(number) for number in row[0].split()] for row in rows))]
        same(value, sums, [expected[name] for _, name in columns])
        assert all(row[1].strip() for row in rows), "a sample without frames"
        assert run(a.go, "tool", "pprof", "-symbolize=none", "-top", "-lines", out)


def table(trace, expected):
    with open(export(trace, "csv"), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, strict=True))
    made = json.loads(export(trace, "json").read_text())["rows"]
    same("rows", len(made), len(rows))
    columns = {"allocated_objects": "objects", "allocated_bytes": "bytes", "live_bytes": "live-bytes",
               "cpu_nanos": "cpu", "lock_waits": "lock-count", "lock_wait_nanos": "lock-wait"}
    for column, value in columns.items():
        same(column, sum(int(row[column]) for row in rows), expected[value])
        same(column, sum(row[column] for row in made), expected[value])


def nanos(text):
    """Of a length of time such as PT1M0.5S."""
    minutes, rest = re.fullmatch(r"PT(?:(\d+)M)?(?:([\d.]+)S)?", text).groups()
    return 60_000_000_000 * int(minutes or 0) + round(1e9 * float(rest or 0))


def recording(trace, expected):
    out = export(trace, "jfr")
    counts = dict(re.findall(r"^ (jdk\.\w+) +(\d+) ", run(a.jfr, "summary", out).decode(), re.M))
    same("samples", int(counts["jdk.ExecutionSample"]), expected["cpu-samples"])
    same("collections", int(counts["jdk.GarbageCollection"]), expected["collections"])
    events = json.loads(run(a.jfr, "print", "--json", "--stack-depth", "100", out))["recording"]["events"]
    of = lambda kind: [event["values"] for event in events if event["type"] == kind]
    same("bytes", sum(event["weight"] for event in of("jdk.ObjectAllocationSample")), expected["bytes"])
    same("cpu", sum(nanos(event["cpuTime"]) for event in of("jdk.ExecutionSample")), expected["cpu"])
    same("frames", [event for event in of("jdk.ExecutionSample") if not event["stackTrace"]["frames"]], [])
    lengths = {kind: [nanos(event["duration"]) for event in of(kind)] for kind in WAITS}
    same("waits", {kind: (len(all), sum(all)) for kind, all in lengths.items()}, expected["waits"])
    return out, events


def mission_control(out, events, expected):
    jars = ":".join(str(jar) for jar in Path(a.jmc).glob("*.jar"))
    lines = run(a.java, "-cp", jars, a.reader, out).decode().splitlines()
    totals = {words[0]: [int(word) for word in words[1:]] for words in (line.split() for line in lines)}
    none = [0, 0, 0, 0]
    same("events", sum(sums[0] for sums in totals.values()), len(events))
    same("bytes", totals.get("jdk.ObjectAllocationSample", none)[2], expected["bytes"])
    same("waits", {kind: tuple(totals.get(kind, none)[:2]) for kind in WAITS}, expected["waits"])
    frames = sum(len((event["values"].get("stackTrace") or {"frames": []})["frames"]) for event in events)
    same("frames", sum(sums[3] for sums in totals.values()), frames)


def views(out):
    """What people type; of names of 64 KB it does not show the end."""
    for view in ["allocation-by-class", "hot-methods", "contention-by-site", "gc-pauses", "latencies-by-type"]:
        assert run(a.jfr, "view", view, out)


names = ["callers", "cpu", "contention", "sampled", "heap", "explain", "waits", "counts"]
traces = [Path(a.traces, f"{name}.trcxml") for name in names]
made = [hostile(f"{name}.trcxml") for name in ["callers", "cpu", "contention"]] + [empty()]
for trace in traces + made:
    expected = truth(trace)
    checks = ["csv", "json"]
    collapsed(trace, expected)
    table(trace, expected)
    if importlib.util.find_spec("jsonschema") and Path(a.schema).is_file():
        speedscope(trace, expected)
        checks.append("speedscope")
    if a.go:
        pprof(trace, expected)
        checks.append("go tool pprof")
    if a.jfr:
        found = recording(trace, expected)
        checks.append("jfr")
        # Each is a JVM; they do not start for every trace.
        if trace in made or trace.stem in ["explain", "waits"]:
            views(found[0])
            checks.append("jfr view")
            if Path(a.jmc).is_dir():
                mission_control(*found, expected)
                checks.append("Mission Control")
    print(f"   ok: {trace.name}: {', '.join(checks)}")
