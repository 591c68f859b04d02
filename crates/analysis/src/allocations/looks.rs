//! What lives, as looks at the heap find it: walks (`liveCount`), and looks at the sampled objects (`liveSample`).

use rustc_hash::FxHashMap;
use trace::time::Time;

use super::cells::CellIndex;
use super::totals::Living;

/// The last look at the heap in a document.
#[derive(Clone, Debug, Default)]
pub(super) struct LastLook {
    time: Option<Time>,
    found: FxHashMap<CellIndex, Living>,
}

impl LastLook {
    /// What the look of a time found of a cell so far; `None` if there was a later one. It replaces what an earlier one found.
    pub(super) fn found(&mut self, cell: CellIndex, time: Time) -> Option<&mut Living> {
        if self.time < Some(time) {
            self.found.clear();
            self.time = Some(time);
        }
        (self.time == Some(time)).then(|| self.found.entry(cell).or_default())
    }

    /// Takes out what it found; the next document has looks of its own.
    pub(super) fn end_document(&mut self) -> impl Iterator<Item = (CellIndex, Living)> + use<> {
        std::mem::take(self).found.into_iter()
    }
}
