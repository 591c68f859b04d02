//! The longest waits of a trace, each with when it was: for timelines and ranges of time. What was shorter is counted.

use std::cmp::Reverse;

use analysis::locks::{Observer, ProcessorTime, Stall, ThreadName};
use rustc_hash::FxHashMap;
use trace::time::{Nanos, Time};

use super::names::Numbers;

/// As many are kept.
const MOST: usize = 20_000;

/// A wait.
#[derive(Clone, Debug)]
pub(super) struct Wait {
    pub(super) thread: u32,
    /// Its id, since threads may have one name.
    pub(super) id: Option<u64>,
    /// Number of its state.
    pub(super) state: u8,
    pub(super) is_contended: bool,
    pub(super) is_open: bool,
    pub(super) since: Time,
    pub(super) length: Nanos,
    pub(super) class: Option<u32>,
    pub(super) at: Option<u32>,
    pub(super) owner: Option<u32>,
    pub(super) owner_at: Option<u32>,
}

/// Gathers waits while a trace is read.
#[derive(Default)]
pub(crate) struct Waits {
    texts: Numbers<String>,
    /// The names and ids of threads that live.
    threads: FxHashMap<u64, (u32, Option<u64>)>,
    waits: Vec<Wait>,
    left_out: u64,
}

impl Waits {
    /// The waits in the order of time, the texts that they name, and how many were left out, all of them shorter.
    pub(super) fn finish(mut self) -> (Vec<Wait>, Vec<String>, u64) {
        self.keep();
        self.waits.sort_by_key(|wait| wait.since);
        (self.waits, self.texts.items, self.left_out)
    }

    /// Leaves out the shortest if there are too many.
    fn keep(&mut self) {
        if self.waits.len() > MOST {
            self.waits.select_nth_unstable_by_key(MOST, |wait| Reverse(wait.length));
            self.left_out += (self.waits.len() - MOST) as u64;
            self.waits.truncate(MOST);
        }
    }
}

impl Observer for Waits {
    fn begin(&mut self, _: Time) {}

    fn thread_started(&mut self, thread: u64, name: ThreadName<'_>) {
        let text = self.texts.of_text(&name.to_string());
        self.threads.insert(thread, (text, name.id.map(|id| id.0)));
    }

    fn thread_ended(&mut self, thread: u64, _: Time, _: Time, _: bool, _: Option<ProcessorTime>) {
        self.threads.remove(&thread);
    }

    fn stall(&mut self, stall: &Stall<'_>) {
        let Some(&(thread, id)) = self.threads.get(&stall.thread) else { return };
        let at = stall.at.map(|at| self.texts.of_text(&at.to_string()));
        let owner_at = stall.owner_at.map(|at| self.texts.of_text(&at.to_string()));
        let class = stall.class.map(|class| self.texts.of_text(class));
        let owner = stall.owner.map(|(_, name)| self.texts.of_text(&name.to_string()));
        self.waits.push(Wait {
            thread,
            id,
            state: stall.state as u8,
            is_contended: stall.is_contended,
            is_open: stall.is_open,
            since: stall.since,
            length: stall.until.since(stall.since),
            class,
            at,
            owner,
            owner_at,
        });
        if self.waits.len() >= 2 * MOST {
            self.keep();
        }
    }
}
