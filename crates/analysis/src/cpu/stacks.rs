//! Call stacks of samples: their frames, and how each ran.

use rustc_hash::FxHashMap;
use trace::ids::StackId;

use crate::call_tree::Ran;
use crate::stacks::{StackIndex, Stacks};
use crate::symbols::SiteIndex;

/// A call stack whose frames ran in a certain way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TypedStack {
    pub(super) frames: StackIndex,
    types: TypesIndex,
}

/// Number of a way in which the frames of stacks ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct TypesIndex(u32);

/// All call stacks, each kept once, and the ways in which their frames ran.
#[derive(Clone, Debug, Default)]
pub(super) struct TypedStacks {
    frames: Stacks,
    types: Vec<Box<[Ran]>>,
    index: FxHashMap<Box<[Ran]>, TypesIndex>,
    ids: FxHashMap<StackId, TypedStack>,
}

impl TypedStack {
    /// Where it stands among all, in an order that does not depend on chance.
    pub(super) fn rank(self) -> (usize, u32) {
        (self.frames.rank(), self.types.0)
    }
}

impl TypedStacks {
    /// Defines an id; frames are innermost first, `types` say how each of them ran, as far as it is known.
    pub(super) fn define(&mut self, id: StackId, frames: Vec<SiteIndex>, types: Vec<Ran>) {
        let types = types.into_boxed_slice();
        let types = match self.index.get(&types) {
            Some(&known) => known,
            None => {
                let new = TypesIndex(u32::try_from(self.types.len()).expect("fewer than 2^32 stacks"));
                self.types.push(types.clone());
                self.index.insert(types, new);
                new
            }
        };
        self.ids.insert(id, TypedStack { frames: self.frames.intern(frames), types });
    }

    /// The stack behind an id.
    pub(super) fn get(&self, id: StackId) -> Option<TypedStack> {
        self.ids.get(&id).copied()
    }

    /// The frames of all stacks.
    pub(super) fn frames(&self) -> &Stacks {
        &self.frames
    }

    /// The frames of a stack, innermost first.
    pub(super) fn frames_of(&self, stack: TypedStack) -> &[SiteIndex] {
        self.frames.frames(stack.frames)
    }

    /// How each frame of a stack ran, innermost first; nothing behind the last of which it is known.
    pub(super) fn types_of(&self, stack: TypedStack) -> &[Ran] {
        &self.types[stack.types.0 as usize]
    }

    /// Forgets the ids: the next document has its own.
    pub(super) fn end_document(&mut self) {
        self.ids.clear();
    }
}
