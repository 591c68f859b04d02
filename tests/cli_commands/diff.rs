//! `martini diff` on traces of which each difference is known.

use hprof::read::{ClassDump, Root};
use hprof::write::Writer;
use hprof::{BasicType, ClassSerial, NameId, ObjectId, RootKind, StackSerial};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{end, martini, recorded, run, text, trace, trace_json};

/// Methods that do not change, and some that do.
fn program(changing: &[(&'static str, u64)]) -> Vec<(&'static str, u64)> {
    let same = [("lib.A.a", 40_000_000), ("lib.A.b", 20_000_000), ("lib.B.c", 20_000_000), ("lib.B.d", 10_000_000)];
    same.into_iter().chain(changing.iter().copied()).collect()
}

fn changes(comparison: &Value) -> Vec<(String, &str, f64)> {
    let place = |change: &Value| format!("{}.{}", change["place"]["class"], change["place"]["method"]).replace('"', "");
    let changes = comparison["changes"].as_array().expect("changes").iter();
    changes
        .map(|change| {
            (place(change), change["kind"].as_str().expect("a kind"), change["change"].as_f64().expect("bytes"))
        })
        .collect()
}

#[test]
fn what_grew_and_what_moved_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let before =
        recorded(&folder, "a.trcxml", &program(&[("shop.Till.total", 4_000_000), ("shop.Page.show", 8_000_000)]));
    let after =
        recorded(&folder, "b.trcxml", &program(&[("shop.Till.total", 6_000_000), ("shop.Page.write", 8_000_000)]));
    let (before, after) = (before.to_str().unwrap(), after.to_str().unwrap());
    let ended = run(&["diff", before, after, "--json"]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    let found: Value = serde_json::from_str(&ended.out).expect("JSON");
    let bytes = &found["comparisons"][0];
    assert_eq!((&bytes["measure"], &bytes["total"]["difference"]), (&json!("bytes"), &json!(2e6)));
    assert_eq!(changes(bytes), [("shop.Till.total".to_owned(), "more", 2e6)]);
    let shift = &bytes["shifts"][0];
    assert_eq!((&shift["from"][0]["method"], &shift["to"][0]["method"]), (&json!("show"), &json!("write")));
    let ended = end(martini().args(["diff", before, after]).env("COLUMNS", "80"));
    assert!(ended.out.contains("+1.9 MiB  3.8 MiB  5.7 MiB  +50 %"), "{}", ended.out);
    assert!(ended.out.contains("7.6 MiB moved from shop.Page.show to shop.Page.write"), "{}", ended.out);
    assert!(ended.out.lines().all(|line| line.chars().count() <= 80), "{}", ended.out);
    let page = folder.path().join("b.html");
    let ended = run(&["report", "--diff", before, after, "-o", page.to_str().unwrap()]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    let page = std::fs::read_to_string(&page).expect("the report");
    let sentence = "+1.9 MiB (+50 %, from 3.8 MiB to 5.7 MiB) shop.Till.total; +1.9 MiB byte[]";
    assert!(page.contains(sentence) && page.contains("moved from shop.Page.show to shop.Page.write"));
    let markdown = run(&["diff", before, after, "--by", "line", "--markdown"]).out;
    assert!(markdown.contains("| `shop.Till.total(Till.java:18)` | `+1.9 MiB byte[]` |"), "{markdown}");
    assert!(markdown.contains("How to read it: "), "{markdown}");
}

#[test]
fn several_runs_tell_noise_from_change() {
    let folder = tempfile::tempdir().unwrap();
    let side = |name: &str, noisy: [u64; 3], grown: [u64; 3]| -> Vec<String> {
        let run = |number: usize| {
            let methods = program(&[("shop.Noise.make", noisy[number]), ("shop.Till.total", grown[number])]);
            recorded(&folder, &format!("{name}{number}.trcxml"), &methods).to_str().unwrap().to_owned()
        };
        (0..3).map(run).collect()
    };
    let before = side("a", [5_000_000, 9_000_000, 6_000_000], [4_000_000, 4_000_100, 4_000_050]);
    let after = side("b", [9_500_000, 8_000_000, 7_000_000], [4_800_000, 4_800_100, 4_800_020]);
    let mut words = vec!["diff", "--json", "--measure", "bytes"];
    words.extend(before.iter().map(String::as_str));
    words.push("--");
    words.extend(after.iter().map(String::as_str));
    let found: Value = serde_json::from_str(&run(&words).out).expect("JSON");
    let changed = changes(&found["comparisons"][0]);
    assert_eq!(changed.iter().map(|(place, ..)| place.as_str()).collect::<Vec<_>>(), ["shop.Till.total"]);
    assert!(found["notes"].as_array().expect("notes").is_empty(), "{found}");
    // Of one run a side nothing tells what varies by itself, and that is said.
    let pair = run(&["diff", &before[0], &after[0], "--measure", "bytes"]);
    assert!(pair.out.contains("Note: one run on a side"), "{}", pair.out);
}

#[test]
fn costs_are_divided_by_requests_and_seconds() {
    let requests = trace("requests.trcxml");
    let found = |per: &str| -> Value {
        let ended = run(&["diff", &requests, &requests, "--per", per, "--json"]);
        assert_eq!(ended.status, 0, "{}", ended.err);
        serde_json::from_str(&ended.out).expect("JSON")
    };
    let entries = trace_json(&["requests", &requests])["entries"].clone();
    let number: f64 = entries.as_array().expect("entries").iter().filter_map(|entry| entry["requests"].as_f64()).sum();
    let whole: Value = serde_json::from_str(&run(&["diff", &requests, &requests, "--json"]).out).expect("JSON");
    let total = |found: &Value| found["comparisons"][0]["total"]["before"][0].as_f64().expect("a number");
    assert!((total(&found("request")) * number - total(&whole)).abs() < 1e-6 * total(&whole));
    assert!(total(&found("second")) > 0.0 && found("second")["per"] == "second");
    assert!(found("second")["comparisons"][0]["changes"].as_array().expect("changes").is_empty());
    let ended = run(&["diff", &requests, &requests, "--per", "shop.Nothing.at"]);
    assert!(ended.status == 2 && ended.err.contains("no such request"), "{}", ended.err);
}

#[test]
fn what_cannot_be_compared_is_refused_in_one_sentence() {
    let counts = trace("counts.trcxml");
    let refused = |words: &[&str]| {
        let ended = run(words);
        assert_eq!((ended.status, ended.out.as_str(), ended.err.lines().count()), (2, "", 1), "{}", ended.err);
        ended.err
    };
    assert!(refused(&["diff", &counts]).contains("give two traces"));
    assert!(refused(&["diff", &counts, "--", &counts, "--json"]).contains("--json stands behind --"));
    assert!(refused(&["diff", &counts, "missing.trcxml"]).contains("missing.trcxml"));
    assert!(refused(&["diff", &counts, &trace("cpu.trcxml"), "--measure", "bytes"]).contains("no measure in common"));
    // What is not complete is compared, and says so.
    let folder = tempfile::tempdir().unwrap();
    let whole = text(&counts);
    let cut = folder.path().join("cut.trcxml");
    std::fs::write(&cut, &whole[..whole.len() - 250]).expect("it can be written");
    let ended = run(&["diff", &counts, cut.to_str().unwrap()]);
    assert!(ended.status == 0 && ended.out.contains("cut.trcxml is not complete"), "{}", ended.out);
}

#[test]
fn calls_of_execution_traces_are_compared() {
    let calls = trace("calls.trcxml");
    let compared = |words: &[&str]| -> Value {
        let ended = run(&[&["diff", &calls, &calls, "--json"], words].concat());
        assert_eq!(ended.status, 0, "{}", ended.err);
        serde_json::from_str(&ended.out).expect("JSON")
    };
    let found = compared(&[]);
    let comparisons = found["comparisons"].as_array().expect("comparisons");
    assert_eq!(comparisons.iter().map(|one| &one["measure"]).collect::<Vec<_>>(), ["calls", "time"]);
    let table = trace_json(&["stats", &calls])["tables"]["method"].clone();
    let sum: f64 = table.as_array().expect("methods").iter().filter_map(|row| row["calls"].as_f64()).sum();
    assert_eq!(comparisons[0]["total"]["before"][0].as_f64(), Some(sum));
    assert!(comparisons.iter().all(|one| one["changes"].as_array().is_some_and(Vec::is_empty)), "{found}");
}

/// A heap dump with so many objects of a class, each a root.
fn dump(folder: &TempDir, name: &str, objects: u64) -> String {
    let mut dump = Writer::new(Vec::new(), 0).expect("memory");
    for (name, text) in [(3, "one"), (4, "other")] {
        dump.name(NameId(name), text.as_bytes()).expect("memory");
    }
    for (number, class) in [(1, "demo/Node"), (2, "demo/Other")] {
        dump.name(NameId(number), class.as_bytes()).expect("memory");
        let id = ObjectId(8 * number);
        dump.load_class(ClassSerial(number as u32), id, StackSerial(0), NameId(number)).expect("memory");
        let fields = vec![(NameId(3), BasicType::Long), (NameId(4), BasicType::Long)];
        dump.class(&ClassDump { id, instance_size: 16, fields, ..ClassDump::default() }).expect("memory");
    }
    for number in 0..objects + 500 {
        let (id, class) = (ObjectId(1024 + 8 * number), ObjectId(if number < objects { 8 } else { 16 }));
        let root = Root { kind: RootKind::JniGlobal, object: id, thread: None, stack: None, frame: None };
        dump.root(&root).expect("memory");
        dump.instance(id, StackSerial(0), class, &[0; 16]).expect("memory");
    }
    let path = folder.path().join(name);
    std::fs::write(&path, dump.finish().expect("memory")).expect("a folder of ours");
    path.to_str().unwrap().to_owned()
}

#[test]
fn heap_dumps_are_compared_by_class() {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (dump(&folder, "a.hprof", 1000), dump(&folder, "b.hprof", 1500));
    let ended = run(&["diff", &before, &after, "--json"]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    let found: Value = serde_json::from_str(&ended.out).expect("JSON");
    let comparisons = found["comparisons"].as_array().expect("comparisons");
    assert_eq!(comparisons.iter().map(|one| &one["measure"]).collect::<Vec<_>>(), ["live", "retained"]);
    for comparison in comparisons {
        let change = &comparison["changes"][0];
        let (before, after) = (&change["level"]["before"][0], &change["level"]["after"][0]);
        assert_eq!((&change["place"]["class"], change["kind"].as_str()), (&json!("demo.Node"), Some("more")));
        assert_eq!(after.as_f64(), before.as_f64().map(|bytes| bytes * 1.5), "{change}");
        assert_eq!(comparison["changes"].as_array().map(Vec::len), Some(1));
    }
    let ended = run(&["diff", &before, &after, "--per", "second"]);
    assert!(ended.status == 2 && ended.err.contains("of a moment"), "{}", ended.err);
}
