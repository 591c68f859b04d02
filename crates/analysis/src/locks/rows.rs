//! The rows of the tables, with names instead of indices.

use std::fmt;

use trace::ids::ObjectId;
use trace::model::ThreadKind;
use trace::time::{Nanos, Time};

use super::durations::Durations;
use super::lock_names::{CalledLock, LockName};
use super::looks::Estimate;
use super::processor_time::ProcessorTime;
use super::threads::{ThreadName, TimeTotals};
use super::timeline_row::ByState;
use crate::location::Location;

/// What the rows of a table of waits stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockBy {
    /// One row per monitor, or other object that is waited for.
    Monitor,
    /// One row per class of them.
    Class,
    /// One row per class and place that waits.
    Site,
    /// One row per class and place where the owner was when another thread came to wait.
    Holder,
    /// One row per thread that waits.
    Waiter,
    /// One row per thread that waits, thread that owns, and class: who blocks whom.
    Pair,
}

/// One row of a table of waits.
#[derive(Clone, Debug)]
pub struct LockRow<'a> {
    /// What the row is about.
    pub subject: LockSubject<'a>,
    /// Waits for a lock that another thread owned, or may have owned.
    pub contended: Durations,
    /// What is estimated of their time in all; `None` if all of it is exact.
    pub estimate: Option<Estimate>,
    /// Waits for a notification, or for anything else than a lock.
    pub waited: Durations,
    /// How many of both had not ended when the trace did; they count with what they had by then.
    pub open: u64,
    /// How many of `waited` ended because their time was over.
    pub timed_out: u64,
    /// The longest of `contended`, and of `waited`.
    pub longest: [Option<Longest<'a>>; 2],
}

impl LockRow<'_> {
    /// Whether the waits for locks were all seen by looks, and by so few that they say nothing.
    pub fn says_too_little(&self) -> bool {
        self.estimate.is_some_and(|estimate| estimate.waits == self.contended.count() && !estimate.is_enough())
    }
}

/// The longest wait of a row.
#[derive(Clone, Debug)]
pub struct Longest<'a> {
    /// How long it was.
    pub length: Nanos,
    /// When it began.
    pub since: Time,
    /// Who waited.
    pub waiter: ThreadName<'a>,
    /// Who owned what it waited for.
    pub owner: Option<ThreadName<'a>>,
    /// Where it waited, innermost first.
    pub stack: Vec<Location<'a>>,
    /// Where the owner was, innermost first.
    pub owner_stack: Vec<Location<'a>>,
}

/// What a row is about. Its `Display` is the text a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LockSubject<'a> {
    /// An object.
    Monitor {
        /// Where the program keeps it.
        name: Option<LockName<'a>>,
        /// Its class, if known.
        class: Option<&'a str>,
        /// Its id and a number that no other has; `None` for the others of the class.
        object: Option<(ObjectId, u64)>,
    },
    /// A class of objects, if known.
    Class(Option<&'a str>),
    /// A class, and a place in the program.
    Site {
        /// Class of what is waited for, if known.
        class: Option<&'a str>,
        /// The place, if known.
        at: Option<Location<'a>>,
    },
    /// A thread.
    Thread(ThreadName<'a>),
    /// Two threads.
    Pair {
        /// Who waits.
        waiter: ThreadName<'a>,
        /// Who owns, if known.
        owner: Option<ThreadName<'a>>,
        /// Class of what is waited for, if known.
        class: Option<&'a str>,
    },
}

impl fmt::Display for LockSubject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            &LockSubject::Monitor { name, class, object: Some((object, _)) } => {
                CalledLock { name, class, object }.fmt(f)
            }
            LockSubject::Monitor { class, object: None, .. } => {
                write!(f, "{} (others)", class.unwrap_or("(unknown class)"))
            }
            LockSubject::Class(class) => f.write_str(class.unwrap_or("(unknown class)")),
            LockSubject::Site { class: Some(class), at: Some(at) } => write!(f, "{class} at {at}"),
            LockSubject::Site { class: Some(class), at: None } => write!(f, "{class} (no site)"),
            LockSubject::Site { class: None, at: Some(at) } => write!(f, "{at}"),
            LockSubject::Site { class: None, at: None } => f.write_str("(no site)"),
            LockSubject::Thread(thread) => write!(f, "{thread}"),
            LockSubject::Pair { waiter, owner, class } => {
                write!(f, "{waiter} <- ")?;
                match owner {
                    Some(owner) => write!(f, "{owner}")?,
                    None => f.write_str("(unknown)")?,
                }
                match class {
                    Some(class) => write!(f, " ({class})"),
                    None => Ok(()),
                }
            }
        }
    }
}

/// What a thread, or several, did with their time.
#[derive(Clone, Debug)]
pub struct ThreadSummary<'a> {
    /// The thread.
    pub thread: ThreadName<'a>,
    /// What it is, if it does not run Java.
    pub kind: Option<ThreadKind>,
    /// How many threads the row stands for.
    pub members: u64,
    /// When the first of them started, or the trace began.
    pub started: Time,
    /// When the last of them ended, or the trace did.
    pub ended: Time,
    /// Time in none of the other states.
    pub running: Nanos,
    /// Blocked by monitors.
    pub blocked: TimeTotals,
    /// In `Object.wait`.
    pub waiting: TimeTotals,
    /// Parked by `java.util.concurrent`.
    pub parked: TimeTotals,
    /// In `Thread.sleep`.
    pub sleeping: TimeTotals,
    /// What they had of the processors; `None` if the trace does not say it of all of them.
    pub processor: Option<ProcessorTime>,
    /// How many were in each state when the trace ended, or the part of it that counts. The others had ended, or not yet started.
    pub at_end: ByState<u64>,
    /// Nanoseconds in each state in each slice of the trace, all slices being equally long.
    pub slices: Vec<ByState<f32>>,
}

impl ThreadSummary<'_> {
    /// Adds other threads.
    pub(super) fn merge(&mut self, other: &ThreadSummary<'_>) {
        self.members += other.members;
        self.started = self.started.min(other.started);
        self.ended = self.ended.max(other.ended);
        self.running = Nanos(self.running.0.saturating_add(other.running.0));
        self.blocked.merge(other.blocked);
        self.waiting.merge(other.waiting);
        self.parked.merge(other.parked);
        self.sleeping.merge(other.sleeping);
        self.processor = self.processor.zip(other.processor).map(|(one, other)| one.plus(other));
        self.at_end.iter_mut().zip(other.at_end).for_each(|(sum, number)| *sum += number);
        for (slice, other) in self.slices.iter_mut().zip(&other.slices) {
            slice.iter_mut().zip(other).for_each(|(sum, nanos)| *sum += nanos);
        }
    }

    /// Time from start to end, of all threads of the row together.
    pub fn alive(&self) -> Nanos {
        let stalled = [self.blocked, self.waiting, self.parked, self.sleeping]
            .iter()
            .fold(0_u64, |sum, state| sum.saturating_add(state.total.0));
        Nanos(self.running.0.saturating_add(stalled))
    }

    /// Time in which they were blocked, waited, were parked or slept.
    pub fn stalled(&self) -> Nanos {
        Nanos(self.alive().0 - self.running.0)
    }
}
