//! Samples of CPU time add up: for every thread to what the system counts, and all threads to the process.

use bci_tests::jdk::{Collector, Jdk};
use bci_tests::profiled::Profiled;
use bci_tests::suite::Suite;
use trace::model::{ThreadKind, ThreadState};

use super::samples::{Samples, Thread};

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk_and_collector(each_thread_adds_up);
    suite.each_jdk(a_fine_interval_adds_up);
    suite.each_jdk(locks_beside_samples_have_each_thread_once);
    suite.versions(21..).each(virtual_threads_are_known_on_their_carriers);
    suite.each_version(who_waits_is_seen_waiting);
}

const MILLIS: u64 = 1_000_000;
/// Between two samples.
const INTERVAL: u64 = 10 * MILLIS;
/// Between the clock's two readings and the timer's, at the beginning and the end of a thread.
const BETWEEN: u64 = 2 * MILLIS;

/// Samples and losses of each thread are its time, within one interval and one part in a hundred.
#[track_caller]
fn add_up(samples: &Samples, interval: u64) {
    for (id, thread) in samples.threads.iter().filter(|(_, thread)| thread.sampled > 0) {
        let cpu = thread.cpu.unwrap_or_else(|| panic!("{id:?} has samples and no time: {thread:?}"));
        let error = thread.sampled.abs_diff(cpu);
        assert!(error <= interval + BETWEEN + cpu / 100, "{id:?} is {error} ns off: {thread:?}");
    }
    let all: u64 = samples.threads.values().filter_map(|thread| thread.cpu).sum();
    let [process, agent, not_seen] = ["cpu.process", "cpu.agent", "cpu.notSeen"].map(|key| samples.count(key));
    let sum = all + agent + not_seen;
    assert!(sum.abs_diff(process) <= process / 100 + 5 * MILLIS, "{sum} of {process}: {:?}", samples.counts);
    assert_eq!(samples.count("agent.panics"), 0);
}

fn each_thread_adds_up(jdk: &Jdk, collector: Collector) {
    let ran = Profiled::on(jdk)
        .collector(collector)
        .flags(&["-Xmx256m"])
        .options("cpu=10ms")
        .main("running.Main")
        .args(&["1500"])
        .run_and_read::<Samples>();
    assert!(ran.out().starts_with("= "), "{}", ran.out());
    let samples = &ran.trace;
    add_up(samples, INTERVAL);
    assert_eq!(samples.count("cpu.interval"), INTERVAL);
    let of = |thread: &Thread, method: &str| thread.methods.get(method).copied().unwrap_or(0);
    let compute = samples.of("r-compute");
    let known = of(compute, "running.Main.compute");
    assert!(known * 10 >= compute.sampled * 8, "nearly all of it is in one method: {compute:?}");
    let is_vm = |thread: &&Thread| thread.kind == Some(ThreadKind::Vm) && thread.sampled > 0;
    assert!(
        samples.threads.values().any(|thread| is_vm(&thread)),
        "the VM compiles and collects: {:?}",
        samples.threads
    );
    // Each runs for much less than an interval; together they have their share all the same.
    // On a busy machine the system may have such a thread for long before the VM says that it starts: then it is another one.
    let short = |thread: &&Thread| thread.kind.is_none() && thread.name.starts_with("r-short-");
    let all: Vec<_> = samples.threads.values().filter(short).collect();
    let (cpu, sampled) = (all.iter().filter_map(|t| t.cpu).sum::<u64>(), all.iter().map(|t| t.sampled).sum::<u64>());
    assert_eq!(all.len(), 200);
    // Six standard errors of so many samples.
    let error = 6.0 * (cpu as f64 / INTERVAL as f64).sqrt().max(1.0) * INTERVAL as f64;
    assert!(sampled.abs_diff(cpu) as f64 <= error, "{sampled} of {cpu}");
}

fn a_fine_interval_adds_up(jdk: &Jdk) {
    let ran = Profiled::on(jdk)
        .options("cpu=200us,heap=counts")
        .main("running.Main")
        .args(&["700"])
        .run_and_read::<Samples>();
    add_up(&ran.trace, INTERVAL / 50);
    // What the system really delivers is said.
    assert!(ran.trace.count("cpu.delivered") >= INTERVAL / 50, "{:?}", ran.trace.counts);
}

fn locks_beside_samples_have_each_thread_once(jdk: &Jdk) {
    let ran = Profiled::on(jdk)
        .options("cpu=10ms,wall=5ms,juc=on")
        .main("running.Main")
        .args(&["700"])
        .run_and_read::<Samples>();
    add_up(&ran.trace, INTERVAL);
    assert_eq!(ran.err(), "");
}

fn virtual_threads_are_known_on_their_carriers(jdk: &Jdk) {
    let ran = Profiled::on(jdk).options("cpu=1ms").main("running.Virtual").run_and_read::<Samples>();
    let samples = &ran.trace;
    add_up(samples, 5 * MILLIS);
    let carried = samples.threads.values().flat_map(|thread| thread.carried.iter());
    let mut of_virtual = std::collections::BTreeMap::<&str, u64>::new();
    for (mounted, nanos) in carried {
        *of_virtual.entry(&samples.threads[mounted].name).or_default() += nanos;
    }
    let computing: u64 = samples.threads.values().filter_map(|t| t.methods.get("running.Main.compute")).sum();
    let known: u64 = of_virtual.values().sum();
    assert_eq!(of_virtual.len(), 8, "{of_virtual:?}");
    assert!(of_virtual.keys().all(|name| name.starts_with("v-")), "{of_virtual:?}");
    assert!(known * 10 >= computing * 9, "{known} of {computing}");
}

fn who_waits_is_seen_waiting(jdk: &Jdk) {
    let ran = Profiled::on(jdk).options("wall=5ms").main("running.Main").args(&["1000"]).run_and_read::<Samples>();
    assert_eq!(ran.err(), "");
    let samples = &ran.trace;
    let share = |name: &str, state: ThreadState| {
        let states = &samples.of(name).states;
        assert!(states.len() > 10, "{name} was looked at: {states:?}");
        states.iter().filter(|&&seen| seen == state).count() * 100 / states.len()
    };
    assert!(share("r-parked", ThreadState::Waiting) > 90, "{:?}", samples.of("r-parked"));
    assert!(share("r-compute", ThreadState::Runnable) > 90, "{:?}", samples.of("r-compute"));
    // It lived for a second, of which each look has its part.
    let wall = samples.of("r-parked").wall;
    assert!(wall > 700_000_000, "{wall}");
    assert!(samples.threads.values().all(|thread| thread.sampled == 0));
}
