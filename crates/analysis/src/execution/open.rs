//! The calls of a thread that have not ended: entries are paired with exits.
//!
//! An exit with a ticket belongs to the entry with the same one, whatever method it names: the agent of JVMPI names wrong ones. Without a
//! ticket it belongs to the innermost call of its method. Calls further in have ended without an exit by then.

use rustc_hash::FxHashMap;
use trace::time::{Nanos, Time};

use super::books::Books;
use super::clock::ThreadClock;
use super::faults::Faults;
use super::nodes::NodeIndex;
use super::subject::{Key, add};
use crate::symbols::{SiteIndex, ThreadIndex};

/// Calls that the trace adds up itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Added {
    pub(super) calls: u64,
    pub(super) base: Nanos,
}

/// A call that has not ended.
#[derive(Clone, Debug)]
struct Frame {
    site: SiteIndex,
    ticket: Option<u64>,
    /// When it began, by the trace ...
    time: Time,
    /// ... and by the clock of the thread.
    entered: Nanos,
    added: Option<Added>,
    /// It is in the part of the trace that counts.
    is_counted: bool,
    node: NodeIndex,
    /// The tree had no room for a node of its own.
    is_merged: bool,
    /// How long what it called took by the clock of the thread ...
    gross_below: Nanos,
    /// ... and without what the profiler took, and what does not count.
    below: Nanos,
}

/// What several open calls may have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Open {
    Ticket(u64),
    Method(SiteIndex),
    /// Calls that are added up for the same.
    Summed(Key),
}

/// The calls of a thread.
#[derive(Clone, Debug)]
pub(super) struct ThreadCalls {
    thread: ThreadIndex,
    clock: ThreadClock,
    frames: Vec<Frame>,
    open: FxHashMap<Open, u64>,
}

impl ThreadCalls {
    pub(super) fn new(thread: ThreadIndex) -> Self {
        ThreadCalls { thread, clock: ThreadClock::default(), frames: Vec::new(), open: FxHashMap::default() }
    }

    /// Takes in the time of an event.
    pub(super) fn advance(&mut self, time: Time, faults: &mut Faults) {
        self.clock.advance(time, faults);
    }

    /// Begins a call.
    pub(super) fn enter(
        &mut self,
        site: SiteIndex,
        ticket: Option<u64>,
        time: Time,
        added: Option<Added>,
        books: &mut Books,
    ) {
        let (caller, is_inside) = match self.frames.last() {
            Some(top) => (top.node, top.is_counted),
            None => (books.nodes.thread(self.thread), false),
        };
        let (node, is_merged) = books.nodes.called(caller, site);
        let is_counted = is_inside || books.method(site).is_some_and(|method| method.is_inside);
        let frame = Frame {
            site,
            ticket,
            time,
            entered: self.clock.now(),
            added,
            is_counted,
            node,
            is_merged,
            gross_below: Nanos(0),
            below: Nanos(0),
        };
        for open in self.opened(&frame, books) {
            *self.open.entry(open).or_insert(0) += 1;
        }
        self.frames.push(frame);
    }

    /// Ends a call, if it is open.
    pub(super) fn exit(
        &mut self,
        site: SiteIndex,
        ticket: Option<u64>,
        time: Time,
        overhead: Nanos,
        books: &mut Books,
    ) {
        let wanted = ticket.map_or(Open::Method(site), Open::Ticket);
        if !self.open.contains_key(&wanted) {
            let is_of_other = ticket.is_none() && !self.frames.is_empty();
            let fault = if is_of_other { &mut books.faults.of_others } else { &mut books.faults.without_entry };
            *fault += 1;
            return;
        }
        let is_wanted = |frame: &Frame| match wanted {
            Open::Ticket(ticket) => frame.ticket == Some(ticket),
            _ => frame.site == site,
        };
        while self.frames.last().is_some_and(|top| !is_wanted(top)) {
            books.faults.unwound += 1;
            self.close(Nanos(0), books);
        }
        if let Some(top) = self.frames.last() {
            books.faults.misnamed += u64::from(top.site != site);
            books.faults.negative += u64::from(time != Time(0) && time < top.time);
        }
        self.close(overhead, books);
    }

    /// Ends the thread, and all calls that are open; the time is 0 if it is not known.
    pub(super) fn end(&mut self, time: Time, books: &mut Books) {
        if time != Time(0) {
            self.clock.reach(time);
        }
        while !self.frames.is_empty() {
            books.faults.open += 1;
            self.close(Nanos(0), books);
        }
    }

    /// What is open as long as a call is.
    fn opened(&self, frame: &Frame, books: &Books) -> impl Iterator<Item = Open> + use<> {
        let method = books.method(frame.site).filter(|method| frame.is_counted && method.is_shown);
        let keys = method.map(|method| method.keys(frame.site, self.thread)).into_iter().flatten();
        [Some(Open::Method(frame.site)), frame.ticket.map(Open::Ticket)]
            .into_iter()
            .flatten()
            .chain(keys.map(Open::Summed))
    }

    /// Ends the innermost call: its time is what has passed, without what it called and what the profiler took.
    fn close(&mut self, overhead: Nanos, books: &mut Books) {
        let Some(frame) = self.frames.pop() else { return };
        let gross = Nanos(self.clock.now().0.saturating_sub(frame.entered.0));
        let own = frame.added.map_or(Nanos(gross.0.saturating_sub(frame.gross_below.0)), |added| added.base);
        let (calls, base) = match (frame.is_counted, frame.added) {
            (false, _) => (0, Nanos(0)),
            (true, added) => {
                let taken = own.min(overhead);
                add(&mut books.overhead.0, overhead);
                add(&mut books.overhead.1, taken);
                (added.map_or(1, |added| added.calls), Nanos(own.0 - taken.0))
            }
        };
        let time = Nanos(base.0.saturating_add(frame.below.0));
        if frame.is_merged {
            books.faults.merged = books.faults.merged.saturating_add(calls);
            books.nodes.add(frame.node, 0, base, Nanos(0));
        } else {
            books.nodes.add(frame.node, calls, base, time);
        }
        for open in self.opened(&frame, books) {
            let is_outermost = self.leave(open);
            if let Open::Summed(key) = open {
                let single = frame.added.is_none().then_some(time);
                books.totals.entry(key).or_default().add(calls, base, single);
                if is_outermost {
                    books.add_outermost(key, time);
                }
            }
        }
        match self.frames.last_mut() {
            Some(caller) => {
                add(&mut caller.gross_below, gross);
                add(&mut caller.below, time);
            }
            None => books.nodes.add_to_thread(self.thread, time),
        }
    }

    /// Says whether it was the last that had this in common.
    fn leave(&mut self, open: Open) -> bool {
        let Some(count) = self.open.get_mut(&open) else { return true };
        *count -= 1;
        let is_last = *count == 0;
        if is_last {
            self.open.remove(&open);
        }
        is_last
    }
}
