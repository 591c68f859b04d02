//! Calls against a recount that keeps them all as intervals, and looks at each pair of them.

use std::collections::{BTreeMap, BTreeSet};

use analysis::call_tree::{Direction, Granularity, Grouping, Node, TreeOptions};
use analysis::execution::{CallBy, CallRow, CallSelection, CallSubject, ExecutionReport, ExecutionStats, Faults};
use proptest::prelude::*;
use trace::ids::{ClassId, MethodId, ThreadId};
use trace::model::{AgMethodEntry, AgMethodExit, Element, MethodEntry, MethodExit, ThreadEnd};
use trace::names::package;
use trace::time::{Nanos, Time};

use crate::made;

const CLASSES: [&str; 4] = ["a.A", "a.B", "b.C", "D"];
/// The class of each method.
const METHODS: [usize; 6] = [0, 0, 1, 2, 3, 3];
/// More than what a clock may jitter.
const SET_BACK: u64 = 1_500_000_000;

/// One step of a made-up trace. Times are steps, forward or back, of one clock.
#[derive(Clone, Debug)]
enum Step {
    Enter {
        thread: u64,
        method: u64,
        has_ticket: bool,
    },
    /// Ends what a program that does nothing wrong would.
    Exit {
        thread: u64,
        overhead: Option<u64>,
    },
    /// Ends anything.
    ExitOf {
        thread: u64,
        method: u64,
        ticket: Option<u64>,
    },
    EnterAdded {
        thread: u64,
        method: u64,
        calls: Option<u64>,
        base: Option<u64>,
    },
    ExitAdded {
        thread: u64,
        method: u64,
    },
    StartThread {
        thread: u64,
    },
    EndThread {
        thread: u64,
    },
    Forward(u64),
    Back(u64),
    NoTime,
    NewDocument,
}

fn step() -> impl Strategy<Value = Step> {
    // Of ids, the last is not defined.
    let (thread, method) = (|| 1_u64..4, || 0_u64..METHODS.len() as u64 + 1);
    let overhead = || proptest::option::weighted(0.3, 0_u64..30);
    prop_oneof![
        12 => (thread(), method(), any::<bool>())
            .prop_map(|(thread, method, has_ticket)| Step::Enter { thread, method, has_ticket }),
        8 => (thread(), overhead()).prop_map(|(thread, overhead)| Step::Exit { thread, overhead }),
        3 => (thread(), method(), proptest::option::of(0_u64..30))
            .prop_map(|(thread, method, ticket)| Step::ExitOf { thread, method, ticket }),
        1 => (thread(), method(), proptest::option::of(0_u64..9), proptest::option::of(0_u64..99))
            .prop_map(|(thread, method, calls, base)| Step::EnterAdded { thread, method, calls, base }),
        1 => (thread(), method()).prop_map(|(thread, method)| Step::ExitAdded { thread, method }),
        1 => thread().prop_map(|thread| Step::StartThread { thread }),
        1 => thread().prop_map(|thread| Step::EndThread { thread }),
        12 => (1_u64..100).prop_map(Step::Forward),
        2 => prop_oneof![3 => 1_u64..60, 1 => Just(SET_BACK)].prop_map(Step::Back),
        1 => Just(Step::NoTime),
        1 => Just(Step::NewDocument),
    ]
}

/// The elements of a trace; `None` ends a document.
fn elements(steps: &[Step]) -> Vec<Option<Element<'static>>> {
    let (mut all, mut document) = (Vec::new(), 0);
    let (mut now, mut has_time, mut tickets, mut starts) = (1000 * SET_BACK, true, 0, 0);
    let mut stacks: BTreeMap<u64, Vec<(u64, Option<u64>)>> = BTreeMap::new();
    define(document, &mut all);
    for step in steps {
        let time = Time(if has_time { now } else { 0 });
        has_time = true;
        match *step {
            Step::Enter { thread, method, has_ticket } => {
                let ticket = has_ticket.then_some(tickets);
                tickets = (tickets + 1) % 25;
                stacks.entry(thread).or_default().push((method, ticket));
                all.push(Some(entry(thread, method, ticket, time)));
            }
            Step::Exit { thread, overhead } => {
                if let Some((method, ticket)) = stacks.entry(thread).or_default().pop() {
                    all.push(Some(exit(thread, method, ticket, time, overhead)));
                }
            }
            Step::ExitOf { thread, method, ticket } => all.push(Some(exit(thread, method, ticket, time, None))),
            Step::EnterAdded { thread, method, calls, base } => all.push(Some(Element::AgMethodEntry(AgMethodEntry {
                thread: ThreadId(thread),
                method: MethodId(method),
                class: None,
                calls,
                base: base.map(Nanos),
            }))),
            Step::ExitAdded { thread, method } => all.push(Some(Element::AgMethodExit(AgMethodExit {
                thread: ThreadId(thread),
                method: MethodId(method),
                class: None,
            }))),
            Step::StartThread { thread } => {
                starts += 1;
                all.push(Some(made::thread(thread, format!("thread {starts}"), None)));
            }
            Step::EndThread { thread } => {
                all.push(Some(Element::ThreadEnd(ThreadEnd { thread: ThreadId(thread), time })));
            }
            Step::Forward(by) => now += by,
            Step::Back(by) => now -= by,
            Step::NoTime => has_time = false,
            Step::NewDocument => {
                all.push(None);
                document += 1;
                define(document, &mut all);
            }
        }
    }
    all.push(None);
    all
}

/// Defines classes and methods, whose ids mean others in each document.
fn define(document: u64, all: &mut Vec<Option<Element<'static>>>) {
    let methods = METHODS.len() as u64;
    all.extend((0..).zip(CLASSES).map(|(id, name)| Some(made::class(id, name))));
    all.extend((0..methods).map(|id| {
        let name = (id + document) % methods;
        Some(made::method(id, METHODS[name as usize] as u64, format!("m{name}")))
    }));
}

fn entry(thread: u64, method: u64, ticket: Option<u64>, time: Time) -> Element<'static> {
    let (thread, method) = (ThreadId(thread), MethodId(method));
    Element::MethodEntry(MethodEntry {
        thread,
        time,
        method,
        object: None,
        class: ClassId(0),
        ticket,
        stack_depth: None,
    })
}

fn exit(thread: u64, method: u64, ticket: Option<u64>, time: Time, overhead: Option<u64>) -> Element<'static> {
    let (thread, method, overhead) = (ThreadId(thread), MethodId(method), overhead.map(Nanos));
    Element::MethodExit(MethodExit { thread, method, object: None, class: ClassId(0), ticket, time, overhead })
}

fn report(elements: &[Option<Element<'_>>], selection: CallSelection) -> ExecutionReport {
    let mut stats = ExecutionStats::new(selection);
    for element in elements {
        match element {
            Some(element) => stats.element(element),
            None => stats.end_document(),
        }
    }
    stats.finish()
}

/// A call of the recount.
#[derive(Clone, Debug)]
struct Call {
    thread: String,
    /// Class and method.
    name: (String, String),
    ticket: Option<u64>,
    raw: u64,
    begin: u64,
    end: Option<u64>,
    overhead: u64,
    caller: Option<usize>,
    added: Option<(u64, u64)>,
}

/// All calls of a trace, and what is known besides them.
#[derive(Default)]
struct Recount {
    calls: Vec<Call>,
    faults: Faults,
    undefined: u64,
}

/// Of times in their order: how long they are in all, as far as they run forward. A second back sets the clock.
fn elapsed(times: &[u64]) -> u64 {
    let (mut latest, mut sum) = (times.first().copied().unwrap_or(0), 0);
    for &time in times {
        if time > latest {
            sum += time - latest;
            latest = time;
        } else if latest - time > 1_000_000_000 {
            latest = time;
        }
    }
    sum
}

fn recount(elements: &[Option<Element<'_>>]) -> Recount {
    let mut all = Recount::default();
    for document in elements.split(|element| element.is_none()) {
        recount_document(document, &mut all);
    }
    all
}

fn recount_document(document: &[Option<Element<'_>>], all: &mut Recount) {
    let mut classes: BTreeMap<u64, String> = BTreeMap::new();
    let mut methods: BTreeMap<u64, (String, String)> = BTreeMap::new();
    let mut threads: BTreeMap<u64, String> = BTreeMap::new();
    let mut times: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let mut undefined: BTreeSet<(bool, u64)> = BTreeSet::new();
    // Which thread has each call that is open, in the order of their entries.
    let mut open: Vec<(u64, usize)> = Vec::new();
    let latest = document.iter().flatten().filter_map(|element| element.event_time()).max().unwrap_or_default().0;
    let finish = |thread: u64, open: &mut Vec<(u64, usize)>, all: &mut Recount, now: u64| {
        for (_, call) in open.extract_if(.., |(of, _)| *of == thread) {
            all.calls[call].end = Some(now);
            all.faults.open += 1;
        }
    };
    let reached = |times: &BTreeMap<u64, Vec<u64>>, thread: u64, end: u64| {
        let mut known = times.get(&thread).cloned().unwrap_or_default();
        // It cannot set a clock.
        let before = elapsed(&known);
        known.push(end);
        if end == 0 { before } else { before.max(elapsed(&known)) }
    };
    for element in document.iter().flatten() {
        let (id, method, ticket, time, is_entry, added, overhead) = match element {
            Element::ClassDef(class) => {
                classes.insert(class.class_id.0, class.name.to_string());
                continue;
            }
            Element::MethodDef(method) => {
                let class = classes[&method.class.0].clone();
                methods.insert(method.method_id.0, (class, method.name.to_string()));
                continue;
            }
            Element::ThreadStart(start) => {
                let id = start.thread_id.0;
                let now = elapsed(times.get(&id).map_or(&[][..], |times| times));
                finish(id, &mut open, all, now);
                times.remove(&id);
                threads.insert(id, start.thread_name.to_string());
                continue;
            }
            Element::ThreadEnd(end) => {
                let now = reached(&times, end.thread.0, end.time.0);
                finish(end.thread.0, &mut open, all, now);
                times.remove(&end.thread.0);
                continue;
            }
            Element::MethodEntry(e) => (e.thread.0, e.method.0, e.ticket, Some(e.time.0), true, None, 0),
            Element::MethodExit(e) => {
                let overhead = e.overhead.unwrap_or_default().0;
                (e.thread.0, e.method.0, e.ticket, Some(e.time.0), false, None, overhead)
            }
            Element::AgMethodEntry(e) => {
                all.faults.without_numbers += u64::from(e.calls.is_none() || e.base.is_none());
                let numbers = (e.calls.unwrap_or(0), e.base.unwrap_or_default().0);
                (e.thread.0, e.method.0, None, None, true, Some(numbers), 0)
            }
            Element::AgMethodExit(e) => (e.thread.0, e.method.0, None, None, false, None, 0),
            _ => unreachable!("no other element is made"),
        };
        let name = methods.get(&method).cloned().unwrap_or_else(|| {
            undefined.insert((true, method));
            ("(undefined class)".to_owned(), format!("(undefined method {method})"))
        });
        let thread = threads.get(&id).cloned().unwrap_or_else(|| {
            undefined.insert((false, id));
            format!("(undefined thread {id})")
        });
        let known = times.entry(id).or_default();
        match time {
            Some(0) => all.faults.without_time += 1,
            Some(time) => {
                // The latest since the clock was set.
                let latest = known.iter().fold(0, |latest: u64, &time| {
                    if latest.saturating_sub(time) > 1_000_000_000 { time } else { latest.max(time) }
                });
                if time < latest {
                    all.faults.backwards += 1;
                    all.faults.furthest_back = all.faults.furthest_back.max(Nanos(latest - time));
                    all.faults.set_back += u64::from(latest - time > 1_000_000_000);
                }
                known.push(time);
            }
            None => {}
        }
        let now = elapsed(known);
        if is_entry {
            let caller = open.iter().rev().find(|(of, _)| *of == id).map(|(_, call)| *call);
            open.push((id, all.calls.len()));
            let raw = time.unwrap_or(0);
            all.calls.push(Call { thread, name, ticket, raw, begin: now, end: None, overhead: 0, caller, added });
            continue;
        }
        let found = open.iter().rposition(|&(of, call)| {
            let call = &all.calls[call];
            of == id && if ticket.is_some() { call.ticket == ticket } else { call.name == name }
        });
        let Some(found) = found else {
            let is_other = ticket.is_none() && open.iter().any(|(of, _)| *of == id);
            *(if is_other { &mut all.faults.of_others } else { &mut all.faults.without_entry }) += 1;
            continue;
        };
        let (_, call) = open.remove(found);
        for (_, inner) in open.extract_if(found.., |(of, _)| *of == id) {
            all.calls[inner].end = Some(now);
            all.faults.unwound += 1;
        }
        let call = &mut all.calls[call];
        (call.end, call.overhead) = (Some(now), overhead);
        all.faults.misnamed += u64::from(call.name != name);
        all.faults.negative += u64::from(time.is_some_and(|time| time > 0 && time < call.raw));
    }
    let ids: BTreeSet<u64> = open.iter().map(|(id, _)| *id).collect();
    for id in ids {
        let now = reached(&times, id, latest);
        finish(id, &mut open, all, now);
    }
    all.undefined += undefined.len() as u64;
}

/// Calls, base, cumulative, shortest and longest call, and the sum and number of calls that are known one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Numbers {
    calls: u64,
    base: u64,
    cumulative: u64,
    min: Option<u64>,
    max: Option<u64>,
    average: Option<u64>,
}

impl Recount {
    fn callers(&self, call: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.calls[call].caller, |&caller| self.calls[caller].caller)
    }

    fn is_counted(&self, call: usize, code: Option<&str>) -> bool {
        let is_inside = |call: usize| code.is_none_or(|code| self.calls[call].name.0 == code);
        is_inside(call) || self.callers(call).any(is_inside)
    }

    /// How many calls a call is, and how long it took without what it called.
    fn own(&self, call: usize, code: Option<&str>) -> (u64, u64) {
        let Call { begin, end, overhead, added, .. } = self.calls[call];
        if !self.is_counted(call, code) {
            return (0, 0);
        }
        let length = |call: &Call| call.end.unwrap() - call.begin;
        let called = self.calls.iter().filter(|other| other.caller == Some(call)).map(length).sum::<u64>();
        let (calls, own) = added.unwrap_or((1, end.unwrap() - begin - called.min(end.unwrap() - begin)));
        (calls, own - own.min(overhead))
    }

    /// Of all calls inside a call, and of itself.
    fn cumulative(&self, call: usize, code: Option<&str>) -> u64 {
        let is_in = |&other: &usize| other == call || self.callers(other).any(|caller| caller == call);
        (0..self.calls.len()).filter(is_in).map(|other| self.own(other, code).1).sum()
    }

    /// The rows of a table by their names.
    fn rows(&self, name: impl Fn(&Call) -> String, code: Option<&str>) -> BTreeMap<String, Numbers> {
        let mut rows: BTreeMap<String, (Numbers, Vec<u64>)> = BTreeMap::new();
        for (at, call) in self.calls.iter().enumerate().filter(|(at, _)| self.is_counted(*at, code)) {
            let key = name(call);
            let is_inner =
                self.callers(at).any(|caller| self.is_counted(caller, code) && name(&self.calls[caller]) == key);
            let ((calls, base), time) = (self.own(at, code), self.cumulative(at, code));
            let (numbers, each) = rows.entry(key).or_default();
            numbers.calls += calls;
            numbers.base += base;
            numbers.cumulative += if is_inner { 0 } else { time };
            if call.added.is_none() {
                each.push(time);
            }
        }
        let finished = |(name, (numbers, each)): (String, (Numbers, Vec<u64>))| {
            let average = (!each.is_empty()).then(|| each.iter().sum::<u64>() / each.len() as u64);
            let (min, max) = (each.iter().min().copied(), each.iter().max().copied());
            (name, Numbers { min, max, average, ..numbers })
        };
        rows.into_iter().map(finished).collect()
    }

    /// Calls, base and cumulative time of each path of the tree. Methods that call themselves are one node.
    fn tree(&self, code: Option<&str>) -> BTreeMap<Vec<String>, (u64, u64, u64)> {
        let path = |call: usize| {
            let mut path: Vec<String> = self.callers(call).map(|caller| label(&self.calls[caller])).collect();
            path.reverse();
            path.push(label(&self.calls[call]));
            path.dedup();
            path
        };
        let mut nodes: BTreeMap<Vec<String>, (u64, u64, u64)> = BTreeMap::new();
        for at in 0..self.calls.len() {
            let is_above = |other: usize| {
                self.own(other, code) != (0, 0) && (other == at || self.callers(other).any(|caller| caller == at))
            };
            if !(0..self.calls.len()).any(is_above) {
                continue;
            }
            let is_inner =
                self.calls[at].caller.is_some_and(|caller| label(&self.calls[caller]) == label(&self.calls[at]));
            let (calls, base) = self.own(at, code);
            let node = nodes.entry(path(at)).or_default();
            node.0 += calls;
            node.1 += base;
            node.2 += if is_inner { 0 } else { self.cumulative(at, code) };
        }
        nodes
    }
}

fn label(call: &Call) -> String {
    format!("{}.{}", call.name.0, call.name.1)
}

fn paths(node: &Node<'_>, above: &mut Vec<String>, all: &mut BTreeMap<Vec<String>, (u64, u64, u64)>) {
    let label = node.label.map(|label| label.to_string());
    above.extend(label.clone());
    if label.is_some() {
        all.insert(above.clone(), (node.count, node.own, node.weight));
    }
    node.children.iter().for_each(|child| paths(child, above, all));
    label.iter().for_each(|_| drop(above.pop()));
}

fn numbers(row: &CallRow<'_>) -> Numbers {
    let nanos = |time: Option<Nanos>| time.map(|time| time.0);
    Numbers {
        calls: row.calls,
        base: row.base.0,
        cumulative: row.cumulative.0,
        min: nanos(row.min),
        max: nanos(row.max),
        average: nanos(row.average),
    }
}

/// Checks a report against the recount of the same elements.
fn check(report: &ExecutionReport, recount: &Recount, code: Option<&str>) {
    assert_eq!(*report.faults(), recount.faults);
    assert_eq!(report.facts().undefined_ids, recount.undefined);
    let found = |by: CallBy| {
        let rows = report.rows(by);
        let mut found: BTreeMap<String, Numbers> = BTreeMap::new();
        for row in &rows {
            let name = match row.subject {
                CallSubject::Method(at) => format!("{}.{}", at.class, at.method),
                CallSubject::Class(name) | CallSubject::Package(name) => name.to_owned(),
                CallSubject::Thread(thread) => thread.name.to_owned(),
            };
            assert_eq!(found.insert(name, numbers(row)), None);
        }
        found
    };
    assert_eq!(found(CallBy::Method), recount.rows(label, code));
    assert_eq!(found(CallBy::Class), recount.rows(|call| call.name.0.clone(), code));
    assert_eq!(found(CallBy::Package), recount.rows(|call| package(&call.name.0).to_owned(), code));
    let threads = recount.rows(|call| call.thread.clone(), code);
    // Threads of several documents may have no name but their number.
    let has_unnamed = threads.keys().any(|name| name.starts_with('('));
    if report.documents() == 1 || !has_unnamed {
        assert_eq!(found(CallBy::Thread), threads);
    }
    let whole = threads.values().fold((0, 0), |sum, row| (sum.0 + row.calls, sum.1 + row.base));
    assert_eq!((report.sum().0, report.sum().1.0), whole);
    let options = TreeOptions { granularity: Granularity::Method, cut: 0.0, ..TreeOptions::default() };
    let root = report.tree(&options);
    assert_eq!((root.count, root.weight), whole);
    let mut nodes = BTreeMap::new();
    paths(&root, &mut Vec::new(), &mut nodes);
    assert_eq!(nodes, recount.tree(code));
    let up = report.tree(&TreeOptions { direction: Direction::BottomUp, ..options });
    assert_eq!((up.count, up.weight), whole);
    let methods = recount.rows(label, code);
    let own: BTreeMap<String, (u64, u64)> =
        up.children.iter().map(|node| (node.label.unwrap().to_string(), (node.count, node.weight))).collect();
    // A node without calls and time is none.
    let expected = methods.iter().filter(|(_, row)| row.calls > 0 || row.base > 0);
    assert_eq!(own, expected.map(|(name, row)| (name.clone(), (row.calls, row.base))).collect());
    for direction in [Direction::TopDown, Direction::BottomUp] {
        let by_thread = report.tree(&TreeOptions { direction, grouping: Grouping::Thread, ..options });
        assert_eq!((by_thread.count, by_thread.weight), whole);
    }
    let stacks = report.called_stacks();
    let sum = stacks.iter().fold((0, 0), |sum, stack| (sum.0 + stack.count, sum.1 + stack.weight));
    assert_eq!(sum, whole);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_number_is_that_of_a_recount(steps in proptest::collection::vec(step(), 1..120)) {
        let elements = elements(&steps);
        check(&report(&elements, CallSelection::default()), &recount(&elements), None);
    }

    #[test]
    fn a_part_has_the_numbers_of_a_recount(steps in proptest::collection::vec(step(), 1..80), number in 1_u64..3) {
        let elements = elements(&steps);
        let inside = CallSelection { code: vec!["a.A".parse().unwrap()], ..CallSelection::default() };
        check(&report(&elements, inside), &recount(&elements), Some("a.A"));
        let of_one = report(&elements, CallSelection { document: Some(number), ..CallSelection::default() });
        let documents: Vec<&[Option<Element<'_>>]> = elements.split_inclusive(|element| element.is_none()).collect();
        prop_assert_eq!(of_one.documents(), documents.len() as u64);
        let document = documents.get(number as usize - 1).copied().unwrap_or_default();
        let alone = report(document, CallSelection::default());
        for by in CallBy::ALL {
            prop_assert_eq!(of_one.rows(by).len(), alone.rows(by).len());
            for (row, other) in of_one.rows(by).iter().zip(alone.rows(by)) {
                prop_assert_eq!(numbers(row), numbers(&other));
            }
        }
    }
}

#[test]
fn what_the_profiler_took_is_no_time_of_a_call_or_its_callers() {
    let second = 1_000_000_000;
    let trace = [
        Some(made::class(0, "a.A")),
        Some(made::method(0, 0, "outer")),
        Some(made::method(1, 0, "inner")),
        Some(entry(1, 0, Some(1), Time(second))),
        Some(entry(1, 1, Some(2), Time(second + 100))),
        Some(exit(1, 1, Some(2), Time(second + 150), Some(30))),
        Some(entry(1, 1, Some(3), Time(second + 200))),
        Some(exit(1, 1, Some(3), Time(second + 210), Some(70))),
        Some(exit(1, 0, Some(1), Time(second + 300), Some(5))),
        None,
    ];
    let report = report(&trace, CallSelection::default());
    let rows = report.rows(CallBy::Method);
    let [outer, inner] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((outer.base, outer.cumulative), (Nanos(235), Nanos(255)));
    assert_eq!((inner.base, inner.min, inner.max), (Nanos(20), Some(Nanos(0)), Some(Nanos(20))));
    assert_eq!((report.overhead(), report.overhead_taken_off()), (Nanos(105), Nanos(45)));
    assert_eq!(*report.faults(), Faults::default());
}

#[test]
fn a_million_nested_calls_need_no_stack_and_no_more_nodes_than_there_is_room_for() {
    const DEEP: u64 = 1_000_000;
    let mut stats = ExecutionStats::new(CallSelection::default());
    stats.element(&made::class(0, "a.A"));
    (0..3).for_each(|id| stats.element(&made::method(id, 0, format!("m{id}"))));
    for at in 0..DEEP + 10 {
        stats.element(&entry(1, at % 3, Some(at), Time(1_000_000_000 + at)));
    }
    stats.element(&exit(1, 0, Some(DEEP), Time(2_000_000_000), None));
    stats.end_document();
    let report = stats.finish();
    assert_eq!(report.sum(), (DEEP + 10, Nanos(1_000_000_000)));
    let faults = report.faults();
    assert_eq!((faults.merged, faults.unwound, faults.open), (10, 9, DEEP));
    let rows = report.rows(CallBy::Method);
    assert!(rows.iter().all(|row| row.cumulative.0 > 999_000_000 && row.cumulative.0 <= 1_000_000_000));
    let root = report.tree(&TreeOptions::default());
    assert_eq!((root.count, root.weight), (DEEP, 1_000_000_000));
    assert!(report.called_stacks().iter().all(|stack| stack.frames.len() <= 600));
}
