//! A debugger that stops the program, looks at its threads, and lets it continue.

use std::fs;
use std::net::TcpListener;
use std::process::Command;

use bci_tests::jdk::{self, Jdk};
use bci_tests::jdwp;
use bci_tests::process::{Running, wait_until};
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::suite::Suite;

pub(crate) fn tests(suite: &mut Suite) {
    let debugger = jdk::all().iter().find(|jdk| jdk.home.join("bin/jdb").is_file());
    for jdk in jdk::all() {
        let name = |heap: Heap| format!("beside::debugger::stops_and_continues::jdk{}::{}", jdk.version, heap.name());
        match debugger {
            Some(debugger) if jdwp::is_there(jdk) => {
                for heap in [Heap::Counts, Heap::Events, Heap::Vm] {
                    suite.add(name(heap), move || stops_and_continues(jdk, debugger, heap));
                }
            }
            Some(_) => suite.skip(name(Heap::Events), "this runtime was linked without the agent for debuggers"),
            None => suite.skip(name(Heap::Events), "no JDK here has a debugger"),
        }
    }
}

/// All threads are suspended twice, the agent's own too.
fn stops_and_continues(jdk: &Jdk, debugger: &Jdk, heap: Heap) {
    // The port is free again when the debugged JVM takes it.
    let address = TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).expect("a free port").to_string();
    let every = if heap == Heap::Counts { "every=1" } else { "" };
    let profiled = Profiled::on(jdk).heap(heap).options(every).options("juc=on,stack=8").any_status().no_schema();
    let transport = format!("-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address={address}");
    let mut program = profiled.flags(&[transport]).main("endings.Main").args(&["never"]).start();
    program.wait_for("allocating");
    let mut jdb = Running::start(debugger.tool("jdb").args(["-attach", &address]));
    // The last thread that is listed.
    let last = &["DestroyJavaVM"][..];
    for (command, answers) in [
        ("stop in endings.Main$Cell.<init>", &["Breakpoint hit"][..]),
        ("where all", last),
        ("threads", last),
        // Another thread may come to the breakpoint first.
        ("next", &["Step completed", "Breakpoint hit"]),
        ("clear endings.Main$Cell.<init>", &["Removed: breakpoint"]),
        ("resume", &["All threads resumed"]),
        ("suspend", &["All threads suspended"]),
        ("where all", last),
        ("threads", last),
        ("resume", &["All threads resumed"]),
    ] {
        jdb.send(command);
        jdb.wait_for_any(answers);
    }
    // It may wait for an event of the program before it ends by itself.
    jdb.kill();
    jdb.finish();
    let bytes = || fs::metadata(&program.file).expect("the trace is there").len();
    let before = bytes();
    wait_until(|| bytes() > before);
    let sent = Command::new("kill").arg(program.pid().to_string()).status().expect("kill is a command");
    assert!(sent.success());
    assert_eq!(program.finish().status().code(), Some(128 + 15));
}
