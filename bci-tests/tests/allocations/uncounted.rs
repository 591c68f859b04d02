//! What nobody counts, since its method cannot be rewritten: samples know of it, and it has rows of estimates in every table.

use std::process::Command;

use bci_tests::jdk::Jdk;
use bci_tests::profiled::{Heap, Profiled, Ran};
use bci_tests::suite::Suite;
use bci_tests::{martini, process};
use serde_json::Value;

const CALLS: u64 = 10_000;
/// What a call makes: an array of 1,352 numbers, and one of 1,000 bytes, behind headers of 16.
const INTS: u64 = CALLS * (16 + 4 * 1352);
const BYTES: u64 = CALLS * (16 + 1000);

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(what_nobody_counts_has_rows);
}

fn shown(ran: &Ran<()>, arguments: &[&str]) -> Value {
    let mut command = Command::new(&martini::built().command);
    let out = process::run(command.args(arguments).arg("--json").arg(&ran.file)).success().stdout;
    serde_json::from_slice(&out).expect("JSON")
}

/// Whether a row has so many bytes, within twice what its error is with a confidence of 95 %.
#[track_caller]
fn has(row: &Value, bytes: u64) {
    let (found, error) =
        (row["total_bytes"].as_u64().expect("bytes"), row["error_bytes"].as_u64().expect("an estimate"));
    assert!(found.abs_diff(bytes) <= 2 * error && error < bytes / 4, "{bytes} were made: {row}");
}

fn what_nobody_counts_has_rows(jdk: &Jdk) {
    let profiled = Profiled::on(jdk).heap(Heap::Counts).option("callers", "16k").main("uncounted.Main");
    let ran = profiled.args(&[&CALLS.to_string()]).run_and_read::<()>();
    let stats = |by: &str| shown(&ran, &["stats", "--by", by, "--top", "0"])["traces"][0].clone();
    let rows = |by: &str| stats(by)["tables"][by].as_array().expect("a table").clone();
    for (class, bytes) in [("int[]", INTS), ("byte[]", BYTES)] {
        let is_it = |row: &Value| row["class"] == class && row["uncounted"] == true;
        has(rows("class").iter().find(|row| is_it(row)).expect("a row"), bytes);
    }
    let is_ours = |row: &Value| row["line"]["class"] == "uncounted.Main" && row["line"]["method"] == "numbers";
    let lines: Vec<Value> = rows("line").into_iter().filter(is_ours).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    has(&lines[0], INTS);
    has(&lines[1], BYTES);
    assert_eq!(stats("class")["coverage"]["uncounted"]["largest_class"], "int[]");
    let tree = shown(&ran, &["tree"]).to_string();
    assert!(tree.contains("uncounted.Main.numbers"), "{tree}");
}
