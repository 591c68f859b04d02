//! `martini report`: what is written, and what is not written over. How the page behaves is tried in a browser: tests/report.

use std::fs;
use std::path::Path;

use hprof::read::ClassDump;
use hprof::write::Writer;
use hprof::{ClassSerial, NameId, ObjectId, StackSerial};
use serde_json::Value;

use crate::support::{end, martini, run, text, trace, trace_json};

/// The data in a report.
fn data(report: &Path) -> Value {
    let page = fs::read_to_string(report).unwrap();
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    let (data, rest) = rest.split_once("</script>").unwrap();
    assert_eq!(rest.matches("<script").count(), 1, "only the page's own script");
    serde_json::from_str(data).unwrap()
}

/// The report of a trace.
fn report(trace: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("r.html");
    let ended = end(martini().args(["report", trace, "-o"]).arg(&out));
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    assert!(ended.out.starts_with(out.to_str().unwrap()), "{}", ended.out);
    data(&out)
}

fn sum(column: &Value) -> f64 {
    column.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).sum()
}

#[test]
fn the_pieces_of_a_report_add_up_to_what_stats_says() {
    for name in ["explain.trcxml", "counts.trcxml", "heap.trcxml", "callers.trcxml"] {
        let allocations = &report(&trace(name))["allocations"];
        let stats = trace_json(&["stats", "--top", "0", &trace(name)]);
        let classes = stats["tables"]["class"].as_array().unwrap();
        let all = |key: &str| classes.iter().map(|row| row[key].as_f64().unwrap()).sum::<f64>();
        let values = &allocations["values"];
        // Estimates are rounded piece by piece.
        let most = allocations["node"].as_array().unwrap().len() as f64;
        assert!((sum(&values[0]) - all("total_bytes")).abs() <= most / 2.0, "{name}");
        assert!((sum(&values[1]) - all("total")).abs() <= most / 2.0, "{name}");
        assert_eq!(sum(&values[3]).round(), all("live"), "{name}");
        // Of single objects it is known when each was allocated.
        if allocations["is_counted"] == false {
            assert_eq!(sum(&allocations["changes"]["values"][0]), sum(&values[0]), "{name}");
        }
    }
}

#[test]
fn the_start_in_a_report_is_what_warmup_says() {
    let start = &report(&trace("start.trcxml"))["start"];
    let warmup = trace_json(&["warmup", &trace("start.trcxml")]);
    let all = |rows: &Value, key: &str| -> Vec<Value> {
        rows.as_array().unwrap().iter().map(|row| row[key].clone()).collect()
    };
    assert_eq!(all(&start["initialisers"], "own"), all(&warmup["initialisers"], "own_nanos"));
    assert_eq!(all(&start["initialisers"], "text"), all(&warmup["initialisers"], "class"));
    assert_eq!(all(&start["intervals"], "classes"), all(&warmup["intervals"], "classes"));
    assert_eq!(all(&start["methods"], "time"), all(&warmup["methods"], "nanos"));
    assert_eq!(report(&trace("heap.trcxml"))["start"], Value::Null);
}

#[test]
fn the_calls_in_a_report_are_those_of_stats() {
    let calls = &report(&trace("calls.trcxml"))["calls"];
    let stats = trace_json(&["stats", "--by", "method", &trace("calls.trcxml")]);
    let all = |rows: &Value, key: &str| -> Vec<Value> {
        rows.as_array().unwrap().iter().map(|row| row[key].clone()).collect()
    };
    for (key, name) in
        [("base", "base"), ("cumulative", "cumulative"), ("average", "mean"), ("min", "min"), ("max", "max")]
    {
        assert_eq!(all(&calls["rows"], key), all(&stats["tables"]["method"], &format!("{name}_nanos")), "{key}");
    }
    let sum =
        |at: usize| calls["values"][at].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).sum::<f64>();
    assert_eq!((sum(0), sum(1)), (stats["base_nanos"].as_f64().unwrap(), stats["calls"].as_f64().unwrap()));
    assert_eq!(report(&trace("heap.trcxml"))["calls"], Value::Null);
}

#[test]
fn the_requests_in_a_report_are_those_of_the_command() {
    let shown = &report(&trace("requests.trcxml"))["requests"]["entries"];
    let requests = &trace_json(&["requests", &trace("requests.trcxml")])["entries"];
    for (entry, known) in shown.as_array().unwrap().iter().zip(requests.as_array().unwrap()) {
        assert_eq!((&entry["text"], &entry["p99"]), (&known["entry"], &known["p99_nanos"]));
        let moments = entry["moments"].as_array().unwrap();
        let counted: u64 = moments.iter().filter_map(|moment| moment["requests"].as_u64()).sum();
        assert_eq!(known["requests"], counted);
        let all = |rows: &Value, key: &str| -> Vec<Value> {
            rows.as_array().unwrap().iter().map(|row| row[key].clone()).collect()
        };
        assert_eq!(all(&entry["divided"], "took"), all(&known["divided"], "nanos"));
        assert_eq!(all(&entry["divided"], "why"), all(&known["divided"], "why"));
    }
    let notes = report(&trace("requests.trcxml"))["requests"]["notes"].to_string();
    assert!(notes.contains("handed over (startAsync): 312 of 1,010 requests of shop.Orders.handle"), "{notes}");
    assert_eq!(report(&trace("heap.trcxml"))["requests"], Value::Null);
}

#[test]
fn a_report_says_what_ran_and_how_to_record_more_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("app.trcxml");
    let (pid, known) = (r#"pid="4711""#, r#"pid="4711" name="java -jar app.jar" javaVersion="21.0.8+9""#);
    fs::write(&trace, text("explain.trcxml").replacen(pid, known, 1)).unwrap();
    let shown = report(trace.to_str().unwrap());
    assert_eq!((&shown["program"], &shown["java"]), (&"java -jar app.jar".into(), &"21.0.8+9".into()));
    assert!(shown["began"].as_u64().is_some_and(|millis| millis > 1_700_000_000_000), "{}", shown["began"]);
    assert_eq!((&shown["is_attached"], &shown["attach"]), (&false.into(), &Value::Null));
    // It ran before the recording.
    let before = r#"<martiniCount key="before.threads" value="10"/>"#;
    let attached = text("explain.trcxml").replacen("<traceEnd ", &format!("{before}\n<traceEnd "), 1);
    fs::write(&trace, attached).unwrap();
    assert_eq!(report(trace.to_str().unwrap())["is_attached"], true);
}

#[test]
fn waits_wall_clock_and_collections_have_their_views() {
    let shown = report(&trace("waits.trcxml"));
    let locks = trace_json(&["locks", &trace("waits.trcxml")]);
    let nanos = |kind: &str| locks[kind]["total_nanos"].as_f64().unwrap_or_else(|| panic!("{kind}: {locks}"));
    let values = &shown["wait_stacks"]["values"];
    assert_eq!((sum(&values[0]), sum(&values[2])), (nanos("contended"), nanos("waited")));
    assert_eq!(report(&trace("counts.trcxml"))["wait_stacks"], Value::Null);
    let shown = report(&trace("cpu.trcxml"));
    let wall = trace_json(&["stats", "--wall", &trace("cpu.trcxml")]);
    assert_eq!(sum(&shown["wall"]["values"][0]), wall["nanos"].as_f64().unwrap());
    let collections = &report(&trace("explain.trcxml"))["collections"];
    assert_eq!((&collections["count"], &collections["pauses"]), (&5.into(), &40_000_000.into()));
    assert_eq!(sum(&collections["pause"]), 40e6);
}

#[test]
fn a_heap_dump_has_a_report_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("app.hprof"), folder.path().join("app.hprof.html"));
    fs::write(&file, "nothing").unwrap();
    let ended = run(&["report", file.to_str().unwrap()]);
    assert_eq!((ended.status, ended.err.lines().count(), out.exists()), (2, 1, false), "{}", ended.err);
    let mut dump = Writer::new(Vec::new(), 0).expect("memory");
    let class = ClassDump { id: ObjectId(8), ..ClassDump::default() };
    dump.name(NameId(1), b"demo/Node").expect("memory");
    dump.load_class(ClassSerial(1), class.id, StackSerial(0), NameId(1)).expect("memory");
    dump.class(&class).expect("memory");
    fs::write(&file, dump.finish().expect("memory")).unwrap();
    let ended = run(&["report", file.to_str().unwrap()]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{}", ended.out);
    let shown = data(&out);
    assert_eq!((&shown["is_dump"], &shown["dump"]["objects"]), (&true.into(), &1.into()), "{shown}");
    let both = run(&["report", file.to_str().unwrap(), "--heap-dump", file.to_str().unwrap()]);
    assert!(both.status == 2 && both.err.contains("is a heap dump itself"), "{}", both.err);
}

#[test]
fn samples_of_cpu_time_have_their_times() {
    let cpu = &report(&trace("cpu.trcxml"))["cpu"];
    assert_eq!(sum(&cpu["moments"]["time"]), sum(&cpu["values"][0]));
    assert_eq!(sum(&cpu["moments"]["samples"]), sum(&cpu["values"][1]));
    assert!(sum(&cpu["values"][0]) > 0.0);
}

#[test]
fn small_stacks_are_folded_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("r.html");
    let folded = |cut: &str| {
        let ended = end(martini().args(["report", &trace("cpu.trcxml"), "--cut", cut, "-o"]).arg(&out));
        assert_eq!(ended.status, 0, "{}", ended.err);
        data(&out)["cpu"].clone()
    };
    let (all, some) = (folded("0"), folded("10"));
    assert!(all["nodes"]["parent"].as_array().unwrap().len() > some["nodes"]["parent"].as_array().unwrap().len());
    assert_eq!(sum(&all["values"][0]), sum(&some["values"][0]));
}

#[test]
fn hostile_names_do_not_leave_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let hostile = folder.path().join("h.trcxml");
    let long = "x".repeat(65_536);
    let name = format!("&lt;/script&gt;&lt;script&gt;hacked=1&lt;/script&gt;\u{202e}\u{2028}{long}");
    fs::write(&hostile, text("explain.trcxml").replace("demo.Cell", &name)).unwrap();
    let report = report(hostile.to_str().unwrap());
    let texts = report["names"]["texts"].as_array().unwrap();
    let found = texts.iter().filter_map(Value::as_str).find(|text| text.starts_with("</script><script>hacked=1"));
    assert!(found.is_some_and(|text| text.ends_with(" characters)") && text.len() < 2000), "{found:?}");
}

#[test]
fn a_file_that_is_no_report_is_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("index.html");
    fs::write(&out, "<!doctype html><html>mine").unwrap();
    let write = || end(martini().args(["report", &trace("heap.trcxml"), "-o"]).arg(&out));
    let ended = write();
    assert_eq!((ended.status, ended.out.as_str()), (2, ""));
    assert!(ended.err.contains("choose another --output") && ended.err.lines().count() == 1, "{}", ended.err);
    assert_eq!(fs::read_to_string(&out).unwrap(), "<!doctype html><html>mine");
    fs::remove_file(&out).unwrap();
    assert_eq!([write().status, write().status], [0, 0]);
}

#[test]
fn what_cannot_be_read_leaves_no_report() {
    let folder = tempfile::tempdir().unwrap();
    let (empty, out) = (folder.path().join("empty"), folder.path().join("r.html"));
    fs::write(&empty, "").unwrap();
    for path in [empty.to_str().unwrap(), "/no/such/trace", &trace("locks-2011.log")] {
        let ended = end(martini().args(["report", path, "-o"]).arg(&out));
        assert_eq!((ended.status, ended.err.lines().count(), out.exists()), (2, 1, false), "{}", ended.err);
    }
    let two = run(&["report", &trace("heap.trcxml"), &trace("counts.trcxml")]);
    assert_eq!((two.status, two.out.as_str()), (2, ""));
    assert!(two.err.starts_with("martini: a report shows one trace"), "{}", two.err);
    // What is cut off says so.
    let cut = text("explain.trcxml");
    fs::write(&empty, &cut[..cut.len() / 2]).unwrap();
    let report = report(empty.to_str().unwrap());
    assert_eq!(report["complete"], false);
}

/// What a piece of a difference has in a column of values, by trace.
fn of_sides(cells: &Value, column: usize) -> [f64; 2] {
    let values = cells["values"][column].as_array().unwrap();
    let mut sums = [0.0; 2];
    for (side, value) in cells["side"].as_array().unwrap().iter().zip(values) {
        sums[side.as_u64().unwrap() as usize] += value.as_f64().unwrap();
    }
    sums
}

#[test]
fn a_difference_has_the_numbers_of_both_traces_and_what_changed() {
    let folder = tempfile::tempdir().unwrap();
    let [old, new] = ["old.trcxml", "new.trcxml"].map(|name| folder.path().join(name));
    let before = text("explain.trcxml");
    fs::write(&old, &before).unwrap();
    // One line allocates more.
    fs::write(&new, before.replace("size=\"4112\"", "size=\"8224\"")).unwrap();
    let changed = before.matches("size=\"4112\"").count() as f64 * 4112.0;
    for cut in ["0", "20"] {
        let ended = end(martini().args(["report", "--diff", "--cut", cut]).args([&old, &new]));
        assert_eq!((ended.status, ended.err.as_str()), (0, ""));
        let data = data(&folder.path().join("new.diff.html"));
        let paths = data["diff"].as_array().unwrap().iter().map(|head| head["path"].as_str().unwrap());
        assert!(paths.eq([&old, &new].map(|path| path.to_str().unwrap())));
        let allocations = &data["allocations"];
        for (side, path) in [&old, &new].into_iter().enumerate() {
            let one = &report(path.to_str().unwrap())["allocations"];
            for column in 0..4 {
                assert_eq!(of_sides(allocations, column)[side], sum(&one["values"][column]), "{side} {column}");
            }
        }
        let [bytes_before, bytes_after] = of_sides(allocations, 0);
        assert!(changed > 0.0 && bytes_after - bytes_before == changed, "{bytes_before} {bytes_after}");
        assert_eq!(allocations["sides"][1]["is_estimated"], false);
        let locks = &data["locks"]["tables"]["locks.class"]["rows"];
        assert!(!locks.as_array().unwrap().is_empty() && locks[0]["before"] == locks[0]["after"], "{locks}");
    }
}

#[test]
fn samples_of_two_traces_keep_their_own_sources() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("r.html");
    let difference = |old: &str, new: &str| {
        let ended = end(martini().args(["report", "--diff", &trace(old), &trace(new), "-o"]).arg(&out));
        assert_eq!((ended.status, ended.err.as_str()), (0, ""));
        data(&out)
    };
    let cpu = &difference("cpu.trcxml", "cpu.trcxml")["cpu"];
    let [before, after] = of_sides(cpu, 0);
    assert!(before > 0.0 && before == after);
    assert_eq!(cpu["sources"].as_array().unwrap().len(), 2);
    for (side, source) in cpu["side"].as_array().unwrap().iter().zip(cpu["source"].as_array().unwrap()) {
        assert_eq!(side, source);
    }
    // Only one has samples of callers, and only one samples of CPU time.
    let both = difference("counts.trcxml", "callers.trcxml");
    let estimated = [0, 1].map(|side| both["allocations"]["sides"][side]["is_estimated"].as_bool().unwrap());
    assert_eq!(estimated, [false, true]);
    let mixed = difference("heap.trcxml", "cpu.trcxml");
    assert_eq!([0, 1].map(|side| mixed["cpu"]["sides"][side]["has"].as_bool().unwrap()), [false, true]);
    assert_eq!(of_sides(&mixed["allocations"], 0)[1], 0.0);
}

#[test]
fn a_difference_is_of_two_traces() {
    let one = trace("heap.trcxml");
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("r.html");
    for (arguments, sentence) in [
        (&["--diff", &one][..], "--diff compares two traces"),
        (&["--diff", &one, &one, &one], "--diff compares two traces"),
        (&["--diff", &one, "/no/such/trace"], "/no/such/trace"),
        (&["--diff", "--cpu=10ms", &one, &one], "leave out agent options"),
        (&["--diff", "--duration", "1s", &one, &one], "cannot be used with"),
    ] {
        let ended = end(martini().arg("report").args(arguments).arg("-o").arg(&out));
        assert_eq!((ended.status, ended.out.as_str(), out.exists()), (2, "", false), "{arguments:?}");
        assert!(ended.err.contains(sentence), "{arguments:?}: {}", ended.err);
    }
}
