//! The statistics against a recount that keeps everything and computes each column as TPTP's memory views define it.

use std::collections::{BTreeMap, BTreeSet};

use analysis::allocations::{AllocationReport, AllocationStats, By, Subject};
use proptest::prelude::*;
use trace::ids::{ClassId, MethodId, ObjectId, ThreadId};
use trace::model::{Element, GcFinish, GcStart, ObjAlloc, ObjFree};
use trace::names::package;
use trace::time::Time;

use crate::made;

const CLASSES: [&str; 5] = ["a.A", "a.b.B", "a.b.C[]", "int[]", "Main"];

/// What all ids are counted from: small ids, ids around the limit of 32 bits, and huge ones.
const BASES: [u64; 3] = [0, u32::MAX as u64 - 4, 1 << 40];

/// One step of a made-up trace. Times are given freely: they may run backwards and coincide.
#[derive(Clone, Debug)]
enum Step {
    Alloc {
        id: u64,
        class: usize,
        thread: Option<u64>,
        line: Option<i64>,
        size: u64,
        time: u64,
    },
    Free {
        id: u64,
        time: u64,
    },
    Collect {
        time: u64,
    },
    /// The id of a class comes to mean another class.
    Rename {
        class: usize,
        name: usize,
    },
    /// The id of a thread comes to mean another thread.
    Restart {
        thread: u64,
    },
    NewDocument,
}

fn step() -> impl Strategy<Value = Step> {
    let size = prop_oneof![8 => 8_u64..200, 1 => Just(u64::from(u32::MAX)), 1 => 1_u64 << 33..1 << 34];
    prop_oneof![
        10 => (1_u64..40, 0..CLASSES.len(), proptest::option::of(1_u64..4), proptest::option::of(1_i64..4), size, 0_u64..50)
            .prop_map(|(id, class, thread, line, size, time)| Step::Alloc { id, class, thread, line, size, time }),
        6 => (1_u64..40, 0_u64..50).prop_map(|(id, time)| Step::Free { id, time }),
        3 => (0_u64..50).prop_map(|time| Step::Collect { time }),
        1 => (0..CLASSES.len(), 0..CLASSES.len()).prop_map(|(class, name)| Step::Rename { class, name }),
        1 => (1_u64..4).prop_map(|thread| Step::Restart { thread }),
        1 => Just(Step::NewDocument),
    ]
}

/// An object as the recount keeps it.
#[derive(Debug)]
struct Object {
    document: usize,
    id: u64,
    class: usize,
    thread: Option<(usize, u64)>,
    line: Option<i64>,
    size: u64,
    allocated: u64,
    dead: bool,
}

/// What a row has to say: total, live, total bytes, live bytes, sum of ages, different ages.
type Numbers = (u64, u64, u64, u64, u64, BTreeSet<u64>);

fn recount(steps: &[Step]) -> (Vec<(Object, u64)>, u64) {
    let mut objects: Vec<Object> = Vec::new();
    let mut collections: Vec<(usize, u64)> = Vec::new();
    let mut document = 0;
    let mut unknown_frees = 0;
    let mut names: Vec<usize> = (0..CLASSES.len()).collect();
    // A thread is known by the step that started it.
    let mut starts: BTreeMap<u64, usize> = BTreeMap::new();
    for (index, step) in (1..).zip(steps) {
        match *step {
            Step::Alloc { id, class, thread, line, size, time } => {
                for older in objects.iter_mut().filter(|o| o.document == document && o.id == id) {
                    older.dead = true;
                }
                let thread = thread.map(|thread| (starts.get(&thread).copied().unwrap_or(0), thread));
                let class = names[class];
                objects.push(Object { document, id, class, thread, line, size, allocated: time, dead: false });
            }
            Step::Free { id, .. } => {
                match objects.iter_mut().find(|o| o.document == document && o.id == id && !o.dead) {
                    Some(object) => object.dead = true,
                    None => unknown_frees += 1,
                }
            }
            Step::Collect { time } => collections.push((document, time)),
            Step::Rename { class, name } => names[class] = name,
            Step::Restart { thread } => {
                starts.insert(thread, index);
            }
            Step::NewDocument => {
                document += 1;
                names = (0..CLASSES.len()).collect();
                starts = (1..4).map(|thread| (thread, index)).collect();
            }
        }
    }
    let aged = objects.into_iter().map(|object| {
        let survived = collections.iter().filter(|&&(d, time)| d == object.document && time > object.allocated);
        let age = survived.count() as u64;
        (object, age)
    });
    (aged.collect(), unknown_frees)
}

fn group<K: Ord>(objects: &[(Object, u64)], key: impl Fn(&Object) -> K) -> BTreeMap<K, Numbers> {
    let mut groups: BTreeMap<K, Numbers> = BTreeMap::new();
    for (object, age) in objects {
        let numbers = groups.entry(key(object)).or_default();
        numbers.0 += 1;
        numbers.2 += object.size;
        if !object.dead {
            numbers.1 += 1;
            numbers.3 += object.size;
            numbers.4 += age;
            numbers.5.insert(*age);
        }
    }
    groups
}

fn define_class(stats: &mut AllocationStats, base: u64, index: usize, name: &str) {
    stats.element(&made::class(base + index as u64 + 1, name.to_owned()));
}

fn define_thread(stats: &mut AllocationStats, base: u64, id: u64) {
    stats.element(&made::thread(base + id, "worker", None));
}

fn define(stats: &mut AllocationStats, base: u64) {
    for (index, name) in CLASSES.iter().enumerate() {
        define_class(stats, base, index, name);
    }
    stats.element(&made::method(base + 9, base + 1, "run"));
    for id in 1..4 {
        define_thread(stats, base, id);
    }
}

fn feed(steps: &[Step], base: u64) -> AllocationReport {
    let mut stats = AllocationStats::new();
    define(&mut stats, base);
    for step in steps {
        match *step {
            Step::Alloc { id, class, thread, line, size, time } => stats.element(&Element::ObjAlloc(ObjAlloc {
                thread: thread.map(|thread| ThreadId(base + thread)),
                is_array: None,
                size,
                obj_id: ObjectId(base + id),
                class: ClassId(base + class as u64 + 1),
                method: line.map(|_| MethodId(base + 9)),
                line,
                stack: None,
                time: Time(time),
            })),
            Step::Free { id, time } => {
                stats.element(&Element::ObjFree(ObjFree {
                    object: ObjectId(base + id),
                    time: Time(time),
                    thread: None,
                }));
            }
            Step::Collect { time } => {
                stats.element(&Element::GcStart(GcStart { time: Time(time), thread: None }));
                let time = Time(time);
                let finish = GcFinish { time, used_objects: None, used_space: None, total_space: None };
                stats.element(&Element::GcFinish(finish));
            }
            Step::Rename { class, name } => define_class(&mut stats, base, class, CLASSES[name]),
            Step::Restart { thread } => define_thread(&mut stats, base, thread),
            Step::NewDocument => {
                stats.end_document();
                define(&mut stats, base);
            }
        }
    }
    stats.end_document();
    stats.finish()
}

fn numbers(totals: &analysis::allocations::ObjectTotals) -> (u64, u64, u64, u64, Option<f64>, u64) {
    let average = totals.average_age();
    (totals.total(), totals.live(), totals.total_bytes(), totals.live_bytes(), average, totals.generations())
}

fn expected(n: &Numbers) -> (u64, u64, u64, u64, Option<f64>, u64) {
    (n.0, n.1, n.2, n.3, (n.1 > 0).then(|| n.4 as f64 / n.1 as f64), n.5.len() as u64)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_table_agrees_with_a_recount(
        steps in proptest::collection::vec(step(), 0..200),
        base in proptest::sample::select(&BASES[..]),
    ) {
        let report = feed(&steps, base);
        let (objects, unknown_frees) = recount(&steps);

        let classes = group(&objects, |o| CLASSES[o.class].to_owned());
        let rows = report.rows(By::Class, |_| true);
        prop_assert_eq!(rows.len(), classes.len());
        for row in &rows {
            let Subject::Class(name) = row.subject else { panic!("a class row is about a class") };
            prop_assert_eq!(numbers(&row.totals), expected(&classes[name]));
        }

        let packages = group(&objects, |o| package(CLASSES[o.class]).to_owned());
        let rows = report.rows(By::Package, |_| true);
        prop_assert_eq!(rows.len(), packages.len());
        for row in &rows {
            let Subject::Package(name) = row.subject else { panic!("a package row is about a package") };
            prop_assert_eq!(numbers(&row.totals), expected(&packages[name]));
        }

        let sites = group(&objects, |o| (CLASSES[o.class].to_owned(), o.line));
        let rows = report.rows(By::Site, |_| true);
        prop_assert_eq!(rows.len(), sites.len());
        for row in &rows {
            let Subject::Site { class, at } = row.subject else { panic!("a site row is about a site") };
            let line = at.map(|at| i64::from(at.line.expect("every site of the test has a line")));
            prop_assert_eq!(numbers(&row.totals), expected(&sites[&(class.to_owned(), line)]));
        }

        // Rows of threads of one name differ only in their id; compare as a bag.
        let threads = group(&objects, |o| o.thread);
        let mut rows: Vec<_> = report.rows(By::Thread, |_| true).iter().map(|row| {
            let Subject::Thread(thread) = row.subject else { panic!("a thread row is about a thread") };
            (thread.map(|thread| thread.id.0 - base), format!("{:?}", numbers(&row.totals)))
        }).collect();
        let mut wanted: Vec<_> =
            threads.iter().map(|(key, n)| (key.map(|(_, id)| id), format!("{:?}", expected(n)))).collect();
        rows.sort();
        wanted.sort();
        prop_assert_eq!(rows, wanted);

        let filtered = group(&objects, |o| CLASSES[o.class].starts_with("a.b"));
        let sum = report.sum(|class| class.starts_with("a.b"));
        let wanted = filtered.get(&true).cloned().unwrap_or_default();
        prop_assert_eq!(numbers(&sum), expected(&wanted));

        let facts = report.facts();
        prop_assert_eq!(facts.unknown_frees, unknown_frees);
        prop_assert_eq!(facts.allocations, objects.len() as u64);
        prop_assert_eq!(facts.undefined_ids, 0);
    }
}
