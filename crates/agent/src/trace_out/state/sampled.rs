//! What has been defined for samples of threads: stacks as the walker gives them, and functions of native code.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use trace::ids::{ClassId, FunctionId, MethodId, StackId};

use agent_base::native_symbols::NativeSymbols;
use hotspot::walk::Frame;

/// Bytes of stacks that are kept to know them again; then all are forgotten, and defined again when they come.
const MOST_STACK_BYTES: usize = 8 << 20;
/// Bytes of a stack beside its frames, about.
const BYTES_OF_STACK: usize = 64;

/// The ids of stacks, by their frames.
#[derive(Default)]
pub(crate) struct KnownStacks {
    ids: FxHashMap<Box<[Frame]>, StackId>,
    bytes: usize,
}

impl KnownStacks {
    /// The id of a stack that has been defined.
    pub(crate) fn get(&self, frames: &[Frame]) -> Option<StackId> {
        self.ids.get(frames).copied()
    }

    /// A stack is defined.
    pub(crate) fn add(&mut self, frames: &[Frame], id: StackId) {
        let bytes = size_of_val(frames) + BYTES_OF_STACK;
        if self.bytes + bytes > MOST_STACK_BYTES {
            *self = KnownStacks::default();
        }
        self.bytes += bytes;
        self.ids.insert(frames.into(), id);
    }
}

/// What samples stand for that have no stack, or are no samples at all: nanoseconds by reason.
pub(crate) type LostTime = BTreeMap<&'static str, u64>;

/// All of it.
pub(crate) struct Sampled {
    pub(crate) stacks: KnownStacks,
    /// By the walker's number.
    pub(crate) methods: FxHashMap<u32, MethodId>,
    /// By the VM's name.
    pub(crate) classes: FxHashMap<Box<[u8]>, ClassId>,
    pub(crate) symbols: NativeSymbols,
    /// By the number that `symbols` gives.
    pub(crate) functions: FxHashMap<u32, FunctionId>,
    /// Threads that do not run Java.
    pub(crate) others: FxHashSet<u32>,
    pub(crate) lost: LostTime,
    /// Signals that brought CPU time, and the intervals that they brought.
    pub(crate) samples: u64,
    pub(crate) intervals: u64,
    /// Samples whose stacks have more frames than were found.
    pub(crate) cut: u64,
}

impl Default for Sampled {
    fn default() -> Sampled {
        Sampled {
            stacks: KnownStacks::default(),
            methods: FxHashMap::default(),
            classes: FxHashMap::default(),
            symbols: NativeSymbols::new(),
            functions: FxHashMap::default(),
            others: FxHashSet::default(),
            lost: LostTime::new(),
            samples: 0,
            intervals: 0,
            cut: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hotspot::walk::{FrameKind, MethodNumber};

    #[test]
    fn stacks_are_forgotten_before_they_take_too_much() {
        let mut stacks = KnownStacks::default();
        let frames = |number| vec![Frame { method: MethodNumber(number), line: 1, kind: FrameKind::C2 }; 1000];
        for number in 0..10_000 {
            stacks.add(&frames(number), StackId(u64::from(number)));
            assert!(stacks.bytes <= MOST_STACK_BYTES);
            assert_eq!(stacks.get(&frames(number)), Some(StackId(u64::from(number))));
        }
        assert_eq!(stacks.get(&frames(0)), None);
    }
}
