//! Where things lie in a dump, found right after it: that is right if no collection came in between.

use std::fs::File;
use std::io::{Seek, SeekFrom};

use hprof::read::{ReadError, Reader, Record};
use jvmti::Jni;
use rustc_hash::FxHashSet;

use super::data::DumpedClass;
use super::found::{DumpedObjects, visit_classes, visit_threads};
use super::id_map::IdMap;
use super::survivors::Survivors;
use agent_base::ids::ClassIndex;
use agent_base::objects::weak_refs::{SeenObjects, TrackedObjects};
use agent_core::core::Core;
use hotspot::object_addresses::{of_local, of_weak};

/// The tracked objects of the present, of which those are wanted.
type Wanted<'t> = (&'t TrackedObjects, &'t SeenObjects, Survivors);

/// Finds classes, threads and these tracked objects. `moves` if the collector moves objects while the program runs.
pub(super) fn find(core: &Core, jni: Jni, wanted: Wanted<'_>, moves: bool) -> jvmti::Result<DumpedObjects> {
    let mut found = DumpedObjects::default();
    visit_classes(core, jni, |local, class| {
        // SAFETY: it is a local reference of this thread.
        found.classes.push(DumpedClass { address: unsafe { of_local(local) }, ..class });
    })?;
    visit_threads(core, jni, |local, index| {
        // SAFETY: as above.
        found.threads.push((unsafe { of_local(local) }, index));
    })?;
    if core.has_ids() {
        let (tags, later) = of_tracked(wanted, jni, moves);
        found.tags = tags;
        found.miss(later);
    }
    Ok(found)
}

/// Has each of these objects be where it stays until the next collection. A collector that moves objects while the program runs moves one
/// at once if somebody uses it; Shenandoah up to JDK 17 dumps those that it has not moved yet where they were.
pub(super) fn settle(tracked: &TrackedObjects, present: &SeenObjects, jni: Jni) {
    tracked.each_of(present, |weak, _| {
        // SAFETY: it is in the list, and nothing deletes it meanwhile.
        unsafe { of_weak(jni, weak, true) };
    });
}

/// Tags of tracked objects, by their addresses, and how many are not wanted.
///
/// The first pass notes the addresses and the second one the tags: no list is made of what may be millions of objects.
fn of_tracked((tracked, present, wanted): Wanted<'_>, jni: Jni, moves: bool) -> (IdMap, u64) {
    let (mut map, mut later) = (IdMap::default(), 0);
    // SAFETY: it is in the list, and nothing deletes it meanwhile.
    let address = |weak| unsafe { of_weak(jni, weak, moves) };
    tracked.each_of(present, |weak, tag| {
        if !wanted.contains(tag) {
            later += 1;
            return;
        }
        let address = address(weak);
        if address != 0 {
            map.note(address);
        }
    });
    map.number();
    tracked.each_of(present, |weak, tag| {
        if wanted.contains(tag) {
            map.set(address(weak), tag.0);
        }
    });
    (map, later)
}

/// Whether the dump has classes where they were found: those up to the `last` that was there before.
pub(super) fn are_classes(dump: &File, found: &[DumpedClass], last: ClassIndex) -> Result<bool, ReadError> {
    let mut start = dump;
    start.seek(SeekFrom::Start(0)).map_err(|source| ReadError::Io { at: 0, source })?;
    let mut reader = Reader::new(dump)?;
    let mut dumped = FxHashSet::default();
    while let Some(record) = reader.next_record()? {
        match record {
            Record::LoadClass { class, .. } => drop(dumped.insert(class.0)),
            Record::Root(_) | Record::Class(_) | Record::Instance { .. } => break,
            _ => {}
        }
    }
    let earlier = || found.iter().filter(|class| class.index <= last);
    Ok(are_most(earlier().filter(|class| dumped.contains(&class.address)).count(), earlier().count()))
}

/// Whether so many of all classes are enough. A few may be unloaded meanwhile.
pub(super) fn are_most(found: usize, all: usize) -> bool {
    found > 0 && found * 100 >= all * 99
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use hprof::write::Writer;
    use hprof::{ClassSerial, NameId, ObjectId, StackSerial};

    use super::*;

    #[test]
    fn classes_are_where_they_were_found_but_for_those_that_came_later() {
        let mut file = tempfile::tempfile().unwrap();
        let mut writer = Writer::new(Vec::new(), 0).unwrap();
        for number in 0..100 {
            let (serial, class) = (ClassSerial(number + 1), ObjectId(u64::from(number) * 8));
            writer.load_class(serial, class, StackSerial(0), NameId(1)).unwrap();
        }
        file.write_all(&writer.finish().unwrap()).unwrap();
        let found = |addresses: std::ops::Range<u64>| -> Vec<DumpedClass> {
            let class = |(index, number)| DumpedClass {
                address: number * 8,
                index: ClassIndex(index),
                bytes: 96,
                instance_bytes: 16,
            };
            (0..).zip(addresses).map(class).collect()
        };
        let check =
            |classes: std::ops::Range<u64>, last| are_classes(&file, &found(classes), ClassIndex(last)).unwrap();
        assert!(check(0..100, 99));
        assert!(check(0..150, 99));
        assert!(!check(0..150, 149));
        assert!(!check(50..150, 99));
        assert!(!check(0..0, 99));
    }
}
