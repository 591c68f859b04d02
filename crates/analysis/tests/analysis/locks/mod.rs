//! Threads and monitors against a recount that keeps everything, as a trace and as a lock log.

mod ends;
mod hostile;
mod selected;
mod timeline;
mod tree;

use std::collections::BTreeMap;

use analysis::locks::{LockBy, LockReport, LockRow, LockStats, LockSubject, ProcessorTime, Selection, State};
use proptest::prelude::*;
use trace::ids::{ClassId, ObjectId, StackId, ThreadId};
use trace::locklog::{LockEventKind, LockLogReader, LogItem, WallClock, write_event, write_start};
use trace::model::{
    Element, Flag, MonContendedEnter, MonContendedEntered, MonWait, MonWaited, ObjAlloc, ThreadCpu, ThreadSleep,
    ThreadSlept, ThreadStart, TraceEnd, TraceStart,
};
use trace::time::{Nanos, Time};

use crate::made;

const THREADS: [&str; 4] = ["main", "pool-1-thread-1", "pool-1-thread-2", "pool-2-thread-1"];
const CLASSES: [&str; 3] = ["a.A", "a.b.B", "c.C"];
const OBJECTS: usize = 5;
const SITES: usize = 3;
/// What each thread has of the processors.
const CPU: Nanos = Nanos(50);
const QUEUED: Nanos = Nanos(3);
/// When every trace begins.
const ORIGIN: u64 = 1_000_000;

/// A time in which a thread stands still.
#[derive(Clone, Copy, Debug)]
struct Stay {
    gap: u64,
    length: u64,
    is_contended: bool,
    is_parked: bool,
    /// Neither of both: it waits for nothing but time.
    is_sleep: bool,
    object: usize,
    owner: Option<usize>,
    site: Option<usize>,
}

fn stay() -> impl Strategy<Value = Stay> {
    let length = lengths();
    (
        (0_u64..60, length, any::<bool>(), any::<bool>(), prop::bool::weighted(0.2)),
        (0..OBJECTS, proptest::option::of(0..THREADS.len()), proptest::option::of(0..SITES)),
    )
        .prop_map(|((gap, length, is_contended, is_parked, is_sleep), (object, owner, site))| Stay {
            gap,
            length,
            is_contended: is_contended && !is_sleep,
            is_parked: is_parked && !is_sleep,
            is_sleep,
            object,
            owner,
            site,
        })
}

fn lengths() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0_u64..100, 1 => 0_u64..1_000_000]
}

/// What each thread does, when the trace ends, and which part of it counts.
#[derive(Clone, Debug)]
struct Story {
    threads: Vec<Vec<Stay>>,
    end: u64,
    from: u64,
    to: Option<u64>,
    only_class: Option<usize>,
}

fn story(most: usize) -> impl Strategy<Value = Story> {
    let threads = proptest::collection::vec(proptest::collection::vec(stay(), 0..most), THREADS.len());
    let class = proptest::option::of(0..CLASSES.len());
    (threads, 0_u64..4000, prop_oneof![Just(0_u64), 0_u64..500], proptest::option::of(0_u64..3000), class)
        .prop_map(|(threads, end, from, to, only_class)| Story { threads, end, from, to, only_class })
}

/// A stay with its thread, and its times since the beginning.
#[derive(Clone, Copy, Debug)]
struct Placed {
    thread: usize,
    since: u64,
    until: u64,
    is_open: bool,
    stay: Stay,
}

impl Story {
    fn placed(&self) -> Vec<Placed> {
        let mut placed = Vec::new();
        for (thread, stays) in self.threads.iter().enumerate() {
            let mut at = 0;
            for &stay in stays {
                let since = at + stay.gap;
                at = since + stay.length;
                if since <= self.end {
                    placed.push(Placed { thread, since, until: at.min(self.end), is_open: at > self.end, stay });
                }
            }
        }
        placed
    }

    /// The part that counts, if any does.
    fn clip(&self, since: u64, until: u64) -> Option<(u64, u64)> {
        let (since, until) = (since.max(self.from), until.min(self.to.unwrap_or(u64::MAX)));
        (since <= until).then_some((since, until))
    }

    fn selection(&self) -> Selection {
        Selection {
            classes: self.only_class.map(|class| CLASSES[class].parse().unwrap()).into_iter().collect(),
            from: Nanos(self.from),
            to: self.to.map(Nanos),
            ..Selection::default()
        }
    }

    /// The lengths of all waits of a kind that count, by a key.
    fn recount<K: Ord>(&self, is_contended: bool, key: impl Fn(&Placed) -> Option<K>) -> BTreeMap<K, Vec<u64>> {
        let mut groups: BTreeMap<K, Vec<u64>> = BTreeMap::new();
        for placed in self.placed() {
            let class = placed.stay.object % CLASSES.len();
            if placed.stay.is_sleep
                || placed.stay.is_contended != is_contended
                || self.only_class.is_some_and(|only| only != class)
            {
                continue;
            }
            if let (Some((since, until)), Some(key)) = (self.clip(placed.since, placed.until), key(&placed)) {
                groups.entry(key).or_default().push(until - since);
            }
        }
        groups.values_mut().for_each(|lengths| lengths.sort_unstable());
        groups
    }
}

fn time(nanos: u64) -> Time {
    Time(ORIGIN + nanos)
}

/// The elements of a story, in the order of their times.
fn elements(story: &Story) -> Vec<Element<'static>> {
    let mut elements =
        vec![Element::TraceStart(TraceStart { trace_id: "t".into(), agent_id: "a".into(), time: time(0) })];
    for (index, name) in (0..).zip(CLASSES.iter().chain(&["site.S"])) {
        elements.push(made::class(100 + index, *name));
    }
    for site in 0..SITES as u64 {
        elements.push(made::method(200 + site, 100 + CLASSES.len() as u64, format!("m{site}")));
        elements.push(Element::StackDef(made::stack(300 + site, [(200 + site, 7)])));
    }
    for (index, name) in (1..).zip(THREADS) {
        elements.push(Element::ThreadStart(ThreadStart {
            thread_id: ThreadId(index),
            time: time(0),
            thread_name: name.into(),
            group_name: "main".into(),
            parent_name: "".into(),
            object: None,
            kind: None,
        }));
    }
    for object in 0..OBJECTS as u64 {
        elements.push(Element::ObjAlloc(ObjAlloc {
            thread: None,
            is_array: None,
            size: 16,
            obj_id: ObjectId(400 + object),
            class: ClassId(100 + object % CLASSES.len() as u64),
            method: None,
            line: None,
            stack: None,
            time: time(0),
        }));
    }
    // The time, and whether the wait ends: those that last no time have their end behind their beginning.
    let mut events: Vec<(u64, Element<'static>)> = Vec::new();
    for Placed { thread, since, until, is_open, stay } in story.placed() {
        let thread = ThreadId(thread as u64 + 1);
        let object = ObjectId(400 + stay.object as u64);
        let parked = stay.is_parked.then_some(Flag::Yes);
        let stack = stay.site.map(|site| StackId(300 + site as u64));
        let (begin, end) = (time(since), time(until));
        if stay.is_sleep {
            events.push((since, Element::ThreadSleep(ThreadSleep { thread, time: begin, stack })));
            events.extend((!is_open).then_some((until, Element::ThreadSlept(ThreadSlept { thread, time: end }))));
            continue;
        }
        events.push((
            since,
            match stay.is_contended {
                true => Element::MonContendedEnter(MonContendedEnter {
                    thread,
                    time: begin,
                    object,
                    owner: stay.owner.map(|owner| ThreadId(owner as u64 + 1)),
                    owner_object: None,
                    stack,
                    owner_stack: None,
                    parked,
                    look_interval: None,
                }),
                false => Element::MonWait(MonWait { thread, time: begin, object, timeout_millis: 0, stack, parked }),
            },
        ));
        if !is_open {
            events.push((
                until,
                match stay.is_contended {
                    true => Element::MonContendedEntered(MonContendedEntered { thread, time: end, object, parked }),
                    false => Element::MonWaited(MonWaited {
                        thread,
                        time: end,
                        object,
                        timeout_millis: 0,
                        reason: None,
                        parked,
                    }),
                },
            ));
        }
    }
    // Stable: the events of one thread stay in their order.
    events.sort_by_key(|&(at, _)| at);
    elements.extend(events.into_iter().map(|(_, element)| element));
    elements.extend((1..=THREADS.len() as u64).map(|thread| {
        let (thread, time) = (ThreadId(thread), time(story.end));
        Element::ThreadCpu(ThreadCpu { thread, cpu: CPU, queued: Some(QUEUED), time })
    }));
    elements.push(Element::TraceEnd(TraceEnd { time: time(story.end) }));
    elements
}

fn report(story: &Story) -> LockReport {
    let mut stats = LockStats::new(story.selection(), None);
    elements(story).iter().for_each(|element| stats.element(element));
    stats.end_document();
    stats.finish()
}

/// Count, sum, extreme and some percentiles of the rows have to be those of the lengths.
fn check<K: Ord + std::fmt::Debug>(
    rows: &[LockRow<'_>],
    expected: &BTreeMap<K, Vec<u64>>,
    is_contended: bool,
    key: impl Fn(&LockSubject<'_>) -> K,
) {
    let mut found: BTreeMap<K, &LockRow<'_>> = rows.iter().map(|row| (key(&row.subject), row)).collect();
    for (key, lengths) in expected {
        let row = found.remove(key).unwrap_or_else(|| panic!("no row for {key:?}"));
        let numbers = if is_contended { &row.contended } else { &row.waited };
        assert_eq!(numbers.count(), lengths.len() as u64, "{key:?}");
        assert_eq!(numbers.total().0, lengths.iter().sum::<u64>(), "{key:?}");
        assert_eq!(numbers.max().0, *lengths.last().unwrap(), "{key:?}");
        assert_eq!(numbers.mean().0, lengths.iter().sum::<u64>() / lengths.len() as u64, "{key:?}");
        for percent in [50.0, 90.0, 99.0] {
            let rank = ((percent / 100.0 * lengths.len() as f64).ceil() as usize).max(1);
            let (exact, found) = (lengths[rank - 1], numbers.percentile(percent).0);
            let tolerance = if lengths.len() > 256 { exact / 100 } else { 0 };
            assert!(exact <= found && found <= exact + tolerance, "{key:?}: {percent} {exact} {found}");
        }
    }
    for (key, row) in found {
        let numbers = if is_contended { &row.contended } else { &row.waited };
        assert_eq!(numbers.count(), 0, "{key:?}");
    }
}

fn compare(story: &Story) {
    let report = report(story);
    assert_eq!(report.problems(), Default::default());
    let class = |object: usize| CLASSES[object % CLASSES.len()].to_owned();
    for is_contended in [true, false] {
        let rows = |by| report.rows(by, false);
        let monitors = story.recount(is_contended, |placed| Some(400 + placed.stay.object as u64));
        check(&rows(LockBy::Monitor), &monitors, is_contended, |subject| match subject {
            LockSubject::Monitor { object: Some((id, _)), .. } => id.0,
            other => panic!("{other:?}"),
        });
        let classes = story.recount(is_contended, |placed| Some(class(placed.stay.object)));
        check(&rows(LockBy::Class), &classes, is_contended, |subject| match subject {
            LockSubject::Class(Some(class)) => (*class).to_owned(),
            other => panic!("{other:?}"),
        });
        let sites = story.recount(is_contended, |placed| {
            Some((class(placed.stay.object), placed.stay.site.map(|site| format!("m{site}"))))
        });
        check(&rows(LockBy::Site), &sites, is_contended, |subject| match subject {
            LockSubject::Site { class: Some(class), at } => ((*class).to_owned(), at.map(|at| at.method.to_owned())),
            other => panic!("{other:?}"),
        });
        let waiters = story.recount(is_contended, |placed| Some(THREADS[placed.thread].to_owned()));
        check(&rows(LockBy::Waiter), &waiters, is_contended, |subject| match subject {
            LockSubject::Thread(thread) => thread.name.to_owned(),
            other => panic!("{other:?}"),
        });
        tree::compare(&report, &waiters, is_contended);
    }
    let pairs = story.recount(true, |placed| {
        let owner = placed.stay.owner.map(|owner| THREADS[owner].to_owned());
        Some((THREADS[placed.thread].to_owned(), owner, class(placed.stay.object)))
    });
    check(&report.rows(LockBy::Pair, false), &pairs, true, |subject| match subject {
        LockSubject::Pair { waiter, owner, class: Some(class) } => {
            (waiter.name.to_owned(), owner.map(|owner| owner.name.to_owned()), (*class).to_owned())
        }
        other => panic!("{other:?}"),
    });
    // A pool's row is the sum of its threads' rows.
    let pool = |thread: usize| ["main", "pool-1-thread-*", "pool-1-thread-*", "pool-2-thread-*"][thread].to_owned();
    let pools = story.recount(true, |placed| Some(pool(placed.thread)));
    check(&report.rows(LockBy::Waiter, true), &pools, true, |subject| match subject {
        LockSubject::Thread(thread) => thread.name.to_owned(),
        other => panic!("{other:?}"),
    });
    compare_threads(story, &report);
}

fn compare_threads(story: &Story, report: &LockReport) {
    let threads = report.threads(false, |_| true);
    assert_eq!(threads.len(), THREADS.len());
    for (index, name) in THREADS.iter().enumerate() {
        let row = threads.iter().find(|row| row.thread.name == *name).unwrap();
        let mut stalled = 0;
        let of = |is: &dyn Fn(&Stay) -> bool| {
            let clipped = story.placed().into_iter().filter(|placed| placed.thread == index && is(&placed.stay));
            let lengths = clipped.filter_map(|placed| story.clip(placed.since, placed.until)).map(|(s, u)| u - s);
            let lengths: Vec<u64> = lengths.collect();
            (lengths.len() as u64, lengths.iter().sum::<u64>(), lengths.iter().copied().max().unwrap_or(0))
        };
        let states = [
            (row.blocked, of(&|stay| stay.is_contended && !stay.is_parked)),
            (row.waiting, of(&|stay| !stay.is_contended && !stay.is_parked && !stay.is_sleep)),
            (row.parked, of(&|stay| stay.is_parked)),
            (row.sleeping, of(&|stay| stay.is_sleep)),
        ];
        for (state, (sums, (count, total, max))) in states.into_iter().enumerate() {
            assert_eq!((sums.count, sums.total.0, sums.max.0), (count, total, max), "{name}");
            let shown: f32 = row.slices.iter().map(|slice| slice[state]).sum();
            assert!((f64::from(shown) - total as f64).abs() <= 1.0 + total as f64 * 1e-4, "{name}");
            stalled += total;
        }
        let alive = story.clip(0, story.end).map_or(0, |(since, until)| until - since);
        assert_eq!(row.alive().0, alive, "{name}");
        assert_eq!(row.running.0, alive - stalled, "{name}");
        // It is not known how much of it belongs to a part of the trace.
        let is_whole = story.clip(0, story.end) == Some((0, story.end));
        let elsewhere = Some(Nanos(row.running.0.saturating_sub(CPU.0 + QUEUED.0)));
        let processor = ProcessorTime { cpu: CPU, queued: Some(QUEUED), elsewhere };
        assert_eq!(row.processor, is_whole.then_some(processor), "{name}");
        let shown: f32 = row.slices.iter().map(|slice| slice[State::Running as usize]).sum();
        assert!((f64::from(shown) - row.running.0 as f64).abs() <= 1.0 + row.running.0 as f64 * 1e-4, "{name}");
        assert_eq!(row.at_end.iter().sum::<u64>(), 1);
        let at_end = |placed: &Placed| match story.to.filter(|&to| to < story.end) {
            Some(to) => placed.since <= to && to < placed.until,
            None => placed.is_open,
        };
        let stalls = story.placed().into_iter().any(|placed| placed.thread == index && at_end(&placed));
        assert_eq!(row.at_end[State::Running as usize], u64::from(!stalls), "{name}");
    }
}

/// The contended waits of a story as a lock log.
fn log(story: &Story) -> Vec<u8> {
    let mut log = Vec::new();
    write_start(&WallClock { year: 2011, month: 3, day: 14, hour: 15, minute: 9, second: 26, milli: 535 }, &mut log);
    let mut events = Vec::new();
    for placed in story.placed().into_iter().filter(|placed| placed.stay.is_contended) {
        events.push((placed.since, LockEventKind::Try, placed));
        if !placed.is_open {
            events.push((placed.until, LockEventKind::Locked, placed));
        }
    }
    events.sort_by_key(|&(at, ..)| at);
    for (at, kind, placed) in events {
        let method = placed.stay.site.map(|site| format!("m{site}"));
        let class = CLASSES[placed.stay.object % CLASSES.len()];
        let frames = method.as_deref().map(|method| (class, method));
        write_event(Nanos(at), kind, THREADS[placed.thread], frames, &mut log);
    }
    log
}

fn report_of_log(log: &[u8], selection: Selection) -> LockReport {
    let mut stats = LockStats::new(selection, None);
    let mut reader = LockLogReader::new(log);
    while let Some(item) = reader.next_item().unwrap() {
        match item {
            LogItem::Start(clock) => stats.log_start(clock),
            LogItem::Event(event) => stats.log_event(&event),
        }
    }
    stats.end_document();
    stats.finish()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_trace_is_counted_as_the_recount_does(story in story(30)) {
        compare(&story);
    }

    #[test]
    fn a_lock_log_is_counted_as_the_recount_does(story in story(30)) {
        // The log ends with its last event, not with the program.
        let placed = story.placed().into_iter().filter(|placed| placed.stay.is_contended);
        let last = placed.map(|placed| if placed.is_open { placed.since } else { placed.until }).max().unwrap_or(0);
        let story = Story { end: last, only_class: None, ..story };
        let report = report_of_log(&log(&story), Selection { from: Nanos(story.from), to: story.to.map(Nanos), ..Selection::default() });
        prop_assert!(report.is_log());
        let sites = story.recount(true, |placed| {
            Some(placed.stay.site.map(|site| (CLASSES[placed.stay.object % CLASSES.len()].to_owned(), format!("m{site}"))))
        });
        check(&report.rows(LockBy::Site, false), &sites, true, |subject| match subject {
            LockSubject::Site { class: None, at } => at.map(|at| (at.class.to_owned(), at.method.to_owned())),
            other => panic!("{other:?}"),
        });
        let waiters = story.recount(true, |placed| Some(THREADS[placed.thread].to_owned()));
        check(&report.rows(LockBy::Waiter, false), &waiters, true, |subject| match subject {
            LockSubject::Thread(thread) => thread.name.to_owned(),
            other => panic!("{other:?}"),
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn many_waits_are_counted_as_the_recount_does(story in story(2000)) {
        compare(&Story { end: 400_000, ..story });
    }
}
