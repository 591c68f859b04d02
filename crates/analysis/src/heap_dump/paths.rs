//! Who refers to an object, and the shortest ways to it from the roots.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::{Graph, ObjectIndex, Strength};

/// References that are not followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Excluded {
    /// Those of `SoftReference`.
    pub soft: bool,
    /// Those of `WeakReference`.
    pub weak: bool,
    /// Those of `PhantomReference`.
    pub phantom: bool,
    /// Those of `FinalReference`.
    pub finals: bool,
}

impl Excluded {
    /// What keeps nothing alive is not followed.
    pub const WEAK: Self = Excluded { soft: false, weak: true, phantom: true, finals: false };

    /// Whether such a reference is not followed.
    pub fn excludes(self, strength: Strength) -> bool {
        match strength {
            Strength::Soft => self.soft,
            Strength::Weak => self.weak,
            Strength::Phantom => self.phantom,
            Strength::Final => self.finals,
        }
    }
}

/// A neighbour of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The neighbour.
    pub object: ObjectIndex,
    /// For the referent of a reference object, how it is held.
    pub strength: Option<Strength>,
}

impl Graph {
    /// The objects that refer to an object, each once, in their order.
    pub fn referring(&self, object: ObjectIndex, excluded: Excluded) -> Vec<Link> {
        let strong = self.referrers(object).iter().map(|&object| Link { object, strength: None });
        let weak = self.referents_to(object).iter().filter(|referent| !excluded.excludes(referent.strength));
        let weak = weak.map(|referent| Link { object: referent.owner, strength: Some(referent.strength) });
        let mut links: Vec<Link> = strong.chain(weak).collect();
        links.sort_by_key(|link| (link.object, link.strength));
        links.dedup_by_key(|link| link.object);
        links
    }

    /// The objects that an object refers to, in the order of its fields or elements.
    pub fn referred(&self, object: ObjectIndex, excluded: Excluded) -> Vec<Link> {
        let strong = self.references(object).iter().map(|&object| Link { object, strength: None });
        let weak = self.referent(object).filter(|referent| !excluded.excludes(referent.strength));
        strong.chain(weak.map(|referent| Link { object: referent.target, strength: Some(referent.strength) })).collect()
    }

    /// Paths from roots to an object, the shortest first, each from another root, `most` of them. A path begins with its root.
    pub fn paths(&self, target: ObjectIndex, excluded: Excluded, most: usize) -> Vec<Vec<ObjectIndex>> {
        let mut paths = Vec::new();
        // From each object that was reached, the next one towards the target.
        let mut towards: FxHashMap<ObjectIndex, ObjectIndex> = FxHashMap::default();
        towards.insert(target, ObjectIndex::NONE);
        let mut open = VecDeque::from([target]);
        while let Some(object) = open.pop_front() {
            if paths.len() >= most {
                break;
            }
            if self.is_root(object) {
                let step = |at: &ObjectIndex| towards.get(at).copied().filter(|&next| next != ObjectIndex::NONE);
                paths.push(std::iter::successors(Some(object), step).collect());
            }
            let mut reach = |holder: ObjectIndex| {
                if let std::collections::hash_map::Entry::Vacant(entry) = towards.entry(holder) {
                    entry.insert(object);
                    open.push_back(holder);
                }
            };
            self.referrers(object).iter().for_each(|&holder| reach(holder));
            for referent in self.referents_to(object) {
                if !excluded.excludes(referent.strength) {
                    reach(referent.owner);
                }
            }
        }
        paths
    }
}
