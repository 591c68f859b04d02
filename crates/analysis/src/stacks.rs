//! Call stacks, each kept once.

use rustc_hash::FxHashMap;
use trace::ids::StackId;

use crate::symbols::SiteIndex;

/// Number of a call stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StackIndex(u32);

impl StackIndex {
    /// Its place in the order of definitions, from 0.
    pub(crate) fn rank(self) -> usize {
        self.0 as usize
    }
}

/// All call stacks, and what the ids of the current document stand for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stacks {
    stacks: Vec<Box<[SiteIndex]>>,
    index: FxHashMap<Box<[SiteIndex]>, StackIndex>,
    ids: FxHashMap<StackId, StackIndex>,
}

impl Stacks {
    /// Defines an id; frames are innermost first. Says whether it meant another stack before.
    pub(crate) fn define(&mut self, id: StackId, frames: Vec<SiteIndex>) -> bool {
        let stack = self.intern(frames);
        self.ids.insert(id, stack).is_some_and(|before| before != stack)
    }

    /// The stack behind an id.
    pub(crate) fn get(&self, id: StackId) -> Option<StackIndex> {
        self.ids.get(&id).copied()
    }

    /// The frames of a stack, innermost first.
    pub(crate) fn frames(&self, stack: StackIndex) -> &[SiteIndex] {
        &self.stacks[stack.rank()]
    }

    /// All of them, in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[SiteIndex]> {
        self.stacks.iter().map(|frames| &**frames)
    }

    /// Forgets the ids: the next document has its own.
    pub(crate) fn end_document(&mut self) {
        self.ids.clear();
    }

    /// The number of a stack, whichever id it has.
    pub(crate) fn intern(&mut self, frames: Vec<SiteIndex>) -> StackIndex {
        let frames = frames.into_boxed_slice();
        if let Some(&known) = self.index.get(&frames) {
            return known;
        }
        let new = StackIndex(u32::try_from(self.stacks.len()).expect("fewer than 2^32 stacks"));
        self.index.insert(frames.clone(), new);
        self.stacks.push(frames);
        new
    }
}
