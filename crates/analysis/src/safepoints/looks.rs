//! How the time of a slow stop is divided among the threads that were late.
//!
//! The agent looks again and again while the VM waits. A look stands for the time since the one before, the last one also for what
//! is left until all threads had stopped; each thread that it finds has the same part of that. So all parts together are the time that
//! it took to reach the safepoint.

use trace::time::Nanos;

use super::cells::{CellKey, Cells};

/// A stop with more late threads than this is not Martini's.
const MOST: usize = 1 << 16;

/// A thread that was found late.
#[derive(Clone, Copy, Debug)]
pub(super) struct Late {
    /// How long after the stop began; the same for all threads of one look.
    pub(super) late: Nanos,
    pub(super) key: CellKey,
}

/// The late threads of one stop.
#[derive(Clone, Debug, Default)]
pub(super) struct Looks(Vec<Late>);

impl Looks {
    /// Adds one; false if there are too many.
    pub(super) fn add(&mut self, late: Late) -> bool {
        let has_room = self.0.len() < MOST;
        if has_room {
            self.0.push(late);
        }
        has_room
    }

    /// Adds to each thread's cell its part of the time that the stop took to reach. Returns the time of which nothing was seen: all
    /// or none.
    pub(super) fn divide(&mut self, sync: Nanos, cells: &mut Cells) -> Nanos {
        let mut all = std::mem::take(&mut self.0);
        all.sort_by_key(|late| late.late);
        let Some(last) = all.last().map(|late| late.late) else { return sync };
        cells.begin_stop();
        let mut since = 0;
        for look in all.chunk_by(|one, other| one.late == other.late) {
            let time = look[0].late;
            let until = if time == last { sync.0 } else { time.0 };
            let length = until.saturating_sub(since);
            let threads = look.len() as u64;
            for (number, late) in (0..).zip(look) {
                // What does not divide goes to the first of them.
                cells.add(late.key, Nanos(length / threads + u64::from(number < length % threads)));
            }
            since = until;
        }
        Nanos(0)
    }
}
