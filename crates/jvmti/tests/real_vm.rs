//! Runs the agent `examples/probe.rs` in every JDK of this machine.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The `java` launchers of `MARTINI_JDKS` (homes separated by colons), `JAVA_HOME` and `/usr/lib/jvm`.
fn launchers() -> Vec<PathBuf> {
    let mut homes: Vec<PathBuf> = env::var_os("JAVA_HOME").map(PathBuf::from).into_iter().collect();
    homes.extend(env::var_os("MARTINI_JDKS").iter().flat_map(env::split_paths));
    let installed = fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
    homes.extend(installed.map(|entry| entry.path()));
    let launchers = homes.iter().filter_map(|home| home.join("bin/java").canonicalize().ok());
    let mut launchers: Vec<PathBuf> = launchers.collect();
    launchers.sort();
    launchers.dedup();
    assert!(!launchers.is_empty(), "no JDK found: set JAVA_HOME to one");
    launchers
}

/// Builds the agent; the path of its library.
fn probe() -> PathBuf {
    // The test lies in `<target>/<profile>/deps`.
    let binary = env::current_exe().expect("the test's own path");
    let target = binary.ancestors().nth(3).expect("a target folder");
    let cargo = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", "jvmti", "--example", "probe", "--target-dir"])
        .arg(target)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .status()
        .expect("starting cargo");
    assert!(cargo.success());
    target.join("debug/examples/libprobe.so")
}

#[test]
fn every_vm_gives_the_known_answers() {
    let probe = probe();
    for java in launchers() {
        for collector in ["-XX:+UseSerialGC", "-XX:+UseG1GC"] {
            let mut agent = std::ffi::OsString::from("-agentpath:");
            agent.push(&probe);
            let run = Command::new(&java).arg(agent).args([collector, "-Xcheck:jni", "-version"]).output();
            let run = run.expect("starting java");
            let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
            let place = format!("{} {collector}\n{out}\n{err}", java.display());
            assert!(run.status.success(), "{place}");
            assert!(err.contains("probe: ok"), "{place}");
            assert!(!out.contains("FATAL ERROR"), "{place}");
        }
    }
}
