//! `martini check` and `run --check`: which budgets are kept, by which status, and what is written.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::java::{compile, java};
use crate::support::{end, martini, recorded, run, trace};

const TILL: [(&str, u64); 2] = [("shop.Till.total", 4_000_000), ("lib.Copy.of", 90_000_000)];

fn path(path: &Path) -> &str {
    path.to_str().expect("it is UTF-8")
}

fn rules(folder: &TempDir, text: &str) -> String {
    let file = folder.path().join("rules.toml");
    fs::write(&file, text).expect("it can be written");
    path(&file).to_owned()
}

#[test]
fn a_budget_is_kept_or_exceeded() {
    let folder = tempfile::tempdir().unwrap();
    let trace = recorded(&folder, "a.trcxml", &TILL);
    let check = |rule: &str| run(&["check", "--rule", rule, path(&trace)]);
    let kept = check("bytes at shop.* <= 4 MB");
    assert_eq!((kept.status, kept.err.as_str()), (0, ""));
    assert!(kept.out.contains("1 budget kept"), "{}", kept.out);
    let exceeded = check("bytes of byte[] at shop.* each line <= 3.9 MB");
    assert_eq!(exceeded.status, 1);
    let line = "EXCEEDED  3.8 MiB  3.7 MiB  bytes of byte[] at shop.* each line: shop.Till.total(Till.java:10)";
    assert!(exceeded.out.contains(line) && exceeded.out.contains("1 of 1 budget exceeded"), "{}", exceeded.out);
    // The costs of all JVMs of a build are added up.
    let both = run(&["check", "--rule", "bytes at shop.* <= 7 MB", path(&trace), path(&trace)]);
    assert_eq!(both.status, 1, "{}", both.out);
    let not_recorded = check("cpu at shop.* <= 1 s");
    assert_eq!((not_recorded.status, not_recorded.out.as_str()), (2, ""));
    assert!(not_recorded.err.contains("cpu were not recorded"), "{}", not_recorded.err);
}

#[test]
fn a_method_that_starts_to_allocate_fails_until_the_baseline_is_updated() {
    let folder = tempfile::tempdir().unwrap();
    let rules = rules(
        &folder,
        "[[budget]]\nmeasure = \"bytes\"\nat = \"shop.*\"\neach = \"method\"\nat_most = \"baseline + 1 %\"\n",
    );
    let before = recorded(&folder, "a.trcxml", &TILL);
    let check = |trace: &Path, flag: &str| {
        let words: Vec<&str> =
            ["check", flag, &rules, path(trace)].into_iter().filter(|word| !word.is_empty()).collect();
        run(&words)
    };
    let without = check(&before, "");
    assert!(without.status == 2 && without.err.contains("write it with --update"), "{}", without.err);
    assert_eq!(check(&before, "--update").status, 0);
    let baseline = fs::read_to_string(folder.path().join("rules.baseline.toml")).expect("it is beside the rules");
    assert!(baseline.contains("[\"bytes at shop.* each method\"]\n\"shop.Till.total\" = 4000000\n"), "{baseline}");
    assert_eq!(check(&before, "").status, 0);
    let [till, copy] = TILL;
    let after = recorded(&folder, "b.trcxml", &[till, copy, ("shop.Page.show", 16)]);
    let failed = check(&after, "");
    assert_eq!(failed.status, 1);
    assert!(failed.out.contains("16 B    0 B  bytes at shop.* each method: shop.Page.show"), "{}", failed.out);
    assert_eq!((check(&after, "--update").status, check(&after, "").status), (0, 0));
}

#[test]
fn results_are_written_for_people_and_programs() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[[budget]]\nname = \"till <&\\\">\"\nmeasure = \"objects\"\nat = \"shop.*\"\nat_most = 10\n\
                [[budget]]\nmeasure = \"bytes\"\nat_most = \"1 GiB\"\n";
    let rules = rules(&folder, text);
    let trace = recorded(&folder, "a.trcxml", &TILL);
    let junit = folder.path().join("check.xml");
    let ended = run(&["check", &rules, path(&trace), "--junit", path(&junit), "--github", "--json"]);
    assert_eq!(ended.status, 1);
    let (json, annotations) = ended.out.split_once("\n::error ").expect("an annotation");
    let found: Value = serde_json::from_str(json).expect("JSON");
    assert_eq!((&found["kept"], &found["budgets"][0]["verdicts"][0]["cost"]), (&json!(false), &json!(250_000)));
    assert_eq!(annotations, "title=martini check::250,000, 10 allowed by 'till <&\">'\n");
    let xml = fs::read_to_string(&junit).expect("JUnit XML");
    assert!(xml.contains("tests=\"2\" failures=\"1\""), "{xml}");
    assert!(xml.contains("<failure message=\"250,000, 10 allowed by 'till &lt;&amp;&quot;&gt;'\">"), "{xml}");
    let markdown = run(&["check", &rules, path(&trace), "--markdown"]).out;
    assert!(markdown.contains("| **exceeded** | 250,000 | 10 | `till <&\">` |  |"), "{markdown}");
}

#[test]
fn what_is_wrong_with_rules_names_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let trace = recorded(&folder, "a.trcxml", &TILL);
    for (text, wrong) in [
        ("\n[[budget]]\nmeasure = 5\nat_most = 1\n", "rules.toml:3: "),
        ("[[budget]]\nmeasure = \"bytes\"\nat_most = 1\nin = \"a\"\n", "rules.toml:4: unknown field `in`"),
        (
            "[[budget]]\nmeasure = \"bytes\"\nat_most = 1\n\n[[budget]]\nmeasure = \"octets\"\nat_most = 1\n",
            "rules.toml:5: 'octets' is no measure",
        ),
        ("[[budget]]\nmeasure = \"cpu\"\nat_most = \"5 MB\"\n", "rules.toml:1: 'MB' is no unit of cpu"),
        (
            "[[budget]]\nmeasure = \"bytes\"\nat_most = 1\n[[budget]]\nmeasure = \"bytes\"\nat_most = 2\n",
            "rules.toml:4: two budgets are called 'bytes'",
        ),
        ("# nothing\n", "there is no [[budget]]"),
        ("[[budget]\n", "rules.toml:1: "),
    ] {
        let ended = run(&["check", &rules(&folder, text), path(&trace)]);
        assert_eq!((ended.status, ended.err.lines().count()), (2, 1), "{}", ended.err);
        assert!(ended.err.contains(wrong), "{text}: {}", ended.err);
    }
    let text = "[[budget]]\nmeasure = \"bytes\"\nat_most = \"baseline\"\n";
    fs::write(folder.path().join("rules.baseline.toml"), "[bytes]\ntotal = 1\n[bytes]\n").expect("it can be written");
    let ended = run(&["check", &rules(&folder, text), path(&trace)]);
    assert!(ended.status == 2 && ended.err.contains("rules.baseline.toml:3: "), "{}", ended.err);
    let ended = run(&["check", &rules(&folder, text)]);
    assert!(ended.status == 2 && ended.err.contains("no trace to check"), "{}", ended.err);
    let ended = run(&["check", "--rule", "octets <= 1", &self::trace("counts.trcxml")]);
    assert!(ended.status == 2 && ended.err.contains("'octets' is no measure"), "{}", ended.err);
}

/// A program that makes as many arrays as its first argument says.
fn program() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let body = "static Object kept; public static void main(String[] a) { \
                for (int i = 0; i < Integer.parseInt(a[0]); i++) kept = new byte[1000]; }";
    compile(folder.path(), "Maker", body);
    folder
}

#[test]
fn a_run_fails_if_its_budget_is_exceeded() {
    let folder = program();
    let rules = rules(&folder, "[[budget]]\nmeasure = \"objects\"\nat = \"Maker\"\nof = \"byte[]\"\nat_most = 100\n");
    let run = |number: &str| {
        let mut command = martini();
        command.current_dir(folder.path()).args(["run", "--quiet", "--file", "a.trcxml", "--check", &rules, &java()]);
        end(command.args(["-cp", ".", "Maker", number]))
    };
    let (kept, exceeded) = (run("100"), run("101"));
    assert_eq!(kept.status, 0, "{}", kept.err);
    assert_eq!(exceeded.status, 123, "{}", exceeded.err);
    assert!(exceeded.err.contains("EXCEEDED   101    100  objects of byte[] at Maker"), "{}", exceeded.err);
}

#[test]
fn two_commands_are_compared_in_turn() {
    let folder = program();
    let command = |number: u32| format!("'{}' -cp '{}' Maker {number}", java(), folder.path().display());
    let compare =
        |a: u32, b: u32| run(&["check", "--compare", &command(a), &command(b), "--runs", "2", "--least", "5"]);
    let more = compare(5_000, 20_000);
    assert_eq!(more.status, 1, "{} {}", more.out, more.err);
    assert!(more.out.contains("Maker.main") && more.err.contains("once more in reverse order"), "{}", more.out);
    let same = compare(5_000, 5_000);
    assert_eq!(same.status, 0, "{} {}", same.out, same.err);
    let failed = run(&["check", "--compare", "exit 3", "true", "--runs", "2"]);
    assert!(failed.status == 2 && failed.err.contains("'exit 3' failed"), "{}", failed.err);
    let none = run(&["check", "--compare", "true", "true", "--runs", "2"]);
    assert!(none.status == 2 && none.err.contains("started no JVM"), "{}", none.err);
}
