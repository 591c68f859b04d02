//! The stacks that a thread has seen, by their return addresses, so that it need not ask the VM for the same one again.

use jvmti::Jni;
use rustc_hash::FxHashMap;

use super::memory_budget::MemoryBudget;
use agent_base::clock::Ticks;
use hotspot::return_addresses::{KeyValidity, StackLayout};

/// Approximate bytes of an entry of a map beside the key that it points to: half of a map is empty.
pub(crate) const BYTES_OF_ENTRY: usize = 64;

/// One thread's results for its innermost frames, by the return addresses that identify these frames.
pub struct StackCache<T> {
    known: FxHashMap<Box<[u64]>, T>,
    key: Vec<u64>,
    hits: u32,
    /// Approximate size of `known`.
    bytes: usize,
    budget: MemoryBudget,
}

/// How return addresses are read.
#[derive(Clone, Copy)]
pub(crate) struct StackReader<'r> {
    pub(crate) jni: Jni,
    /// None if the layout of frames is not known.
    pub(crate) layout: Option<&'r StackLayout>,
    /// When the last collection ended.
    pub(crate) generation: Ticks,
    /// The epoch of redefined classes.
    pub(crate) epoch: u64,
}

/// What the cache has for the current stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup<T> {
    Hit(T),
    /// The caller asks the VM and then calls [`StackCache::insert`]. What is cached already, if anything, is compared then.
    Miss(Option<T>),
    /// This stack cannot be distinguished from others.
    Uncacheable,
}

impl<T> Default for StackCache<T> {
    fn default() -> Self {
        StackCache { known: FxHashMap::default(), key: Vec::new(), hits: 0, bytes: 0, budget: MemoryBudget::default() }
    }
}

impl<T: Copy> StackCache<T> {
    /// Looks up the current thread's innermost `max_frames` frames; results for different `kind`s are apart. The thread is in
    /// native code that Java code or the VM called.
    pub(crate) fn look_up(&mut self, kind: u64, max_frames: usize, reader: StackReader<'_>) -> Lookup<T> {
        let Some(layout) = reader.layout else { return Lookup::Uncacheable };
        self.key.clear();
        self.key.push(kind);
        match layout.read(reader.jni, max_frames, &mut self.key) {
            Some(KeyValidity::Forever) => {}
            Some(KeyValidity::UntilCollection) => {
                self.key.extend([reader.generation.0, u64::from(layout.collections()), reader.epoch]);
            }
            None => return Lookup::Uncacheable,
        }
        let Some(&known) = self.known.get(self.key.as_slice()) else {
            return Lookup::Miss(None);
        };
        self.hits = self.hits.wrapping_add(1);
        if layout.comparisons.is_due(self.hits) { Lookup::Miss(Some(known)) } else { Lookup::Hit(known) }
    }

    /// Keeps what the VM said of the stack that was looked up last; if the cache had something for it, whether that is the same.
    pub(crate) fn insert(&mut self, found: T, is_same: Option<bool>, reader: StackReader<'_>) {
        if let Some((layout, is_same)) = reader.layout.zip(is_same) {
            layout.comparisons.count(is_same);
        }
        if self.bytes >= self.budget.bytes() {
            self.known = FxHashMap::default();
            self.bytes = 0;
        }
        if self.known.insert(self.key.as_slice().into(), found).is_none() {
            self.bytes += BYTES_OF_ENTRY + size_of_val(self.key.as_slice());
        }
    }

    /// Bytes that the thread may use for another map of stacks.
    pub(crate) fn budget_bytes(&mut self) -> usize {
        self.budget.bytes()
    }
}
