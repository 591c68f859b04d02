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

KINDS = {"Blocked": "jdk.JavaMonitorEnter", "Waiting": "jdk.JavaMonitorWait",
         "Parked": "jdk.ThreadPark", "Sleeping": "jdk.ThreadSleep"}


def run(*command, status=0):
    ended = subprocess.run([str(word) for word in command], capture_output=True, timeout=300)
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


def with_heap():
    """A trace that says what the heap held after each collection."""
    text = Path(a.traces, "explain.trcxml").read_text(encoding="utf-8")
    made = work / "heap-used.trcxml"
    used = iter(range(1 << 33, 1 << 34, 1_000_001))
    made.write_text(re.sub(r"(<gcFinish [^/]*)/>", lambda gc: f'{gc[1]} usedObjSpace="{next(used)}"/>', text), encoding="utf-8")
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
        "compilations": len([one for one in xml.parse(trace).getroot().findall("compilation") if one.get("tier") != "native"]),
        "initialisers": len(xml.parse(trace).getroot().findall("classInit")),
        "requests": len(xml.parse(trace).getroot().findall("request")),
        "loads": len(xml.parse(trace).getroot().findall("classLoad")),
        "jvm-counters": {one.get("name"): int(one.get("value")) for one in xml.parse(trace).getroot().findall("jvmCounter")},
        "used": [int(gc.get("usedObjSpace")) for gc in xml.parse(trace).getroot().findall("gcFinish[@usedObjSpace]")],
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


def otlp(trace, expected):
    """OpenTelemetry's messages: that every index is in its table, that nothing is in one twice or without use, and the sums."""
    from opentelemetry.proto.profiles.v1development import profiles_pb2 as messages

    read = messages.ProfilesData()
    read.ParseFromString(export(trace, "otlp").read_bytes())
    tables = {field.name: list(value) for field, value in read.dictionary.ListFields()}
    for name, rows in tables.items():
        in_bytes = [row if isinstance(row, str) else row.SerializeToString() for row in rows]
        assert not in_bytes[0] and len(set(in_bytes)) == len(rows), f"{name} has something twice"
    assert len(tables) == 7, tables.keys()
    used = {name: {0} for name in tables}

    def at(name, index):
        used[name].add(index)
        return tables[name][index]

    def text(index):
        return at("string_table", index)

    def attributes(holder):
        found = [at("attribute_table", index) for index in holder.attribute_indices]
        return {text(one.key_strindex): one.value.string_value for one in found}

    names = {("alloc_space", "bytes"): "bytes", ("alloc_objects", "count"): "objects",
             ("inuse_space", "bytes"): "live-bytes", ("inuse_objects", "count"): "live-objects",
             ("cpu", "nanoseconds"): "cpu", ("delay", "nanoseconds"): "lock-wait",
             ("contentions", "count"): "lock-count"}
    sums = dict.fromkeys(names, 0)
    (resource,) = read.resource_profiles
    (scope,) = resource.scope_profiles
    same("scope", scope.scope.name, "martini")
    for profile in scope.profiles:
        kind = (text(profile.sample_type.type_strindex), text(profile.sample_type.unit_strindex))
        text(profile.period_type.type_strindex), text(profile.period_type.unit_strindex)
        identities = [(one.stack_index, tuple(one.attribute_indices)) for one in profile.samples]
        assert len(set(identities)) == len(identities), "a sample that is there twice"
        assert kind not in sums or not sums[kind], "a kind of number that is there twice"
        for one in profile.samples:
            (value,) = one.values
            sums[kind] = sums.get(kind, 0) + value
            assert set(attributes(one)) <= {"thread.name", "class"}
            frames = at("stack_table", one.stack_index).location_indices
            assert frames, "a sample without frames"
            for location in (at("location_table", index) for index in frames):
                (line,) = location.lines
                function = at("function_table", line.function_index)
                assert text(function.name_strindex)
                text(function.system_name_strindex), text(function.filename_strindex), attributes(location)
                text(at("mapping_table", location.mapping_index).filename_strindex)
    for name, rows in tables.items():
        same(f"what is used of {name}", len(used[name]), len(rows))
    for kind, name in names.items():
        same(kind, sums[kind], expected[name])


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


# Where each table of the Firefox Profiler points to.
POINTERS = [("funcTable", "name", "stringArray"), ("funcTable", "fileName", "stringArray"),
            ("frameTable", "func", "funcTable"), ("stackTable", "prefix", "stackTable"),
            ("stackTable", "frame", "frameTable"), ("samples", "stack", "stackTable"),
            ("nativeAllocations", "stack", "stackTable"), ("markers", "name", "stringArray")]


def firefox(trace, expected):
    """Its format has no published schema: that all columns are as long as their tables, and that all indices are in them."""
    profile = json.loads(export(trace, "firefox").read_text())
    meta, threads = profile["meta"], profile["threads"]
    length = lambda table: len(table) if isinstance(table, list) else table["length"]
    schemas = {schema["name"]: {"type", "cause"} | {field["key"] for field in schema["fields"]}
               for schema in meta["markerSchema"]}
    unique = [thread["tid"] for thread in threads]
    assert len(set(unique)) == len(unique), "threads that are called the same"
    assert all(at < len(threads) for at in meta["initialVisibleThreads"] + meta["initialSelectedThreads"])
    sums = {"bytes": 0, "cpu": 0, "cpu-samples": 0, "waits": {event: (0, 0) for event in WAITS}, "collections": 0,
            "used": []}
    in_nanos = lambda millis: round(millis * 1e6)
    for thread in threads:
        for name, table in thread.items():
            for column, values in table.items() if isinstance(table, dict) else []:
                if isinstance(values, list):
                    same(f"{name}.{column}", len(values), table["length"])
        for name, column, target in POINTERS:
            for row, at in enumerate(thread.get(name, {column: []})[column]):
                assert at is None or 0 <= at < length(thread[target]), (name, column, at)
                assert name != "stackTable" or column != "prefix" or at is None or at < row, "callers come first"
        frames = thread["frameTable"]
        for category, part in zip(frames["category"], frames["subcategory"]):
            assert meta["categories"][category]["subcategories"][part]
        samples, markers = thread["samples"], thread["markers"]
        for times in [samples["time"], markers["startTime"] if thread["tid"] else []]:
            assert times == sorted(times), "times that go back"
        assert all(stack is not None for stack in samples["stack"]), "a sample without frames"
        same("weights", [in_nanos(weight) for weight in samples["weight"]], samples["threadCPUDelta"])
        sums["cpu"] += sum(samples["threadCPUDelta"])
        sums["cpu-samples"] += samples["length"]
        sums["bytes"] += sum(thread.get("nativeAllocations", {"weight": []})["weight"])
        for at, data in enumerate(markers["data"]):
            assert set(data) <= schemas[data["type"]] and markers["phase"][at] == 1
            assert 0 <= markers["category"][at] < len(meta["categories"])
            assert "cause" not in data or 0 <= data["cause"]["stack"] < thread["stackTable"]["length"]
            if data["type"] == "Collection":
                sums["collections"] += 1
                sums["used"] += [data["used"]] if "used" in data else []
                continue
            event = KINDS[thread["stringArray"][markers["name"][at]]]
            count, total = sums["waits"][event]
            lasted = in_nanos(markers["endTime"][at]) - in_nanos(markers["startTime"][at])
            sums["waits"][event] = (count + 1, total + lasted)
    for name, value in sums.items():
        same(name, value, expected[name])


def perfetto(trace, expected):
    """As Perfetto reads it: what has begun last ends first, and numbers stand for what was said before."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as messages

    read = messages.Trace()
    read.ParseFromString(export(trace, "perfetto").read_bytes())
    Event = messages.TrackEvent
    tracks, names, texts, stacks, frames, functions, mappings = {}, {}, {}, {}, {}, {}, {}
    slices, counters, samples, open_slices = {}, {}, [], {}
    for packet in read.packet:
        assert packet.trusted_packet_sequence_id
        interned = packet.interned_data
        for known, said in [(names, interned.event_names), (texts, interned.debug_annotation_names),
                            (stacks, interned.callstacks), (frames, interned.frames),
                            (functions, interned.function_names), (mappings, interned.mappings)]:
            known.update((one.iid, one) for one in said)
        if packet.HasField("track_descriptor"):
            assert packet.track_descriptor.uuid not in tracks
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        if packet.HasField("perf_sample"):
            sample = packet.perf_sample
            assert any(track.thread.tid == sample.tid for track in tracks.values())
            assert stacks[sample.callstack_iid].frame_ids, "a sample without frames"
            samples.append(sample.timebase_count)
        if not packet.HasField("track_event"):
            continue
        event, track = packet.track_event, tracks[packet.track_event.track_uuid]
        opened = open_slices.setdefault(track.uuid, [])
        if event.type == Event.TYPE_COUNTER:
            is_of_jvm = track.name in expected["jvm-counters"]
            assert is_of_jvm or track.counter.unit == messages.CounterDescriptor.UNIT_SIZE_BYTES
            counters.setdefault(track.name, []).append(event.counter_value)
        elif event.type == Event.TYPE_SLICE_BEGIN:
            assert all(note.name or note.name_iid in texts and note.string_value for note in event.debug_annotations)
            assert not event.callstack_iid or stacks[event.callstack_iid].frame_ids
            opened.append([names[event.name_iid].name if event.name_iid else event.name, packet.timestamp, 0])
        else:
            name, since, inside = opened.pop()
            length = packet.timestamp - since
            assert length >= 0
            if opened:
                opened[-1][2] += length
            count, total = slices.get(name, (0, 0))
            # `martini locks` does not count what is inside.
            slices[name] = (count + 1, total + length - inside)
    assert not any(open_slices.values()), "slices without end"
    for frame in (frames[at] for stack in stacks.values() for at in stack.frame_ids):
        assert functions[frame.function_name_id].str and mappings[frame.mapping_id].path_string_ids
    same("waits", {event: slices.get(name, (0, 0)) for name, event in KINDS.items()}, expected["waits"])
    same("collections", slices.get("Collection", (0, 0))[0], expected["collections"])
    of = lambda is_it: sum(count for name, (count, _) in slices.items() if is_it(name))
    same("initialisers", of(lambda name: name.startswith("<clinit> ")), expected["initialisers"])
    same("requests", of(lambda name: re.search(r" #[0-9]+( \(failed\))?$", name)), expected["requests"])
    same("compilations", of(lambda name: "(tier " in name), expected["compilations"])
    last = {name: counters[name][-1] for name in expected["jvm-counters"]}
    same("counters", last, expected["jvm-counters"])
    same("samples", len(samples), expected["cpu-samples"])
    same("cpu", max(samples, default=0), expected["cpu"])
    allocated = counters.get("Allocated bytes", [0])
    same("allocated", allocated, sorted(allocated))
    same("bytes", allocated[-1], expected["bytes"])
    same("used", counters.get("Heap used after collections", []), expected["used"])


def nanos(text):
    """Of a length of time such as PT1M0.5S."""
    minutes, rest = re.fullmatch(r"PT(?:(\d+)M)?(?:([\d.]+)S)?", text).groups()
    return 60_000_000_000 * int(minutes or 0) + round(1e9 * float(rest or 0))


def recording(trace, expected):
    out = export(trace, "jfr")
    counts = dict(re.findall(r"^ (jdk\.\w+) +(\d+) ", run(a.jfr, "summary", out).decode(), re.M))
    same("samples", int(counts["jdk.ExecutionSample"]), expected["cpu-samples"])
    same("collections", int(counts["jdk.GarbageCollection"]), expected["collections"])
    same("compilations", int(counts["jdk.Compilation"]), expected["compilations"])
    same("classes", int(counts["jdk.ClassDefine"]), expected["loads"])
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


names = ["callers", "cpu", "contention", "sampled", "heap", "explain", "waits", "counts", "times", "snapshots", "start"]
traces = [Path(a.traces, f"{name}.trcxml") for name in names] + [with_heap()]
made = [hostile(f"{name}.trcxml") for name in ["callers", "cpu", "contention"]] + [empty()]
for trace in traces + made:
    expected = truth(trace)
    checks = ["csv", "json", "firefox"]
    collapsed(trace, expected)
    table(trace, expected)
    firefox(trace, expected)
    if importlib.util.find_spec("perfetto"):
        perfetto(trace, expected)
        checks.append("perfetto")
    if importlib.util.find_spec("opentelemetry"):
        otlp(trace, expected)
        checks.append("otlp")
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
