//! Threads that wait for monitors: the trace has each wait once, with the owner, with every collector and way of locking.

use std::collections::{HashMap, HashSet};

use bci_tests::jdk::{Collector, Jdk};
use bci_tests::profiled::{Profiled, is_safe_mode};
use bci_tests::suite::Suite;
use bci_tests::waits::{Kind, Wait, Waits};
use trace::ids::ObjectId;
use trace::model::WaitEnd;

use crate::support::{MONITOR, compare, nothing_is_lost, run};

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_version(each_wait_is_there_once_with_owner_stacks_and_end);
    suite.each_jdk_and_collector(each_wait_is_there_once);
    let modes = [("mode_0", "0"), ("mode_1", "1"), ("mode_2", "2")];
    suite.versions(21..).each_and(&modes, with_each_way_of_locking);
    let options = ["heap=events,locks=on", "heap=events,include=waits.*,juc=on"];
    suite.each_jdk_and(&[("events", options[0]), ("filtered_events", options[1])], ids_are_those_of_the_heap);
    // Before JDK 17 the VM's event misses objects (docs/limits.md), a monitor of the test's too.
    suite.jdks(17..).each_and(&[("vm", "heap=vm,juc=on")], ids_are_those_of_the_heap);
    suite.each_jdk_and(&[("platform", "waits.Main")], initialisation_of_a_class_is_counted_and_no_wait);
    suite.versions(21..).each_and(&[("virtual", "waits.Virtual")], initialisation_of_a_class_is_counted_and_no_wait);
    let collectors = [("serial", Collector::Serial, ()), ("g1", Collector::G1, ())];
    suite.jdks(..).each_with(&collectors, monitors_in_reused_memory_are_distinguished);
    let programs = [("few", (&["monitors"][..], 26)), ("thousand", (&["many", "1000"], 1000))];
    suite.each_jdk_and(&programs, owners_by_jvmti);
    let owners = [("owners_on", "on"), ("owners_off", "off"), ("owners_jvmti", "jvmti")];
    suite.versions(..).each_and(&owners, without_locks_on_stacks);
}

/// Where JDK 17 crashes and JDK 11 names no owner if it is asked for the use of a monitor: at the end, and for `owners=jvmti` before.
fn without_locks_on_stacks(jdk: &Jdk, owners: &str) {
    let flags: &[&str] = match jdk.feature {
        ..21 => &["-XX:+UseHeavyMonitors"],
        21.. => &["-XX:+UnlockExperimentalVMOptions", "-XX:LockingMode=0"],
    };
    let profiled = Profiled::on(jdk).options("heap=off,locks=on").option("owners", owners).flags(flags);
    let ran = profiled.main("lasting.Main").run_and_read::<Waits>();
    let trace = ran.trace;
    let mut waiters: Vec<&str> = trace.still.iter().map(|still| still.thread.as_str()).collect();
    waiters.sort_unstable();
    assert_eq!(waiters, ["t-waiter-0", "t-waiter-1"]);
    let asks = jdk.feature > 17;
    for still in &trace.still {
        let owner = if asks || owners != "jvmti" { Some("t-owner".to_owned()) } else { None };
        assert_eq!(still.owner, owner, "{}", still.thread);
    }
    assert_eq!(trace.usages.is_empty(), !asks);
    assert_eq!(trace.count("owners.unknown") > 0, !asks);
}

fn each_wait_is_there_once_with_owner_stacks_and_end(jdk: &Jdk) {
    let ran = run(Profiled::on(jdk).options("locks=on,lockstack=32"), &["monitors"]);
    compare(&ran, Kind::Blocked, &["enter"]);
    compare(&ran, Kind::Waited, &["wait"]);
    let trace = &ran.ran.trace;
    // The owner was seen in memory, at that very moment. Who joins a thread may block on it for a moment, owned by that
    // thread itself, which has had its end event then and is in no list any more: JVMTI is asked.
    let others = trace.waits.iter().filter(|wait| wait.kind == Kind::Blocked && wait.class != MONITOR).count();
    let (asked, unknown) = (trace.count("owners.asked"), trace.count("owners.unknown"));
    assert!(is_safe_mode() || asked.max(unknown) <= others as u64, "{asked} asked, {unknown} unknown, {others} others");
    let is_ours = |wait: &&Wait| wait.thread.starts_with("t-enter-") && wait.class == MONITOR;
    let entered: Vec<&Wait> = trace.counted().filter(is_ours).collect();
    assert_eq!(entered.len(), 20);
    assert!(entered.is_sorted_by_key(|wait| wait.begin));
    let mut without = 0;
    for wait in entered {
        assert_eq!(wait.stack[0], "waits.Main.enter", "{wait:?}");
        let is_right = wait.owner_stack.iter().any(|frame| frame == "waits.Main.hold");
        assert!(is_right || wait.owner_stack.is_empty(), "{wait:?}");
        without += u64::from(wait.owner.is_some() && wait.owner_stack.is_empty());
    }
    // Stacks may take a share of the time only; what was left out is counted.
    let counted = trace.count("ownerStacks.skipped") + trace.count("ownerStacks.stale");
    assert!(without <= counted && without < 20, "{without} without stack, {counted} counted");
    let limit = trace.counted().find(|wait| wait.thread == "t-wait-timeout").map(|wait| wait.limit_millis);
    assert_eq!(limit, Some(30));
    let mut reasons: Vec<WaitEnd> = trace.counted().filter_map(|wait| wait.reason).collect();
    reasons.sort_by_key(|reason| reason.as_str());
    assert_eq!(reasons, [WaitEnd::Interrupted, WaitEnd::Notified, WaitEnd::TimedOut]);
}

/// Each collector keeps objects and their locks in its own way.
fn each_wait_is_there_once(jdk: &Jdk, collector: Collector) {
    let ran = run(Profiled::on(jdk).collector(collector).options("locks=on"), &["monitors"]);
    compare(&ran, Kind::Blocked, &["enter"]);
    compare(&ran, Kind::Waited, &["wait"]);
}

/// The ways of locking that a JVM can be asked to use; where it refuses one, or warns, there is nothing to compare.
fn with_each_way_of_locking(jdk: &Jdk, mode: &str) {
    let mode = format!("-XX:LockingMode={mode}");
    let flags = ["-XX:+UnlockExperimentalVMOptions", "-XX:+UnlockDiagnosticVMOptions", &mode];
    let probe = Profiled::on(jdk).without_agent().any_status().flags(&flags).main("waits.Main").args(&["parks"]).run();
    if probe.status().success() && probe.err().is_empty() && !probe.out().contains("warning") {
        let ran = run(Profiled::on(jdk).flags(&flags).options("locks=on"), &["monitors"]);
        compare(&ran, Kind::Blocked, &["enter"]);
    }
}

/// The monitor is the object that the heap events report.
fn ids_are_those_of_the_heap(jdk: &Jdk, options: &str) {
    let ran = run(Profiled::on(jdk).options(options), &["monitors"]);
    compare(&ran, Kind::Blocked, &["enter"]);
    let ours: Vec<&Wait> = ran.ran.trace.counted().filter(|wait| wait.class.starts_with("waits.")).collect();
    assert!(ours.len() > 20 && ours.iter().all(|wait| wait.is_allocated), "{ours:#?}");
}

/// The VM reports only the end of a wait for the initialisation of a class: it is counted, and no wait of the program.
fn initialisation_of_a_class_is_counted_and_no_wait(jdk: &Jdk, program: &str) {
    let ran =
        Profiled::on(jdk).options("heap=events,locks=on").main(program).args(&["classes"]).run_and_read::<Waits>();
    nothing_is_lost(&ran.trace);
    assert_eq!(ran.out().lines().count(), 1);
    // The VM waits again if it is woken before that, as JDK 25 sometimes is for a virtual thread.
    let waited = ran.trace.count("monitors.classInit");
    assert!(waited == 1 || jdk.feature >= 25 && program == "waits.Virtual" && (2..5).contains(&waited), "{waited}");
}

/// The memory of objects and of their monitors is used again for others, which have ids of their own in the trace.
fn monitors_in_reused_memory_are_distinguished(jdk: &Jdk, collector: Collector, (): ()) {
    const NUMBER: usize = 200;
    const TIMES: usize = 6;
    // Monitors that nobody uses go as soon as possible.
    let flags = [
        "-XX:+IgnoreUnrecognizedVMOptions",
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:AsyncDeflationInterval=1",
        "-XX:GuaranteedAsyncDeflationInterval=1",
    ];
    let profiled = Profiled::on(jdk).flags(&flags).collector(collector).options("locks=on,owners=off");
    let ran = run(profiled, &["passing", &NUMBER.to_string(), &TIMES.to_string()]);
    let is_ours = |wait: &&Wait| wait.thread == "t-passing" && wait.class == MONITOR;
    let objects: Vec<ObjectId> = ran.ran.trace.counted().filter(is_ours).map(|wait| wait.object).collect();
    assert_eq!(objects.len(), TIMES * NUMBER);
    let groups: Vec<&[ObjectId]> = objects.chunk_by(|one, other| one == other).collect();
    assert!(groups.iter().all(|group| group.len() == TIMES), "{groups:?}");
    let distinct: HashSet<&ObjectId> = objects.iter().collect();
    assert_eq!(distinct.len(), NUMBER);
}

/// Where memory is not read JVMTI names the owner, as often as it may cost, and what it was not asked is counted.
fn owners_by_jvmti(jdk: &Jdk, (args, number): (&[&str], usize)) {
    let ran = run(Profiled::on(jdk).flags(&["-Xmx256m"]).options("locks=on,owners=jvmti"), args);
    let entered = ran.printed.iter().filter(|wait| wait.kind == "enter");
    let owners: HashMap<&str, &str> = entered.map(|wait| (wait.thread.as_str(), wait.what.as_str())).collect();
    let trace = &ran.ran.trace;
    let is_ours = |wait: &&Wait| wait.kind == Kind::Blocked && wait.class == MONITOR;
    let found: Vec<&Wait> = trace.counted().filter(is_ours).collect();
    assert_eq!(found.len(), number);
    // The answer takes its time: of other threads the owner may be the next one by then.
    for wait in found.iter().filter(|wait| wait.thread.starts_with("t-enter-")) {
        if let Some(owner) = &wait.owner {
            assert_eq!(Some(&owner.as_str()), owners.get(wait.thread.as_str()), "{wait:?}");
        }
    }
    assert!(found.iter().any(|wait| wait.owner.is_some()), "no owner is known");
    let (asked, unknown) = (trace.count("owners.asked"), trace.count("owners.unknown"));
    assert!(number as u64 <= asked + unknown, "{asked} asked, {unknown} unknown");
    // A thousand questions cost more than may be spent.
    assert!(number < 1000 || trace.count("owners.notAsked") > 0, "nothing was left out");
}
