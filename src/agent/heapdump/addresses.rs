//! Ids and allocation stacks of tracked objects, by where they lie.

use jvmti::Jni;

use super::id_map::IdMap;
use crate::agent::hotspot::object_addresses::address;
use crate::agent::objects::weak_refs::{TrackedObjects, WeakRefs};

/// Tags of tracked objects, by where they lie. `moves` if the collector moves objects beside the program.
///
/// One look finds the places, and a second fills them: no list is made of what may be millions of objects.
pub(crate) fn of_tracked(weak_refs: &WeakRefs, tracked: &mut TrackedObjects, jni: Jni, moves: bool) -> IdMap {
    let mut map = IdMap::default();
    tracked.each(weak_refs, |weak, _| {
        // SAFETY: it is in the list, and nobody gives it up meanwhile.
        let address = unsafe { address(jni, weak, moves) };
        if address != 0 {
            map.note(address);
        }
    });
    map.number();
    tracked.each(weak_refs, |weak, tag| {
        // SAFETY: as above.
        map.set(unsafe { address(jni, weak, moves) }, tag.0);
    });
    map
}
