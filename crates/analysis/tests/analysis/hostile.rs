//! Traces that were damaged or made up to hurt: the statistics may be odd, but there are some, and they agree with themselves.

use analysis::allocations::{AllocationReport, AllocationStats, By, Naming, Scope};
use proptest::prelude::*;
use trace::time::Nanos;

use crate::made;

const EXAMPLE: &str = include_str!("../../../../tests/traces/heap.trcxml");
const COUNTS: &str = include_str!("../../../../tests/traces/counts.trcxml");

fn read(bytes: &[u8], scope: &Scope) -> AllocationReport {
    let mut stats = AllocationStats::of(scope);
    made::read(bytes, |element| match element {
        Some(element) => stats.element(element),
        None => stats.end_document(),
    });
    stats.finish()
}

/// Every object is in exactly one row of every table.
fn check(report: &AllocationReport) {
    assert_eq!(report.sum(|_| true).total(), report.facts().allocations);
    check_rows(report);
}

fn check_rows(report: &AllocationReport) {
    let sum = report.sum(|_| true);
    for by in [By::Package, By::Class, By::Site, By::Line, By::Method, By::Module, By::Thread] {
        let rows = report.rows(by, |_| true);
        assert_eq!(rows.iter().map(|row| row.totals.total()).sum::<u64>(), sum.total());
        assert_eq!(rows.iter().map(|row| row.totals.live()).sum::<u64>(), sum.live());
        for row in rows {
            assert!(!row.subject.to_string().is_empty());
        }
    }
}

/// Slices follow each other and have no more than all.
fn check_over_time(report: &AllocationReport) {
    let slices = report.over_time(|_| true).unwrap().slices;
    assert!(slices.len() <= 64);
    assert!(slices.windows(2).all(|pair| pair[0].end == pair[1].begin));
    let names = report.site_names(&Naming::Own(vec![]));
    for by in [By::Class, By::Line] {
        for row in report.rows_over_time(by, &names, |_| true, 3) {
            assert_eq!(row.allocated.len(), slices.len());
            assert!(row.live.is_none_or(|live| live.len() == slices.len()));
        }
    }
}

/// A part of a trace, or all of it.
fn scope() -> impl Strategy<Value = Scope> {
    let nanos = || prop_oneof![0_u64..3_000_000_000, any::<u64>()].prop_map(Nanos);
    (nanos(), proptest::option::of(nanos())).prop_map(|(from, to)| Scope { from, to, over_time: true })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_text_is_counted_as_far_as_it_makes_sense(
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40),
        cut in any::<prop::sample::Index>(),
        scope in scope(),
        is_counted in any::<bool>(),
    ) {
        let bytes = made::damaged(if is_counted { COUNTS } else { EXAMPLE }, &edits, cut);
        let whole = read(&bytes, &Scope { over_time: true, ..Scope::default() });
        if !is_counted {
            check(&whole);
        }
        check_over_time(&whole);
        let part = read(&bytes, &scope);
        if !is_counted {
            check_rows(&part);
        }
        check_over_time(&part);
    }

    #[test]
    fn numbers_of_any_size_are_taken(
        numbers in proptest::collection::vec(prop_oneof![0_u64..9, any::<u64>(), Just(u64::MAX)], 1..300),
        scope in scope(),
        is_counted in any::<bool>(),
    ) {
        let example = if is_counted { COUNTS } else { EXAMPLE };
        let mut numbers = numbers.iter().copied().cycle();
        let text = made::with_numbers(example, &mut numbers, ["isArray", "lineNumber"], &['"']);
        let report = read(text.as_bytes(), &Scope { over_time: true, ..Scope::default() });
        if !is_counted {
            prop_assert!(report.facts().allocations > 0);
            check(&report);
        }
        check_over_time(&report);
        let part = read(text.as_bytes(), &scope);
        check_over_time(&part);
        if !is_counted {
            check_rows(&part);
        }
    }
}
