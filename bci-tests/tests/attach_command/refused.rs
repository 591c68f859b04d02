//! JVMs and processes that cannot be attached to, of Java 8 too: the reason is said, and they live on unharmed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bci_tests::jdk::Jdk;
use bci_tests::suite::Suite;
use bci_tests::workdir::Workdir;
use bci_tests::{attach, java, martini};

use crate::{Busy, about, assert_valid, end, send_signal};

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(with_attaching_switched_off);
    suite.each_jdk(with_fewer_signals_it_listens_from_its_start);
    suite.each_jdk(without_agents);
    suite.each_jdk(by_the_agent);
    suite.each_jdk(that_writes_a_list_for_an_archive);
    suite.any_jdk(stopped);
    suite.once(no_jvm);
    let name = "refused::java8".to_owned();
    match std::env::var_os(HOME).map(|home| PathBuf::from(home).join("bin/java")).filter(|java| java.is_file()) {
        Some(java) => suite.add(name, move || is_refused(&java)),
        None => suite.skip(name, &format!("{HOME} names no Java 8")),
    }
}

fn with_attaching_switched_off(jdk: &'static Jdk) {
    let busy = Busy::on(jdk, &["-XX:+DisableAttachMechanism"]);
    busy.martini("attach", &["--duration", "1s"]).refused("-XX:+DisableAttachMechanism");
    let doctor = busy.martini("doctor", &[]);
    assert_eq!(doctor.status, Some(1), "{}", doctor.out);
    assert!(doctor.out.contains("\nno    answers: JVM "), "{}", doctor.out);
    // No stacks of threads on its standard output.
    busy.end();
}

/// SIGQUIT would end it, and is not needed.
fn with_fewer_signals_it_listens_from_its_start(jdk: &'static Jdk) {
    let busy = Busy::on(jdk, &["-Xrs"]);
    busy.martini("attach", &["--duration", "1s"]).success();
    assert_valid(&busy.trace(busy.pid(), 1));
    busy.end();
    // Without its socket there is no way.
    let busy = Busy::on(jdk, &["-Xrs"]);
    std::fs::remove_file(format!("/tmp/.java_pid{}", busy.pid())).expect("the socket is there from the start");
    busy.martini("attach", &["--duration", "1s"]).refused("does not handle SIGQUIT");
    busy.end();
}

fn without_agents(jdk: &'static Jdk) {
    let busy = Busy::on(jdk, &["-XX:-EnableDynamicAgentLoading"]);
    busy.martini("attach", &["--duration", "1s"]).refused("-XX:-EnableDynamicAgentLoading");
    busy.end();
}

fn by_the_agent(jdk: &'static Jdk) {
    let mut program = java::program(jdk, &["-Xmx128m"], "busy.Main", &[]);
    let busy = Busy::start(program.env("MARTINI_OFF", "1"));
    busy.martini("attach", &["--duration", "1s"]).refused("this JVM was started with MARTINI_OFF=1");
    busy.end();
}

/// What it writes at its end is to be what it is without us.
fn that_writes_a_list_for_an_archive(jdk: &'static Jdk) {
    let folder = Workdir::new();
    let flag = format!("-XX:DumpLoadedClassList={}", folder.join("classes.txt").display());
    let busy = Busy::on(jdk, &[&flag]);
    busy.martini("attach", &["--duration", "1s"]).refused("writes an archive of classes");
    busy.end();
}

fn stopped(jdk: &'static Jdk) {
    let busy = Busy::on(jdk, &[]);
    send_signal(busy.pid(), "STOP");
    busy.martini("attach", &["--duration", "1s"]).refused("is stopped");
    send_signal(busy.pid(), "CONT");
    busy.martini("attach", &["--duration", "500ms"]).success();
    busy.end();
}

fn no_jvm() {
    let folder = Workdir::new();
    let mut cat = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("cat starts");
    for command in ["attach", "status", "stop", "snapshot", "dump"] {
        end(&mut about(folder.path(), command, cat.id(), &[])).refused("is not a HotSpot JVM");
    }
    drop(cat.stdin.take());
    assert!(cat.wait().expect("it ends").success(), "it was not harmed");
    end(&mut about(folder.path(), "attach", cat.id(), &[])).refused("no process");
}

/// Names its folder. The other tests have no use for it.
const HOME: &str = "MARTINI_JAVA_8";
const NOT_SUPPORTED: &str = " is not supported; Martini needs OpenJDK HotSpot, JDK 11 to 25\n";

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
