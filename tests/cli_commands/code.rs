//! `martini stats` about the lines and methods of the user's own code.

use serde_json::{Value, json};

use crate::support::{run, trace, trace_json};

fn stats(arguments: &[&str]) -> Value {
    trace_json(&[&["stats"], arguments].concat())
}

/// Method and line of the rows, with bytes and error.
fn lines(shown: &Value) -> Vec<(String, u64, Option<u64>)> {
    let rows = shown["tables"]["line"].as_array().expect("the table is there").iter();
    let name = |at: &Value| match at {
        Value::Null => "-".to_owned(),
        at => format!("{}:{}", at["method"].as_str().unwrap(), at["line"]),
    };
    rows.map(|row| (name(&row["line"]), row["total_bytes"].as_u64().unwrap(), row["error_bytes"].as_u64())).collect()
}

#[test]
fn the_first_table_is_of_the_users_own_lines() {
    let shown = stats(&[&trace("callers.trcxml")]);
    assert_eq!(shown["tables"].as_object().unwrap().keys().collect::<Vec<_>>(), ["class", "line", "package", "site"]);
    let found = lines(&shown);
    let names: Vec<&str> = found.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["run:23", "run:22", "save:14", "load:33", "copyOf:3537", "<init>:105", "-"]);
    // 70, 30 and 4 of the site's samples: its 55,000,000 bytes are exact.
    assert!((found[1].1 + found[2].1 + found[4].1).abs_diff(55_000_000) <= 1, "{found:?}");
    assert_eq!(found[1].1, 37_019_231);
    // What is counted at the user's own line is his, whoever calls it.
    let is_exact: Vec<bool> = found.iter().map(|(_, _, error)| error.is_none()).collect();
    assert_eq!(is_exact, [true, false, false, false, false, true, true]);
    let outside: u64 = found[..4].iter().map(|(_, bytes, _)| bytes).sum();
    assert_eq!(shown["outside_jdk_bytes"], outside);
    let inside = &shown["tables"]["line"][1]["inside"];
    assert_eq!((&inside[0]["class"], &inside[0]["site"]["method"]), (&json!("byte[]"), &json!("copyOf")));
    assert_eq!(inside[0]["total_bytes"], 37_019_231);
}

#[test]
fn methods_are_the_users_own_too() {
    let shown = stats(&["--by", "method", &trace("callers.trcxml")]);
    let rows = shown["tables"]["method"].as_array().unwrap();
    assert_eq!(rows[0]["method"], json!({ "class": "demo.Worker", "method": "run" }));
    assert_eq!(rows[0]["inside"].as_array().unwrap().len(), 2);
    assert_eq!(rows[0]["total_bytes"], 48_000_000 + 37_019_231);
    let out = run(&["stats", "--by", "method", &trace("callers.trcxml")]).out;
    assert!(out.contains("  demo.Worker.run\n        56.5 % demo.Cell"), "{out}");
}

#[test]
fn the_user_says_what_is_his() {
    let own = |pattern| lines(&stats(&["--by", "line", "--own", pattern, &trace("callers.trcxml")]));
    assert!(own("org.springframework.*").iter().any(|(name, bytes, _)| name == "put:88" && *bytes == 8_000_000));
    // A method of the JDK that calls others.
    assert!(own("java.io.*").iter().any(|(name, ..)| name == "grow:120"));
    let callers = lines(&stats(&["--by", "line", "--caller", "demo.Main", &trace("callers.trcxml")]));
    assert!(callers.iter().any(|(name, ..)| name == "save:14") && callers.iter().all(|(name, ..)| name != "run:22"));
    let sites = stats(&["--by", "site", "--own", "demo.*", &trace("callers.trcxml")]);
    assert_eq!(sites["tables"]["site"][1]["site"]["method"], "run");
    let both = run(&["stats", "--own", "a.*", "--caller", "b.*", &trace("callers.trcxml")]);
    assert_eq!(both.status, 2);
}

#[test]
fn what_code_allocates_is_known_by_samples_with_an_error() {
    let own = run(&["stats", "--in", "demo.Main", &trace("callers.trcxml")]);
    assert!(own.out.contains(" counted in 1.4 s; sampling error ± "), "{}", own.out);
    // Of what it does itself all is exact.
    let jdk = run(&["stats", "--in", "java.util.Arrays", &trace("callers.trcxml")]);
    assert!(jdk.out.contains("\n20,000 objects (52.5 MiB) counted in 1.4 s\n"), "{}", jdk.out);
    let threads = stats(&["--by", "thread", "--in", "demo.Main", &trace("callers.trcxml")]);
    let rows = threads["tables"]["thread"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["thread"]["name"]), (1, &json!("main")));
    assert!(rows[0]["error_bytes"].as_u64().is_some());
}

#[test]
fn accounts_of_threads_are_not_selected_from() {
    let shown = stats(&["--by", "thread", &trace("callers.trcxml")]);
    assert_eq!(shown["tables"]["accounts"].as_array().unwrap().len(), 2);
    let ended = run(&["stats", "--by", "thread", "--in", "demo.*", &trace("counts.trcxml")]);
    let note = "--in does not apply to thread accounts, all that heap=counts records per thread without callers";
    assert!(ended.err.contains(note) && ended.err.lines().count() == 1, "{}", ended.err);
    let ended = run(&["stats", "--by", "thread", "--caller", "demo.*", &trace("callers.trcxml")]);
    assert!(ended.err.ends_with("--caller does not apply to thread accounts\n"), "{}", ended.err);
}

#[test]
fn a_trace_without_callers_says_how_to_record_them() {
    for (file, flag) in [("counts.trcxml", "--callers 16k"), ("heap.trcxml", "--stack 16")] {
        let ended = run(&["stats", "--wide", &trace(file)]);
        let sentence =
            format!("the trace has no callers, so these are the innermost frames; martini run {flag} records callers");
        assert!(ended.out.contains(&sentence), "{}", ended.out);
        assert!(ended.out.contains("100.0 % of the bytes") || file == "counts.trcxml", "{}", ended.out);
    }
    // Stacks of waits are no callers of allocations.
    let ended = run(&["stats", "--caller", "demo.*", &trace("heap.trcxml")]);
    assert!(ended.err.contains("--caller has no effect without call stacks"), "{}", ended.err);
}

#[test]
fn what_the_jit_removed_has_the_error_of_its_samples() {
    let shown = stats(&["--by", "class", &trace("callers.trcxml")]);
    let rows = shown["tables"]["class"].as_array().unwrap();
    let cell = rows.iter().find(|row| row["class"] == "demo.Cell").unwrap();
    assert_eq!((&cell["estimated_bytes"], &cell["total_bytes"]), (&json!(38 * 524_288), &json!(48_000_000)));
    // Twice the standard error of 38 samples.
    assert_eq!(cell["estimate_error_bytes"], 6_463_856);
    let chars = rows.iter().find(|row| row["class"] == "char[]").unwrap();
    assert_eq!(chars["estimate_error_bytes"], 3 * 524_288);
}
