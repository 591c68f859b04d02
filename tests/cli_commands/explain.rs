//! `martini explain`: what it finds, and that the commands it names do something.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Ended, end, martini, run, text, trace, trace_json};

fn explained(name: &str) -> Value {
    trace_json(&["explain", &trace(name)])
}

#[test]
fn json_has_the_numbers() {
    let explained = explained("explain.trcxml");
    let kinds: Vec<_> = explained["findings"].as_array().unwrap().iter().map(|finding| &finding["kind"]).collect();
    // The most expensive first: all of what survives, half of the time, a few hundredths of it.
    assert_eq!(kinds, ["growth", "lock", "churn"]);
    let [growth, lock, churn] = [0, 1, 2].map(|number| &explained["findings"][number]);
    assert_eq!((&growth["at"]["line"], &growth["survived_bytes"]), (&json!(14), &json!(120 * (32 + 4_112))));
    assert_eq!((&churn["at"]["line"], &churn["bytes"]), (&json!(9), &json!(25 * 3_000_016)));
    assert_eq!((&churn["class"], &churn["allocated_by"]["method"]), (&json!("byte[]"), &json!("copyOf")));
    assert_eq!((&lock["nanos"], &lock["waits"]), (&json!(480_000_000), &json!(12)));
    assert_eq!((&lock["owners"][0]["at"]["line"], &lock["owner"]["thread"]["name"]), (&json!(17), &json!("worker-*")));
    assert_eq!(explained["looked_at"]["pause_nanos"], 40_000_000);
}

/// What a shell makes of a line, in a folder.
fn shell(line: &str, folder: &Path) -> Ended {
    let built = Path::new(env!("CARGO_BIN_EXE_martini")).parent().expect("it is in a folder");
    let path = std::env::join_paths(
        [built.to_owned()].into_iter().chain(std::env::split_paths(&env::var_os("PATH").unwrap())),
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(folder).env("PATH", path.unwrap()).env("COLUMNS", "1000");
    end(shell.env_remove("MARTINI_AGENT").env_remove("JAVA_TOOL_OPTIONS").stdin(Stdio::null()))
}

/// Runs each command that a page offers as it stands there; gives back their names.
fn run_offered(page: &str, folder: &Path) -> Vec<String> {
    let lines = page.replace("\\\n", " ");
    let offered = lines.lines().filter_map(|line| line.strip_prefix("  next: "));
    let run = |command: &str| {
        let ended = shell(command, folder);
        assert_eq!(ended.status, 0, "{command}: {}", ended.err);
        assert!(!ended.err.contains("no effect") && !ended.err.contains("matches"), "{command}: {}", ended.err);
        let name = command.split(' ').nth(1).unwrap_or_default().to_owned();
        assert!(name == "run" || ended.out.lines().count() > 3, "{command}: {}", ended.out);
        name
    };
    offered.map(run).collect()
}

#[test]
fn commands_that_come_next_work_as_they_stand_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen = Vec::new();
    for entry in std::fs::read_dir(trace("")).unwrap() {
        let path = entry.unwrap().path();
        let ended = end(martini().env_remove("COLUMNS").arg("explain").arg(&path));
        if ended.status == 0 {
            seen.extend(run_offered(&ended.out, folder.path()));
        }
    }
    assert!(["tree", "locks", "stats"].iter().all(|command| seen.iter().any(|seen| seen == command)), "{seen:?}");
}

#[test]
fn a_program_is_run_again_with_its_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = |command: &str| {
        let pid = r#"pid="4711""#;
        text("explain.trcxml").replacen(pid, &format!(r#"{pid} name="{command}""#), 1)
    };
    let explained = |command: &str| {
        std::fs::write(folder.path().join("app.trcxml"), recorded(command)).unwrap();
        end(martini().current_dir(folder.path()).args(["explain", "app.trcxml"])).out
    };
    let page = explained("sh -c 'echo &quot;a  b&quot;'");
    let again = "  next: martini run --stack 16 --dump gc:4 -- sh -c 'echo \"a  b\"'\n";
    assert!(page.contains(again), "{page}");
    assert!(run_offered(&page, folder.path()).contains(&"run".to_owned()), "{page}");
    // What is no longer there cannot run.
    let page = explained("sh -jar /no/such.jar");
    assert!(page.contains("  next: martini stats app.trcxml --by site\n"), "{page}");
}

#[test]
fn a_lock_is_filtered_by_its_name_or_id() {
    let trace = trace("waits.trcxml");
    let count = |filter: &str| {
        let tables = trace_json(&["locks", "--waits", "--idle", "--filter", filter, &trace])["tables"].take();
        tables["monitor"].as_array().expect("an array").len()
    };
    let rows = trace_json(&["locks", "--waits", "--idle", &trace])["tables"]["monitor"].take();
    let rows = rows.as_array().expect("an array");
    for row in rows {
        assert_eq!(count(&format!("@{}", row["object"])), 1, "{row}");
        if let Some(name) = row["name"].as_str() {
            assert!((1..rows.len()).contains(&count(name)), "{row}");
        }
    }
    assert!(rows.len() > 2 && rows.iter().any(|row| row["name"].is_string()), "{rows:?}");
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

#[test]
fn markdown_has_the_findings_and_how_to_read_them() {
    let ended = run(&["explain", &trace("explain.trcxml"), "--markdown"]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    let json = explained("explain.trcxml");
    let findings = json["findings"].as_array().expect("findings");
    assert!(!findings.is_empty());
    assert!(ended.out.contains("How to read it: "), "{}", ended.out);
    assert_eq!(ended.out.matches("\n- **").count(), findings.len(), "{}", ended.out);
    assert_eq!(ended.out.matches("\n  Next: `martini ").count(), findings.len(), "{}", ended.out);
}
