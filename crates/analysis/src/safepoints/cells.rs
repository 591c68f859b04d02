//! What late threads cost, stop by stop.

use rustc_hash::FxHashMap;
use trace::time::Nanos;

use super::TextIndex;
use crate::stacks::StackIndex;
use crate::symbols::ThreadIndex;

/// Maximum number of cells; what comes later is added to those without stack.
const MOST_CELLS: usize = 200_000;
/// Maximum number of parts that are kept by stop; the time of later ones is only added up.
const MOST_PARTS: usize = 1 << 20;

/// What is kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CellKey {
    pub(super) thread: ThreadIndex,
    pub(super) stack: Option<StackIndex>,
    /// The native function on top.
    pub(super) function: Option<TextIndex>,
    /// Why there is no stack.
    pub(super) lost: Option<TextIndex>,
}

/// Number of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct CellIndex(u32);

/// What a cell cost in one stop.
#[derive(Clone, Copy, Debug)]
struct Part {
    stop: u32,
    cell: CellIndex,
    length: Nanos,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    keys: Vec<CellKey>,
    index: FxHashMap<CellKey, CellIndex>,
    parts: Vec<Part>,
    /// Where the parts of the last stop are.
    of_stop: FxHashMap<CellIndex, usize>,
    stops: u32,
    /// Time of parts that were too many.
    rest: FxHashMap<CellIndex, Nanos>,
}

impl Cells {
    /// What is added from now on belongs to another stop.
    pub(super) fn begin_stop(&mut self) {
        self.of_stop.clear();
        self.stops = self.stops.saturating_add(1);
    }

    /// Adds time of the stop.
    pub(super) fn add(&mut self, key: CellKey, length: Nanos) {
        let cell = self.cell(key);
        let known = self.of_stop.get(&cell).copied();
        let place = known.or_else(|| {
            (self.parts.len() < MOST_PARTS).then(|| {
                self.parts.push(Part { stop: self.stops, cell, length: Nanos(0) });
                self.of_stop.insert(cell, self.parts.len() - 1);
                self.parts.len() - 1
            })
        });
        let sum = match place {
            Some(place) => &mut self.parts[place].length,
            None => self.rest.entry(cell).or_default(),
        };
        sum.0 = sum.0.saturating_add(length.0);
    }

    fn cell(&mut self, key: CellKey) -> CellIndex {
        let is_known = self.keys.len() < MOST_CELLS || self.index.contains_key(&key);
        // There are no more of these than threads.
        let key = if is_known { key } else { CellKey { stack: None, function: None, lost: None, ..key } };
        if let Some(&known) = self.index.get(&key) {
            return known;
        }
        let new = CellIndex(self.keys.len() as u32);
        self.keys.push(key);
        self.index.insert(key, new);
        new
    }

    /// What each cell cost in each stop, the parts of a stop behind each other.
    pub(super) fn parts(&self) -> impl Iterator<Item = (u32, &CellKey, Nanos)> {
        self.parts.iter().map(|part| (part.stop, &self.keys[part.cell.0 as usize], part.length))
    }

    /// What was too much to be kept by stop.
    pub(super) fn rest(&self) -> impl Iterator<Item = (&CellKey, Nanos)> {
        self.rest.iter().map(|(cell, length)| (&self.keys[cell.0 as usize], *length))
    }
}
