//! `martini explain`: what it finds, and that the commands it names do something.

use serde_json::{Value, json};

use crate::support::{end, martini, run, trace, trace_json};

fn explained(name: &str) -> Value {
    trace_json(&["explain", &trace(name)])
}

/// The commands that follow the findings of a trace.
fn commands(name: &str) -> Vec<String> {
    let explained = explained(name);
    let findings = explained["findings"].as_array().expect("an array");
    findings.iter().map(|finding| finding["next"].as_str().expect("a command").to_owned()).collect()
}

#[test]
fn json_has_the_numbers() {
    let explained = explained("explain.trcxml");
    let kinds: Vec<_> = explained["findings"].as_array().unwrap().iter().map(|finding| &finding["kind"]).collect();
    assert_eq!(kinds, ["growth", "churn", "lock"]);
    let [growth, churn, lock] = [0, 1, 2].map(|number| &explained["findings"][number]);
    assert_eq!((&growth["at"]["line"], &growth["survived_bytes"]), (&json!(14), &json!(120 * (32 + 4_112))));
    assert_eq!((&churn["at"]["line"], &churn["bytes"]), (&json!(9), &json!(25 * 3_000_016)));
    assert_eq!((&churn["class"], &churn["allocated_by"]["method"]), (&json!("byte[]"), &json!("copyOf")));
    assert_eq!((&lock["nanos"], &lock["waits"]), (&json!(480_000_000), &json!(12)));
    assert_eq!((&lock["owners"][0]["at"]["line"], &lock["owner"]["thread"]["name"]), (&json!(17), &json!("worker-*")));
    assert_eq!(explained["looked_at"]["pause_nanos"], 40_000_000);
}

#[test]
fn the_next_commands_work() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen = Vec::new();
    for name in ["explain.trcxml", "contention.trcxml"] {
        for command in commands(name) {
            // Somebody else's program.
            let command = command.replace(" java ...", " true");
            let words: Vec<String> = command.split(' ').map(|word| word.trim_matches('\'').to_owned()).collect();
            let ended = end(martini().current_dir(folder.path()).args(&words[1..]));
            assert_eq!(ended.status, 0, "{command}: {}", ended.err);
            assert!(!ended.err.contains("no effect"), "{command}: {}", ended.err);
            assert!(words[1] == "run" || ended.out.lines().count() > 3, "{command}: {}", ended.out);
            seen.push(words[1].clone());
        }
    }
    assert!(["tree", "locks", "run"].iter().all(|command| seen.iter().any(|seen| seen == command)), "{seen:?}");
}

#[test]
fn a_heap_dump_of_the_same_recording_comes_next() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(trace("explain.trcxml")).unwrap();
    let (before, rest) = text.rsplit_once("<traceEnd ").unwrap();
    let dumps = r#"<heapDumpDef heapDumpId="900001" name="gc:9 /tmp/app-1.hprof" time="1767606400.2"/>
<heapDumpDef heapDumpId="900002" name="end /tmp/app-2.hprof" time="1767606400.3"/>
"#;
    std::fs::write(folder.path().join("app.trcxml"), format!("{before}{dumps}<traceEnd {rest}")).unwrap();
    for number in [1, 2, 4] {
        std::fs::write(folder.path().join(format!("app-{number}.hprof")), "").unwrap();
    }
    let ended = end(martini().current_dir(folder.path()).args(["explain", "app.trcxml"]));
    assert!(ended.out.contains("\n  next: martini heap app-2.hprof --show suspects\n"), "{}", ended.out);
    // Those of another recording.
    std::fs::write(folder.path().join("app.trcxml"), text).unwrap();
    let ended = end(martini().current_dir(folder.path()).args(["explain", "app.trcxml"]));
    assert!(!ended.out.contains(".hprof"), "{}", ended.out);
}

#[test]
fn own_code_is_what_the_user_says() {
    let own = |pattern: &str| run(&["explain", "--own", pattern, &trace("explain.trcxml")]).out;
    assert!(own("java.*").contains(" at java.util.Arrays.copyOf(Arrays.java:3537)\n"), "{}", own("java.*"));
    assert!(own("demo.*").contains(" at demo.Worker.run(Worker.java:9)\n"), "{}", own("demo.*"));
}
