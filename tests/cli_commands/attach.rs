//! The commands for JVMs that run already, as far as they can be seen without one. With JVMs: `bci-tests/tests/attach_command`.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{end, json, martini, run};

const ABOUT_A_PROCESS: [&str; 6] = ["attach", "status", "snapshot", "dump", "stop", "detach"];

#[test]
fn a_process_that_is_no_jvm_is_refused_and_lives() {
    let mut sleeper = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
    for command in ABOUT_A_PROCESS {
        let ended = run(&[command, &sleeper.id().to_string()]);
        assert_eq!((ended.status, ended.out.as_str()), (2, ""), "{command}");
        assert!(ended.err.contains("is not a HotSpot JVM: it has no libjvm.so"), "{command}: {}", ended.err);
        assert_eq!(ended.err.lines().count(), 1, "{command}: {}", ended.err);
    }
    assert_eq!(sleeper.try_wait().unwrap(), None);
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
}

#[test]
fn a_process_that_is_not_there_is_named() {
    for command in ABOUT_A_PROCESS {
        let ended = run(&[command, "4294967295"]);
        assert_eq!(ended.status, 2, "{command}");
        assert!(ended.err.contains("no process 4294967295; `martini ps` lists"), "{command}: {}", ended.err);
        let said = "invalid value 'no.such.App' for '<PID>': no JVM runs this main class or jar; see martini ps";
        assert!(run(&[command, "no.such.App"]).err.contains(said), "{command}");
    }
}

#[test]
fn wrong_words_are_refused_before_the_process_is_looked_at() {
    for (arguments, words) in [
        (&["attach", "1", "--duration", "soon"][..], "give a duration, such as 500ms, 30s, 5m or 2h"),
        (&["attach", "1", "--duration", "1s", "--detach"], "cannot be used with"),
        (&["attach"], "<PID>"),
    ] {
        let ended = run(arguments);
        assert_eq!(ended.status, 2, "{arguments:?}");
        assert!(ended.err.contains(words), "{arguments:?}: {}", ended.err);
    }
    let off = end(martini().env("MARTINI_OFF", "1").args(["attach", "1"]));
    assert_eq!(off.status, 2);
    assert!(off.err.contains("MARTINI_OFF is set"), "{}", off.err);
}

#[test]
fn the_list_of_jvms_is_json_on_demand() {
    assert!(json(&["ps"])["jvms"].is_array());
    assert_eq!(run(&["ps"]).status, 0);
}

#[test]
fn the_help_of_attach_says_what_is_recorded_and_at_which_price() {
    let help = run(&["attach", "--help"]).out;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["--sampled --cpu --locks", "discards its compiled code", "JEP 451", "--detach", "Exit status:"] {
        assert!(help.contains(words), "{words}: {help}");
    }
}

#[test]
fn the_doctor_looks_at_the_machine_and_at_a_process() {
    let ended = run(&["doctor"]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{}", ended.out);
    assert!(ended.out.starts_with("yes   agent: ") && ended.out.contains("libmartini.so"), "{}", ended.out);
    let ended = run(&["doctor", &std::process::id().to_string(), "--json"]);
    assert_eq!((ended.status, ended.err.as_str()), (1, ""));
    let json: Value = serde_json::from_str(&ended.out).unwrap();
    let last = json["checks"].as_array().unwrap().last().unwrap();
    assert_eq!(last["verdict"], "no", "{last}");
    assert!(last["why"].as_str().unwrap().contains("is not a HotSpot JVM"), "{last}");
}
