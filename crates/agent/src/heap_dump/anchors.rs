//! Where things lie in a dump, as the dump itself says, whatever the collector does meanwhile.
//!
//! A dump names each global reference of JNI and the object to which it refers. So, for the time of the dump, a global
//! reference is made to everything that the trace names: it shows where the thing lies, and is taken out of the dump.

use std::fs::File;
use std::io::Seek;

use hprof::ObjectId;
use hprof::patch::take_globals;
use hprof::read::{ReadError, Reader, Record};
use jvmti::Jni;
use jvmti::jni_sys::jobject;
use rustc_hash::FxHashMap;

use super::addresses::are_most;
use super::data::DumpedClass;
use super::found::{DumpedObjects, dumped_class, visit_classes, visit_threads};
use super::id_map::IdMap;
use super::late_classes::LateClasses;
use super::survivors::Survivors;
use agent_base::ids::ThreadIndex;
use agent_base::objects::weak_refs::{SeenObjects, TrackedObjects};
use agent_core::core::Core;

/// Bits of a reference that show what kind it is; a dump names it without them.
const KIND: u64 = 3;
/// The program goes on while references are made. Passes over the objects that it made meanwhile end at this number, and after
/// so many passes.
const FEW: usize = 100;
const MAX_PASSES: u32 = 8;

/// The number under which a dump names a reference.
fn number(reference: jobject) -> u64 {
    reference.addr() as u64 & !KIND
}

/// What was anchored, by the number under which a dump names the reference.
pub(super) struct Anchored {
    classes: FxHashMap<u64, DumpedClass>,
    /// Classes that were loaded since; some of them after the dump.
    late_classes: FxHashMap<u64, DumpedClass>,
    threads: FxHashMap<u64, ThreadIndex>,
    /// References in their order, and tags.
    objects: Vec<(u64, u64)>,
    /// Objects without a reference.
    later: u64,
    seen: SeenObjects,
}

/// The global references, which are deleted when it is dropped.
pub(super) struct Anchors {
    jni: Jni,
    references: Vec<jobject>,
}

impl Drop for Anchors {
    fn drop(&mut self) {
        for &reference in &self.references {
            // SAFETY: made by `add`, deleted once, and nobody else knows it.
            unsafe { self.jni.delete_global_ref(reference) };
        }
    }
}

impl Anchors {
    /// Makes one reference; `None` if the object is dead.
    ///
    /// # Safety
    /// The reference is live, or a weak one that nothing deletes meanwhile.
    unsafe fn add(&mut self, to: jobject) -> Option<u64> {
        // SAFETY: by the caller's promise.
        let made = unsafe { self.jni.new_global_ref(to) };
        if made.is_null() {
            return None;
        }
        self.references.push(made);
        Some(number(made))
    }

    /// Makes all references, to the tracked objects that are wanted.
    ///
    /// # Errors
    /// What the VM refuses.
    pub(super) fn new(
        core: &Core,
        jni: Jni,
        tracked: &mut TrackedObjects,
        wanted: Survivors,
        late: &LateClasses,
    ) -> jvmti::Result<(Anchors, Anchored)> {
        let mut anchors = Anchors { jni, references: Vec::new() };
        let mut anchored = Anchored {
            classes: FxHashMap::default(),
            late_classes: FxHashMap::default(),
            threads: FxHashMap::default(),
            objects: Vec::new(),
            later: 0,
            seen: SeenObjects::default(),
        };
        visit_threads(core, jni, |local, index| {
            // SAFETY: a live local reference.
            let reference = unsafe { anchors.add(local) };
            anchored.threads.extend(reference.map(|reference| (reference, index)));
        })?;
        for _ in 0..if core.has_ids() { MAX_PASSES } else { 0 } {
            let before = anchored.objects.len();
            tracked.each_new(&core.weak_refs, &mut anchored.seen, |weak, tag| {
                if !wanted.contains(tag) {
                    return anchored.later += 1;
                }
                // SAFETY: it is in the list, from which nothing is deleted while it is held.
                let reference = unsafe { anchors.add(weak) };
                anchored.objects.extend(reference.map(|reference| (reference, tag.0)));
            });
            if anchored.objects.len() - before < FEW {
                break;
            }
        }
        // Last: objects take long, and the program loads further classes meanwhile.
        late.open();
        visit_classes(core, jni, |local, class| {
            // SAFETY: a live local reference.
            let reference = unsafe { anchors.add(local) };
            anchored.classes.extend(reference.map(|reference| (reference, class)));
        })?;
        anchored.objects.sort_unstable();
        Ok((anchors, anchored))
    }
}

impl Anchored {
    /// Adds the classes that were loaded since.
    pub(super) fn add_late(&mut self, core: &Core, jni: Jni, anchors: &mut Anchors, late: &LateClasses) {
        for class in late.close() {
            anchors.references.push(class);
            // SAFETY: a live reference, which is deleted with the anchors.
            match unsafe { dumped_class(core, jni, class) } {
                Ok(dumped) => drop(self.late_classes.insert(number(class), dumped)),
                Err(error) => core.count_failure("heap dump: class", error),
            }
        }
    }

    /// Counts the objects that were made since: they may be in the dump without a reference.
    pub(super) fn count_later(&mut self, core: &Core, tracked: &mut TrackedObjects) {
        if core.has_ids() {
            tracked.each_new(&core.weak_refs, &mut self.seen, |_, _| self.later += 1);
        }
    }

    /// Finds everything in the dump, and takes the references out of it. Nothing is found if the dump does not name references so. `moves`
    /// if the collector moves objects while the program runs.
    ///
    /// # Errors
    /// The dump cannot be read or written. It is of no use then.
    pub(super) fn find(self, dump: &File, moves: bool) -> Result<DumpedObjects, ReadError> {
        let Anchored { classes, late_classes, threads, objects, later, .. } = self;
        let mut found = DumpedObjects::default();
        let mut found_late = Vec::new();
        let mut addresses = vec![0; objects.len()];
        take_globals(dump, |reference, ObjectId(address)| {
            if let Ok(index) = objects.binary_search_by_key(&reference, |&(reference, _)| reference) {
                addresses[index] = address;
            } else if let Some(&class) = classes.get(&reference) {
                found.classes.push(DumpedClass { address, ..class });
            } else if let Some(&class) = late_classes.get(&reference) {
                found_late.push(DumpedClass { address, ..class });
            } else if let Some(&index) = threads.get(&reference) {
                found.threads.push((address, index));
            } else {
                return false;
            }
            true
        })?;
        if !are_most(found.classes.len(), classes.len()) {
            let without_ids = "all: the JVM's dump does not show their addresses".to_owned();
            return Ok(DumpedObjects { without_ids, ..DumpedObjects::default() });
        }
        found.classes.extend(found_late);
        // A class may have two references, from the VM's list and as a late one.
        found.classes.sort_unstable_by_key(|class| class.address);
        found.classes.dedup_by_key(|class| class.address);
        addresses.iter().filter(|&&address| address != 0).for_each(|&address| found.tags.note(address));
        found.tags.number();
        addresses.iter().zip(&objects).for_each(|(&address, &(_, tag))| found.tags.set(address, tag));
        let anchored = addresses.iter().filter(|&&address| address != 0).count() as u64;
        if moves && anchored > 0 {
            found.moved = anchored.saturating_sub(with_ids(dump, &found.tags)?);
        }
        found.miss(later + addresses.len() as u64 - anchored);
        Ok(found)
    }
}

/// So many objects of the dump have ids. Shenandoah up to JDK 17 names an object that it has not moved yet where it was, but moves it for
/// whatever refers to it.
fn with_ids(mut dump: &File, tags: &IdMap) -> Result<u64, ReadError> {
    dump.rewind().map_err(|source| ReadError::Io { at: 0, source })?;
    let mut reader = Reader::new(dump)?;
    reader.skip_elements(true);
    reader.skip_contents(true);
    let mut number = 0;
    while let Some(record) = reader.next_record()? {
        let object = match record {
            Record::Instance { id, .. } | Record::ObjectArray { id, .. } | Record::PrimitiveArray { id, .. } => id,
            Record::Class(class) => class.id,
            _ => continue,
        };
        number += u64::from(tags.get(object.0).is_some());
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use hprof::read::Root;
    use hprof::write::Writer;
    use hprof::{NameId, RootKind};

    use super::*;
    use agent_base::ids::ClassIndex;

    /// A dump whose global references have the numbers of their objects.
    fn dump(globals: &[u64]) -> File {
        let mut writer = Writer::new(Vec::new(), 0).unwrap();
        writer.name(NameId(1), b"name").unwrap();
        for &object in globals {
            let root =
                Root { kind: RootKind::JniGlobal, object: ObjectId(object), thread: None, stack: None, frame: None };
            writer.root(&root).unwrap();
        }
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&writer.finish().unwrap()).unwrap();
        file
    }

    fn anchored(later: u64) -> Anchored {
        let class = DumpedClass { address: 0, index: ClassIndex(5), bytes: 96, instance_bytes: 0 };
        let late = DumpedClass { index: ClassIndex(7), ..class };
        Anchored {
            classes: [(80, class)].into_iter().collect(),
            late_classes: [(96, late), (104, late)].into_iter().collect(),
            threads: [(88, ThreadIndex(6))].into_iter().collect(),
            objects: vec![(8, 100), (16, 200), (24, 300)],
            later,
            seen: SeenObjects::default(),
        }
    }

    #[test]
    fn all_is_found_where_the_dump_says_that_it_lies() {
        let found = anchored(0).find(&dump(&[80, 24, 8, 96, 32, 16, 88]), false).unwrap();
        let classes: Vec<_> = found.classes.iter().map(|class| (class.address, class.index)).collect();
        // The other late one was loaded after the dump.
        assert_eq!(classes, [(80, ClassIndex(5)), (96, ClassIndex(7))]);
        assert_eq!(found.threads, [(88, ThreadIndex(6))]);
        let tags = [8, 16, 24, 32].map(|address| found.tags.get(address));
        assert_eq!(tags, [Some(100), Some(200), Some(300), None]);
        assert_eq!(found.without_ids, "");
    }

    #[test]
    fn what_has_no_id_is_said() {
        let found = anchored(4).find(&dump(&[80, 8, 16]), false).unwrap();
        assert_eq!(found.without_ids, "up to 5: allocated while the dump began");
        // No object lies where the two references say.
        let found = anchored(4).find(&dump(&[80, 8, 16]), true).unwrap();
        let without_ids = "up to 7: allocated while the dump began, or moved by the collector in its pause";
        assert_eq!((found.moved, &*found.without_ids), (2, without_ids));
        let found = anchored(0).find(&dump(&[8, 16, 24]), false).unwrap();
        assert_eq!(found.without_ids, "all: the JVM's dump does not show their addresses");
        assert!(found.classes.is_empty() && found.tags.get(8).is_none());
    }
}
