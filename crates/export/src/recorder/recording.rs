//! What happened when, in the order in which it was over.

use std::collections::BTreeMap;

use trace::time::{Nanos, Time};

use super::pools::Pools;
use super::requests::RequestEvent;
use super::start::{CompilationEvent, InitialiserEvent};
use super::waits::WaitKind;

/// What happened. Threads, classes, locks and stacks are numbers of [`Recording`]; 0 is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    ThreadStart {
        thread: u64,
        time: Time,
    },
    ThreadEnd {
        thread: u64,
        time: Time,
    },
    Wait(WaitEvent),
    Sample {
        thread: u64,
        time: Time,
        cpu: Nanos,
        stack: u64,
    },
    Initialiser(InitialiserEvent),
    Request(RequestEvent),
    Compilation(CompilationEvent),
    /// A class that came out of no archive.
    ClassLoad {
        class: u64,
        time: Time,
    },
    Collection {
        since: Time,
        until: Time,
        used: Option<u64>,
    },
}

/// A wait that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WaitEvent {
    pub(crate) thread: u64,
    pub(crate) kind: WaitKind,
    pub(crate) since: Time,
    pub(crate) until: Time,
    /// Without the waits inside of it.
    pub(crate) length: Nanos,
    pub(crate) class: u64,
    pub(crate) lock: u64,
    pub(crate) owner: u64,
    pub(crate) stack: u64,
    pub(crate) timed_out: bool,
}

/// What a thread allocated of a class on a stack.
#[derive(Clone, Debug)]
pub(crate) struct Allocation {
    pub(crate) thread: u64,
    pub(crate) stack: u64,
    pub(crate) class: u64,
    pub(crate) bytes: u64,
}

/// All that happened, and what was allocated.
#[derive(Debug, Default)]
pub struct Recording {
    pub(crate) begin: Time,
    pub(crate) end: Time,
    /// Of the first process that the trace names.
    pub(crate) pid: Option<u64>,
    pub(crate) pools: Pools,
    pub(crate) events: Vec<Event>,
    /// Of all of the trace; a trace with counts does not say when.
    pub(crate) allocations: Vec<Allocation>,
    /// Bytes until a time, for each millisecond that says something.
    pub(crate) allocated: Vec<(Time, u64)>,
    /// The JVM's own counters, by name.
    pub(crate) counters: BTreeMap<Box<str>, Vec<(Time, u64)>>,
    pub(crate) lock_names: Vec<Box<str>>,
    /// Methods that are entry points of requests.
    pub(crate) entry_points: Vec<Box<str>>,
}

impl Recording {
    /// Where the program keeps a lock; `None` if the trace does not say.
    pub(crate) fn lock_name(&self, lock: u64) -> Option<&str> {
        let name = self.lock_names.get(usize::try_from(lock).ok()?.checked_sub(1)?)?;
        Some(&**name).filter(|name| !name.is_empty())
    }
}
