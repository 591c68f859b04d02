//! Which objects a dump looks for.
//!
//! To look where a tracked object lies keeps it for the collection that a concurrent collector makes next, and a reference to it keeps
//! it for every collector: garbage too. With ZGC a program that makes garbage as fast as it is collected would run out of memory. So the
//! heap is collected in front of such a dump, and only what has survived is looked for. The others stop the program and collect
//! everything before they give up; and Shenandoah would clear all soft references if it were asked to collect.

use jvmti::{Jni, is_flag_on};

use agent_base::ids::GcNumber;
use agent_base::objects::weak_refs::ObjectTag;
use agent_core::core::Core;
use trace::ids::ObjectId;

/// Objects that were made before the first pause of a collection and have survived it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Survivors {
    /// Later ones have this id or a higher one.
    end: ObjectId,
}

impl Survivors {
    /// All objects, garbage too.
    pub(super) const ALL: Survivors = Survivors { end: ObjectId(u64::MAX) };

    /// Whether a dump needs a collection in front of it. The answer takes room in the heap.
    pub(super) fn are_needed(jni: Jni) -> bool {
        is_flag_on(jni, c"UseZGC") == Some(true)
    }

    /// Whether garbage is kept even so: the dumper comes to all objects with a tag, and with ZGC of 11 that keeps them in the collection
    /// that is under way (17 and later: no more).
    pub(super) fn are_kept_with_garbage(core: &Core, jni: Jni) -> bool {
        core.jvm.java < 17 && core.source.has_hooks() && Survivors::are_needed(jni)
    }

    /// Collects the heap.
    pub(super) fn of_collection(core: &Core) -> Survivors {
        let before = core.collections.finished();
        if let Err(error) = core.collect() {
            core.count_failure("heap dump: collection", error);
            return Survivors::ALL;
        }
        Survivors { end: first_after(&core.collections.generations(), before) }
    }

    /// Whether an object is one of them, if it lives.
    pub(super) fn contains(self, tag: ObjectTag) -> bool {
        tag.id() < self.end
    }
}

/// The first id after the first collection that ended after so many.
fn first_after(generations: &[(ObjectId, u64)], before: GcNumber) -> ObjectId {
    let next = generations.iter().find(|(_, number)| *number > before.0);
    next.map_or(Survivors::ALL.end, |&(first, _)| first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_base::ids::StackIndex;

    #[test]
    fn what_was_made_after_the_first_pause_is_no_survivor() {
        let generations = [(ObjectId(10), 1), (ObjectId(20), 2), (ObjectId(30), 3)];
        let survivors = Survivors { end: first_after(&generations, GcNumber(1)) };
        let tag = |id| ObjectTag::new(ObjectId(id), StackIndex(7));
        assert_eq!([9, 19, 20, 35].map(|id| survivors.contains(tag(id))), [true, true, false, false]);
        assert_eq!(first_after(&generations, GcNumber(3)), ObjectId(u64::MAX));
    }
}
