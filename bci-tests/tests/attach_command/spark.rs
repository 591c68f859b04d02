//! A job of Spark, from PyPI, is recorded with every engine: no task fails, and what it does is named.

use std::path::PathBuf;

use bci_tests::java;
use bci_tests::jdk::{self, Jdk};
use bci_tests::process::Running;
use bci_tests::profiled::is_safe_mode;
use bci_tests::suite::Suite;
use bci_tests::workdir::Workdir;

use crate::{ALL_ENGINES, about, about_file, assert_valid, end};

/// The newest release that this version of Spark is for.
const FEATURE: u32 = 17;
/// Packages of `java.base` that Spark looks into.
const OPENED: [&str; 8] = [
    "java.io",
    "java.lang",
    "java.lang.invoke",
    "java.net",
    "java.nio",
    "java.util",
    "java.util.concurrent",
    "sun.nio.ch",
];

pub(crate) fn tests(suite: &mut Suite) {
    let name = format!("spark::no_task_fails::jdk{FEATURE}");
    match (jdk::of(FEATURE), jars()) {
        (_, None) => suite.skip(name, "MARTINI_SPARK names no folder with pyspark"),
        _ if is_safe_mode() => suite.skip(name, "samples of threads need what safe mode leaves alone"),
        (None, _) => suite.skip(name, &format!("no JDK {FEATURE}")),
        (Some(jdk), Some(jars)) => suite.add(name, move || no_task_fails(jdk, &jars)),
    }
}

/// Where Spark's jars are.
fn jars() -> Option<String> {
    let jars = PathBuf::from(std::env::var_os("MARTINI_SPARK")?).join("pyspark/jars");
    jars.is_dir().then(|| format!("{}/*", jars.display()))
}

fn no_task_fails(jdk: &Jdk, jars: &str) {
    let folder = Workdir::new();
    let classes = java::compile_real("spark/Job.java", jars.as_ref());
    let mut java = jdk.tool("java");
    java.current_dir(folder.path()).arg("-Xmx512m");
    java.args(OPENED.map(|package| format!("--add-opens=java.base/{package}=ALL-UNNAMED")));
    let mut job = Running::start(java.arg("-cp").arg(format!("{}:{jars}", classes.display())).arg("Job"));
    job.wait_for("ready");

    let mut attach = about(folder.path(), "attach", job.pid(), &ALL_ENGINES);
    let attached = end(attach.args(["--duration", "6s", "--top", "8"])).success();
    let trace = folder.join(&format!("martini-{}.trcxml", job.pid()));
    assert_valid(&trace);
    // Its busiest lines, and what its two threads wait for; whether that stands out depends on what else the machine does.
    assert!(attached.err.contains(" Job.enter(Job.java:"), "{}", attached.err);
    assert!(attached.err.contains(" Job.price(Job.java:18)"), "{}", attached.err);
    let locks = about_file("locks", &trace, &["--top", "3"]).success();
    assert!(locks.out.contains(" Job.LEDGER (Object)"), "{}", locks.out);

    // It checks each sum, and Spark ends it if a task fails.
    let finished = job.finish().success();
    assert!(finished.out().ends_with(" rounds\n"), "{}", finished.out());
}
