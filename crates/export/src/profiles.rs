//! What all formats are made of.

use analysis::weighted::WeightedStack;
use trace::time::{Nanos, Time};

/// The call stacks of a trace.
#[derive(Clone, Debug, Default)]
pub struct Profiles<'a> {
    /// Objects, and their bytes.
    pub allocated: Vec<WeightedStack<'a>>,
    /// Objects that live at the end, and their bytes.
    pub live: Vec<WeightedStack<'a>>,
    /// Samples of CPU clocks.
    pub cpu: Vec<WeightedStack<'a>>,
    /// Samples of the time.
    pub wall: Vec<WeightedStack<'a>>,
    /// Waits for locks that others owned.
    pub locks: Vec<WeightedStack<'a>>,
    /// Other waits.
    pub waits: Vec<WeightedStack<'a>>,
    /// Calls of methods, and their base time.
    pub calls: Vec<WeightedStack<'a>>,
    /// When the trace begins.
    pub begin: Time,
    /// How long it is.
    pub length: Nanos,
    /// Whose trace it is: the names that OpenTelemetry has for attributes of a resource, such as `service.name`, and their values.
    pub resource: Vec<(&'static str, String)>,
    /// Bytes between two samples of objects; `None` if they are counted.
    pub sampled_interval: Option<u64>,
}

/// What stacks are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// [`Profiles::allocated`].
    Allocated,
    /// [`Profiles::live`].
    Live,
    /// [`Profiles::cpu`].
    Cpu,
    /// [`Profiles::wall`].
    Wall,
    /// [`Profiles::locks`].
    Locks,
    /// [`Profiles::waits`].
    Waits,
    /// [`Profiles::calls`].
    Calls,
}

/// A number that each stack has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Bytes that were allocated.
    Bytes,
    /// Objects that were allocated.
    Objects,
    /// Bytes that live at the end.
    LiveBytes,
    /// Objects that live at the end.
    LiveObjects,
    /// Nanoseconds on the processors.
    Cpu,
    /// Nanoseconds of the threads' lives.
    Wall,
    /// Nanoseconds of waits for locks.
    LockWait,
    /// Waits for locks.
    LockCount,
    /// Nanoseconds of other waits.
    OtherWait,
    /// Nanoseconds in methods, without what they called.
    CallTime,
    /// Calls of methods.
    CallCount,
}

impl Measure {
    /// All of them.
    pub const ALL: [Measure; 11] = [
        Measure::Bytes,
        Measure::Objects,
        Measure::LiveBytes,
        Measure::LiveObjects,
        Measure::Cpu,
        Measure::Wall,
        Measure::LockWait,
        Measure::LockCount,
        Measure::OtherWait,
        Measure::CallTime,
        Measure::CallCount,
    ];

    /// Which stacks have it.
    pub fn subject(self) -> Subject {
        match self {
            Measure::Bytes | Measure::Objects => Subject::Allocated,
            Measure::LiveBytes | Measure::LiveObjects => Subject::Live,
            Measure::Cpu => Subject::Cpu,
            Measure::Wall => Subject::Wall,
            Measure::LockWait | Measure::LockCount => Subject::Locks,
            Measure::OtherWait => Subject::Waits,
            Measure::CallTime | Measure::CallCount => Subject::Calls,
        }
    }

    /// What it is, in words.
    pub fn title(self) -> &'static str {
        match self {
            Measure::Bytes => "Bytes allocated",
            Measure::Objects => "Objects allocated",
            Measure::LiveBytes => "Bytes alive at the end",
            Measure::LiveObjects => "Objects alive at the end",
            Measure::Cpu => "CPU time",
            Measure::Wall => "Time of threads",
            Measure::LockWait => "Time waited for locks",
            Measure::LockCount => "Waits for locks",
            Measure::OtherWait => "Time waited for anything else",
            Measure::CallTime => "Base time of calls",
            Measure::CallCount => "Calls",
        }
    }

    /// It counts things, instead of their bytes or nanoseconds.
    fn is_count(self) -> bool {
        matches!(self, Measure::Objects | Measure::LiveObjects | Measure::LockCount | Measure::CallCount)
    }

    /// The number of a stack.
    pub(crate) fn of(self, stack: &WeightedStack<'_>) -> u64 {
        if self.is_count() { stack.count } else { stack.weight }
    }
}

impl<'a> Profiles<'a> {
    /// For what a sample stands on the average; 1 of what is counted.
    pub(crate) fn period(&self, subject: Subject) -> u64 {
        match subject {
            Subject::Allocated | Subject::Live => self.sampled_interval.unwrap_or(1),
            Subject::Cpu | Subject::Wall => {
                let sum = |number: fn(&WeightedStack<'_>) -> u64| {
                    self.stacks(subject).iter().fold(0_u64, |sum, stack| sum.saturating_add(number(stack)))
                };
                sum(|stack| stack.weight) / sum(|stack| stack.count).max(1)
            }
            Subject::Locks | Subject::Waits | Subject::Calls => 1,
        }
    }

    /// The stacks of a subject.
    pub fn stacks(&self, subject: Subject) -> &[WeightedStack<'a>] {
        match subject {
            Subject::Allocated => &self.allocated,
            Subject::Live => &self.live,
            Subject::Cpu => &self.cpu,
            Subject::Wall => &self.wall,
            Subject::Locks => &self.locks,
            Subject::Waits => &self.waits,
            Subject::Calls => &self.calls,
        }
    }

    /// What there is something of.
    pub fn subjects(&self) -> Vec<Subject> {
        let mut subjects: Vec<Subject> = Measure::ALL.into_iter().map(Measure::subject).collect();
        subjects.dedup();
        subjects.retain(|&subject| !self.stacks(subject).is_empty());
        subjects
    }

    /// The first measure that there is something of; `None` if there is nothing at all.
    pub fn first(&self) -> Option<Measure> {
        Measure::ALL.into_iter().find(|measure| !self.stacks(measure.subject()).is_empty())
    }
}
