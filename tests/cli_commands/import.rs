//! `martini import`: what it makes of recordings that `martini export` wrote, and what it refuses. Those of real JVMs are tested by
//! tests/imports.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{end, martini, run, trace, trace_json};

fn sum_of_waits(path: &str) -> Vec<(Value, Value)> {
    let locks = trace_json(&["locks", path]);
    let kinds = ["blocked", "waiting", "parked", "sleeping"];
    kinds.map(|kind| (locks[kind]["count"].clone(), locks[kind]["total_nanos"].clone())).to_vec()
}

/// Samples of a trace, and for how long they stand.
fn sum_of_cpu(path: &str) -> (Value, Value) {
    let samples = trace_json(&["stats", "--cpu", path]);
    (samples["samples"].clone(), samples["nanos"].clone())
}

fn export(from: &str, to: &Path) {
    let ended = end(martini().args(["export", from, "--to", "jfr", "-o"]).arg(to));
    assert_eq!(ended.status, 0, "{}", ended.err);
}

#[test]
fn what_was_exported_and_imported_has_the_same_sums() {
    let folder = tempfile::tempdir().unwrap();
    let (recording, imported) = (folder.path().join("a.jfr"), folder.path().join("a.trcxml"));
    let imported = imported.to_str().unwrap();
    for name in ["callers", "cpu", "contention", "sampled", "heap", "explain", "waits", "counts", "times", "snapshots"]
    {
        let original = trace(&format!("{name}.trcxml"));
        export(&original, &recording);
        let ended = end(martini().arg("import").arg(&recording));
        assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{name}");
        assert!(ended.out.starts_with(imported), "{}", ended.out);
        assert_eq!(run(&["validate", imported]).status, 0, "{name}: {}", run(&["validate", imported]).out);
        let bytes = |path: &str| trace_json(&["stats", path])["sum"]["total_bytes"].as_u64().unwrap_or(0);
        assert_eq!(bytes(imported), bytes(&original), "{name}");
        assert_eq!(sum_of_waits(imported), sum_of_waits(&original), "{name}");
        assert_eq!(sum_of_cpu(imported), sum_of_cpu(&original), "{name}");
        let collections = |path: &str| fs::read_to_string(path).unwrap().matches("<gcFinish ").count();
        assert_eq!(collections(imported), collections(&original), "{name}");
    }
}

#[test]
fn every_command_works_on_it_and_says_that_it_is_sampled() {
    let folder = tempfile::tempdir().unwrap();
    let (recording, imported) = (folder.path().join("a.jfr"), folder.path().join("b.trcxml"));
    export(&trace("explain.trcxml"), &recording);
    let ended = end(martini().args(["import", "-o"]).args([&imported, &recording]));
    assert_eq!(ended.status, 0, "{}", ended.err);
    let imported = imported.to_str().unwrap();
    for command in [&["stats"][..], &["tree"], &["explain"], &["locks"], &["threads"], &["export", "--to", "csv"]] {
        let ended = run(&[command, &[imported]].concat());
        assert_eq!(ended.status, 0, "{command:?} {}", ended.err);
    }
    let stats = run(&["stats", imported]).out;
    for part in ["imported from flight recording", "about ", "sampling error", "without an account"] {
        assert!(stats.contains(part), "{part}: {stats}");
    }
    assert!(stats.contains("not say how large the object is"), "{stats}");
    let report = folder.path().join("a.html");
    assert_eq!(end(martini().args(["report", imported, "-o"]).arg(&report)).status, 0);
    // The same recording gives the same trace, also on a pipe.
    let piped = martini().args(["import", "-o", "-"]).arg(&recording).output().unwrap();
    assert!(piped.status.success() && piped.stdout == fs::read(imported).unwrap());
}

#[test]
fn what_is_no_recording_is_refused_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (folder.path().join("a.jfr"), folder.path().join("out"));
    let whole = folder.path().join("whole.jfr");
    export(&trace("cpu.trcxml"), &whole);
    let whole = fs::read(whole).unwrap();
    for contents in [&b""[..], b"hello\n", b"FLR\0", b"\x1f\x8b\x08", &whole[..whole.len() / 2], &[0; 100]] {
        fs::write(&path, contents).unwrap();
        let ended = end(martini().args(["import", "-o"]).args([&out, &path]));
        assert_eq!((ended.status, ended.out.as_str(), ended.err.lines().count()), (2, "", 1), "{}", ended.err);
        assert!(!out.exists());
    }
    for path in ["/no/such/file.jfr", "/"] {
        let ended = end(martini().args(["import", path, "-o"]).arg(&out));
        assert_eq!((ended.status, ended.err.lines().count()), (2, 1), "{}", ended.err);
    }
}

#[test]
fn only_traces_are_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let (recording, out) = (folder.path().join("a.jfr"), folder.path().join("out"));
    export(&trace("cpu.trcxml"), &recording);
    let before = fs::read(&recording).unwrap();
    fs::write(&out, "mine\n").unwrap();
    for taken in [&out, &recording] {
        let ended = end(martini().args(["import", "-o"]).args([taken, &recording]));
        assert_eq!((ended.status, ended.err.lines().count()), (2, 1), "{}", ended.err);
        assert!(ended.err.contains("choose another -o"), "{}", ended.err);
    }
    assert_eq!(fs::read_to_string(&out).unwrap(), "mine\n");
    assert_eq!(fs::read(&recording).unwrap(), before);
    fs::copy(trace("explain.trcxml"), &out).unwrap();
    assert_eq!(end(martini().args(["import", "-o"]).args([&out, &recording])).status, 0);
}
