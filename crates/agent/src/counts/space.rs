//! What rewritten code contains the address or number of, and so lives as long as the JVM: the counters, and the table by which
//! threads find them.

use std::sync::{Arc, OnceLock};

use jvmti::Jni;
use trace::names::array_code;

use super::blocks::Block;
use super::constants::{Constants, StringFactory};
use super::counters::Counters;
use super::linking::Unlinked;
use super::proxy;
use super::rewritings::Rewritings;
use super::thread_table::ThreadTable;
use super::vm_allocations::ClassObjects;
use agent_base::helpers::HelperClass;
use agent_base::mutex::Mutex;
use agent_base::tables::array_layout::{ArrayLayout, ArrayLayouts};

/// Why nothing can be counted.
pub(crate) const NO_ROOM: &str = "no address space for counters; heap=vm needs none";

/// What all recordings of a JVM share.
pub(super) struct CounterSpace {
    pub(super) counters: Counters,
    /// `None` if the system has no room; then nothing is counted.
    pub(super) table: Option<ThreadTable>,
    /// Cleared blocks of ended threads.
    pub(super) spare: Mutex<Vec<Arc<Block>>>,
    /// Blocks of threads that lived when a recording ended, and may still add to them for a moment.
    pub(super) retired: Mutex<Vec<Arc<Block>>>,
    /// Sums over ended threads, and what threads without counters of their own add; `None` if the system has no room.
    pub(super) sums: Option<Block>,
    pub(super) rewritings: Rewritings,
    /// `None` if the system has no room.
    pub(super) constants: Option<Constants>,
    pub(super) unlinked: Unlinked,
    /// MartiniCounts, once it is defined.
    pub(super) defined: OnceLock<HelperClass>,
    /// Known from VMInit on.
    pub(super) class_objects: OnceLock<ClassObjects>,
    /// Known from VMInit on.
    pub(super) strings: OnceLock<StringFactory>,
}

impl CounterSpace {
    /// No counters yet.
    pub(super) fn new() -> CounterSpace {
        CounterSpace {
            counters: Counters::new(),
            table: ThreadTable::new(),
            spare: Mutex::default(),
            retired: Mutex::default(),
            sums: Block::new(),
            rewritings: Rewritings::new(),
            constants: Constants::new(),
            unlinked: Unlinked::default(),
            defined: OnceLock::new(),
            class_objects: OnceLock::new(),
            strings: OnceLock::new(),
        }
    }

    /// Another recording begins: all counters are 0 again.
    pub(super) fn begin_again(&self) {
        let len = self.counters.len();
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

    /// The class file of MartiniCounts for this VM, whose arrays are laid out like that.
    ///
    /// # Errors
    /// There is no room for counters.
    pub(super) fn class_file(&self, java: u32, layouts: &ArrayLayouts) -> Result<Vec<u8>, String> {
        let table = self.table.as_ref().ok_or(NO_ROOM)?;
        let packed = |descriptor: u8| {
            let name =
                if descriptor == b'L' { "[Ljava/lang/Object;".into() } else { format!("[{}", descriptor as char) };
            layouts.get(array_code(&name)).and_then(ArrayLayout::packed).unwrap_or(0)
        };
        Ok(proxy::class_file(java, packed, self.constants.as_ref().map_or(0, Constants::address), table.address()))
    }

    /// Releases the classes whose counters will not be resolved any more.
    pub(super) fn release_unloadable(&self, jni: Jni) {
        self.rewritings.take_unresolved().release(jni);
    }
}
