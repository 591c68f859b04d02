//! What the program, or who runs it, sees of the agent.

use bci_tests::jdk::Jdk;
use bci_tests::profiled::Profiled;
use bci_tests::suite::Suite;

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
        ("counts_with_all", "heap=counts,threads=on,juc=on,estimate=64k,live=true"),
        ("events_with_all", "heap=events,threads=on,juc=on,stack=4"),
        ("locks", "heap=off,threads=on"),
    ];
    suite.each_jdk_and(&modes, nothing_for_the_check_of_jni_to_say);
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
    let ran = Profiled::on(jdk).flags(&["-Xcheck:jni", "-Xmx64m"]).options(options).main("seen.Calls").run();
    let out = ran.out();
    assert!(out.lines().any(|line| line == "done"), "{out}");
    // The JVM of 11 shows its signal handlers too if it was started in the background.
    for words in ["WARNING", "JNI", "native method"] {
        assert!(!out.contains(words) && !ran.err().contains(words), "{out}{}", ran.err());
    }
}
