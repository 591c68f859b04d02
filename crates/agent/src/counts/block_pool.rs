//! Who has a block, which blocks wait for the next thread, and the sums of those that have ended. Rewritten code contains the address
//! of the table by which threads find theirs, so all of it lives as long as the JVM.

use std::sync::Arc;

use super::blocks::Block;
use super::ids::CounterIndex;
use super::thread_table::ThreadTable;
use agent_base::mutex::Mutex;

/// The blocks of a JVM.
pub(super) struct BlockPool {
    /// `None` if the system has no room; then nothing is counted.
    table: Option<ThreadTable>,
    /// Cleared blocks of ended threads.
    spare: Mutex<Vec<Arc<Block>>>,
    /// Blocks of threads that lived when a recording ended, and may still add to them for a moment.
    retired: Mutex<Vec<Arc<Block>>>,
    /// Sums over ended threads, and what threads without counters of their own add; `None` if the system has no room.
    sums: Option<Block>,
}

impl BlockPool {
    /// No thread has one.
    pub(super) fn new() -> BlockPool {
        BlockPool { table: ThreadTable::new(), spare: Mutex::default(), retired: Mutex::default(), sums: Block::new() }
    }

    /// Where threads find their counters.
    pub(super) fn table(&self) -> Option<usize> {
        self.table.as_ref().map(ThreadTable::address)
    }

    /// The sums.
    pub(super) fn sums(&self) -> Option<&Block> {
        self.sums.as_ref()
    }

    /// Adds to the sums.
    pub(super) fn add_to_sums(&self, counter: CounterIndex, value: u64) {
        if let Some(sums) = &self.sums {
            sums.add(counter, value);
        }
    }

    /// Another recording begins: all of the first `len` counters are 0 again.
    pub(super) fn begin_again(&self, len: u32) {
        let retired = std::mem::take(&mut *self.retired.lock());
        for block in self.sums.iter().chain(retired.iter().map(|block| &**block)) {
            block.drain(len, |_, _| {});
        }
        self.spare.lock().extend(retired);
    }

    /// A recording is over and its sums are written: gives the memory of counters back to the system. A thread that still adds to one
    /// takes a page of it again, until another recording begins.
    pub(super) fn release(&self) {
        for block in self.spare.lock().iter().chain(self.retired.lock().iter()) {
            block.release();
        }
        self.sums.iter().for_each(Block::release);
    }

    /// A thread of that number in Java gets a block, unless it has to share one.
    pub(super) fn give(&self, number: i64, has_room: bool) -> Option<Arc<Block>> {
        let spare = || self.spare.lock().pop();
        let block = has_room.then(|| spare().or_else(|| Block::new().map(Arc::new))).flatten();
        if let Some(table) = &self.table {
            table.add(number, block.as_ref().map_or(0, |block| block.address()));
        }
        block
    }

    /// Whether the hooks find the block of the current thread, of that number, or call the agent.
    pub(super) fn set_found(&self, number: i64, block: &Block, is_found: bool) {
        self.table.iter().for_each(|table| table.set(number, if is_found { block.address() } else { 0 }));
    }

    /// The thread of that number counts no more.
    pub(super) fn forget(&self, number: i64) {
        self.table.iter().for_each(|table| table.remove(number));
    }

    /// Moves the first `len` counters of a block to the sums.
    pub(super) fn drain(&self, block: &Block, len: u32) {
        block.drain(len, |counter, value| self.add_to_sums(counter, value));
    }

    /// A block that was drained is for the next thread.
    pub(super) fn take_back(&self, block: Arc<Block>) {
        self.spare.lock().push(block);
    }

    /// Adds the first `len` counters of a block to the sums, whose thread lives when the recording ends.
    pub(super) fn retire(&self, block: Arc<Block>, len: u32) {
        block.for_each(len, |counter, value| self.add_to_sums(counter, value));
        self.retired.lock().push(block);
    }

    /// Bytes of memory that spare blocks and the sums take.
    pub(super) fn bytes(&self) -> u64 {
        let spare: u64 = self.spare.lock().iter().map(|block| block.bytes()).sum();
        spare + self.sums.as_ref().map_or(0, Block::bytes)
    }
}
