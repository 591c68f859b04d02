//! `threadCount`: what the agent says the JVM accounts to a thread is what the JVM says to the program itself.

use std::collections::BTreeMap;

use bci_tests::jdk::Jdk;
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::recorded::Recorded;
use bci_tests::suite::Suite;
use trace::model::ThreadCount;

/// A thread may allocate this much between its own last look and its end.
const LAST_BYTES: u64 = 1024;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk_and(
        &[
            ("serial", &["-XX:+UseSerialGC"][..]),
            ("g1", &["-XX:+UseG1GC"]),
            ("interpreted_without_tlab", &["-XX:-UseTLAB", "-Xint"]),
        ],
        the_jvm_says_the_same_to_the_program_and_to_the_agent,
    );
    suite.each_jdk_and(
        &[("200k", "limit=200k"), ("1m", "limit=1m"), ("1m_zip", "limit=1m,format=zip")],
        a_trace_ends_cleanly_at_its_limit_and_the_program_continues,
    );
}

fn the_jvm_says_the_same_to_the_program_and_to_the_agent(jdk: &Jdk, flags: &[&str]) {
    let profiled = Profiled::on(jdk).heap(Heap::Events).flags(flags).main("accounts.Main");
    let ran = profiled.run_and_read::<Recorded>();
    let trace = &ran.trace;
    let reported: BTreeMap<&str, u64> =
        trace.accounts.iter().map(|(name, count)| (&**name, count.vm_bytes.expect("accounted"))).collect();
    let out = ran.out();
    let printed = out.lines().filter_map(|line| line.split_once(' '));
    let printed: Vec<(&str, u64)> = printed.map(|(name, bytes)| (name, bytes.parse().expect("a number"))).collect();
    // One that ended, three that are parked, and from JDK 21 on the carriers of virtual threads.
    assert!(printed.len() >= if jdk.feature < 21 { 4 } else { 5 }, "{printed:?}");
    for (name, bytes) in printed {
        let slack = if name == "ended" { LAST_BYTES } else { 0 };
        let reported = reported.get(name).copied();
        let is_right = reported.is_some_and(|reported| (bytes..=bytes + slack).contains(&reported));
        assert!(is_right, "{name} {bytes} {reported:?}");
    }
    // The thread that ends the VM had its own end event before it reports the accounts of the others: it is one thread.
    assert_eq!(trace.accounts.iter().filter(|(thread, _)| thread == "DestroyJavaVM").count(), 1);
    // The bytes of a thread are those of its objects, virtual threads' counted for their carriers.
    let of_objects: u64 = trace.objects.iter().map(|object| object.size).sum();
    let of_accounts: u64 = trace.accounts.iter().map(|(_, count)| count.bytes).sum();
    assert!(of_accounts <= of_objects && of_objects - of_accounts < 4096, "{of_accounts} {of_objects}");
    // The end of the trace has their sums.
    let sum = |of: fn(&ThreadCount) -> u64| trace.accounts.iter().map(|(_, count)| of(count)).sum::<u64>();
    let counted = |key: &str| trace.counts.iter().find(|(k, _, _)| k == key).map(|(_, _, value)| *value);
    assert_eq!(counted("coverage.reported"), Some(of_accounts));
    assert_eq!(counted("coverage.accounted"), Some(sum(|c| c.vm_bytes.unwrap_or(0))));
    assert_eq!(counted("coverage.missing"), Some(sum(|c| c.vm_bytes.unwrap_or(0).saturating_sub(c.bytes))));
    assert_eq!((counted("coverage.unknown"), counted("coverage.filtered")), (Some(0), None));
    for name in ["parked-1", "parked-2", "parked-3"] {
        let (_, account) = trace.accounts.iter().find(|(thread, _)| thread == name).expect("it has an account");
        let is_of_thread = |thread: usize| trace.names[thread] == name;
        let objects = trace.objects.iter().filter(|object| object.thread.is_some_and(is_of_thread));
        let objects: Vec<u64> = objects.map(|object| object.size).collect();
        let bytes: u64 = objects.iter().sum();
        assert_eq!((account.instances, account.bytes), (objects.len() as u64, bytes), "{name}");
    }
}

fn a_trace_ends_cleanly_at_its_limit_and_the_program_continues(jdk: &Jdk, options: &str) {
    let ran = Profiled::on(jdk).options(options).no_schema().main("accounts.Main").run_and_read::<Recorded>();
    assert!(ran.out().starts_with("ended ") && ran.out().contains("\nparked-3 "), "{}", ran.out());
    assert_eq!(ran.err().lines().count(), 1, "{}", ran.err());
    assert!(ran.err().contains("has reached its limit of"), "{}", ran.err());

    let limit: u64 = if options.starts_with("limit=1m") { 1 << 20 } else { 200 << 10 };
    let length = ran.file.metadata().expect("the trace is there").len();
    assert!(length <= limit, "{length}");
    let trace = &ran.trace;
    assert!(trace.counts.contains(&("limit.reached".into(), String::new(), limit)), "{:?}", trace.counts);
    assert!(!trace.accounts.is_empty());
}
