//! Threads are looked at whether they run or not.

use bci_tests::jdk::Jdk;
use bci_tests::profiled::Profiled;
use bci_tests::suite::Suite;
use trace::model::ThreadState;

use super::samples::Samples;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_version(who_waits_is_seen_waiting);
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
