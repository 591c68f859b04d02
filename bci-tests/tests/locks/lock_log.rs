//! The lock log beside the trace.

use std::fs;

use bci_tests::jdk::Jdk;
use bci_tests::profiled::Profiled;
use bci_tests::suite::Suite;
use bci_tests::waits::{Kind, Wait};

use crate::support::run;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(it_has_the_contended_locks_of_the_trace_and_nothing_else);
}

fn it_has_the_contended_locks_of_the_trace_and_nothing_else(jdk: &Jdk) {
    let profiled = Profiled::on(jdk).options("juc=on,lockstack=3");
    let log = profiled.dir().join("locks-%p.txt");
    let ran = run(profiled.option("locklog", log.display()), &["monitors"]).ran;
    let blocked: Vec<&Wait> = ran.trace.waits.iter().filter(|wait| wait.kind == Kind::Blocked).collect();
    let mut logs = fs::read_dir(ran.dir.path()).expect("the folder is there").flatten().map(|entry| entry.path());
    let log = logs.find(|path| path.extension().is_some_and(|e| e == "txt"));
    let text = fs::read_to_string(log.expect("there is a log")).expect("it can be read");
    for (step, number) in [(" TRY [t-enter-", 20), (" LCK [t-enter-", 20)] {
        // Such a thread may block on something of the JDK's too.
        let is_it = |line: &&str| line.contains(step) && line.contains("] Lwaits/Main;#enter ");
        assert_eq!(text.lines().filter(is_it).count(), number, "{text}");
    }
    // A thread of the JVM's own may still be blocked when the trace ends.
    let steps: usize = blocked.iter().map(|wait| if wait.nanos.is_some() { 2 } else { 1 }).sum();
    assert_eq!(text.lines().count(), 1 + steps, "{text}");
    let line = text.lines().find(|line| line.contains(" LCK [t-enter-7] ")).expect("it is there");
    assert!(line.contains(" Lwaits/Main;#enter Lwaits/Main;#lambda$contended$"), "{line}");
    assert_eq!(line.matches(";#").count(), 3, "{line}");
}
