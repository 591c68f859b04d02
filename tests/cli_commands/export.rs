//! `martini export`: what it writes and refuses. Whether other tools open its files is tested by tests/exports.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::support::{end, martini, run, trace, written};

const FORMATS: [&str; 9] = ["collapsed", "speedscope", "pprof", "otlp", "jfr", "firefox", "perfetto", "csv", "json"];

/// What is written to a pipe.
fn piped(arguments: &[&str]) -> Vec<u8> {
    let output = martini().arg("export").args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn stacks_have_the_numbers_that_the_tree_has() {
    for (name, value, flags) in [
        ("callers.trcxml", "bytes", &[][..]),
        ("sampled.trcxml", "live-bytes", &["--live"]),
        ("cpu.trcxml", "cpu", &["--cpu"]),
        ("cpu.trcxml", "wall", &["--wall"]),
        ("contention.trcxml", "lock-wait", &["--locks"]),
        ("contention.trcxml", "other-wait", &["--waits"]),
    ] {
        let text = String::from_utf8(piped(&[&trace(name), "--to", "collapsed", "--value", value])).unwrap();
        let sum = |text: &str| -> u64 {
            text.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum()
        };
        let folded = run(&[&["tree", "--folded", &trace(name)], flags].concat()).out;
        // The tree rounds each node for itself.
        assert!(sum(&text).abs_diff(sum(&folded)) <= folded.lines().count() as u64, "{name} {value}");
        assert!(sum(&text) > 0, "{name} {value}");
    }
}

#[test]
fn the_first_number_that_the_trace_has_is_taken() {
    let collapsed = |name: &str, flags: &[&str]| {
        String::from_utf8(piped(&[&[&trace(name), "--to", "collapsed"], flags].concat())).unwrap()
    };
    assert_eq!(collapsed("cpu.trcxml", &[]), collapsed("cpu.trcxml", &["--value", "cpu"]));
    assert_eq!(collapsed("heap.trcxml", &[]), collapsed("heap.trcxml", &["--value", "bytes"]));
    assert!(collapsed("callers.trcxml", &["--threads"]).lines().any(|line| line.starts_with("worker-1;")));
}

#[test]
fn what_a_trace_does_not_have_is_refused_with_the_option_that_records_it() {
    for (value, option) in [("cpu", "--cpu"), ("wall", "--wall"), ("lock-wait", "--locks"), ("live-bytes", "--sampled")]
    {
        let ended = run(&["export", &trace("callers.trcxml"), "--to", "pprof", "--value", value]);
        assert_eq!((ended.status, ended.out.as_str()), (2, ""), "{value}");
        assert!(ended.err.contains(option) && ended.err.lines().count() == 1, "{}", ended.err);
    }
    for format in ["otlp", "jfr", "firefox", "perfetto"] {
        for (option, value) in [("--value", &["cpu"][..]), ("--threads", &[])] {
            let ended = run(&[&["export", &trace("callers.trcxml"), "--to", format, option], value].concat());
            assert!(ended.status == 2 && ended.err.contains(&format!("leave out {option}")), "{}", ended.err);
        }
    }
    let ended = run(&["export", &trace("callers.trcxml"), "--to", "csv", "--threads"]);
    assert!(ended.status == 2 && ended.err.contains("leave out --threads"), "{}", ended.err);
}

#[test]
fn a_trace_with_nothing_gives_an_empty_file_and_says_so() {
    let text = fs::read_to_string(trace("jvmpi.trcxml")).unwrap();
    let file = written(&text[..text.find("<methodEntry").unwrap()]);
    for format in FORMATS {
        let ended = martini().args(["export", file.path(), "--to", format]).output().unwrap();
        assert!(ended.status.success(), "{format}");
        assert!(String::from_utf8_lossy(&ended.stderr).contains("the output is empty"), "{format}");
    }
    let empty: Value = serde_json::from_slice(&piped(&[file.path(), "--to", "json"])).unwrap();
    assert_eq!(empty["rows"], Value::Array(Vec::new()));
}

#[test]
fn formats_with_times_have_no_place_for_samples_of_the_time() {
    let text = fs::read_to_string(trace("cpu.trcxml")).unwrap();
    let text: String =
        text.lines().filter(|line| !line.starts_with("<cpuSample")).map(|line| line.to_owned() + "\n").collect();
    let file = written(text);
    for (format, begin) in [("jfr", &b"FLR\0"[..]), ("firefox", b"{\"meta\":"), ("perfetto", b"\n")] {
        let output = martini().args(["export", "--to", format]).arg(file.path()).output().unwrap();
        assert!(output.status.success() && output.stdout.starts_with(begin), "{format}");
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(err.contains("can hold only threads and collections"), "{format}: {err}");
    }
}

#[test]
fn the_start_of_a_jvm_is_on_the_tracks_of_perfetto() {
    let bytes = piped(&[&trace("start.trcxml"), "--to", "perfetto"]);
    let has = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    for text in ["<clinit> shop.Rules", "C1 compiles 1", "C2 compiles 1", "(tier 4, OSR)", "sun.cls.classInitTime.self"]
    {
        assert!(has(text), "{text}");
    }
    assert!(!has("C2 compiles 2") && !has("java.lang.Object.hashCode"));
}

#[test]
fn requests_are_slices_of_perfetto() {
    let bytes = piped(&[&trace("requests.trcxml"), "--to", "perfetto"]);
    let has = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    for text in ["shop.Orders.handle #1", "allocated_bytes", "cpu_nanos"] {
        assert!(has(text), "{text}");
    }
}

#[test]
fn what_is_no_trace_is_refused_and_what_is_cut_off_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (folder.path().join("a"), folder.path().join("out"));
    let text = fs::read_to_string(trace("explain.trcxml")).unwrap();
    for format in FORMATS {
        for contents in ["", "hello\n", "<a/>"] {
            fs::write(&path, contents).unwrap();
            let ended = end(martini().args(["export", "--to", format, "-o"]).args([&out, &path]));
            assert_eq!((ended.status, ended.err.lines().count()), (2, 1), "{format}: {}", ended.err);
            assert!(!out.exists());
        }
        fs::write(&path, &text[..text.len() / 2]).unwrap();
        let ended = end(martini().args(["export", "--to", format, "-o"]).args([&out, &path]));
        assert_eq!((ended.status, ended.out.as_str()), (0, ""), "{format}: {}", ended.err);
        assert!(ended.err.contains("the trace"), "{}", ended.err);
        fs::remove_file(&out).unwrap();
    }
}

#[test]
fn only_what_it_wrote_itself_is_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let export =
        |format: &str| end(martini().args(["export", &trace("explain.trcxml"), "--to", format, "-o"]).arg(&out));
    for format in FORMATS {
        fs::write(&out, "mine\n").unwrap();
        let ended = export(format);
        assert_eq!((ended.status, ended.err.lines().count()), (2, 1), "{format}: {}", ended.err);
        assert_eq!(fs::read_to_string(&out).unwrap(), "mine\n", "{format}");
        fs::remove_file(&out).unwrap();
        assert_eq!(export(format).status, 0, "{format}");
        let first = fs::read(&out).unwrap();
        // Nothing says that lines of stacks are ours.
        let expected = if format == "collapsed" { 2 } else { 0 };
        assert_eq!(export(format).status, expected, "{format}");
        assert_eq!(fs::read(&out).unwrap(), first, "{format}: a trace gives the same file each time");
        fs::remove_file(&out).unwrap();
    }
}

#[test]
fn a_trace_can_come_from_a_pipe_and_its_reader_may_leave() {
    let file = fs::File::open(trace("callers.trcxml")).unwrap();
    let output = martini().args(["export", "-", "--to", "csv"]).stdin(file).output().unwrap();
    assert_eq!(output.stdout, piped(&[&trace("callers.trcxml"), "--to", "csv"]));
    let command = format!("'{}' export '{}' --to json | true", env!("CARGO_BIN_EXE_martini"), trace("cpu.trcxml"));
    let output = Command::new("sh").args(["-c", &command]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn where_nothing_can_be_written_is_found_before_the_trace_is_read() {
    let ended = run(&["export", "/no/such/trace", "--to", "csv", "-o", "/no/such/folder/out"]);
    assert_eq!((ended.status, ended.err.lines().count()), (2, 1), "{}", ended.err);
    assert!(ended.err.contains("/no/such/folder/out") && ended.err.contains("choose another -o"), "{}", ended.err);
}

#[test]
fn half_a_file_does_not_stay() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    // No file may be larger than that; without the signal, writing it fails.
    let command = format!(
        "trap '' XFSZ; ulimit -f 1; exec '{}' export '{}' --to json -o '{}'",
        env!("CARGO_BIN_EXE_martini"),
        trace("explain.trcxml"),
        out.display()
    );
    let output = Command::new("sh").args(["-c", &command]).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && err.contains("cannot write"), "{:?} {err}", output.status);
    assert!(!out.exists());
}

#[test]
fn only_threads_of_java_end_in_a_flight_recording() {
    let text = fs::read_to_string(trace("cpu.trcxml")).unwrap();
    // At the very end, so that nothing but the event is different.
    let with = |ends: &str| {
        let file = written(text.replace("<traceEnd", &format!("{ends}<traceEnd")));
        piped(&[file.path(), "--to", "jfr"])
    };
    let end = |thread: u32| format!("<threadEnd threadIdRef=\"{thread}\" time=\"1767606402.599999905\"/>\n");
    let without = with("");
    // Those of the VM and of native code, which do not start there either.
    assert!(with(&(end(3) + &end(6))) == without);
    assert!(with(&end(2)).len() > without.len());
}

#[test]
fn calls_are_exported_with_their_base_time() {
    let path = trace("calls.trcxml");
    let stats: Value = serde_json::from_slice(&run(&["stats", "--json", &path]).out.into_bytes()).unwrap();
    let (calls, base) = (&stats["traces"][0]["calls"], &stats["traces"][0]["base_nanos"]);
    let sum = |value: &str| -> u64 {
        let text = String::from_utf8(piped(&[&path, "--to", "collapsed", "--value", value])).unwrap();
        text.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum()
    };
    assert_eq!((&Value::from(sum("call-count")), &Value::from(sum("call-time"))), (calls, base));
    let ended = run(&["export", &path, "--to", "collapsed"]);
    assert!(ended.err.contains("has one number for each, here base time; --value call-count"), "{}", ended.err);
    assert!(ended.out.contains("demo.Main.main(Main.java);demo.Main.run(Main.java);"), "{}", ended.out);
    let speedscope: Value = serde_json::from_slice(&piped(&[&path, "--to", "speedscope"])).unwrap();
    let profile = |at: usize| (&speedscope["profiles"][at]["name"], &speedscope["profiles"][at]["endValue"]);
    assert_eq!(profile(0), (&"Base time of calls".into(), base));
    assert_eq!(profile(1), (&"Calls".into(), calls));
    let rows: Value = serde_json::from_slice(&piped(&[&path, "--to", "json"])).unwrap();
    let numbers =
        |key: &str| rows["rows"].as_array().unwrap().iter().map(|row| row[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!((&Value::from(numbers("calls")), &Value::from(numbers("call_base_nanos"))), (calls, base));
    for format in ["jfr", "firefox", "perfetto"] {
        let output = martini().args(["export", &path, "--to", format]).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && err.contains("can hold only threads and collections"), "{format}: {err}");
    }
}
