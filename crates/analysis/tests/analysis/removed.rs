//! What the JIT removes of a site whose callers are sampled: how often each number lies within its stated error, whatever is removed.

use analysis::allocations::{AllocationReport, AllocationStats, By, Naming, Row, Subject};
use analysis::call_tree::{Direction, Label, TreeOptions};
use trace::ids::{ClassId, MethodId, StackId, ThreadId};
use trace::model::{AllocCount, AllocSample, ArrayCode, Element, ThreadCount, TraceEnd};
use trace::time::Time;

use crate::made;

/// The interval of the sampler.
const INTERVAL: f64 = 65_536.0;
/// Of what a site executes each caller has so much; all are removed in part, the first one first.
const CALLERS: [f64; 3] = [0.6, 0.3, 0.1];
/// Simulated runs for each way to remove objects.
const RUNS: usize = 1_000;
/// What of a site is removed.
const REMOVED: [f64; 6] = [0.0, 0.01, 0.05, 0.1, 0.5, 0.9];

/// A generator of chance that is the same in each run of the test (SplitMix64).
struct Chance(u64);

impl Chance {
    /// From 0 to 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ bits >> 31) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// How many of `bytes` that are allocated in small objects are sampled.
    fn samples(&mut self, bytes: f64) -> u64 {
        let (mut samples, mut at) = (0, -self.next().ln() * INTERVAL);
        while at < bytes {
            samples += 1;
            at -= self.next().ln() * INTERVAL;
        }
        samples
    }
}

/// What each caller executes and allocates at one site, in bytes.
struct Site {
    executed: u64,
    allocated: [f64; 3],
}

impl Site {
    /// A site with so many samples on average, if nothing is removed. `way`: who has its objects removed first.
    fn of(samples: f64, removed: f64, way: usize) -> Site {
        let executed = samples * INTERVAL;
        let mut allocated = CALLERS.map(|part| part * executed);
        match way {
            0 => allocated.iter_mut().for_each(|bytes| *bytes *= 1.0 - removed),
            _ => {
                let mut rest = removed * executed;
                for at in [way - 1, way % 3, (way + 1) % 3] {
                    let less = rest.min(allocated[at]);
                    (allocated[at], rest) = (allocated[at] - less, rest - less);
                }
            }
        }
        Site { executed: executed as u64, allocated }
    }
}

/// The trace of a run in which sites execute and allocate this; all of a site's objects are of its own class. `has_accounts`: with what the
/// JVM accounts.
fn run(sites: &[Site], has_accounts: bool, chance: &mut Chance) -> AllocationReport {
    let mut stats = AllocationStats::new();
    stats.element(&made::agent("heap=counts,callers=64k"));
    for (id, name) in (1..).zip(["java.util.Arrays", "shop.A", "shop.B", "shop.C"]) {
        stats.element(&made::class(id, name));
        stats.element(&made::method(id, id, "run"));
    }
    for caller in 1..=3 {
        stats.element(&Element::StackDef(made::stack(caller, [(1, 1), (caller + 1, 1)])));
    }
    stats.element(&made::thread(1, "worker", None));
    for (id, site) in (10..).zip(sites) {
        stats.element(&made::class(id, format!("shop.Item{id}")));
        let (class, method, line) = (ClassId(id), Some(MethodId(1)), Some(1));
        stats.element(&Element::AllocCount(AllocCount {
            is_array: ArrayCode::OBJECT,
            class,
            method,
            line,
            instances: site.executed / 16,
            bytes: site.executed,
            source: None,
            allocated_bytes: None,
            time: Time(1),
        }));
        for (stack, &bytes) in (1..).zip(&site.allocated) {
            let samples = chance.samples(bytes);
            let bytes = samples * INTERVAL as u64;
            if samples == 0 {
                continue;
            }
            stats.element(&Element::AllocSample(AllocSample {
                is_array: ArrayCode::OBJECT,
                class,
                method,
                line,
                stack: Some(StackId(stack)),
                thread: Some(ThreadId(1)),
                samples,
                instances: bytes / 16,
                bytes,
                error: ((samples as f64).sqrt() * INTERVAL) as u64,
                time: Time(1),
            }));
        }
    }
    let executed: u64 = sites.iter().map(|site| site.executed).sum();
    let allocated: f64 = sites.iter().flat_map(|site| site.allocated).sum();
    stats.element(&Element::ThreadCount(ThreadCount {
        thread: ThreadId(1),
        instances: executed / 16,
        bytes: executed,
        vm_bytes: has_accounts.then_some(allocated as u64),
        time: Time(1),
    }));
    stats.element(&Element::TraceEnd(TraceEnd { time: Time(2) }));
    stats.end_document();
    stats.finish()
}

/// Of each caller, and of what is removed: how many numbers were stated, and how many of them lie within their error.
#[derive(Clone, Copy, Debug, Default)]
struct Held([(u32, u32); 4]);

impl Held {
    fn add(&mut self, at: usize, is_held: bool) {
        let (stated, held) = &mut self.0[at];
        (*stated, *held) = (*stated + 1, *held + u32::from(is_held));
    }

    /// Judges a run.
    fn judge(&mut self, sites: &[Site], report: &AllocationReport) {
        let rows = report.rows_named(By::Line, &report.site_names(&Naming::Own(vec![])), |_| true);
        let executed: u64 = sites.iter().map(|site| site.executed).sum();
        let shown: u64 = rows.iter().map(|row| row.totals.total_bytes()).sum();
        assert!(shown.abs_diff(executed) <= rows.len() as u64, "{shown} of {executed}");
        let allocated = |at: usize| sites.iter().map(|site| site.allocated[at]).sum::<f64>();
        let removed = executed as f64 - (0..3).map(allocated).sum::<f64>();
        let is_removed = |row: &Row<'_>| matches!(row.subject, Subject::Removed(_));
        if sites.len() == 1 && !rows.iter().any(is_removed) {
            // That says that no more is removed than chance may hide: twice the error beyond the border.
            self.add(3, removed <= 5.0 * (executed as f64 * INTERVAL).sqrt());
        }
        for row in rows {
            let (at, truth) = match row.subject {
                Subject::Removed(_) => (3, removed),
                Subject::Line(Some(line)) => match line.class {
                    "shop.A" => (0, allocated(0)),
                    "shop.B" => (1, allocated(1)),
                    "shop.C" => (2, allocated(2)),
                    // A site without a sample.
                    _ => continue,
                },
                other => panic!("{other}"),
            };
            let error = row.error.expect("an estimate") as f64 + 1.0;
            self.add(at, (row.totals.total_bytes() as f64 - truth).abs() <= error);
        }
    }

    /// In percent.
    fn percent(&self) -> Vec<String> {
        let percent =
            |&(stated, held): &(u32, u32)| format!("{:.1} of {stated}", 100.0 * f64::from(held) / f64::from(stated));
        self.0.iter().map(percent).collect()
    }
}

/// Simulates runs and returns what of all numbers lies within its error.
fn held(removed: f64, sites: impl Fn(f64, usize) -> Vec<Site>, has_accounts: bool, seed: u64) -> Held {
    let (mut chance, mut held) = (Chance(seed), Held::default());
    for number in 0..RUNS {
        let sites = sites(removed, number % 4);
        held.judge(&sites, &run(&sites, has_accounts, &mut chance));
    }
    held
}

/// Each of a site's callers and the row of what was removed, with so many samples of it on average.
fn check(name: &str, sites: impl Fn(f64, usize) -> Vec<Site>) {
    let ways = REMOVED.iter().flat_map(|&removed| [(removed, false), (removed, true)]);
    for (seed, (removed, has_accounts)) in (1..).zip(ways) {
        let found = held(removed, &sites, has_accounts, seed);
        eprintln!("{name}, {removed}, {has_accounts}: {:?}", found.percent());
        for (at, &(stated, held)) in found.0.iter().enumerate().filter(|(_, (stated, _))| *stated > 100) {
            // By chance so many of a thousand may be fewer than 95 %: three standard errors.
            let least = 0.95 * f64::from(stated) - 3.0 * (0.0475 * f64::from(stated)).sqrt();
            assert!(f64::from(held) >= least, "{name}, {removed} removed, {has_accounts}, {at}: {held} of {stated}");
        }
        let (stated, held) = found.0.iter().fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        assert!(f64::from(held) >= 0.95 * f64::from(stated), "{name}, {removed} removed: {held} of {stated}");
    }
}

#[test]
fn errors_hold_at_a_site_of_five_samples() {
    check("5 samples", |removed, way| vec![Site::of(5.0, removed, way)]);
}

#[test]
fn errors_hold_at_a_site_of_thirty_samples() {
    check("30 samples", |removed, way| vec![Site::of(30.0, removed, way)]);
}

#[test]
fn errors_hold_at_a_site_of_three_hundred_samples() {
    check("300 samples", |removed, way| vec![Site::of(300.0, removed, way)]);
}

#[test]
fn errors_hold_at_a_site_of_three_thousand_samples() {
    check("3000 samples", |removed, way| vec![Site::of(3_000.0, removed, way)]);
}

/// Where what was removed is as much as chance: by turns it is shown as removed, and spread.
#[test]
fn errors_hold_at_the_border() {
    for errors in [1.0, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0] {
        for (way, has_accounts) in [(0, false), (1, false), (2, false), (3, false), (0, true), (3, true)] {
            let site = |removed, _| vec![Site::of(400.0, removed, way)];
            let found = held(errors / 20.0, site, has_accounts, errors.to_bits());
            eprintln!("{errors} errors, {way}: {:?}", found.percent());
            for &(stated, held) in found.0.iter().filter(|(stated, _)| *stated > 100) {
                let least = 0.95 * f64::from(stated) - 3.0 * (0.0475 * f64::from(stated)).sqrt();
                assert!(f64::from(held) >= least, "{errors} errors, {way}: {held} of {stated}");
            }
        }
    }
}

/// Rows that many sites have in common: what chance does at each adds up.
#[test]
fn errors_hold_of_many_small_sites_together() {
    check("40 sites of 6", |removed, way| (0..40).map(|_| Site::of(6.0, removed, way)).collect());
}

/// Other sites of the same callers have nothing removed.
#[test]
fn errors_hold_of_sites_that_differ() {
    check("mixed", |removed, way| {
        vec![Site::of(200.0, removed, way), Site::of(80.0, 0.0, 0), Site::of(8.0, removed, 2), Site::of(2.0, 0.0, 0)]
    });
}

#[test]
fn what_was_removed_is_a_row_and_a_branch_of_its_own() {
    let site = Site { executed: 1000 << 16, allocated: [0.0, f64::from(300 << 16), f64::from(100 << 16)] };
    let report = run(&[site], true, &mut Chance(7));
    let names = report.site_names(&Naming::Own(vec![]));
    let text = |by| {
        let mut rows = report.rows_named(by, &names, |_| true);
        rows.sort_by_key(|row| std::cmp::Reverse(row.totals.total_bytes()));
        rows[0].subject.to_string()
    };
    let removed = "(removed by the JIT, caller unknown)";
    assert_eq!([By::Line, By::Method, By::Module, By::Thread].map(text), [removed; 4].map(str::to_owned));
    assert_eq!(text(By::Site), format!("shop.Item10 {removed}"));
    // A class has all of it, whoever makes it.
    let class = &report.rows(By::Class, |_| true)[0];
    assert_eq!((class.totals.total_bytes(), class.error), (1000 << 16, None));
    for direction in [Direction::TopDown, Direction::BottomUp] {
        let root = report.tree(&TreeOptions { direction, ..TreeOptions::default() }, |_| true, None);
        assert_eq!((root.weight, root.error), (1000 << 16, 0));
        let mut node = &root;
        while let Some(child) = node.children.first().filter(|_| node.label != Some(Label::Removed)) {
            node = child;
        }
        assert!(node.label == Some(Label::Removed) && node.error > 0, "{node:?}");
    }
    let stacks = report.allocated_stacks();
    assert_eq!(stacks.iter().map(|stack| stack.weight).sum::<u64>(), 1000 << 16);
    assert!(stacks.iter().any(|stack| stack.frames.last() == Some(&Label::Removed)));
}
