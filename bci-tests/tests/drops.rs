//! Objects that die: exactly those that the program dropped are freed, once each, and the ages of the others are those
//! that the program counts itself.

use std::collections::{BTreeMap, BTreeSet};

use analysis::allocations::{AllocationStats, By, Subject};
use bci_tests::java;
use bci_tests::jdk::{self, Collector, Jdk, Mode};
use bci_tests::martini;
use bci_tests::process;
use bci_tests::recorded::Recorded;
use bci_tests::say::say;
use bci_tests::schema;
use bci_tests::workdir::Workdir;
use trace::reader::{Event, TraceReader};

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

#[track_caller]
fn check(jdk: &Jdk, collector: Collector, mode: Mode) {
    let place = format!("JDK {jdk}, {collector:?}, {mode:?}");
    if !jdk.supports(collector) {
        say(&format!("{place}: this JVM has no such collector, nothing tested"));
        return;
    }
    let dir = Workdir::new();
    let file = dir.join("drops.trcxml");
    let agent = martini::built().agent_path(&format!("heap=events,file={}", file.display()));
    let flags = [&["-Xmx1g", "-Xms1g"], collector.flags(), mode.flags()].concat();
    let ran = process::run(&mut java::with_agent(jdk, &flags, Some(agent), "drops.Main", &["600"])).success();
    let recount = recount(&ran.out());
    assert_eq!(recount.cohorts.len(), 11, "{place}");

    schema::validate(&file);
    let trace = Recorded::read(&file);
    for (class, cohort) in &recount.cohorts {
        let freed: BTreeSet<usize> = trace
            .of_class(class)
            .enumerate()
            .filter(|(_, object)| object.freed.is_some())
            .map(|(number, _)| number)
            .collect();
        assert_eq!(trace.of_class(class).count() as u64, cohort.total, "{place}: {class}");
        let missing: Vec<_> = cohort.dropped.difference(&freed).take(10).collect();
        let wrong: Vec<_> = freed.difference(&cohort.dropped).take(10).collect();
        assert!(
            missing.is_empty() && wrong.is_empty(),
            "{place}: of {class} {} were dropped and {} freed; dropped, not freed: {missing:?}...; freed, not dropped: \
             {wrong:?}...",
            cohort.dropped.len(),
            freed.len()
        );
    }
    match recount.pauses {
        Some(pauses) => assert_eq!(trace.collections.len() as u64, pauses, "{place}: collections in the trace"),
        None => assert!(trace.collections.len() as u64 >= recount.collections, "{place}: collections in the trace"),
    }
    check_statistics(&place, &file, &recount);
}

/// The statistics of `martini stats` are those of the program's recount.
#[track_caller]
fn check_statistics(place: &str, file: &std::path::Path, recount: &Recount) {
    let mut stats = AllocationStats::new();
    let mut reader = TraceReader::open(file).expect("read before");
    while let Some(event) = reader.next_event().expect("read before") {
        match event {
            Event::Element { element, .. } => stats.element(&element),
            Event::DocumentEnd(_) => stats.end_document(),
            Event::DocumentStart { .. } => {}
        }
    }
    let report = stats.finish();
    let rows = report.rows(By::Class, |class| recount.cohorts.contains_key(class));
    assert_eq!(rows.len(), recount.cohorts.len(), "{place}");
    for row in rows {
        let Subject::Class(class) = row.subject else { panic!("{place}: a row by class has no class") };
        let cohort = &recount.cohorts[class];
        let totals = &row.totals;
        assert_eq!(
            (totals.total(), totals.live(), totals.collected()),
            (cohort.total, cohort.live, cohort.total - cohort.live),
            "{place}: total, live and collected instances of {class}"
        );
        if let Some((age_sum, generations)) = cohort.ages {
            assert_eq!(totals.generations(), generations, "{place}: generations of {class}");
            let average = if cohort.live == 0 { 0.0 } else { age_sum as f64 / cohort.live as f64 };
            assert_eq!(totals.average_age().unwrap_or_default(), average, "{place}: average age of {class}");
        }
    }
}

fn on_each_jdk(collector: Collector) {
    for jdk in jdk::each_feature() {
        check(jdk, collector, Mode::Interpreted);
        check(jdk, collector, Mode::Default);
    }
}

#[test]
fn serial() {
    on_each_jdk(Collector::Serial);
}

#[test]
fn parallel() {
    on_each_jdk(Collector::Parallel);
}

#[test]
fn g1() {
    on_each_jdk(Collector::G1);
}

#[test]
fn z() {
    on_each_jdk(Collector::Z);
}
