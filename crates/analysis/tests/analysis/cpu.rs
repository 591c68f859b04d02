//! Samples of CPU clocks: whatever they are grouped by, they add up, also to the clocks.

use analysis::allocations::{Naming, Scope};
use analysis::call_tree::{Direction, Granularity, Grouping, Label, Node, Ran, TreeOptions};
use analysis::cpu::{CodeKind, CpuBy, CpuReport, CpuStats, CpuSubject, SampleClock, VmWork, WhyUnknown};
use proptest::prelude::*;
use trace::ids::{FunctionId, StackId, ThreadId};
use trace::model::{
    CpuSample, Element, Flag, FrameType, FrameTypes, StackDef, ThreadCpu, ThreadKind, Tier, TraceEnd, TraceStart,
};
use trace::time::{Nanos, Time};

use crate::made;

/// Classes of frames, and methods of the same numbers.
const CODE: [&str; 3] = ["java.util.HashMap", "shop.Cart", "shop.Main"];
/// Frames of stacks by their places in `CODE`, innermost first, and how they ran; the number of a stack is its place here, and 1. The last two are the
/// same frames.
const STACKS: [(&[usize], &[FrameType]); 4] = [
    (&[0, 1, 2], &[FrameType::Inlined, FrameType::C2, FrameType::Interpreted]),
    (&[2, 1, 2], &[FrameType::Native, FrameType::C1(Tier::Full), FrameType::Interpreted]),
    (&[1, 2], &[FrameType::Interpreted, FrameType::Interpreted]),
    (&[1, 2], &[]),
];
/// Threads, the number being their place and 1: two that run Java, of the VM, of native code, and a virtual one.
const THREADS: [(&str, Option<ThreadKind>); 6] = [
    ("main", None),
    ("worker", None),
    ("GC Thread#0", Some(ThreadKind::Vm)),
    ("C2 CompilerThread0", Some(ThreadKind::Vm)),
    ("poller", Some(ThreadKind::Native)),
    ("request", None),
];

fn define(stats: &mut CpuStats) {
    stats.element(&Element::TraceStart(TraceStart { trace_id: "".into(), agent_id: "".into(), time: Time(0) }));
    for (id, name) in (1..).zip(CODE) {
        stats.element(&made::class(id, name));
        stats.element(&made::method(id, id, "run"));
    }
    for (id, (frames, types)) in (1..).zip(STACKS) {
        let stack = made::stack(id, frames.iter().map(|&code| (code as u64 + 1, code as u32 + 10)));
        let types = (!types.is_empty()).then(|| FrameTypes(types.into()));
        stats.element(&Element::StackDef(StackDef { types, ..stack }));
    }
    for (id, (name, kind)) in (1..).zip(THREADS) {
        stats.element(&made::thread(id, name, kind));
    }
    stats.element(&made::function(1, "memcpy", "libc.so.6"));
}

/// A sample of a thread: its stack, whether `memcpy` ran and the kernel, and why it was lost.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    thread: u64,
    is_virtual: bool,
    time: u64,
    length: u64,
    stack: Option<u64>,
    in_function: bool,
    in_kernel: bool,
    lost: Option<&'static str>,
}

impl Taken {
    fn element(self) -> Element<'static> {
        Element::CpuSample(CpuSample {
            thread: ThreadId(self.thread),
            virtual_thread: self.is_virtual.then_some(ThreadId(6)),
            time: Time(self.time),
            cpu: Nanos(self.length),
            stack: self.stack.map(StackId),
            function: self.in_function.then_some(FunctionId(1)),
            kernel: self.in_kernel.then_some(Flag::Yes),
            lost: self.lost.map(Into::into),
        })
    }
}

fn report(samples: &[Taken], clocks: &[(u64, u64)], scope: &Scope) -> CpuReport {
    let mut stats = CpuStats::new(SampleClock::Cpu, scope);
    define(&mut stats);
    samples.iter().for_each(|sample| stats.element(&sample.element()));
    for &(thread, cpu) in clocks {
        let (thread, cpu) = (ThreadId(thread), Nanos(cpu));
        stats.element(&Element::ThreadCpu(ThreadCpu { thread, cpu, queued: None, time: Time(1000) }));
    }
    stats.element(&Element::TraceEnd(TraceEnd { time: Time(1000) }));
    stats.end_document();
    stats.finish()
}

fn sample(thread: u64, stack: u64, length: u64) -> Taken {
    Taken { thread, stack: Some(stack), length, ..Taken::default() }
}

fn rows(report: &CpuReport, by: CpuBy, naming: &Naming) -> Vec<(String, u64, u64)> {
    let rows = report.rows(by, &report.site_names(naming));
    rows.iter().map(|row| (row.subject.to_string(), row.time.0, row.total.0)).collect()
}

#[test]
fn lines_methods_and_kinds_of_code_have_their_time() {
    let samples = [
        sample(1, 1, 100),
        sample(1, 2, 40),
        sample(2, 3, 20),
        Taken { in_function: true, ..sample(2, 3, 5) },
        Taken { in_kernel: true, ..sample(2, 1, 7) },
        Taken { thread: 3, in_function: true, length: 30, ..Taken::default() },
        Taken { thread: 1, lost: Some("frame not known"), length: 8, ..Taken::default() },
    ];
    let report = report(&samples, &[], &Scope::default());
    let own = rows(&report, CpuBy::Line, &Naming::Own(Vec::new()));
    assert_eq!(own[0], ("shop.Cart.run(line 11)".to_owned(), 132, 172));
    assert_eq!(own[1].0, "shop.Main.run(line 12)");
    assert_eq!((own[1].1, own[1].2), (40, 172), "a method that calls itself is on the stack once");
    let methods = rows(&report, CpuBy::Method, &Naming::Innermost);
    let of = |name: &str| methods.iter().find(|(found, ..)| found == name).map(|&(_, time, total)| (time, total));
    assert_eq!(of("java.util.HashMap.run"), Some((107, 107)));
    assert_eq!(of("GC Thread#* [VM]"), Some((30, 30)));
    assert_eq!(of("(stack lost: frame not known)"), Some((8, 8)));
    let kinds: Vec<_> = report
        .rows(CpuBy::Kind, &report.site_names(&Naming::Innermost))
        .iter()
        .map(|row| match row.subject {
            CpuSubject::Kind(kind) => (kind, row.time.0),
            _ => panic!("{row:?}"),
        })
        .collect();
    for kind in [
        (CodeKind::C2, 100),
        (CodeKind::Native, 45),
        (CodeKind::Vm, 30),
        (CodeKind::Interpreted, 20),
        (CodeKind::Lost, 8),
        (CodeKind::Kernel, 7),
    ] {
        assert!(kinds.contains(&kind), "{kinds:?} {kind:?}");
    }
    let inside = &report.rows(CpuBy::Line, &report.site_names(&Naming::Own(Vec::new())))[0].inside;
    assert_eq!((inside[0].subject, inside[0].time), (CpuSubject::Method(CODE[0], "run"), Nanos(107 - 7)));
    assert_eq!((report.vm_work(VmWork::Collect).0, report.vm_work(VmWork::Compile).0), (Nanos(30), Nanos(0)));
}

#[test]
fn the_tree_has_native_code_on_top_and_says_how_frames_ran() {
    let samples = [
        sample(1, 3, 60),
        Taken { in_function: true, in_kernel: true, ..sample(1, 3, 30) },
        Taken { thread: 3, in_function: true, length: 10, ..Taken::default() },
    ];
    let report = report(&samples, &[], &Scope::default());
    let root = report.tree(&TreeOptions { cut: 0.0, ..TreeOptions::default() }, false);
    let mut nodes = Vec::new();
    walk(&root, 0, &mut nodes);
    let names: Vec<_> = nodes.iter().map(|(depth, label, _)| format!("{depth} {label}")).collect();
    let expected = [
        "0 all",
        "1 shop.Main.run(line 12)",
        "2 shop.Cart.run(line 11)",
        "3 memcpy (libc)",
        "4 (kernel)",
        "1 GC Thread#*",
        "2 memcpy (libc)",
    ];
    assert_eq!(names, expected);
    assert_eq!((root.weight, root.error), (100, 0));
    assert_eq!(nodes[1].2, [Ran::Interpreted]);
    let options = TreeOptions {
        direction: Direction::BottomUp,
        granularity: Granularity::Class,
        cut: 0.0,
        ..TreeOptions::default()
    };
    let bottom_up = report.tree(&options, false);
    let roots: Vec<_> = bottom_up.children.iter().map(|node| node.label).collect();
    let library = Label::Library("libc.so.6");
    assert_eq!(roots, [Some(Label::Code("shop.Cart")), Some(Label::Kernel), Some(library)]);
}

fn walk(node: &Node<'_>, depth: usize, nodes: &mut Vec<(usize, String, Vec<Ran>)>) {
    let label = node.label.map_or_else(|| "all".to_owned(), |label| label.to_string());
    nodes.push((depth, label, node.ran.most(0.1)));
    node.children.iter().for_each(|child| walk(child, depth + 1, nodes));
}

#[test]
fn virtual_threads_are_themselves_or_their_carriers() {
    let samples = [sample(2, 3, 10), Taken { is_virtual: true, ..sample(2, 3, 30) }];
    let report = report(&samples, &[], &Scope::default());
    let of = |by| rows(&report, by, &Naming::Innermost);
    assert_eq!(of(CpuBy::Thread), [("request".to_owned(), 30, 30), ("worker".to_owned(), 10, 10)]);
    assert_eq!(of(CpuBy::Carrier), [("worker".to_owned(), 40, 40)]);
}

#[test]
fn samples_and_losses_are_compared_with_the_clocks() {
    const SECOND: u64 = 1_000_000_000;
    let lost = Taken { thread: 1, lost: Some("frame not known"), length: SECOND, ..Taken::default() };
    let samples = [sample(1, 1, 8 * SECOND), lost, sample(2, 3, 2 * SECOND), sample(5, 3, 7)];
    let clocks = [(1, 10 * SECOND), (2, 2 * SECOND), (4, 100)];
    let whole = report(&samples, &clocks, &Scope::default());
    let found = whole.conservation(true);
    assert_eq!((found.clocks, found.found, found.lost), (Nanos(12 * SECOND + 100), Nanos(10 * SECOND), Nanos(SECOND)));
    assert_eq!((found.without_clock, found.threads_without_clock), (Nanos(7), 1));
    assert_eq!((found.reasons.len(), found.reasons[0].samples), (1, 1));
    let worst = found.worst.as_ref().unwrap();
    assert_eq!((worst.thread.as_str(), worst.sampled), ("main", Nanos(9 * SECOND)));
    assert!(found.why_unknown.is_none() && found.of_clocks(found.found).is_some());
    assert_eq!(whole.conservation(false).why_unknown, Some(WhyUnknown::CutOff));
    let part = report(&samples, &clocks, &Scope { from: Nanos(1), ..Scope::default() });
    assert_eq!(part.conservation(true).why_unknown, Some(WhyUnknown::Window));
    assert_eq!(report(&samples, &[], &Scope::default()).conservation(true).why_unknown, Some(WhyUnknown::NoClocks));
}

#[test]
fn only_samples_of_the_time_asked_for_count() {
    let at = |time| Taken { time, ..sample(1, 1, 10) };
    let scope = Scope { from: Nanos(100), to: Some(Nanos(200)), over_time: false };
    let report = report(&[at(99), at(100), at(199), at(200)], &[], &scope);
    assert_eq!(report.sum(), (2, Nanos(20)));
    assert_eq!(report.length(), Nanos(100));
}

#[test]
fn what_is_undefined_is_counted_and_loses_nothing() {
    let samples = [sample(9, 77, 10), Taken { is_virtual: true, ..sample(1, 1, 5) }];
    let report = report(&samples, &[], &Scope::default());
    assert_eq!(report.sum().1, Nanos(15));
    assert_eq!(report.facts().undefined_ids, 2);
}

prop_compose! {
    fn any_sample()(
        thread in 1_u64..8,
        is_virtual in any::<bool>(),
        length in prop_oneof![0_u64..1000, Just(u64::MAX)],
        stack in proptest::option::of(1_u64..6),
        in_function in any::<bool>(),
        in_kernel in any::<bool>(),
        lost in proptest::option::of(prop_oneof![Just("deep"), Just("unknown")]),
    ) -> Taken {
        Taken { thread, is_virtual, time: 0, length, stack, in_function, in_kernel, lost }
    }
}

proptest! {
    /// Also of hostile traces, where sums stay at the largest number there is.
    #[test]
    fn sums_are_equal_in_every_grouping(samples in proptest::collection::vec(any_sample(), 0..60)) {
        let report = report(&samples, &[], &Scope::default());
        let whole = samples.iter().fold(0_u64, |sum, sample| sum.saturating_add(sample.length));
        prop_assert_eq!(report.sum(), (samples.len() as u64, Nanos(whole)));
        for by in CpuBy::ALL {
            for naming in [Naming::Innermost, Naming::Own(Vec::new())] {
                let rows = report.rows(by, &report.site_names(&naming));
                let sum = rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.time.0));
                prop_assert_eq!(sum, whole, "{:?}", by);
                prop_assert_eq!(rows.iter().map(|row| row.samples).sum::<u64>(), samples.len() as u64);
                prop_assert!(rows.iter().all(|row| row.time <= row.total && row.total.0 <= whole), "{:?}", by);
            }
        }
        for direction in [Direction::TopDown, Direction::BottomUp] {
            for grouping in [Grouping::None, Grouping::Thread] {
                let options = TreeOptions { direction, grouping, cut: 0.0, ..TreeOptions::default() };
                let root = report.tree(&options, false);
                prop_assert_eq!(root.count, samples.len() as u64);
                let below: u128 = root.children.iter().map(|child| u128::from(child.weight)).sum();
                // Nodes are rounded, each for itself.
                prop_assert!(whole == u64::MAX || below.abs_diff(whole.into()) <= 64, "{} {}", below, whole);
            }
        }
    }
}
