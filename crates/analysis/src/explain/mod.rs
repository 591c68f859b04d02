//! What stands out in a trace: what grows, what is made only to be dropped, which locks cost most.
//!
//! A finding is named only where it matters: what each has to exceed is a constant with its reason, and where numbers are estimates,
//! what is left of them after their error has to exceed it. So a healthy program has none.

mod calls;
mod churn;
mod collections;
mod contention;
mod cost;
mod cpu;
mod dumped;
mod growth;
mod initialisers;
mod requests;
mod safepoints;

use trace::model::Element;
use trace::time::Nanos;

use crate::allocations::{AllocationReport, AllocationStats, Inside, Location, Naming, Scope};
use crate::cpu::{CpuReport, CpuStats, SampleClock};
use crate::execution::{CallSelection, ExecutionReport, ExecutionStats};
use crate::locks::{
    CalledLock, Deadlock, Estimate, LockReport, LockStats, Longest, Observer, Place, Selection, Stuck, ThreadName,
};
use crate::requests::{Choice, RequestReport, RequestStats};
use crate::safepoints::{SafepointReport, SafepointStats};
use crate::thread_dumps::{DumpDeadlock, HeldUpThreads, QueuedThreads};
use crate::warm_up::{LookupRow, WarmUpReport, WarmUpStats};

pub use calls::CostlyMethod;
pub use collections::{Collected, Collections, Rise};
pub use cpu::{Busy, CpuUse};
pub use dumped::Dumped;
use dumped::Named;
pub use initialisers::SlowInitialiser;
pub use requests::SlowRequest;
pub use safepoints::Lateness;

/// What fewer samples say is chance: of ten the error is 60 %.
pub const LEAST_SAMPLES: u64 = 10;

/// More findings of a kind than this are a table, which other commands show.
const MOST: usize = 3;

/// Gathers all that a trace says about allocations, locks and collections, in one reading. A copy of it can be finished while it goes on.
#[derive(Clone)]
pub struct TraceStats<'o> {
    /// None if another reader gathers them.
    allocations: Option<AllocationStats>,
    locks: LockStats<'o>,
    cpu: CpuStats,
    /// Samples by the clock, where they are asked for.
    wall: Option<CpuStats>,
    collections: Collections,
    safepoints: SafepointStats,
    warm_up: WarmUpStats,
    requests: RequestStats,
    calls: ExecutionStats,
}

impl<'o> TraceStats<'o> {
    /// Statistics of nothing yet.
    pub fn new() -> Self {
        Self {
            allocations: Some(AllocationStats::new()),
            locks: LockStats::new(Selection::default(), None),
            cpu: CpuStats::new(SampleClock::Cpu, &Scope::default()),
            wall: None,
            collections: Collections::default(),
            safepoints: SafepointStats::new(),
            warm_up: WarmUpStats::new(),
            requests: RequestStats::new(Choice::default(), &Scope::default()),
            calls: ExecutionStats::new(CallSelection::default()),
        }
    }

    /// The same with what happens when; the observer receives each wait.
    pub fn over_time(observer: &'o mut dyn Observer) -> Self {
        Self {
            allocations: Some(AllocationStats::in_many_slices()),
            locks: LockStats::new(Selection::default(), Some(observer)),
            cpu: CpuStats::with_moments(SampleClock::Cpu),
            wall: Some(CpuStats::with_moments(SampleClock::Wall)),
            collections: Collections::with_each(),
            ..Self::new()
        }
    }

    /// The same with what happens in each minute of the clock, and who waits for whom where.
    pub fn by_minute() -> Self {
        Self {
            allocations: Some(AllocationStats::by_minute()),
            locks: LockStats::with_each_kind(),
            cpu: CpuStats::with_moments(SampleClock::Cpu),
            wall: Some(CpuStats::with_moments(SampleClock::Wall)),
            collections: Collections::with_each(),
            ..Self::new()
        }
    }

    /// Leaves the statistics of allocations to another reader of the same trace.
    pub fn take_allocations(&mut self) -> AllocationStats {
        self.allocations.take().unwrap_or_default()
    }

    /// Takes in the next element of the document.
    pub fn element(&mut self, element: &Element<'_>) {
        if let Some(allocations) = &mut self.allocations {
            allocations.element(element);
        }
        self.locks.element(element);
        self.cpu.element(element);
        self.wall.iter_mut().for_each(|wall| wall.element(element));
        self.collections.element(element);
        self.safepoints.element(element);
        self.warm_up.element(element);
        self.requests.element(element);
        self.calls.element(element);
    }

    /// Ends a document: all ids lose their meaning.
    pub fn end_document(&mut self) {
        if let Some(allocations) = &mut self.allocations {
            allocations.end_document();
        }
        self.locks.end_document();
        self.cpu.end_document();
        self.wall.iter_mut().for_each(CpuStats::end_document);
        self.collections.end_document();
        self.safepoints.end_document();
        self.warm_up.end_document();
        self.requests.end_document();
        self.calls.end_document();
    }

    /// The statistics of the documents that ended.
    pub fn finish(self) -> TraceReport {
        TraceReport {
            allocations: self.allocations.unwrap_or_default().finish(),
            locks: self.locks.finish(),
            cpu: self.cpu.finish(),
            wall: self.wall.map(CpuStats::finish),
            collections: self.collections,
            safepoints: self.safepoints.finish(),
            warm_up: self.warm_up.finish(),
            requests: self.requests.finish(),
            calls: self.calls.finish(),
        }
    }
}

impl Default for TraceStats<'_> {
    fn default() -> Self {
        Self::new()
    }
}

/// All that a trace says.
pub struct TraceReport {
    /// What was allocated.
    pub allocations: AllocationReport,
    /// What threads waited for.
    pub locks: LockReport,
    /// What they did on the processors.
    pub cpu: CpuReport,
    /// What they did by the clock, if that was asked for.
    pub wall: Option<CpuReport>,
    /// What collections cost, and what they left.
    pub collections: Collections,
    /// How long threads took to stop for the VM.
    pub safepoints: SafepointReport,
    /// Where the start of the JVM went.
    pub warm_up: WarmUpReport,
    /// How long requests took.
    pub requests: RequestReport,
    /// Which methods were called.
    pub calls: ExecutionReport,
}

/// What stands out in a trace, and what was looked at.
#[derive(Clone, Debug)]
pub struct Explanation<'a> {
    /// What stands out: what cannot end, then by [`Explanation::cost`], the most expensive first.
    pub findings: Vec<Finding<'a>>,
    /// From the first event to the last.
    pub length: Nanos,
    /// Bytes allocated, without what the JIT has removed as far as that is known; `None` if the trace has no allocations.
    pub allocated: Option<u64>,
    /// How long threads were on the processors; `None` if the trace has no samples of that.
    pub on_processors: Option<Nanos>,
    /// Bytes in use after the last collection; `None` if the trace does not say.
    pub in_use: Option<u64>,
    /// Collections that stopped the program, and how long they took in all; `None` if the trace has none.
    pub collections: Option<(u64, Nanos)>,
    /// How long threads waited for the lock that cost most; `None` if none was contended.
    pub contended: Option<Nanos>,
    /// How long all safepoints took to reach; `None` if the trace has none.
    pub to_safepoint: Option<Nanos>,
    /// Something of the JVM's start is in the trace.
    pub has_start: bool,
    /// Requests are in the trace.
    pub has_requests: bool,
    /// Calls of methods, and their base time in all; `None` if the trace has none.
    pub calls: Option<(u64, Nanos)>,
    /// Waits of any kind are in the trace.
    pub has_waits: bool,
    /// Threads that were looked at by the clock, whether they ran or not.
    pub wall_samples: u64,
    /// Filters leave classes out of the trace.
    pub is_filtered: bool,
    /// Single objects are recorded, but there were too few collections for their ages to say what grows.
    pub has_few_ages: bool,
}

impl Explanation<'_> {
    /// Bytes allocated in a second; `None` if the trace has no allocations, or no times.
    pub fn rate(&self) -> Option<u64> {
        self.allocated.and_then(|bytes| per_second(bytes, self.length))
    }

    /// Which part of the time collections took; `None` if the trace has none.
    pub fn pause_share(&self) -> Option<f64> {
        self.collections.map(|(_, pauses)| part(pauses.0, self.length.0))
    }
}

/// Something that stands out.
#[derive(Clone, Debug)]
pub enum Finding<'a> {
    /// Threads that wait for each other.
    Deadlock(Deadlock<'a>),
    /// Threads that wait for each other, in a dump of all threads.
    DumpedDeadlock(Dumped<DumpDeadlock<'a>>),
    /// Threads that wait since before the recording for one owner.
    HeldUp(Dumped<HeldUpThreads<'a>>),
    /// Threads that wait since before the recording for what nobody is known to own.
    Queued(Dumped<QueuedThreads<'a>>),
    /// Threads that waited for a lock when the trace ended.
    Stuck(Blocked<'a>),
    /// What a line allocates piles up.
    Growth(Growth<'a>),
    /// The heap fills; single objects were not recorded.
    Rise(Rising<'a>),
    /// What a line allocates is much, and soon garbage.
    Churn(Churn<'a>),
    /// It takes much of the processors' time.
    Cpu(CpuUse<'a>),
    /// A method takes much time itself.
    Calls(CostlyMethod<'a>),
    /// Threads wait long for locks.
    Contention(Contention<'a>),
    /// Threads are late for safepoints.
    Lateness(Lateness<'a>),
    /// A static initialiser takes long.
    Initialiser(SlowInitialiser<'a>),
    /// The first request of an entry point takes much longer than others.
    Request(SlowRequest<'a>),
    /// Look-ups of classes fail again and again.
    FailedLookups(LookupRow<'a>),
}

/// Threads that waited for a lock when the trace ended.
#[derive(Clone, Debug)]
pub struct Blocked<'a> {
    /// How many.
    pub threads: u64,
    /// The one that waited longest.
    pub longest: Stuck<'a>,
}

/// Objects that pile up: allocated all the time, and hardly one of them collected.
#[derive(Clone, Debug)]
pub struct Growth<'a> {
    /// Where; `None` if the trace has no lines.
    pub at: Option<Location<'a>>,
    /// Bytes of those that have survived a collection.
    pub bytes: u64,
    /// Of all such bytes.
    pub share: f64,
    /// Their classes, those of most bytes first.
    pub classes: Vec<Growing<'a>>,
}

/// A class whose objects pile up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growing<'a> {
    /// Its name.
    pub class: &'a str,
    /// How many of its objects are alive, of those that were allocated at the line.
    pub live: u64,
    /// How many were allocated there.
    pub total: u64,
    /// Bytes of those that have survived a collection.
    pub bytes: u64,
    /// How many different ages these have.
    pub generations: u64,
    /// How many collections the oldest has survived.
    pub oldest: u32,
    /// Of how many samples this is known; 0 if each object is.
    pub samples: u64,
    /// How far `bytes` may be off with a confidence of 95 %; 0 if each object is known.
    pub error: u64,
}

/// What is in use after collections becomes more and more.
#[derive(Clone, Debug)]
pub struct Rising<'a> {
    /// From what to what.
    pub rise: Rise,
    /// The classes of most live bytes; none where the trace does not count what is alive.
    pub live: Vec<(&'a str, u64)>,
}

/// Objects that are made only to be dropped.
#[derive(Clone, Debug)]
pub struct Churn<'a> {
    /// Where.
    pub at: Location<'a>,
    /// The line is code that its reader can change, rather than the JDK's.
    pub is_own: bool,
    /// Bytes that became garbage; where objects were only counted, all but what the JIT has removed as far as that is known.
    pub bytes: u64,
    /// They are those of objects that were collected, as far as is known; not of all that were allocated.
    pub is_collected: bool,
    /// Bytes that the line executed, with those that the JIT has removed; `None` if the JIT's part is not known or is none.
    pub executed: Option<u64>,
    /// How far `bytes` may be off, with a confidence of 95 %; `None` if it is exact.
    pub error: Option<u64>,
    /// Of all bytes allocated.
    pub share: f64,
    /// Bytes in a second; `None` of single objects, too, which cost the program so much time that this says nothing about it.
    pub rate: Option<u64>,
    /// The largest part of it.
    pub inside: Option<Inside<'a>>,
    /// What the line called to get most of that, if there are stacks.
    pub called: Option<Location<'a>>,
}

/// A lock that costs much, or locks of a class that do so together.
#[derive(Clone, Debug)]
pub struct Contention<'a> {
    /// Their class, if known.
    pub class: Option<&'a str>,
    /// Which lock, if it is one.
    pub single: Option<CalledLock<'a>>,
    /// How many locks.
    pub locks: u64,
    /// The waits for them.
    pub waited: Waited,
    /// What is estimated of that; `None` if all of it is exact.
    pub estimate: Option<Estimate>,
    /// How many threads waited on average, all the time of the trace.
    pub share: f64,
    /// Where threads waited, longest in all first.
    pub waiters: Vec<LineWaits<'a>>,
    /// Where the owner was meanwhile, longest in all first.
    pub owners: Vec<LineWaits<'a>>,
    /// Who owned a lock longest while others waited, and how long they waited for it; the threads of a pool are one.
    pub owner: Option<(ThreadName<'a>, Nanos)>,
    /// The longest of the waits.
    pub longest: Option<Longest<'a>>,
}

impl Contention<'_> {
    /// Those waits of which it is known where the owner was.
    pub fn with_owners_place(&self) -> Waited {
        self.owners.iter().fold(Waited::default(), |sum, place| Waited {
            waits: sum.waits.saturating_add(place.waited.waits),
            total: Nanos(sum.total.0.saturating_add(place.waited.total.0)),
        })
    }
}

/// How often threads waited, and how long in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// How often.
    pub waits: u64,
    /// How long.
    pub total: Nanos,
}

/// A place at which threads waited, or for which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineWaits<'a> {
    /// The user's line, and what it called.
    pub place: Place<'a>,
    /// The waits.
    pub waited: Waited,
}

/// Finds what stands out; lines are those by which `naming` calls stacks.
pub fn explain<'a>(
    allocations: &'a AllocationReport,
    locks: &'a LockReport,
    cpu: &'a CpuReport,
    collections: &Collections,
    naming: &Naming,
) -> Explanation<'a> {
    let names = &allocations.site_names(naming);
    let facts = allocations.facts();
    let length = locks.span().map_or(Nanos(0), |(begin, end)| end.since(begin));
    let has_objects = allocations.has_objects();
    let mut explanation = Explanation {
        findings: Vec::new(),
        length,
        allocated: has_objects.then(|| churn::allocated(&allocations.sum(|_| true), allocations).0),
        on_processors: (facts.cpu_samples > 0).then(|| cpu.sum().1),
        in_use: collections.used_after_last(),
        collections: (collections.count() > 0).then(|| (collections.count(), collections.pauses())),
        contended: contention::most(locks),
        to_safepoint: None,
        has_start: false,
        has_requests: false,
        calls: None,
        wall_samples: facts.wall_samples,
        has_waits: locks.stalls().iter().any(|stalls| stalls.count > 0),
        is_filtered: facts.is_filtered,
        has_few_ages: (facts.allocations > 0 || facts.live_samples > 0)
            && collections.count() < growth::LEAST_COLLECTIONS,
    };
    let (mut deadlocks, mut dumped) = (locks.deadlocks(), dumped::findings(locks, naming));
    dumped::keep_one_of_each(&mut deadlocks, &mut dumped);
    let named = Named::by(&dumped, locks);
    let mut findings: Vec<Finding<'_>> = deadlocks.into_iter().take(MOST).map(Finding::Deadlock).collect();
    findings.extend(dumped);
    findings.extend(contention::blocked(locks, &named).map(Finding::Stuck));
    findings.extend(growth::of_objects(allocations, names, collections.count()).into_iter().map(Finding::Growth));
    if !findings.iter().any(|finding| matches!(finding, Finding::Growth(_))) {
        findings.extend(growth::of_heap(allocations, collections).map(Finding::Rise));
    }
    findings.extend(churn::lines(allocations, collections, names, &explanation).into_iter().map(Finding::Churn));
    findings.extend(cpu::uses(cpu, &cpu.site_names(naming)).into_iter().map(Finding::Cpu));
    findings
        .extend(contention::locks(locks, &named, length, &mut naming.own_code()).into_iter().map(Finding::Contention));
    explanation.findings = findings;
    explanation.by_cost();
    explanation
}

/// Whether so many samples say enough; 0 are none that would have to.
fn are_enough(samples: u64) -> bool {
    samples == 0 || samples >= LEAST_SAMPLES
}

/// A part of a whole; nothing of nothing.
fn part(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn per_second(bytes: u64, length: Nanos) -> Option<u64> {
    (length.0 > 0).then(|| (bytes as f64 * 1e9 / length.0 as f64) as u64)
}
