//! What the program, or who runs it, sees of the agent.

use std::process::{Command, Stdio};
use std::time::Duration;

use bci_tests::counted::Counted;
use bci_tests::jdk::{Collector, Jdk};
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::suite::Suite;
use bci_tests::waits::Waits;

pub(crate) fn tests(suite: &mut Suite) {
    let with_helpers = [
        ("counts", "heap=counts"),
        ("events", "heap=events"),
        ("filter", "heap=events,include=byte*"),
        ("juc", "heap=off,juc=on"),
    ];
    suite.each_jdk_and(&with_helpers, no_stack_trace_shows_the_agent);
    let modes = [
        ("counts", "heap=counts"),
        ("events", "heap=events,allocsites=true"),
        ("filter", "heap=events,include=byte*,stack=4"),
        ("vm", "heap=vm,live=true"),
        ("counts_with_all", "heap=counts,threads=on,juc=on,callers=64k,live=true"),
        ("events_with_all", "heap=events,threads=on,juc=on,stack=4"),
        ("locks", "heap=off,threads=on"),
        ("dumps", "heap=vm,dump=end+gc:1"),
        ("dumps_and_live", "heap=counts,dump=end,live=true,threads=on"),
    ];
    suite.each_jdk_and(&modes, nothing_for_the_check_of_jni_to_say);
    suite.each_jdk_and_collector(checked_calls_keep_no_garbage);
    let with_locks =
        [("vm", "heap=vm"), ("counts", "heap=counts,threads=on"), ("events", "heap=events,threads=on,juc=on")];
    // Later JDKs cannot suspend a thread from Java.
    suite.jdks(..20).each_and(&with_locks, a_suspended_thread_holds_nobody_up);
    suite.jdks(25..).each_and(&with_locks, threads_of_native_code_leave);
    suite.jdks(25..).each(threads_of_native_code_attach_while_owners_are_asked_for);
    suite.each_jdk(a_class_that_is_loaded_again_keeps_its_counters);
    suite.each_jdk(the_agent_is_not_the_first_that_finds_no_room);
}

/// The program leaves hardly any room, and the JVM runs a command when somebody finds none: nobody does, though many sites have to be
/// looked up at the end. Without a collector the room is the same in each run.
fn the_agent_is_not_the_first_that_finds_no_room(jdk: &Jdk) {
    let profiled = Profiled::on(jdk).heap(Heap::Counts);
    let complaint = profiled.dir().join("out-of-memory");
    let command = format!("-XX:OnOutOfMemoryError=touch {}", complaint.display());
    let flags =
        ["-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC", "-XX:-UseTLAB", "-Xms32m", "-Xmx32m", &command];
    let ran = profiled.flags(&flags).main("seen.Full").run();
    assert!(ran.out().lines().any(|line| line == "full"), "{}", ran.out());
    assert!(!complaint.exists(), "{}{}", ran.out(), ran.err());
}

/// Wherever the program runs out of stack, no method of the agent's is in the trace of the error, though a hook is the method that finds
/// no room: the JVM shows that if it is to show hidden methods too.
fn no_stack_trace_shows_the_agent(jdk: &Jdk, options: &str) {
    let found = |flags: &[&str]| {
        let ran = Profiled::on(jdk).flags(&["-Xint"]).flags(flags).options(options).main("seen.Frames").run();
        let out = ran.out();
        let line = |start: &str| out.lines().find_map(|line| Some(line.strip_prefix(start)?.to_owned()));
        assert_eq!(line("overflows ").as_deref(), Some("20"));
        line("found ").expect("it prints what it found")
    };
    assert_eq!(found(&[]), "[]");
    assert_ne!(found(&["-XX:+UnlockDiagnosticVMOptions", "-XX:+ShowHiddenFrames"]), "[]");
}

/// `-Xcheck:jni` finds nothing to warn of: no local reference that nobody has announced, no exception that nobody has looked at.
fn nothing_for_the_check_of_jni_to_say(jdk: &Jdk, options: &str) {
    // With another agent too, whose hooks run while the classes are loaded again that this one changes.
    for beside in [false, true] {
        let profiled = Profiled::on(jdk).flags(&["-Xcheck:jni", "-Xmx64m"]).options(options).main("seen.Calls");
        let ran = if beside { profiled.agent_in_java("torture.Redefine") } else { profiled }.run();
        let out = ran.out();
        assert!(out.lines().any(|line| line == "done"), "{out}");
        // The JVM of 11 shows its signal handlers too if it was started in the background.
        for words in ["WARNING", "JNI", "native method"] {
            assert!(!out.contains(words) && !ran.err().contains(words), "{out}{}", ran.err());
        }
    }
}

/// Collectors that mark while the program runs take what `-Xcheck:jni` looks at for something that the program uses.
fn checked_calls_keep_no_garbage(jdk: &Jdk, collector: Collector) {
    for options in ["heap=events", "heap=events,internals=off"] {
        let profiled = Profiled::on(jdk).collector(collector).flags(&["-Xcheck:jni", "-Xmx256m"]).no_schema();
        let ran = profiled.options(options).main("torture.Main").args(&["Arrays", "100"]).run();
        assert!(ran.out().lines().any(|line| line == "= known 2400"), "{}{}", ran.out(), ran.err());
    }
}

/// Wherever a thread is suspended, inside the agent too, others that share nothing with it get on.
fn a_suspended_thread_holds_nobody_up(jdk: &Jdk, options: &str) {
    let ran = Profiled::on(jdk).options(options).no_schema().main("seen.Suspends").args(&["800"]).run();
    assert_eq!(ran.out().trim_end(), "got on");
}

/// A thread of native code leaves the JVM, by Java code that loads classes, when its variables that have destructors are gone.
fn threads_of_native_code_leave(jdk: &Jdk, options: &str) {
    // C2 alone: method handles get their classes on such a thread.
    let flags = ["--enable-native-access=ALL-UNNAMED", "-XX:-TieredCompilation"];
    let ran = Profiled::on(jdk).flags(&flags).options(options).main("torture.Main").args(&["Natives", "20"]).run();
    assert!(ran.out().lines().any(|line| line == "= known 1600"), "{}", ran.out());
    assert_eq!(ran.err(), "");
}

/// The VM crashes if it is asked who uses a monitor while a thread of native code attaches, which has no `Thread` yet.
fn threads_of_native_code_attach_while_owners_are_asked_for(jdk: &Jdk) {
    let profiled = Profiled::on(jdk).flags(&["--enable-native-access=ALL-UNNAMED"]).options("heap=off,threads=on");
    let mut running = profiled.main("seen.Attaches").args(&["4"]).start();
    running.wait_for("ready");
    let pid = running.pid().to_string();
    for _ in 0..300 {
        // The last ones find no process.
        let _ = Command::new("kill").args(["-QUIT", &pid]).stderr(Stdio::null()).status();
        std::thread::sleep(Duration::from_millis(12));
    }
    let ran = running.finish_and_read::<Waits>();
    assert!(ran.out().lines().any(|line| line == "failed 0"), "{}", ran.err());
    assert!(!ran.trace.usages.is_empty() && ran.trace.usages.iter().any(|usage| usage.owner.is_some()));
}

/// However often another agent has the JVM load a class again, its sites keep their counters, and each object is counted.
fn a_class_that_is_loaded_again_keeps_its_counters(jdk: &Jdk) {
    let counters = |times: &str| {
        let profiled = Profiled::on(jdk).heap(Heap::Counts).main("seen.Reloads").args(&[times]);
        let ran = profiled.agent_in_java("seen.Reloads").run_and_read::<Counted>();
        let made: u64 = ran.out().trim_end().strip_prefix("made ").expect("a number").parse().expect("a number");
        let counted = |class: &str| {
            let of_class = ran.trace.sites.iter().filter(|(site, _)| site.class == class);
            of_class.map(|(_, sum)| sum.instances).sum::<u64>()
        };
        let found = ["", "[]", "[][]"].map(|dimensions| counted(&format!("seen.Reloads$Made{dimensions}")));
        assert_eq!(found, [made, 3 * made, 2 * made]);
        ran.trace.counts[&("counters".to_owned(), String::new())]
    };
    let (few, many) = (counters("10"), counters("400"));
    assert!(many < few + 500, "{few} counters, then {many}");
}
