//! `martini classes`: which JVMs refuse what.

use std::fs;

use serde_json::Value;

use crate::support::{run, trace};

/// The classes that the agent brings along.
const OURS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/java/classes");

#[test]
fn what_we_bring_along_is_for_every_jvm_that_we_support() {
    let ended = run(&["classes", OURS]);
    assert_eq!((ended.status, &*ended.err), (0, ""), "{}", ended.out);
    assert!(ended.out.contains("Java 11") && !ended.out.contains("Never compiled"), "{}", ended.out);
    let json: Value = serde_json::from_str(&run(&["classes", "--json", OURS]).out).expect("JSON");
    let found = &json["inputs"][0];
    assert!(found["needs"].as_u64().expect("a release") <= 11, "{found:#}");
    let of = |jvm: u64| found["jvms"].as_array().expect("JVMs").iter().find(|row| row["java"] == jvm).cloned();
    assert_eq!(of(11).expect("a row")["refuses"], 0);
    assert_eq!(found["unreadable"], Value::Array(Vec::new()));
    let versions = found["versions"].as_array().expect("versions").iter();
    assert_eq!(versions.map(|row| row["classes"].as_u64().expect("a number")).sum::<u64>(), found["classes"]);
    assert_eq!(found["multi_release_classes"], 0);
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("Broken.class"), b"\xCA\xFE\xBA\xBE").expect("ours");
    let ended = run(&["classes", &path("")]);
    assert_eq!(ended.status, 2);
    assert!(
        ended.err.contains("has no class file that can be read") && ended.err.contains("Broken.class"),
        "{}",
        ended.err
    );
    let ended = run(&["classes", &path("none.jar")]);
    assert_eq!(ended.status, 2);
    assert!(ended.err.contains("cannot read") && ended.err.contains("none.jar"), "{}", ended.err);
    fs::write(path("text.jar"), b"no zip").expect("ours");
    let ended = run(&["classes", &path("text.jar"), OURS]);
    assert_eq!(ended.status, 2);
    assert!(ended.err.contains("is no class file, jar or folder") && ended.out.contains("Java 11"), "{}", ended.err);
}

#[test]
fn a_trace_names_what_to_read_instead() {
    let ended = run(&["classes", &trace("start.trcxml")]);
    assert_eq!((ended.status, &*ended.out), (2, ""));
    assert!(ended.err.contains("is a trace") && ended.err.contains("martini classes /srv/shop.jar"), "{}", ended.err);
    let ended = run(&["classes", &trace("heap.trcxml")]);
    assert!(ended.err.contains("name the jars of the program"), "{}", ended.err);
}
