//! What a report says about the part of the trace that counts.

use trace::time::{Nanos, Time};

use super::report::AllocationReport;
use super::snapshots::Borders;

/// The part of a trace that counts, in times after its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartOfTrace {
    /// Where it begins.
    pub from: Nanos,
    /// Where it ends.
    pub to: Nanos,
}

/// Which part of a trace of counts counts: what was counted between two times of writing does so as a whole, or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedPart {
    /// From one time of writing to another.
    Between(PartOfTrace),
    /// Counts were written at none or one of the times nearest to the borders. These are two times of writing near them, if there are any.
    Nothing(Option<PartOfTrace>),
}

impl AllocationReport {
    /// When the trace begins: the time of its first element that has one.
    pub fn beginning(&self) -> Time {
        self.clock.origin()
    }

    /// How long the trace is, from its first element with a time to the last.
    pub fn length(&self) -> Nanos {
        self.clock.length()
    }

    /// The part that was asked for, as far as the trace reaches; `None` if all of the trace counts.
    pub fn part_of_trace(&self) -> Option<PartOfTrace> {
        let (begin, end) = self.clock.part();
        let since = |time: Time| time.since(self.clock.origin());
        self.clock.is_window().then(|| PartOfTrace { from: since(begin), to: since(end) })
    }

    /// Which part counts instead, if the trace has counts.
    pub fn counted_part(&self) -> Option<CountedPart> {
        if !self.clock.is_window() || !self.is_counted() {
            return None;
        }
        let part = |borders: Borders| {
            let since = |time: Time| time.since(self.clock.origin());
            PartOfTrace { from: since(borders.from), to: since(borders.to) }
        };
        Some(match self.snapshots.counted() {
            Some(borders) => CountedPart::Between(part(borders)),
            None => CountedPart::Nothing(self.snapshots.missed().map(part)),
        })
    }
}
