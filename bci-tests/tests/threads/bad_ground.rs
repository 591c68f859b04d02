//! Where samples cannot be taken as they should, one sentence says so, and the program runs as it would.

use bci_tests::jdk::Jdk;
use bci_tests::profiled::Profiled;
use bci_tests::suite::Suite;

use super::samples::Samples;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(without_timers_for_threads_one_serves_all);
    suite.each_jdk(a_program_that_takes_the_signal_has_it);
    suite.any_jdk(in_safe_mode_the_others_go_on);
    suite.any_jdk(what_the_system_cannot_deliver_is_said);
}

fn without_timers_for_threads_one_serves_all(jdk: &Jdk) {
    let ran = Profiled::on(jdk)
        .through(&["bash", "-c", "ulimit -i 0; exec \"$@\"", "bash"])
        .options("cpu=10ms")
        .main("running.Main")
        .args(&["1000"])
        .run_and_read::<Samples>();
    let err = ran.err();
    assert!(err.contains("ulimit -i") && err.lines().count() == 1, "{err}");
    let samples = &ran.trace;
    assert_eq!(samples.count("cpu.byProcess"), 1);
    let sampled: u64 = samples.threads.values().map(|thread| thread.sampled).sum();
    let all = sampled + samples.count("cpu.lost unknownThread");
    let process = samples.count("cpu.process");
    // On a busy machine the timer fires again while its signal still waits, which nobody counts (docs/internals/cpu.md).
    assert!(all * 2 >= process && all * 10 <= process * 11, "{all} of {process}");
    assert!(samples.of("r-compute").methods.contains_key("running.Main.compute"));
}

fn a_program_that_takes_the_signal_has_it(jdk: &Jdk) {
    let ran = Profiled::on(jdk).options("cpu=10ms,heap=counts").main("running.OwnSignal").run_and_read::<Samples>();
    assert!(ran.out().contains("and 0 signals of others"), "{}", ran.out());
    let err = ran.err();
    assert!(err.contains("the program now uses signal SIGPROF") && err.lines().count() == 1, "{err}");
    assert!(ran.trace.shutdown && ran.trace.count("counters") > 0, "what else was asked for went on");
    assert!(ran.trace.of("main").sampled > 0, "what was sampled before is there");
}

fn in_safe_mode_the_others_go_on(jdk: &Jdk) {
    let ran = Profiled::on(jdk)
        .options("cpu=10ms,locks=on,internals=off")
        .main("running.Main")
        .args(&["200"])
        .run_and_read::<Samples>();
    let err = ran.err();
    assert!(err.contains("threads are not sampled: safe mode does not read the JVM's private memory"), "{err}");
    assert!(ran.trace.threads.values().all(|thread| thread.sampled == 0));
    assert!(ran.trace.of("r-compute").cpu.is_some());
}

fn what_the_system_cannot_deliver_is_said(jdk: &Jdk) {
    let ran = Profiled::on(jdk).options("cpu=100us").main("running.Main").args(&["200"]).run_and_read::<Samples>();
    let is_said = ran.err().contains("the kernel checks CPU time only every");
    // As many samples as asked for come only where nothing was said.
    assert!(is_said || ran.trace.count("cpu.delivered") < 200_000, "{} {:?}", ran.err(), ran.trace.counts);
}
