//! A JVM of Java 8, which is not supported: its program runs as without us, and one sentence says why nothing is recorded.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bci_tests::attach;
use bci_tests::java;
use bci_tests::martini;
use bci_tests::suite::Suite;
use bci_tests::workdir::Workdir;

use crate::{Busy, end};

/// Names its folder. The other tests have no use for it.
const HOME: &str = "MARTINI_JAVA_8";
const NOT_SUPPORTED: &str = " is not supported; Martini needs OpenJDK HotSpot, JDK 11 to 25\n";

pub(crate) fn tests(suite: &mut Suite) {
    let name = "java8::is_refused".to_owned();
    match std::env::var_os(HOME).map(|home| PathBuf::from(home).join("bin/java")).filter(|java| java.is_file()) {
        Some(java) => suite.add(name, move || is_refused(&java)),
        None => suite.skip(name, &format!("{HOME} names no Java 8")),
    }
}

fn is_refused(java: &Path) {
    let arguments = ["-cp".as_ref(), java::class_path().as_os_str(), "busy.Main".as_ref()];
    let folder = Workdir::new();
    let mut run = Command::new(&martini::built().command);
    let run = run.current_dir(folder.path()).args(["run", "--file", "app.trcxml"]).arg(java).args(arguments);
    // It has no input, and so ends at once.
    let ran = end(run.env("COLUMNS", "1000").stdin(Stdio::null())).success();
    assert_eq!(ran.out, "up\nover\n");
    assert!(ran.err.contains(NOT_SUPPORTED), "{}", ran.err);

    let busy = Busy::start(Command::new(java).args(arguments));
    busy.martini("attach", &["--duration", "1s"]).refused(" (release 8), but the agent needs 11 or newer");
    let doctor = busy.martini("doctor", &[]);
    assert_eq!(doctor.status, Some(1), "{}", doctor.out);
    assert!(doctor.out.contains("\nno    Java: 1.8.0_"), "{}", doctor.out);
    // Somebody else may load the agent.
    attach::load(busy.pid(), &martini::built().agent, "heap=counts").expect("it answers");
    let said = busy.end();
    assert!(said.contains(NOT_SUPPORTED) && said.lines().count() == 1, "{said}");
}
