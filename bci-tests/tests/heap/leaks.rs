//! Leaks planted beside a real program are named by `martini heap`: what piles up, and the way to it from a root.

use std::process::Command;

use bci_tests::jdk;
use bci_tests::martini;
use bci_tests::process::{self, Running};
use bci_tests::workdir::Workdir;
use serde_json::Value;

use crate::{HSQLDB, command, dump};

/// What the suspects of a leaking program say.
#[track_caller]
fn suspects(leak: &str) -> Vec<Value> {
    let jdk = jdk::any();
    let dir = Workdir::new();
    let Some(mut java) = command(&HSQLDB, jdk, &[], &["leaks.Main", leak], dir.path()) else { return Vec::new() };
    let mut running = Running::start(&mut java);
    running.wait_for("held");
    let file = dir.join("heap.hprof");
    dump(jdk, running.pid(), &file);
    running.tell("");
    let told =
        process::run(Command::new(&martini::built().command).args(["heap", "--json", "--show", "suspects"]).arg(file));
    let told: Value = serde_json::from_slice(&told.success().stdout).expect("JSON");
    told["dumps"][0]["suspects"].as_array().expect("an array").clone()
}

/// The suspect, if one of the first three, that lies behind a field of a class.
#[track_caller]
fn behind<'a>(suspects: &'a [Value], class: &str, field: &str) -> &'a Value {
    let leads = |suspect: &&Value| {
        let steps = suspect["path"]["steps"].as_array().expect("an array");
        steps.windows(2).any(|pair| {
            let owner = pair[0]["is_class"].as_str().or(pair[0]["class"].as_str());
            owner == Some(class) && pair[1]["by"] == field
        })
    };
    let found = suspects.iter().take(3).find(leads);
    found.unwrap_or_else(|| panic!("{class}.{field} leads to none of {suspects:#?}"))
}

#[test]
fn a_list_of_listeners() {
    let suspects = suspects("listeners");
    if suspects.is_empty() {
        return;
    }
    let suspect = behind(&suspects, "leaks.Main$Feed", "static LISTENERS");
    assert_eq!(suspect["holder"]["class"], "java.lang.Object[]");
    assert_eq!(
        (&suspect["parts"][0]["class"], &suspect["parts"][0]["objects"]),
        (&"leaks.Main$Watch".into(), &20_000.into())
    );
    assert_eq!(suspect["parts"][0]["inside"][0]["class"], "byte[]");
}

#[test]
fn a_thread_local() {
    let suspects = suspects("thread-local");
    if suspects.is_empty() {
        return;
    }
    let suspect = behind(&suspects, "java.lang.ThreadLocal$ThreadLocalMap$Entry", "value");
    let first = &suspect["path"]["steps"][0];
    assert_eq!((&first["class"], &first["text"]), (&"java.lang.Thread".into(), &"request-worker".into()));
    assert_eq!(suspect["parts"][0]["objects"], 20_000);
    let inside = suspect["parts"][0]["inside"].as_array().expect("an array");
    assert!(inside.iter().any(|object| object["class"] == "leaks.Main$Request"), "{suspect:#}");
}

#[test]
fn class_loaders() {
    let suspects = suspects("loaders");
    if suspects.is_empty() {
        return;
    }
    let suspect = behind(&suspects, "leaks.Main$Registry", "static PLUGINS");
    assert_eq!(suspect["parts"][0]["objects"], 200);
    let inside = suspect["parts"][0]["inside"].as_array().expect("an array");
    assert!(inside.iter().any(|object| object["is_class"] == "leaks.Plugin"), "{suspect:#}");
}
