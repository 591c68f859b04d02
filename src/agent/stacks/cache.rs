//! What a thread has found out about its stacks, so that it need not ask the VM again where it has been before.

use jvmti::Jni;
use rustc_hash::FxHashMap;

use super::memory_budget::MemoryBudget;
use crate::agent::clock::Ticks;
use crate::agent::hotspot::return_addresses::{CodeByPc, KeyValidity, StackLayout};
use crate::agent::hotspot::{CodeKind, Pc};

/// One in so many stacks that are known is asked for all the same.
const CHECK_EVERY: u32 = 4096;
/// What an entry of a map takes beside the key that it points to, roughly: half of a map is empty.
pub(crate) const BYTES_OF_ENTRY: usize = 64;
/// The same of an address, of which a thread remembers a quarter of what it may.
const BYTES_OF_PC: usize = 2 * (size_of::<Pc>() + size_of::<CodeKind>());

/// One thread's answers to a question about its innermost frames, by the return addresses that tell these frames.
pub(crate) struct StackCache<T> {
    known: FxHashMap<Box<[u64]>, T>,
    key: Vec<u64>,
    code_by_pc: CodeByPc,
    hits: u32,
    /// What `known` takes, roughly.
    bytes: usize,
    budget: MemoryBudget,
}

/// How return addresses are read.
#[derive(Clone, Copy)]
pub(crate) struct StackReader<'r> {
    pub(crate) jni: Jni,
    /// None where frames do not lie as we know it.
    pub(crate) layout: Option<&'r StackLayout>,
    /// When the last collection ended.
    pub(crate) generation: Ticks,
}

/// What is known of the current stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup<T> {
    Hit(T),
    /// Miss the VM, and then [`StackCache::insert`]. What is known already shall be compared.
    Miss(Option<T>),
    /// This stack cannot be told from others.
    Uncacheable,
}

impl<T> Default for StackCache<T> {
    fn default() -> Self {
        StackCache {
            known: FxHashMap::default(),
            key: Vec::new(),
            code_by_pc: CodeByPc::default(),
            hits: 0,
            bytes: 0,
            budget: MemoryBudget::default(),
        }
    }
}

impl<T: Copy + PartialEq> StackCache<T> {
    /// What is known of the current thread's innermost `most` frames, asked in the sense of `question`. The thread is in native
    /// code that Java code or the VM called.
    pub(crate) fn look_up(&mut self, question: u64, most: usize, reader: StackReader<'_>) -> Lookup<T> {
        let Some(layout) = reader.layout else { return Lookup::Uncacheable };
        self.key.clear();
        self.key.push(question);
        match layout.read(reader.jni, most, &mut self.code_by_pc, &mut self.key) {
            Some(KeyValidity::Forever) => {}
            Some(KeyValidity::UntilCollection) => self.key.push(reader.generation.0),
            None => {
                self.bound_code_by_pc();
                return Lookup::Uncacheable;
            }
        }
        let Some(&known) = self.known.get(self.key.as_slice()) else {
            self.bound_code_by_pc();
            return Lookup::Miss(None);
        };
        self.hits = self.hits.wrapping_add(1);
        if self.hits.is_multiple_of(CHECK_EVERY) { Lookup::Miss(Some(known)) } else { Lookup::Hit(known) }
    }

    /// What the VM said of the stack that was asked for last, where it was known to be `was`.
    pub(crate) fn insert(&mut self, answer: T, was: Option<T>, reader: StackReader<'_>) {
        if let Some(layout) = reader.layout.filter(|_| was.is_some_and(|was| was != answer)) {
            layout.count_mismatch();
        }
        if self.bytes >= self.budget.bytes() {
            self.known = FxHashMap::default();
            self.bytes = 0;
        }
        if self.known.insert(self.key.as_slice().into(), answer).is_none() {
            self.bytes += BYTES_OF_ENTRY + size_of_val(self.key.as_slice());
        }
    }

    /// Only where a stack was not known: those that are bring no new addresses.
    fn bound_code_by_pc(&mut self) {
        if self.code_by_pc.len() >= self.budget.bytes() / BYTES_OF_PC / 4 {
            self.code_by_pc = CodeByPc::default();
        }
    }

    /// Bytes that a thread may take to remember whatever else it is told of stacks.
    pub(crate) fn room(&mut self) -> usize {
        self.budget.bytes()
    }
}
