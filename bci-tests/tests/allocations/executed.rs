//! The unit of budgets: what sites execute does not depend on what the JIT removes, though what the JVM accounts does.

use bci_tests::counted::Counted;
use bci_tests::jdk::Jdk;
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::suite::Suite;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(what_is_executed_is_the_same_however_it_is_compiled);
}

/// One more is made before, so that its class is there.
const OBJECTS: u64 = 10_000;
/// A header of 12 bytes, two numbers of eight, aligned to eight.
const BYTES: u64 = 32;

fn what_is_executed_is_the_same_however_it_is_compiled(jdk: &Jdk) {
    let mut accounted = Vec::new();
    for flags in [&[][..], &["-Xint"], &["-XX:TieredStopAtLevel=1"], &["-Xcomp", "-XX:-TieredCompilation"]] {
        let profiled = Profiled::on(jdk).heap(Heap::Counts).flags(flags).main("executed.Main");
        let ran = profiled.run_and_read::<Counted>();
        let made = |class: &str| {
            let sites = ran.trace.sites.iter().filter(|(site, _)| site.class == class);
            sites.map(|(_, sum)| sum.instances).sum::<u64>()
        };
        assert_eq!(made("executed.Main$Pair"), OBJECTS + 1, "{flags:?}");
        let said =
            ran.out().lines().find_map(|line| line.strip_prefix("accounted=")?.split(' ').next()?.parse::<u64>().ok());
        accounted.push(said.expect("the program says what the JVM accounts"));
    }
    let [_, interpreted, by_c1, by_c2] = accounted[..] else { unreachable!("one for each") };
    // Neither removes anything; what runs beside the loop is small.
    for kept in [interpreted, by_c1] {
        assert!((OBJECTS * BYTES..OBJECTS * BYTES + 4096).contains(&kept), "{accounted:?}");
    }
    // C2 removes them where the loop is compiled by it: that is why such bytes cannot gate a build.
    assert!(by_c2 <= interpreted, "{accounted:?}");
}
