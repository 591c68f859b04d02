//! Ids and allocation stacks of tracked objects, by their addresses.

use jvmti::Jni;

use super::id_map::IdMap;
use crate::agent::hotspot::object_addresses::of_weak;
use crate::agent::objects::weak_refs::{TrackedObjects, WeakRefs};

/// Tags of tracked objects, by their addresses. `moves` if the collector moves objects while the program runs.
///
/// The first pass notes the addresses and the second one the tags: no list is made of what may be millions of objects.
pub(crate) fn of_tracked(weak_refs: &WeakRefs, tracked: &mut TrackedObjects, jni: Jni, moves: bool) -> IdMap {
    let mut map = IdMap::default();
    tracked.each(weak_refs, |weak, _| {
        // SAFETY: it is in the list, and nothing deletes it meanwhile.
        let address = unsafe { of_weak(jni, weak, moves) };
        if address != 0 {
            map.note(address);
        }
    });
    map.number();
    tracked.each(weak_refs, |weak, tag| {
        // SAFETY: as above.
        map.set(unsafe { of_weak(jni, weak, moves) }, tag.0);
    });
    map
}
