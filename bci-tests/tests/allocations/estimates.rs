//! The sampler beside the counters of `heap=counts`: what it estimates of each site against what is known of it.

use bci_tests::counted::{Counted, Site};
use bci_tests::jdk::Jdk;
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::suite::Suite;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(what_is_not_removed_is_found_where_it_was_executed);
    suite.each_jdk(what_the_jit_removes_is_not_found);
}

fn run(jdk: &Jdk, flags: &[&str]) -> Counted {
    let profiled = Profiled::on(jdk).heap(Heap::Counts).option("callers", INTERVAL).flags(flags);
    let trace = profiled.main("removed.Main").run_and_read::<Counted>().trace;
    let interval = trace.count("callers.interval");
    // With a longer one the errors below would allow nearly anything.
    assert!((INTERVAL..=64 * INTERVAL).contains(&interval), "{interval}");
    trace
}

/// Executed and estimated bytes of the sites in the program's own methods.
fn own_sites(trace: &Counted) -> Vec<(&Site, u64, u64)> {
    let own = trace.sites.iter().filter(|(site, _)| site.method.starts_with("removed.") && !site.from_vm);
    let estimate = |site| trace.estimates.get(site).copied().unwrap_or(0);
    let sites: Vec<_> = own.map(|(site, executed)| (site, executed.bytes, estimate(site))).collect();
    assert!(sites.len() >= 12, "only {} sites", sites.len());
    sites
}

/// What two hundred thousand objects and more make; the program's other sites run once.
const MANY: u64 = 1_000_000;

/// Bytes between two samples that are asked for.
const INTERVAL: u64 = 1024;

/// What an estimate of so many bytes may be off: six standard deviations.
fn error(trace: &Counted, bytes: u64) -> u64 {
    (6.0 * (trace.count("callers.interval") as f64 * bytes as f64).sqrt()) as u64
}

/// JDK 11 comes too early to its samples, for which the agent can allow only roughly.
fn bias(jdk: &Jdk, bytes: u64) -> u64 {
    if jdk.feature < 17 { bytes / 20 } else { 0 }
}

fn what_is_not_removed_is_found_where_it_was_executed(jdk: &Jdk) {
    let trace = run(jdk, &["-Xint"]);
    for (site, executed, estimate) in own_sites(&trace) {
        let right = if executed > MANY {
            executed.abs_diff(estimate) <= error(&trace, executed) + bias(jdk, executed)
        } else {
            estimate < MANY
        };
        assert!(right, "{site:?} {executed} {estimate}");
    }
}

/// C2 removes what no other method sees, from some round on.
fn what_the_jit_removes_is_not_found(jdk: &Jdk) {
    let trace = run(jdk, &["-Xbatch", "-XX:-TieredCompilation", "-XX:CompileThresholdScaling=0.05"]);
    let sites = own_sites(&trace);
    for &(site, executed, estimate) in sites.iter().filter(|(_, executed, _)| *executed > MANY) {
        let most = executed + error(&trace, executed) + bias(jdk, executed);
        assert!(estimate <= most, "{site:?} {executed} {estimate}");
    }
    for class in ["removed.Main$Plain", "short[]"] {
        let of_class = sites.iter().find(|(site, executed, _)| site.class == class && *executed > MANY);
        let (site, executed, estimate) = of_class.unwrap_or_else(|| panic!("no site of {class}"));
        assert!(estimate * 2 < *executed, "{site:?} {executed} {estimate}");
    }
}
