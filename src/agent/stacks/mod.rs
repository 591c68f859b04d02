//! The call stacks at which objects are allocated and threads wait; each is kept once.

pub(crate) mod cache;
mod memory_budget;
pub(crate) mod walker;

use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;
use trace::ids::StackId;

use crate::agent::ids::{CodeLocation, IdSource, StackIndex};
use crate::agent::tables::table::Table;

/// A call stack, innermost frame first; never empty.
#[derive(Debug)]
pub(crate) struct StackRecord {
    pub(crate) id: StackId,
    pub(crate) frames: Box<[CodeLocation]>,
}

/// All stacks seen so far.
pub(crate) struct Stacks {
    ids: &'static IdSource,
    table: Table<StackRecord>,
    by_frames: Mutex<FxHashMap<Box<[CodeLocation]>, StackIndex>>,
}

impl Stacks {
    /// No stack yet.
    pub(crate) fn new(ids: &'static IdSource) -> Stacks {
        Stacks { ids, table: Table::new(), by_frames: Mutex::default() }
    }

    /// The stack of that number, if it is not "none".
    pub(crate) fn get(&self, index: StackIndex) -> Option<&StackRecord> {
        self.table.get(index.0.checked_sub(1)?)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> u32 {
        self.table.len()
    }

    /// The number of a stack, which is registered if it is new.
    fn intern(&self, frames: &[CodeLocation]) -> StackIndex {
        let mut by_frames = self.by_frames.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&known) = by_frames.get(frames) {
            return known;
        }
        let record = |_| StackRecord { id: StackId(self.ids.next()), frames: frames.into() };
        let index = StackIndex(self.table.push_with(record) + 1);
        by_frames.insert(frames.into(), index);
        index
    }
}
