//! Reference objects (soft, weak, phantom, final) and what they refer to.

use super::ObjectIndex;

/// How a reference object holds its referent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strength {
    /// `SoftReference`: until memory runs short.
    Soft,
    /// `WeakReference`: not at all.
    Weak,
    /// `PhantomReference`: not at all.
    Phantom,
    /// `FinalReference`: until its finalizer has run.
    Final,
}

impl Strength {
    /// Does such a reference keep its referent alive?
    pub fn holds(self) -> bool {
        matches!(self, Strength::Soft | Strength::Final)
    }
}

/// A reference object and what it refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Referent {
    /// The reference object.
    pub owner: ObjectIndex,
    /// What it refers to.
    pub target: ObjectIndex,
    /// How it holds that.
    pub strength: Strength,
}

/// What reference objects refer to.
#[derive(Debug, Default)]
pub(crate) struct Referents {
    by_owner: Vec<Referent>,
    by_target: Vec<Referent>,
}

impl Referents {
    /// How many reference objects have a referent.
    pub(super) fn len(&self) -> usize {
        self.by_owner.len()
    }

    pub(crate) fn new(mut referents: Vec<Referent>) -> Self {
        referents.sort_unstable_by_key(|referent| referent.owner);
        let by_owner = referents.clone();
        referents.sort_by_key(|referent| referent.target);
        Referents { by_owner, by_target: referents }
    }

    #[inline]
    pub(super) fn of_owner(&self, owner: ObjectIndex) -> Option<Referent> {
        let at = self.by_owner.binary_search_by_key(&owner, |referent| referent.owner).ok()?;
        Some(self.by_owner[at])
    }

    #[inline]
    pub(super) fn to_target(&self, target: ObjectIndex) -> &[Referent] {
        let begin = self.by_target.partition_point(|referent| referent.target < target);
        let count = self.by_target[begin..].iter().take_while(|referent| referent.target == target).count();
        &self.by_target[begin..begin + count]
    }
}
