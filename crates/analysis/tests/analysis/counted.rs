//! Counts and accounts against a recount that keeps everything.

use std::collections::BTreeMap;

use analysis::allocations::{AllocationReport, AllocationStats, By, Subject};
use proptest::prelude::*;
use trace::ids::{ClassId, MethodId, StackId, ThreadId};
use trace::model::{AllocCount, AllocSample, ArrayCode, CountSource, Element, LiveCount, ThreadCount};
use trace::time::Time;

use crate::made;

/// Two classes have one name, as in two class loaders.
const CLASSES: [&str; 4] = ["a.A", "a.b.B", "a.b.B", "int[]"];

#[derive(Clone, Debug)]
enum Step {
    Site { class: usize, line: Option<i64>, by_vm: bool, instances: u64, bytes: u64, estimate: Option<u64> },
    Sample { class: usize, line: Option<i64>, stack: u64, thread: Option<u64>, bytes: u64 },
    Live { class: usize, instances: u64, bytes: u64, time: u64 },
    Thread { thread: u64, instances: u64, bytes: u64, vm_bytes: Option<u64> },
    NewDocument,
}

fn step() -> impl Strategy<Value = Step> {
    let (class, line) = (0..CLASSES.len(), proptest::option::of(1_i64..4));
    let (number, bytes) = (1_u64..100, 0_u64..30_000_000);
    prop_oneof![
        8 => (class.clone(), line.clone(), any::<bool>(), number.clone(), bytes.clone(), proptest::option::of(bytes.clone()))
            .prop_map(|(class, line, by_vm, instances, bytes, estimate)| {
                Step::Site { class, line, by_vm, instances, bytes, estimate }
            }),
        4 => (class.clone(), line, 1_u64..3, proptest::option::of(1_u64..4), bytes.clone())
            .prop_map(|(class, line, stack, thread, bytes)| Step::Sample { class, line, stack, thread, bytes }),
        3 => (class, number.clone(), bytes.clone(), 0_u64..4)
            .prop_map(|(class, instances, bytes, time)| Step::Live { class, instances, bytes, time }),
        3 => (1_u64..4, number, bytes.clone(), proptest::option::of(bytes))
            .prop_map(|(thread, instances, bytes, vm_bytes)| Step::Thread { thread, instances, bytes, vm_bytes }),
        1 => Just(Step::NewDocument),
    ]
}

fn define(stats: &mut AllocationStats) {
    // Its samples belong to its counts.
    stats.element(&made::agent("heap=counts,callers=512k"));
    for (id, name) in (1..).zip(CLASSES) {
        stats.element(&made::class(id, name));
    }
    stats.element(&made::method(9, 1, "run"));
    for id in 1..4 {
        stats.element(&made::thread(id, format!("thread {id}"), None));
    }
}

fn element(step: &Step) -> Element<'static> {
    let class = |class: usize| ClassId(class as u64 + 1);
    let is_array = ArrayCode::OBJECT;
    match *step {
        Step::Site { class: of, line, by_vm, instances, bytes, estimate } => Element::AllocCount(AllocCount {
            is_array,
            class: class(of),
            method: line.map(|_| MethodId(9)),
            line,
            instances,
            bytes,
            source: by_vm.then_some(CountSource::Vm),
            allocated_bytes: estimate,
            time: Time(1),
        }),
        Step::Sample { class: of, line, stack, thread, bytes } => Element::AllocSample(AllocSample {
            is_array,
            class: class(of),
            method: line.map(|_| MethodId(9)),
            line,
            stack: Some(StackId(stack)),
            thread: thread.map(ThreadId),
            samples: 1,
            instances: 1,
            bytes,
            error: bytes,
            time: Time(1),
        }),
        Step::Live { class: of, instances, bytes, time } => {
            Element::LiveCount(LiveCount { is_array, class: class(of), instances, bytes, time: Time(time) })
        }
        Step::Thread { thread, instances, bytes, vm_bytes } => {
            Element::ThreadCount(ThreadCount { thread: ThreadId(thread), instances, bytes, vm_bytes, time: Time(1) })
        }
        Step::NewDocument => unreachable!("no element"),
    }
}

fn feed(steps: &[Step]) -> AllocationReport {
    let mut stats = AllocationStats::new();
    define(&mut stats);
    for step in steps {
        if let Step::NewDocument = step {
            stats.end_document();
            define(&mut stats);
        } else {
            stats.element(&element(step));
        }
    }
    stats.end_document();
    stats.finish()
}

/// Total, bytes, live, live bytes, estimate.
type Numbers = (u64, u64, u64, u64, Option<u64>);

#[derive(Default)]
struct Recount {
    classes: BTreeMap<String, Numbers>,
    sites: BTreeMap<(String, Option<i64>), Numbers>,
    by_vm: (u64, u64),
    /// Objects and bytes of samples where nothing was counted.
    uncounted: BTreeMap<String, (u64, u64)>,
    /// Reported and accounted, thread by thread.
    accounts: Vec<(u64, Option<u64>)>,
}

fn recount(steps: &[Step]) -> Recount {
    let mut result = Recount::default();
    for document in steps.split(|step| matches!(step, Step::NewDocument)) {
        let (mut sites, mut threads) = (BTreeMap::new(), BTreeMap::new());
        let walked =
            document.iter().filter_map(|s| if let Step::Live { time, .. } = s { Some(*time) } else { None }).max();
        // Samples only grow.
        let mut samples = BTreeMap::new();
        for step in document {
            match *step {
                Step::Sample { class, line, stack, thread, bytes } => {
                    let most = samples.entry((class, line, stack, thread)).or_insert(0);
                    *most = bytes.max(*most);
                }
                Step::Site { class, line, by_vm, instances, bytes, estimate } => {
                    sites.insert((class, line, by_vm), (instances, bytes, estimate));
                }
                Step::Live { class, instances, bytes, time } if Some(time) == walked => {
                    let row = result.classes.entry(CLASSES[class].to_owned()).or_default();
                    (row.2, row.3) = (row.2 + instances, row.3 + bytes);
                }
                Step::Thread { thread, bytes, vm_bytes, .. } => drop(threads.insert(thread, (bytes, vm_bytes))),
                _ => {}
            }
        }
        let mut cells: BTreeMap<(&str, Option<i64>), [u64; 3]> = BTreeMap::new();
        for (&(class, line, by_vm), (_, bytes, _)) in &sites {
            let [executed, of_vm, _] = cells.entry((CLASSES[class], line)).or_default();
            *if by_vm { of_vm } else { executed } += if by_vm { *bytes } else { 1 };
        }
        let mut unmatched: BTreeMap<&str, Vec<(Option<i64>, u64)>> = BTreeMap::new();
        for (&(class, line, ..), &bytes) in &samples {
            match cells.get_mut(&(CLASSES[class], line)) {
                Some([.., sampled]) => *sampled += bytes,
                None => unmatched.entry(CLASSES[class]).or_default().push((line, bytes)),
            }
        }
        for (name, samples) in unmatched {
            // What the VM counted without a site explains samples.
            let by_vm = cells.get(&(name, None)).map_or(0, |&[_, of_vm, _]| of_vm) as f64;
            let all = samples.iter().map(|(_, bytes)| *bytes as f64).sum::<f64>();
            let error = samples.iter().map(|(_, bytes)| (*bytes as f64).powi(2)).sum::<f64>().sqrt();
            if all <= by_vm || by_vm > 0.0 && all - by_vm <= 2.0 * error {
                continue;
            }
            let part = (all - by_vm) / all;
            for (line, bytes) in samples {
                let (objects, bytes) = (part.round() as u64, (bytes as f64 * part).round() as u64);
                let row = result.sites.entry((name.to_owned(), line)).or_default();
                (row.0, row.1, row.4) = (row.0 + objects, row.1 + bytes, Some(row.4.unwrap_or(0) + bytes));
                let row = result.uncounted.entry(name.to_owned()).or_default();
                (row.0, row.1) = (row.0 + objects, row.1 + bytes);
            }
        }
        for ((name, line), [executed, of_vm, sampled]) in cells.into_iter().filter(|_| !samples.is_empty()) {
            let bytes = if executed > 0 { sampled.max(of_vm) } else { of_vm };
            let site = (name.to_owned(), line);
            for row in [result.classes.entry(name.to_owned()).or_default(), result.sites.entry(site).or_default()] {
                row.4 = Some(row.4.unwrap_or(0) + bytes);
            }
        }
        for ((class, line, by_vm), (instances, bytes, estimate)) in sites {
            let name = CLASSES[class].to_owned();
            let rows = [result.classes.entry(name.clone()).or_default(), result.sites.entry((name, line)).or_default()];
            for row in rows {
                (row.0, row.1) = (row.0 + instances, row.1 + bytes);
                row.4 = estimate.map(|bytes| row.4.unwrap_or(0) + bytes).or(row.4);
            }
            if by_vm {
                result.by_vm = (result.by_vm.0 + instances, result.by_vm.1 + bytes);
            }
        }
        result.accounts.extend(threads.into_values());
    }
    result
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tables_and_truth_agree_with_a_recount(steps in proptest::collection::vec(step(), 0..100)) {
        let (report, recount) = (feed(&steps), recount(&steps));
        let numbers = |totals: &analysis::allocations::ObjectTotals| {
            assert_eq!((totals.average_age(), totals.generations()), (None, 0));
            (totals.total(), totals.total_bytes(), totals.live(), totals.live_bytes(), totals.estimated_bytes())
        };
        let (mut classes, mut uncounted) = (BTreeMap::new(), BTreeMap::new());
        for row in report.rows(By::Class, |_| true) {
            match row.subject {
                Subject::Class(name) => _ = classes.insert(name.to_owned(), numbers(&row.totals)),
                Subject::Uncounted(Some(name)) => {
                    prop_assert!(row.error.is_some());
                    uncounted.insert(name.to_owned(), (row.totals.total(), row.totals.total_bytes()));
                }
                _ => panic!("a class row is about a class"),
            }
        }
        prop_assert_eq!(classes, recount.classes);
        prop_assert_eq!(&uncounted, &recount.uncounted);
        let mut sites = BTreeMap::new();
        for row in report.rows(By::Site, |_| true) {
            let Subject::Site { class, at } = row.subject else { panic!("a site row is about a site") };
            let line = at.map(|at| i64::from(at.line.expect("every site of the test has a line")));
            let mut numbers = numbers(&row.totals);
            // What lives is known by class; without a line it may share the row.
            (numbers.2, numbers.3) = (0, 0);
            sites.insert((class.to_owned(), line), numbers);
        }
        prop_assert_eq!(sites, recount.sites);
        prop_assert_eq!(report.facts().counted_by_vm, recount.by_vm);
        let unmatched = report.facts().counts.iter().find(|count| count.key == "callers.unmatched");
        let all = uncounted.values().map(|(_, bytes)| bytes).sum::<u64>();
        prop_assert_eq!(unmatched.map_or(0, |count| count.value), all);

        let coverage = report.coverage(true);
        prop_assert_eq!(coverage.uncounted.as_ref().map_or(0, |uncounted| uncounted.bytes), all);
        let known: Vec<(u64, u64)> = recount.accounts.iter().filter_map(|&(bytes, vm)| Some((bytes, vm?))).collect();
        prop_assert_eq!(report.accounts().count(), recount.accounts.len());
        prop_assert_eq!(coverage.reported, known.iter().map(|&(bytes, _)| bytes).sum::<u64>());
        prop_assert_eq!(coverage.accounted, known.iter().map(|&(_, vm)| vm).sum::<u64>());
        prop_assert_eq!(coverage.missing, known.iter().map(|&(bytes, vm)| vm.saturating_sub(bytes)).sum::<u64>());
        prop_assert_eq!(coverage.excess, known.iter().map(|&(bytes, vm)| bytes.saturating_sub(vm)).sum::<u64>());
        prop_assert_eq!(coverage.unknown_threads as usize, recount.accounts.len() - known.len());
        let worst = known.iter().filter(|&&(_, vm)| vm >= 10_000_000);
        let worst = worst.map(|&(bytes, vm)| bytes.min(vm) * 1_000_000 / vm).min();
        prop_assert_eq!(coverage.worst.map(|worst| worst.seen.0), worst);
    }
}
