//! Who was late, and what that cost: rows of lines and of threads.

use std::fmt;

use rustc_hash::FxHashMap;
use trace::filter::Pattern;
use trace::time::Nanos;

use super::cells::CellKey;
use super::report::SafepointReport;
use crate::location::Location;
use crate::own_code::OwnCode;
use crate::stacks::StackIndex;
use crate::symbols::SiteIndex;

/// What rows are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LateBy {
    /// Lines of code.
    Line,
    /// Threads.
    Thread,
}

/// What a row is about. Its `Display` is the text a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LateSubject<'a> {
    /// A line of code.
    Line(Location<'a>),
    /// A thread, by its name.
    Thread(&'a str),
    /// A native function, where a thread had no Java frames.
    Function(&'a str),
    /// Stacks that were not found, for this reason.
    Lost(&'a str),
    /// Neither a stack nor a reason is known.
    Unknown,
}

impl fmt::Display for LateSubject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LateSubject::Line(at) => at.fmt(f),
            LateSubject::Thread("") => f.write_str("(unnamed thread)"),
            LateSubject::Thread(name) | LateSubject::Function(name) => f.write_str(name),
            LateSubject::Lost(reason) => write!(f, "(stack lost: {})", in_words(reason)),
            LateSubject::Unknown => f.write_str("(no stack)"),
        }
    }
}

/// Why a late thread has no stack, in the words of a reader.
fn in_words(reason: &str) -> &str {
    match reason {
        "notSent" => "the thread had ended, or its signal is taken",
        "noAnswer" => "the thread did not run in time",
        "busy" => "another thread was still asked",
        walked => walked,
    }
}

/// What ran in a row: its innermost frame, or the native function on top of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LateInside<'a> {
    /// A line of code.
    Line(Location<'a>),
    /// A native function.
    Function(&'a str),
    /// Code of which nothing is known.
    Unknown,
}

impl fmt::Display for LateInside<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LateInside::Line(at) => at.fmt(f),
            LateInside::Function(name) => f.write_str(name),
            LateInside::Unknown => f.write_str("(no stack)"),
        }
    }
}

/// What late threads have in common, and what they cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateRow<'a> {
    /// What they have in common.
    pub subject: LateSubject<'a>,
    /// Their part of the time that slow stops took to reach.
    pub time: Nanos,
    /// How many stops they delayed.
    pub stops: u64,
    /// The largest part of one stop.
    pub longest: Nanos,
    /// What ran, and for how long: the longest first.
    pub inside: Vec<(LateInside<'a>, Nanos)>,
    /// The stack of the longest time, innermost frame first; empty if none is known.
    pub stack: Vec<Location<'a>>,
}

/// A row as it is added up.
#[derive(Default)]
struct Group<'a> {
    time: u64,
    stops: u64,
    longest: u64,
    /// The stop that is being added, and its part.
    stop: u32,
    in_stop: u64,
    inside: FxHashMap<LateInside<'a>, u64>,
    stacks: FxHashMap<Option<StackIndex>, u64>,
}

impl SafepointReport {
    /// Who delayed slow stops, the longest time first. Lines are those that their reader can change; `own` are patterns for what
    /// is the reader's own.
    pub fn late(&self, by: LateBy, own: Vec<Pattern>) -> Vec<LateRow<'_>> {
        let mut own = OwnCode::new(own);
        let mut groups: FxHashMap<LateSubject<'_>, Group<'_>> = FxHashMap::default();
        let mut add = |key: &CellKey, stop: Option<u32>, length: Nanos| {
            let group = groups.entry(self.subject(by, key, &mut own)).or_default();
            group.time = group.time.saturating_add(length.0);
            if let Some(stop) = stop {
                // The parts of a stop stand behind each other.
                if group.stops == 0 || group.stop != stop {
                    (group.stop, group.in_stop) = (stop, 0);
                    group.stops += 1;
                }
                group.in_stop += length.0;
                group.longest = group.longest.max(group.in_stop);
            }
            *group.inside.entry(self.inside(key)).or_default() += length.0;
            *group.stacks.entry(key.stack).or_default() += length.0;
        };
        self.cells().parts().for_each(|(stop, key, length)| add(key, Some(stop), length));
        self.cells().rest().for_each(|(key, length)| add(key, None, length));
        let mut rows: Vec<_> = groups.into_iter().map(|(subject, group)| self.row(subject, group)).collect();
        rows.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| a.subject.cmp(&b.subject)));
        rows
    }

    fn row<'a>(&'a self, subject: LateSubject<'a>, group: Group<'a>) -> LateRow<'a> {
        let mut inside: Vec<_> = group.inside.into_iter().map(|(inside, time)| (inside, Nanos(time))).collect();
        inside.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let stack = group.stacks.into_iter().filter_map(|(stack, time)| Some((time, stack?)));
        let stack = stack.max_by_key(|&(time, stack)| (time, std::cmp::Reverse(stack.rank())));
        let frames = stack.map_or(&[][..], |(_, stack)| self.stacks().frames(stack));
        LateRow {
            subject,
            time: Nanos(group.time),
            stops: group.stops,
            longest: Nanos(group.longest),
            inside,
            stack: frames.iter().map(|&site| self.symbols().location(site)).collect(),
        }
    }

    fn frames(&self, key: &CellKey) -> &[SiteIndex] {
        key.stack.map_or(&[], |stack| self.stacks().frames(stack))
    }

    fn subject(&self, by: LateBy, key: &CellKey, own: &mut OwnCode) -> LateSubject<'_> {
        if by == LateBy::Thread {
            return LateSubject::Thread(&self.symbols().thread_name(key.thread).name);
        }
        match (own.frame(self.frames(key), self.symbols()), key.lost, key.function) {
            (Some(site), ..) => LateSubject::Line(self.symbols().location(site)),
            (None, Some(lost), _) => LateSubject::Lost(self.text(lost)),
            (None, None, Some(function)) => LateSubject::Function(self.text(function)),
            (None, None, None) => LateSubject::Unknown,
        }
    }

    fn inside(&self, key: &CellKey) -> LateInside<'_> {
        match (key.function, self.frames(key).first()) {
            (Some(function), _) => LateInside::Function(self.text(function)),
            (None, Some(&site)) => LateInside::Line(self.symbols().location(site)),
            (None, None) => LateInside::Unknown,
        }
    }
}
