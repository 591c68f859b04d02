//! What an observer of threads and their waits receives, while a trace is read.

use trace::ids::ObjectId;
use trace::time::Time;

use super::{ProcessorTime, State, ThreadName};
use crate::location::Location;

/// Receives what happens in a trace, in the order in which it ends.
pub trait Observer {
    /// The time at which a trace begins. Called once, in front of everything else.
    fn begin(&mut self, origin: Time);
    /// A thread has started. The number is its own; no other thread has it, in no document.
    fn thread_started(&mut self, thread: u64, name: ThreadName<'_>);
    /// A thread has ended, or the trace has (`is_open`). What it had of the processors meanwhile is absent if the trace does not say.
    fn thread_ended(&mut self, thread: u64, since: Time, until: Time, is_open: bool, processor: Option<ProcessorTime>);
    /// A thread was blocked, waited, was parked or slept.
    fn stall(&mut self, stall: &Stall<'_>);
}

/// The observer of a reading, if it has one. A copy of the reading has none.
#[derive(Default)]
pub(super) struct Observing<'o>(pub(super) Option<&'o mut dyn Observer>);

impl Clone for Observing<'_> {
    fn clone(&self) -> Self {
        Observing(None)
    }
}

/// A time in which a thread was blocked, waited, was parked or slept.
#[derive(Clone, Debug)]
pub struct Stall<'a> {
    /// The thread's number.
    pub thread: u64,
    /// What it did.
    pub state: State,
    /// It waited for a lock that another thread owned.
    pub is_contended: bool,
    /// From when ...
    pub since: Time,
    /// ... until when.
    pub until: Time,
    /// It had not ended when the trace did.
    pub is_open: bool,
    /// What it waited for; nothing if it slept.
    pub object: Option<ObjectId>,
    /// The class of that.
    pub class: Option<&'a str>,
    /// Where it waited.
    pub at: Option<Location<'a>>,
    /// Number and name of the thread that owned what it waited for.
    pub owner: Option<(u64, ThreadName<'a>)>,
    /// Where the owner was.
    pub owner_at: Option<Location<'a>>,
}
