//! Objects that die: exactly those that the program dropped are freed, once each, and the ages of the others are those
//! that the program counts itself.

use std::collections::{BTreeMap, BTreeSet};

use analysis::allocations::{AllocationStats, By, Subject};
use bci_tests::jdk::{Collector, Jdk, Mode};
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::read::TraceData;
use bci_tests::recorded::Recorded;
use bci_tests::suite::Suite;
use trace::model::Element;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk_and_collector(interpreted);
    suite.each_jdk_and_collector(compiled);
}

fn interpreted(jdk: &Jdk, collector: Collector) {
    check(jdk, collector, Mode::Interpreted);
}

fn compiled(jdk: &Jdk, collector: Collector) {
    check(jdk, collector, Mode::Default);
}

/// What the program says about one of its classes.
#[derive(Debug, Default)]
struct Cohort {
    total: u64,
    live: u64,
    /// Sum of the ages of the live objects, and number of different ages, where the JVM counts its pauses.
    ages: Option<(u64, u64)>,
    /// Numbers of the dropped members, in the order of their birth.
    dropped: BTreeSet<usize>,
}

/// What the program says about all of them.
#[derive(Debug, Default)]
struct Recount {
    cohorts: BTreeMap<String, Cohort>,
    pauses: Option<u64>,
    collections: u64,
}

fn recount(stdout: &str) -> Recount {
    let mut recount = Recount::default();
    for line in stdout.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields[..] {
            ["class", name, total, live, age_sum, generations] => {
                let cohort = recount.cohorts.entry(name.to_owned()).or_default();
                cohort.total = total.parse().expect("a number");
                cohort.live = live.parse().expect("a number");
                cohort.ages = age_sum.parse().ok().zip(generations.parse().ok());
            }
            ["freed", name, numbers] => {
                let numbers = numbers.split_whitespace().map(|n| n.parse().expect("a number"));
                recount.cohorts.entry(name.to_owned()).or_default().dropped = numbers.collect();
            }
            ["collections", count] => recount.collections = count.parse().expect("a number"),
            ["pauses", count] => recount.pauses = count.parse().ok(),
            ["done"] => return recount,
            _ => panic!("drops.Main printed {line:?}"),
        }
    }
    panic!("drops.Main did not finish:\n{stdout}");
}

/// The objects of a trace, and its statistics as `martini stats` has them.
#[derive(Default)]
struct Followed {
    recorded: Recorded,
    stats: AllocationStats,
}

impl TraceData for Followed {
    fn element(&mut self, element: &Element<'_>) {
        self.recorded.element(element);
        self.stats.element(element);
    }

    fn end(&mut self, is_complete: bool) {
        self.recorded.end(is_complete);
        self.stats.end_document();
    }
}

#[track_caller]
fn check(jdk: &Jdk, collector: Collector, mode: Mode) {
    let profiled = Profiled::on(jdk).heap(Heap::Events).flags(&["-Xmx1g", "-Xms1g"]).collector(collector).mode(mode);
    let ran = profiled.no_schema().main("drops.Main").args(&["600"]).run_and_read::<Followed>();
    let recount = recount(&ran.out());
    assert_eq!(recount.cohorts.len(), 11);

    let trace = ran.trace.recorded;
    for (class, cohort) in &recount.cohorts {
        let freed: BTreeSet<usize> = trace
            .of_class(class)
            .enumerate()
            .filter(|(_, object)| object.freed.is_some())
            .map(|(number, _)| number)
            .collect();
        assert_eq!(trace.of_class(class).count() as u64, cohort.total, "{class}");
        let missing: Vec<_> = cohort.dropped.difference(&freed).take(10).collect();
        let wrong: Vec<_> = freed.difference(&cohort.dropped).take(10).collect();
        assert!(
            missing.is_empty() && wrong.is_empty(),
            "of {class} {} were dropped and {} freed; dropped, not freed: {missing:?}...; freed, not dropped: {wrong:?}...",
            cohort.dropped.len(),
            freed.len()
        );
    }
    match recount.pauses {
        Some(pauses) => assert_eq!(trace.collections.len() as u64, pauses, "collections in the trace"),
        None => assert!(trace.collections.len() as u64 >= recount.collections, "collections in the trace"),
    }
    check_statistics(ran.trace.stats, &recount);
}

/// The statistics of `martini stats` are those of the program's recount.
#[track_caller]
fn check_statistics(stats: AllocationStats, recount: &Recount) {
    let report = stats.finish();
    let rows = report.rows(By::Class, |class| recount.cohorts.contains_key(class));
    assert_eq!(rows.len(), recount.cohorts.len());
    for row in rows {
        let Subject::Class(class) = row.subject else { panic!("a row by class has no class") };
        let cohort = &recount.cohorts[class];
        let totals = &row.totals;
        assert_eq!(
            (totals.total(), totals.live(), totals.collected()),
            (cohort.total, cohort.live, cohort.total - cohort.live),
            "total, live and collected instances of {class}"
        );
        if let Some((age_sum, generations)) = cohort.ages {
            assert_eq!(totals.generations(), generations, "generations of {class}");
            let average = if cohort.live == 0 { 0.0 } else { age_sum as f64 / cohort.live as f64 };
            assert_eq!(totals.average_age().unwrap_or_default(), average, "average age of {class}");
        }
    }
}
