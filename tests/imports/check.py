"""Compares the trace that `martini import` makes of a recording with what `jfr print` says; called by `check`."""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

martini, jfr, recording, name = sys.argv[1:]
WAITS = {"jdk.JavaMonitorEnter": "blocked", "jdk.JavaMonitorWait": "waiting",
         "jdk.ThreadPark": "parked", "jdk.ThreadSleep": "sleeping"}
UNITS = {"": 1, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def run(*command):
    ended = subprocess.run([str(word) for word in command], capture_output=True, timeout=60)
    assert ended.returncode == 0, (command, ended.returncode, ended.stderr.decode(errors="replace")[-2000:])
    return ended.stdout


def nanos(text):
    """Of a length of time such as PT1M0.5S."""
    minutes, rest = re.fullmatch(r"PT(?:(\d+)M)?(?:([\d.]+)S)?", text).groups()
    return 60_000_000_000 * int(minutes or 0) + round(1e9 * float(rest or 0))


def span(text):
    number, unit = re.fullmatch(r"(\d+) ?(\w*)", text).groups()
    return int(number) * UNITS[unit]


def same(what, found, expected, within=0):
    assert abs(found - expected) <= within, f"{name}: {what} is {found}, and the recording has {expected}"


trace = Path(recording).with_suffix(".trcxml")
run(martini, "import", recording, "-o", trace)
run(martini, "validate", trace)
types = "ObjectAllocation*,ExecutionSample,CPUTimeSample,WallClockSample,GCPhasePause,ActiveSetting,ThreadStart,ThreadEnd," \
    + ",".join(WAITS)
events = json.loads(run(jfr, "print", "--json", "--stack-depth", "1", "--events", types, recording))["recording"]["events"]
of = lambda kind: [event["values"] for event in events if event["type"] == kind]

# Of two that say the same, the one that says more.
buffers = of("jdk.ObjectAllocationInNewTLAB"), of("jdk.ObjectAllocationOutsideTLAB")
weights = [one["tlabSize"] for one in buffers[0]] + [one["allocationSize"] for one in buffers[1]]
weights = weights or [one["weight"] for one in of("jdk.ObjectAllocationSample")]
sums = json.loads(run(martini, "stats", "--json", trace))["traces"][0].get("sum") or {"total_bytes": 0}
# Up to JDK 15 the default settings have none of them.
assert weights or name.endswith("default"), f"{name}: nothing was allocated"
same("bytes", sums["total_bytes"], sum(weights))

settings = {one["name"]: one["value"] for one in of("jdk.ActiveSetting") if one["name"] in ["interval", "wall"]}
clocks = [nanos(one["samplingPeriod"]) for one in of("jdk.CPUTimeSample")]
if not clocks:
    samples = of("jdk.ExecutionSample")
    # What the JDK's own settings say.
    jdk = 10_000_000 if name.endswith("profile") else 20_000_000
    period = span(settings["interval"]) if "interval" in settings else jdk
    clocks = [period] * len(samples)
cpu = json.loads(run(martini, "stats", "--cpu", "--json", trace))["traces"][0]
assert clocks, f"{name}: nothing ran"
same("samples of CPU time", cpu["samples"], len(clocks))
same("CPU time", cpu["nanos"], sum(clocks), len(clocks))

looks = sum(one["samples"] for one in of("profiler.WallClockSample"))
wall = xml.parse(trace).getroot().findall("wallSample")
lived = sum(int(one.get("wallTime").replace(".", "")) for one in wall)
same("time", lived, looks * span(settings.get("wall", "0")))

locks = json.loads(run(martini, "locks", "--json", trace))["traces"][0]
for kind, waits in WAITS.items():
    lengths = [nanos(one["duration"]) for one in of(kind)]
    same(f"number of {waits}", locks[waits]["count"], len(lengths))
    # Each end is rounded to a nanosecond.
    same(waits, locks[waits]["total_nanos"], sum(lengths), 2 * len(lengths))
same("collections", len(xml.parse(trace).getroot().findall("gcFinish")), len(of("jdk.GCPhasePause")))
run(martini, "explain", trace)
waits = sum(locks[kind]["count"] for kind in WAITS.values())
print(f"   ok: {name}: {sum(weights):,} bytes, {len(clocks)} samples of CPU time, {looks} of the time, {waits} waits")
