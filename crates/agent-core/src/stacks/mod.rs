//! The call stacks at which objects are allocated and threads wait; each is kept once.

pub mod cache;
mod memory_budget;
pub mod walker;

use std::sync::atomic::{AtomicUsize, Ordering};

use rustc_hash::FxHashMap;
use trace::ids::StackId;

use agent_base::ids::{CodeLocation, IdSource, StackIndex};
use agent_base::mutex::Mutex;
use agent_base::tables::table::Table;

/// A call stack, innermost frame first; never empty.
#[derive(Debug)]
pub struct StackRecord {
    /// Its id in the trace.
    pub id: StackId,
    /// Innermost first.
    pub frames: Box<[CodeLocation]>,
}

/// Approximate bytes of a stack beside its frames.
const BYTES_OF_STACK: usize = size_of::<StackRecord>() + cache::BYTES_OF_ENTRY;

/// All stacks seen so far.
pub struct Stacks {
    ids: &'static IdSource,
    table: Table<StackRecord>,
    /// Approximate bytes that they take, each in the table and in the map.
    bytes: AtomicUsize,
    by_frames: Mutex<FxHashMap<Box<[CodeLocation]>, StackIndex>>,
}

impl Stacks {
    /// No stack yet.
    pub(crate) fn new(ids: &'static IdSource) -> Stacks {
        Stacks { ids, table: Table::empty(), bytes: AtomicUsize::new(0), by_frames: Mutex::default() }
    }

    /// The stack of that number, if it is not "none".
    pub fn get(&self, index: StackIndex) -> Option<&StackRecord> {
        self.table.get(index.0.checked_sub(1)?)
    }

    /// Approximate bytes that they take.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The number of a stack, which is registered if it is new.
    fn intern(&self, frames: &[CodeLocation]) -> StackIndex {
        let mut by_frames = self.by_frames.lock();
        if let Some(&known) = by_frames.get(frames) {
            return known;
        }
        let record = |_| StackRecord { id: StackId(self.ids.next()), frames: frames.into() };
        let index = StackIndex(self.table.push_with(record) + 1);
        by_frames.insert(frames.into(), index);
        self.bytes.fetch_add(2 * size_of_val(frames) + BYTES_OF_STACK, Ordering::Relaxed);
        index
    }
}
