//! One recording after the other in one JVM, which is left as it was.

use std::fs;
use std::net::TcpListener;

use bci_tests::attach::{loaded_classes, references, resident_kib};
use bci_tests::java;
use bci_tests::jdk::{self, Jdk};
use bci_tests::jdwp::{self, Debugger};
use bci_tests::process::wait_for;
use bci_tests::suite::Suite;
use bci_tests::workdir::Workdir;

use crate::program::Program;

const NODES: u64 = 200_000;
/// Beside many threads.
const FEW_NODES: u64 = 1000;
/// The ids of a class are in the way from the second recording on.
const RECORDINGS_OF_DEEP: usize = 6;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(engines_in_turn_leave_nothing_behind);
    suite.each_version(stacks_in_code_that_is_replaced_harm_nothing);
    suite.each_jdk(agent_of_the_start_can_be_stopped);
    suite.each_version(what_the_jit_removed_is_made_when_its_code_is_left);
    suite.each_version(what_the_jit_removed_is_recorded);
    suite.each_jdk(who_retransforms_a_class_that_is_not_linked_goes_on);
    suite.each_version(object_is_redefined_no_more_than_others);
    suite.each_jdk(classes_that_add_edges_to_modules_are_not_needed_while_they_load);
    let options = [
        ("vm", "heap=vm,juc=on"),
        ("events", "heap=events,locks=on"),
        ("cpu", "heap=off,cpu=5ms"),
        ("counts", "heap=counts"),
    ];
    suite.jdks(21..).each_and(&options, a_carrier_is_not_the_virtual_thread_on_it);
    suite.versions(21..).each(locks_alone_rewrite_nothing_where_that_would_be_expensive);
    for jdk in jdk::each_feature().into_iter().filter(|jdk| jdk.feature >= 21) {
        match jdwp::is_there(jdk) {
            true => suite.on(jdk, a_carrier_is_not_the_virtual_thread_that_has_ended_on_it),
            false => suite.skip(format!("repeated::a_carrier::jdk{}", jdk.feature), "it has no agent for debuggers"),
        }
    }
}

const ENGINES: [&str; 6] = [
    "heap=counts",
    "heap=events,include=attach.*",
    "heap=off,cpu=5ms,sampled=64k",
    "heap=off,locks=on,juc=on,ttsp=on",
    ALL_TOGETHER,
    // Last: each thread that it sees gives up the lock that it has waited for, which it had kept for the next recording.
    "heap=vm",
];
const ALL_TOGETHER: &str = "heap=counts,callers=64k,sampled=64k,cpu=5ms,wall=20ms,locks=on,juc=on,ttsp=on,live=true";
/// The JIT has compiled more meanwhile, and the C library keeps memory that was freed. A recording that leaves its buffers behind takes more.
const MORE_KIB: u64 = 64 << 10;

/// So many more of each there may be later: the JDK loads a class when it first needs it. Recordings that each left a class would leave 12.
const MORE: [usize; 5] = [0, 0, 0, 0, 8];

/// Threads, open files, references to objects, global and weak, and loaded classes of a process.
fn left(pid: u32) -> [usize; 5] {
    let [threads, files] =
        ["task", "fd"].map(|what| fs::read_dir(format!("/proc/{pid}/{what}")).expect("it runs").count());
    let [global, weak] = references(pid).expect("it answers");
    [threads, files, global, weak, loaded_classes(pid).expect("it answers")]
}

fn all_in_turn(program: &mut Program) {
    for options in ENGINES {
        // A call that was under way at the beginning, and a thread that goes on between its account and its counters, matter less in a longer
        // recording.
        let times = if options.starts_with("heap=counts") { 8 } else { 1 };
        let found = program.record(options, |program| (0..times).for_each(|_| program.make(NODES)));
        match options {
            "heap=counts" | ALL_TOGETHER => {
                assert!(found.counted_nodes == times * NODES && found.is_covered(), "{found:?}")
            }
            "heap=vm" => assert!((1..=NODES).contains(&found.nodes), "{found:?}"),
            _ if options.contains("events") => assert_eq!(found.nodes, NODES),
            _ => assert_eq!(found.nodes, 0, "{found:?}"),
        }
    }
}

fn engines_in_turn_leave_nothing_behind(jdk: &Jdk) {
    // Their number of threads is the same all the time.
    let flags =
        ["-Xms128m", "-Xmx128m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC", "-XX:-UseDynamicNumberOfCompilerThreads"];
    let mut program = Program::start(jdk, &flags, &[]);
    all_in_turn(&mut program);
    let pid = program.running.pid();
    let (first, first_memory) = (left(pid), resident_kib(pid));
    for _ in 0..2 {
        all_in_turn(&mut program);
        // The agent's threads have been asked to end, and the JVM's own may come and go.
        wait_for(|| {
            let last = left(pid);
            let is_less = last.iter().zip(first).zip(MORE).all(|((&now, first), more)| now <= first + more);
            let seen =
                || format!("threads, files, references, weak references, classes: {last:?}, and {first:?} at first");
            if is_less { Ok(()) } else { Err(seen()) }
        });
    }
    let grown = resident_kib(pid).saturating_sub(first_memory);
    assert!(grown < MORE_KIB, "{grown} KiB more than after the first of each");
    // Restored classes are not hooked: a recording without rewriting sees nothing of another, and the program is right to its end.
    program.finish();
}

/// Many threads at once ask for ids of methods of classes that have other code by now: before JDK 23 the VM may hand out such that crash it.
/// Where threads did not ask in turn, two of three of these programs crashed on JDK 17 and 21.
fn stacks_in_code_that_is_replaced_harm_nothing(jdk: &Jdk) {
    let mut program = Program::start(jdk, &["-Xmx256m"], &[]);
    for _ in 0..RECORDINGS_OF_DEEP {
        program.command("deepen", "deep");
        let found = program.record("heap=counts,callers=4k", |program| program.make(FEW_NODES));
        assert_eq!(found.counted_nodes, FEW_NODES, "{found:?}");
    }
    program.finish();
}

fn agent_of_the_start_can_be_stopped(jdk: &Jdk) {
    let agent = bci_tests::martini::built().agent_path("heap=counts,file=start.trcxml");
    let agent = agent.to_str().expect("text");
    let mut program = Program::start(jdk, &["-Xmx256m", agent], &[]);
    program.make(NODES);
    assert!(program.ask("start", "heap=vm").starts_with("error this JVM is already being recorded, into "));
    assert!(program.ask("snapshot", "").starts_with("ok\ntrace "));
    assert!(program.ask("dump", "").starts_with("error this recording makes no heap dumps"));
    let stopped = program.ask("stop", "");
    let trace = stopped.trim_end().strip_prefix("ok\ntrace ").expect("the trace").to_owned();
    let found = crate::program::read(trace.as_ref());
    assert!(found.counted_nodes == NODES && found.rewritten > 0, "{found:?}");
    assert_eq!(program.ask("stop", ""), "error this JVM is not being recorded\n");
    all_in_turn(&mut program);
    program.finish();
}

/// The only carrier reports for the first time while a virtual thread is mounted on it, which ends soon.
fn a_carrier_is_not_the_virtual_thread_on_it(jdk: &Jdk, options: &str) {
    let mut program = Program::start_main(jdk, "attach.Carriers", &["-Djdk.virtualThreadScheduler.parallelism=1"]);
    // The trace is valid: nothing refers to a thread after its end.
    program.record(options, |program| {
        program.command("release", "released");
    });
    program.finish();
}

/// The first event of the only carrier is the end of a virtual thread, whose unmount has come before the recording. The carrier then waits.
fn a_carrier_is_not_the_virtual_thread_that_has_ended_on_it(jdk: &Jdk) {
    // The port is free again when the JVM takes it.
    let address = TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).expect("a free port");
    let debugged = format!("-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,quiet=y,address={address}");
    let flags = ["-Djdk.virtualThreadScheduler.parallelism=1", &debugged];
    let mut program = Program::start_main(jdk, "attach.Ends", &flags);
    // The agent for debuggers, which is asked before ours, stops the thread in the middle of its end.
    let mut debugger = Debugger::connect(address).expect("the JVM listens");
    debugger.stop_what_ends().expect("it answers");
    program.running.send("end");
    debugger.wait_for_event().expect("the thread ends");
    // The trace is valid: nothing refers to a thread after its end.
    program.record("heap=off,locks=on,juc=on", |program| {
        debugger.leave().expect("it answers");
        program.running.wait_for("ended");
    });
    program.finish();
}

/// `VirtualThread` is linked, and its sleeps are seen by what is rewritten in it.
fn locks_alone_rewrite_nothing_where_that_would_be_expensive(jdk: &Jdk) {
    let mut program = Program::start_main(jdk, "attach.Ends", &[]);
    let mut rewritten = |options| program.record(options, |program| program.command("end", "ended")).rewritten;
    assert_eq!(rewritten("heap=off,locks=on") > 0, jdk.feature >= 23);
    assert!(rewritten("heap=off,locks=on,juc=on") > 0);
    program.finish();
}

/// The flags that keep the JIT from removing objects also decide whether those that it has removed are made where its code is left.
fn what_the_jit_removed_is_made_when_its_code_is_left(jdk: &Jdk) {
    // Else the exceptions are thrown in compiled code.
    let mut program = Program::start_main(jdk, "attach.Removed", &["-XX:-OmitStackTraceInFastThrow"]);
    for _ in 0..2 {
        program.record("heap=events", |program| {
            program.command("go on", "went on");
        });
    }
    program.finish();
}

/// The JIT has compiled the code before the recording, without what is counted.
fn what_the_jit_removed_is_recorded(jdk: &Jdk) {
    let mut program = Program::start_main(jdk, "attach.Main", &["-Xmx256m"]);
    for _ in 0..2 {
        program.hide(NODES);
        let found = program.record("heap=events", |program| {
            // From JDK 17 on the first 512 KiB of a thread are not seen.
            program.make(NODES);
            program.hide(NODES);
        });
        assert_eq!(found.arrays, NODES, "{found:?}");
        assert!((NODES..=2 * NODES).contains(&found.nodes), "{found:?}");
    }
    program.finish();
}

/// A recording rewrites it at most once, and gives it its own code back: most compiled code goes with it, and the VM keeps each version.
fn object_is_redefined_no_more_than_others(jdk: &Jdk) {
    let dir = Workdir::new();
    let log = dir.join("redefined.txt");
    let flag = format!("-Xlog:redefine+class+load=info:file={}", log.display());
    let mut program = Program::start(jdk, &[&flag], &[]);
    program.record("heap=counts", |_| ());
    program.finish();
    let log = fs::read_to_string(&log).expect("the JVM's log");
    let [of_main, of_object] =
        ["attach.Main", "java.lang.Object"].map(|class| log.matches(&format!("redefined name={class},")).count());
    assert!(of_main == 2 && of_object <= 2, "{of_object}: {log}");
}

/// While the VM loads the first class of a module that an agent changes, it runs Java code that adds edges to the module. If that class is
/// one of which this code makes an instance, each later use of it fails with a `ClassCircularityError`.
fn classes_that_add_edges_to_modules_are_not_needed_while_they_load(jdk: &Jdk) {
    let mut program = Program::start_main(jdk, "attach.Edges", &[]);
    program.record("heap=counts", |program| program.command("make", "made"));
    program.finish();
}

/// The VM links a class in order to retransform it, while it is marked as being redefined.
fn who_retransforms_a_class_that_is_not_linked_goes_on(jdk: &Jdk) {
    let dir = Workdir::new();
    let jar = java::agent_jar(dir.path(), "attach.Relinked").expect("a jar");
    let mut program = Program::start_main(jdk, "attach.Relinked", &[&format!("-javaagent:{}", jar.display())]);
    program.record("heap=counts", |program| {
        program.command("retransform", "retransformed");
    });
    program.finish();
}
