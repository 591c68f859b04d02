//! The floor agent in real JVMs: a benchmark whose floor does not run would compare with nothing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use bci_tests::martini::{profile_folder, workspace};
use bci_tests::{jdk, process};

/// Builds the agent; the path of its library.
fn agent() -> PathBuf {
    let folder = profile_folder();
    let target = folder.parent().expect("a profile's folder lies in the target folder");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", "floor-agent", "--target-dir"]).arg(target);
    assert!(cargo.current_dir(workspace()).status().expect("cargo starts").success());
    target.join("debug/libfloor_agent.so")
}

fn java(jdk: &jdk::Jdk, agent: &Path, mode: &str) -> process::Finished {
    let mut option = OsString::from("-agentpath:");
    option.push(agent);
    option.push(format!("={mode}"));
    process::run(jdk.tool("java").arg(option).args(["-Xverify:all", "-version"]))
}

#[test]
fn every_mode_runs_on_every_jdk() {
    let agent = agent();
    for jdk in jdk::each_feature() {
        for mode in ["monitors", "idle", "same", "off", "native", "tag", "free"] {
            let finished = java(jdk, &agent, mode).success();
            assert!(!finished.err().contains("floor agent:"), "{jdk}, {mode}: {}", finished.err());
            assert_eq!(finished.out(), "", "{jdk}, {mode}");
        }
    }
}

#[test]
fn an_unknown_mode_does_not_start() {
    let finished = java(jdk::any(), &agent(), "everything");
    assert!(!finished.status.success());
    assert!(finished.err().contains("the option 'everything' is no mode"), "{}", finished.err());
}
