//! When the counts of a document were written. What a count has more than the one before was allocated between the two; when, it
//! does not say. So an interval from one time of writing to the next counts as a whole, or not at all.

use trace::time::Time;

use crate::window::{Clock, Position};

/// The borders between which counts were taken into account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Borders {
    pub(super) from: Time,
    pub(super) to: Time,
}

/// The intervals of a trace's documents.
#[derive(Clone, Debug, Default)]
pub(super) struct Intervals {
    /// The last interval of the document.
    interval: Option<Borders>,
    position: Position,
    /// What counts of all of them.
    counted: Option<Borders>,
    /// An interval near the part that counts, but outside.
    missed: Option<Borders>,
}

impl Intervals {
    /// Whether counts of this time were already written, so that what belongs to them is complete.
    pub(super) fn has_written(&self, time: Time) -> bool {
        self.interval.is_some_and(|interval| time <= interval.to)
    }

    /// Takes in when a count was written. Gives back the interval if it is a new one.
    pub(super) fn written(&mut self, time: Time, document: Time, clock: &Clock) -> Option<Borders> {
        if self.has_written(time) {
            return None;
        }
        let from = self.interval.map_or(document, |interval| interval.to).min(time);
        let interval = Borders { from, to: time };
        // It counts if its middle does: then the borders of the part are moved to the nearest times of writing.
        self.position = clock.position(Time(from.0 + (time.0 - from.0) / 2));
        self.interval = Some(interval);
        match self.position {
            Position::Inside => {
                let counted = self.counted.get_or_insert(interval);
                counted.from = counted.from.min(interval.from);
                counted.to = counted.to.max(interval.to);
            }
            Position::Before => self.missed = Some(interval),
            Position::After if self.missed.is_none() || clock.position(interval.from) != Position::After => {
                self.missed = Some(interval);
            }
            Position::After => {}
        }
        Some(interval)
    }

    /// Where the last interval lies.
    pub(super) fn position(&self) -> Position {
        self.position
    }

    /// The next document has counts of its own.
    pub(super) fn end_document(&mut self) {
        self.interval = None;
    }

    /// From when to when counts are taken into account; `None` if no interval is.
    pub(super) fn counted(&self) -> Option<Borders> {
        self.counted
    }

    /// An interval near the part that counts, if that has none.
    pub(super) fn missed(&self) -> Option<Borders> {
        self.missed
    }
}
