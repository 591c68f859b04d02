//! The state at the current point of a trace: living threads, and what they wait for.

use std::collections::VecDeque;

use trace::ids::{ObjectId, ThreadId};
use trace::model::ThreadKind;
use trace::time::{Nanos, Time};

use super::looks::{FirstSeen, Seen};
use super::processor_time::ProcessorTime;
use super::stacks::StackIndex;
use super::threads::RowIndex;
use super::timeline_row::State;
use super::{LockStats, ThreadName};
use crate::symbols::ClassIndex;

/// Serial number of a thread: unlike its id, it is never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Serial(pub(super) u64);

/// A living thread.
#[derive(Clone, Debug)]
pub(super) struct LiveThread {
    pub(super) row: RowIndex,
    pub(super) id: Option<ThreadId>,
    /// Its name, where its row is shared and has another.
    pub(super) name: Option<Box<str>>,
    pub(super) started: Time,
    /// Since when it is in its present state.
    pub(super) since: Time,
    /// How much of its time counts that it spent in no recorded wait.
    pub(super) running: Nanos,
    /// What the trace said last.
    pub(super) processor: Option<ProcessorTime>,
    /// What it waits for, the innermost last. In a lock log: what the threads of its name wait for.
    pub(super) pending: VecDeque<PendingStall>,
}

/// A wait that has not ended.
#[derive(Clone, Debug)]
pub(super) struct PendingStall {
    pub(super) state: State,
    pub(super) is_contended: bool,
    pub(super) object: Option<ObjectId>,
    pub(super) class: Option<ClassIndex>,
    pub(super) monitor: Option<u64>,
    pub(super) stack: Option<StackIndex>,
    pub(super) owner: Option<Owner>,
    pub(super) owner_stack: Option<StackIndex>,
    pub(super) since: Time,
    /// How much of the time since then counts, without what is nested in it.
    pub(super) spent: Nanos,
    /// If it was seen by looks at intervals.
    pub(super) seen: Option<Seen>,
}

impl PendingStall {
    /// A wait of a lock log, which has neither monitor nor owner.
    pub(super) fn in_log(stack: Option<StackIndex>, since: Time) -> Self {
        PendingStall {
            state: State::Blocked,
            is_contended: true,
            object: None,
            class: None,
            monitor: None,
            stack,
            owner: None,
            owner_stack: None,
            since,
            spent: Nanos(0),
            seen: None,
        }
    }
}

/// A thread that owns what another one waits for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    pub(super) serial: Serial,
    pub(super) row: RowIndex,
}

/// An object that a thread waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Monitor {
    /// Serial number: unlike the object's id, it is never reused.
    pub(super) serial: u64,
    /// Who was last seen to own it, and when.
    pub(super) owner: Option<(Serial, Time)>,
    pub(super) first_seen: FirstSeen,
}

impl LockStats<'_> {
    pub(super) fn start_thread(&mut self, id: ThreadId, name: &str, group: &str, time: Time) -> Serial {
        let serial = self.new_live(name, group, Some(id), time);
        if let Some(before) = self.ids.insert(id, serial) {
            self.end_thread(before, time);
        }
        serial
    }

    /// Says what a thread is, if it does not run Java.
    pub(super) fn is_of_kind(&mut self, serial: Serial, kind: Option<ThreadKind>) {
        if let Some(live) = self.live.get(&serial) {
            self.threads.row_mut(live.row).kind = kind;
        }
    }

    pub(super) fn start_log_thread(&mut self, name: &str, time: Time) -> Serial {
        let serial = self.new_live(name, "", None, time);
        self.names.insert(name.into(), serial);
        serial
    }

    fn new_live(&mut self, name: &str, group: &str, id: Option<ThreadId>, time: Time) -> Serial {
        self.serials += 1;
        let serial = Serial(self.serials);
        let row = self.threads.start(name, group, id, time);
        let own_name = (*self.threads.row(row).name != *name).then(|| name.into());
        let live = LiveThread {
            row,
            id,
            name: own_name,
            started: time,
            since: time,
            running: Nanos(0),
            processor: None,
            pending: VecDeque::new(),
        };
        self.live.insert(serial, live);
        if self.selects_thread(name)
            && let Some(observer) = &mut self.observer.0
        {
            observer.thread_started(serial.0, ThreadName { name, group, id });
        }
        serial
    }

    /// The thread behind an id; an undefined id gets a name that says so.
    pub(super) fn thread(&mut self, id: ThreadId, time: Time) -> Serial {
        match self.ids.get(&id) {
            Some(&known) => known,
            None => {
                self.facts.undefined_ids += 1;
                self.start_thread(id, &format!("(undefined thread {id})"), "", time)
            }
        }
    }

    pub(super) fn owner(&self, serial: Serial) -> Option<Owner> {
        self.live.get(&serial).map(|live| Owner { serial, row: live.row })
    }

    pub(super) fn monitor(&mut self, object: ObjectId) -> &mut Monitor {
        self.monitors.entry(object).or_insert_with(|| {
            self.serials += 1;
            Monitor { serial: self.serials, owner: None, first_seen: FirstSeen::default() }
        })
    }
}
