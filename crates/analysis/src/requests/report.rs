//! What a trace says about requests.

use trace::filter::Pattern;
use trace::time::Nanos;

use super::details::{Initialised, Sampled, Waited};
use super::latency::{Moment, Sums};
use super::{Choice, Entry, Looked, PartKind, RequestStats, Split, Work};
use crate::facts::Facts;
use crate::location::Location;
use crate::locks::ThreadName;
use crate::own_code::OwnCode;
use crate::stacks::StackIndex;
use crate::symbols::{ThreadIndex, ThreadSymbol};

/// The percentiles of a table.
const PERCENTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// What a trace says about requests.
#[derive(Debug)]
pub struct RequestReport {
    stats: RequestStats,
}

/// An entry point.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryRow<'a> {
    /// Its class and name.
    pub method: &'a str,
    /// Of what it is the entry point, where the user did not name it.
    pub kind: Option<&'a str>,
    /// When it was first called, after the beginning of the trace.
    pub first_called: Option<Nanos>,
    /// Its requests, and their sums.
    pub sums: Sums,
    /// How many ended in a second; `None` if no time passed.
    pub rate: Option<f64>,
    /// How long half of them, 90, 99 and 99.9 % of them took at most: the end of a slot, at most a sixteenth too long.
    pub percentiles: [Option<Nanos>; PERCENTILES.len()],
    /// How long the longest took; exact, if it is in the trace by itself, or else the end of its slot.
    pub longest: Option<Nanos>,
}

impl EntryRow<'_> {
    /// How long one took on average.
    pub fn mean(&self) -> Option<Nanos> {
        self.sums.took.0.checked_div(self.sums.requests).map(Nanos)
    }

    /// CPU time of one on average.
    pub fn mean_cpu(&self) -> Option<Nanos> {
        self.sums.cpu.0.checked_div(self.sums.measured).map(Nanos)
    }

    /// Bytes that one allocated on average.
    pub fn mean_bytes(&self) -> Option<u64> {
        self.sums.bytes.checked_div(self.sums.measured)
    }

    /// How long half of them took at most.
    pub fn median(&self) -> Option<Nanos> {
        self.percentiles[0]
    }
}

/// A request whose time was divided.
#[derive(Clone, Debug)]
pub struct RequestRow<'a> {
    /// Its entry point.
    pub method: &'a str,
    /// Its number among the requests of the entry point.
    pub number: u64,
    /// Its place among the slowest of the entry point, from 1 on, if it is one of them.
    pub place: Option<usize>,
    /// Its thread.
    pub thread: ThreadName<'a>,
    /// When it began, after the beginning of the trace.
    pub begun: Nanos,
    /// How long it took.
    pub took: Nanos,
    /// How long its thread was on a processor, if that is known.
    pub cpu: Option<Nanos>,
    /// How long it was ready to run without one, if that is known.
    pub ready: Option<Nanos>,
    /// Bytes that it allocated, if that is known.
    pub bytes: Option<u64>,
    /// An exception ended it.
    pub failed: bool,
    /// It was handed over (`startAsync`): what went on on other threads or after the call is not in it.
    pub handed_over: bool,
    /// The parts of its time.
    pub split: &'a Split,
    /// Static initialisers that ran in it, that with the most time of its own first.
    pub initialisers: Vec<InitialiserPart<'a>>,
    /// Its waits, those of most time first.
    pub waits: Vec<WaitPart<'a>>,
    /// Its samples of CPU time, by stack, the most first.
    pub code: Vec<CodePart<'a>>,
    /// So much happened that waits and samples of its beginning were forgotten.
    pub is_partial: bool,
}

impl RequestRow<'_> {
    /// The part that took most.
    pub fn largest(&self) -> Option<PartKind> {
        // Of several that are equally large it is the first.
        self.split.parts.iter().rev().max_by_key(|part| part.time).map(|part| part.kind)
    }

    /// What a part took.
    pub fn part(&self, kind: PartKind) -> Nanos {
        let found = self.split.parts.iter().find(|part| part.kind == kind);
        found.map_or(Nanos(0), |part| part.time)
    }
}

/// A static initialiser that ran in a request.
#[derive(Clone, Debug, PartialEq)]
pub struct InitialiserPart<'a> {
    /// Its class.
    pub class: &'a str,
    /// When it began, after the request did.
    pub after: Nanos,
    /// In the request, without other initialisers inside of it.
    pub own: Nanos,
    /// All of it.
    pub total: Nanos,
    /// It had not ended when the recording did.
    pub runs_on: bool,
    /// The line that made it run: the innermost one that its reader can change, outside of the initialiser.
    pub caused_by: Option<Location<'a>>,
    /// Its stack, innermost frame first; empty if it is not known.
    pub stack: Vec<Location<'a>>,
}

/// Waits of one place for one thing.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitPart<'a> {
    /// The kind of wait, one of [`PartKind::WAITS`].
    pub kind: PartKind,
    /// How often.
    pub waits: u64,
    /// How long in the request.
    pub time: Nanos,
    /// The longest.
    pub longest: Nanos,
    /// The class of what was waited for, if that is known.
    pub class: Option<&'a str>,
    /// The innermost line that its reader can change.
    pub at: Option<Location<'a>>,
    /// Where it waited, innermost frame first; empty if that is not known.
    pub stack: Vec<Location<'a>>,
    /// The thread that owned it, if that is known.
    pub owner: Option<ThreadName<'a>>,
    /// Where that was, the line that its reader can change.
    pub owner_at: Option<Location<'a>>,
    /// Its stack then.
    pub owner_stack: Vec<Location<'a>>,
}

/// Samples of CPU time on one stack.
#[derive(Clone, Debug, PartialEq)]
pub struct CodePart<'a> {
    /// What it did.
    pub work: Work,
    /// It ran in a static initialiser.
    pub in_initialiser: bool,
    /// How many samples.
    pub samples: u64,
    /// For how much CPU time they stand.
    pub cpu: Nanos,
    /// The innermost line that its reader can change.
    pub at: Option<Location<'a>>,
    /// The stack, innermost frame first; empty if it is not known.
    pub stack: Vec<Location<'a>>,
}

impl RequestReport {
    pub(super) fn new(stats: RequestStats) -> RequestReport {
        RequestReport { stats }
    }

    /// What is known of any trace.
    pub fn facts(&self) -> &Facts {
        &self.stats.facts
    }

    /// How long the trace is.
    pub fn length(&self) -> Nanos {
        self.stats.clock.length()
    }

    /// Whether the trace has no request, or none that counts.
    pub fn is_empty(&self) -> bool {
        self.stats.entries.iter().all(|entry| entry.listed == 0 && entry.latency.whole.sums.requests == 0)
    }

    /// Entry points that are in no table, since there are too many.
    pub fn left_out(&self) -> u64 {
        self.stats.left_out
    }

    /// Requests that are in the trace by themselves, and in no sum, as when the JVM is killed.
    pub fn uncounted(&self) -> u64 {
        let uncounted = |entry: &Entry| entry.listed.saturating_sub(entry.latency.whole.sums.requests);
        self.stats.entries.iter().map(uncounted).sum()
    }

    /// The entry points, that in whose requests most time went first.
    pub fn entries(&self) -> Vec<EntryRow<'_>> {
        self.sorted().into_iter().map(row).collect()
    }

    fn sorted(&self) -> Vec<&Entry> {
        let mut all: Vec<&Entry> = self.stats.entries.iter().collect();
        all.retain(|entry| entry.listed > 0 || entry.latency.whole.sums.requests > 0);
        let took = |entry: &Entry| entry.latency.whole.sums.took;
        all.sort_by(|a, b| took(b).cmp(&took(a)).then_with(|| a.method.cmp(&b.method)));
        all
    }

    /// The requests of an entry point over time.
    pub fn over_time(&self, method: &str) -> &[Moment] {
        let entry = self.stats.by_name.get(method).map(|&index| &self.stats.entries[index]);
        entry.map_or(&[], |entry| &entry.latency.moments)
    }

    /// The requests of an entry point whose time was divided: the first, the tenth and so on, then the slowest; `own` are patterns for what
    /// is the reader's own code.
    pub fn requests(&self, method: &str, own: &[Pattern]) -> Vec<RequestRow<'_>> {
        let Some(entry) = self.stats.by_name.get(method).map(|&index| &self.stats.entries[index]) else {
            return Vec::new();
        };
        let mut by_length: Vec<&Looked> = entry.looked.iter().collect();
        by_length.retain(|looked| entry.slowest.has(looked.request.number));
        by_length.sort_by_key(|looked| (std::cmp::Reverse(looked.request.span.length()), looked.request.number));
        let place = |looked: &Looked| {
            let place = by_length.iter().position(|other| std::ptr::eq(*other, looked));
            place.map(|place| place + 1)
        };
        let mut code = OwnCode::new(own.to_vec());
        let mut rows: Vec<_> =
            entry.looked.iter().map(|looked| self.request(entry, looked, place(looked), &mut code)).collect();
        let order = |row: &RequestRow<'_>| {
            let is_milestone = Choice::is_milestone(row.number) || row.place.is_none();
            (!is_milestone, if is_milestone { row.number } else { row.place.unwrap_or(0) as u64 })
        };
        rows.sort_by_key(order);
        rows
    }

    fn request<'a>(
        &'a self,
        entry: &'a Entry,
        looked: &'a Looked,
        place: Option<usize>,
        code: &mut OwnCode,
    ) -> RequestRow<'a> {
        let Looked { request, begun, details, is_partial } = looked;
        RequestRow {
            method: &entry.method,
            number: request.number,
            place,
            thread: self.thread(request.thread),
            begun: *begun,
            took: request.span.length(),
            cpu: request.cpu,
            ready: request.ready,
            bytes: request.bytes,
            failed: request.failed,
            handed_over: request.handed_over,
            split: &details.split,
            initialisers: details.initialised.iter().map(|one| self.initialiser(looked, one, code)).collect(),
            waits: details.waited.iter().map(|waited| self.waits(waited, code)).collect(),
            code: details.sampled.iter().map(|sampled| self.code(sampled, code)).collect(),
            is_partial: *is_partial,
        }
    }

    fn thread(&self, thread: ThreadIndex) -> ThreadName<'_> {
        let ThreadSymbol { id, name, group } = self.stats.symbols.thread_name(thread);
        ThreadName { name, group, id: Some(*id) }
    }

    fn frames(&self, stack: Option<StackIndex>) -> Vec<Location<'_>> {
        let frames = stack.map_or(&[][..], |stack| self.stats.stacks.frames(stack));
        frames.iter().map(|&site| self.stats.symbols.location(site)).collect()
    }

    /// The line of a stack that its reader can change, without so many of the innermost frames.
    fn own(&self, stack: Option<StackIndex>, without: usize, code: &mut OwnCode) -> Option<Location<'_>> {
        let frames = stack.map_or(&[][..], |stack| self.stats.stacks.frames(stack));
        let site = code.frame(frames.get(without..).unwrap_or_default(), &self.stats.symbols)?;
        Some(self.stats.symbols.location(site))
    }

    fn initialiser<'a>(&'a self, looked: &Looked, one: &Initialised, code: &mut OwnCode) -> InitialiserPart<'a> {
        InitialiserPart {
            class: &self.stats.initialised[one.class as usize],
            after: one.since.since(looked.request.span.since),
            own: one.own,
            total: one.total,
            runs_on: one.runs_on,
            caused_by: self.own(one.stack, 1, code),
            stack: self.frames(one.stack),
        }
    }

    fn waits<'a>(&'a self, waited: &Waited, code: &mut OwnCode) -> WaitPart<'a> {
        let key = &waited.key;
        let owner_stack = key.owner.and_then(|(_, stack)| stack);
        let symbols = &self.stats.symbols;
        WaitPart {
            kind: key.kind,
            waits: waited.waits,
            time: waited.time,
            longest: waited.longest,
            class: key.class.map(|class| &*symbols.class_name(class).name),
            at: self.own(key.stack, 0, code),
            stack: self.frames(key.stack),
            owner: key.owner.map(|(owner, _)| self.thread(owner)),
            owner_at: self.own(owner_stack, 0, code),
            owner_stack: self.frames(owner_stack),
        }
    }

    fn code<'a>(&'a self, sampled: &Sampled, code: &mut OwnCode) -> CodePart<'a> {
        CodePart {
            work: sampled.work,
            in_initialiser: sampled.inside,
            samples: sampled.samples,
            cpu: sampled.cpu,
            at: self.own(sampled.stack, 0, code),
            stack: self.frames(sampled.stack),
        }
    }
}

fn row(entry: &Entry) -> EntryRow<'_> {
    let Moment { from, until, sums, durations } = &entry.latency.whole;
    let seconds = until.0.saturating_sub(from.0) as f64 / 1e9;
    let last = durations.last().map(|slot| slot.bounds());
    let longest = match last {
        // It is in the trace by itself.
        Some((shortest, _)) if entry.longest >= shortest => Some(entry.longest),
        Some((_, longest)) => Some(longest),
        None => Some(entry.longest).filter(|_| entry.listed > 0),
    };
    EntryRow {
        method: &entry.method,
        kind: entry.kind.as_deref(),
        first_called: entry.first_called,
        sums: *sums,
        rate: (seconds > 0.0).then(|| sums.requests as f64 / seconds),
        percentiles: PERCENTILES
            .map(|share| durations.percentile(share).map(|time| longest.map_or(time, |longest| time.min(longest)))),
        longest,
    }
}
