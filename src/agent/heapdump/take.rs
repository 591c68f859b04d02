//! Makes one dump.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use agent_options::{DumpContents, DumpFormat};
use hprof::read::{Reader, Record};
use jvmti::jni_sys::jstring;
use jvmti::{HeapDumper, Jni, is_flag_on};
use rustc_hash::FxHashSet;
use trace::ids::HeapDumpId;

use super::complete::complete;
use super::data::{DumpData, DumpedClass, VmDump};
use super::id_map::IdMap;
use super::{HeapDumps, Reason, addresses};
use crate::agent::clock::Ticks;
use crate::agent::core::Core;
use crate::agent::heap_histogram::instance_bytes_by_class;
use crate::agent::hotspot::Hotspot;
use crate::agent::hotspot::object_addresses::of_local;
use crate::agent::ids::{ClassIndex, ThreadIndex};

/// A dump that a collection has disturbed is repeated up to so many times in all.
const TRIES: u32 = 3;

/// Makes dumps, one after the other.
pub(super) struct DumpMaker {
    dumps: &'static HeapDumps,
    dumper: HeapDumper,
    /// The VM can collect in the pause of the dump. With a concurrent collector the dump would wait for a collection: for ever,
    /// if the VM is ending and has stopped the collector (JDK 21).
    collects: bool,
    number: u32,
    /// The path of the VM's file, also as a string of Java, which is made in advance: at an `OutOfMemoryError` there is no
    /// room.
    base: PathBuf,
    base_string: jstring,
    is_prepared: bool,
}

/// What was found while no object moved.
#[derive(Default)]
struct DumpedObjects {
    classes: Vec<DumpedClass>,
    threads: Vec<(u64, ThreadIndex)>,
    tags: IdMap,
}

impl DumpedObjects {
    /// No object lies below this address: a heap is no larger than the VM's limit, and class objects lie in it. (ZGC reserves
    /// more addresses than that, but all of them lie above 4 TB, where no id comes near.)
    fn lowest_address(&self, core: &Core) -> u64 {
        let lowest_class = self.classes.iter().map(|class| class.address).min().unwrap_or(0);
        lowest_class.saturating_sub(core.hotspot.and_then(Hotspot::max_heap_bytes).unwrap_or(u64::MAX))
    }
}

impl DumpMaker {
    pub(super) fn new(dumps: &'static HeapDumps, jni: Jni) -> Result<DumpMaker, String> {
        let dumper = HeapDumper::find(jni).ok_or("this JVM does not offer its dumper")?;
        let concurrent = [c"UseZGC", c"UseShenandoahGC", c"UseEpsilonGC"];
        let collects = !concurrent.into_iter().any(|flag| is_flag_on(jni, flag).unwrap_or(false));
        let mut maker = DumpMaker {
            dumps,
            dumper,
            collects,
            number: 0,
            base: PathBuf::new(),
            base_string: std::ptr::null_mut(),
            is_prepared: false,
        };
        maker.prepare(jni)?;
        Ok(maker)
    }

    fn core(&self) -> &'static Core {
        self.dumps.core
    }

    /// Makes the path of the next dump, unless that is done.
    fn prepare(&mut self, jni: Jni) -> Result<(), String> {
        if self.is_prepared {
            return Ok(());
        }
        self.number += 1;
        let mut base = self.path().into_os_string();
        base.push(".part");
        self.base = base.into();
        let text =
            std::ffi::CString::new(self.base.to_string_lossy().into_owned()).map_err(|_| "its path has a NUL in it")?;
        let local = jni.new_string_utf(&text).map_err(|error| jni.cleared(error))?;
        // SAFETY: a live local reference, and a global one of ours or null.
        unsafe {
            jni.delete_global_ref(self.base_string);
            self.base_string = jni.new_global_ref(local);
            jni.delete_local_ref(local);
        }
        self.is_prepared = true;
        Ok(())
    }

    fn path(&self) -> PathBuf {
        let core = self.core();
        core.options.dump.path(&core.trace_path, self.number)
    }

    /// Makes a dump.
    ///
    /// # Errors
    /// Why there is none: one sentence.
    pub(super) fn make(&mut self, jni: Jni, reason: Reason) -> Result<(), String> {
        self.prepare(jni)?;
        self.dumps.hold_writer();
        let dumped = self.dump(jni, reason);
        let (data, result) = match dumped {
            Ok((data, result)) => (Some(data), result),
            Err(problem) => (None, Err(problem)),
        };
        self.dumps.release_writer(data);
        self.is_prepared = false;
        // Without memory even this may fail, and would be reported once more.
        if reason != Reason::OutOfMemory {
            self.prepare(jni)?;
        }
        result
    }

    fn dump(&mut self, jni: Jni, reason: Reason) -> Result<(DumpData, Result<(), String>), String> {
        let core = self.core();
        let to_trace = core.options.dump.format == DumpFormat::Xml;
        let path = self.path();
        let id = HeapDumpId(core.jvm.ids.next());
        let (base, found, time) = self.dump_and_find(jni)?;
        let lowest_address = found.lowest_address(core);
        let collections = core.collections.finished();
        let mut data = DumpData {
            id,
            name: if to_trace { reason.name().into() } else { format!("{} {}", reason.name(), path.display()) },
            time,
            generations: core.collections.generations(),
            collections,
            classes: found.classes,
            threads: found.threads,
            tags: found.tags,
            base: None,
        };
        if to_trace {
            data.base = Some(base);
            return Ok((data, Ok(())));
        }
        // The trace need not wait for the file.
        let result = self.write(&data, lowest_address, &base, &path);
        data.tags = IdMap::default();
        Ok((data, result))
    }

    /// The HPROF file.
    fn write(&self, data: &DumpData, lowest_address: u64, base: &VmDump, path: &Path) -> Result<(), String> {
        let core = self.core();
        let naming = |e: std::io::Error| format!("{} cannot be given its name: {e}", path.display());
        if data.classes.is_empty() && core.options.dump.contents == DumpContents::Full {
            return fs::rename(&base.0, path).map_err(naming);
        }
        let end = core.jvm.ids.next();
        // Objects without an id have their address instead, which must not be the id of another one.
        let offset = if end < lowest_address { 0 } else { 1 << 62 };
        complete(core, data, end, offset, &base.0)?;
        fs::rename(&base.0, path).map_err(naming)
    }

    /// The VM's dump, and the addresses of what the agent knows, found before any object moved.
    fn dump_and_find(&self, jni: Jni) -> Result<(VmDump, DumpedObjects, Ticks), String> {
        let base = VmDump(self.base.clone());
        let core = self.core();
        let identifies = core.options.dump.format == DumpFormat::Xml || core.has_ids();
        let own = u64::from(self.collects);
        for _ in 0..TRIES {
            let last_class = if identifies { register_classes(core, jni) } else { ClassIndex(0) };
            // Held until the addresses are read: the agent's own thread deletes no references of dead objects meanwhile.
            let mut tracked = core.weak_refs.tracked();
            let before = core.collections.finished();
            let _ = fs::remove_file(&base.0);
            // SAFETY: a global reference to a string.
            unsafe { self.dumper.dump(jni, self.base_string, self.collects) }.map_err(|_| {
                jni.exception_clear();
                format!("the JVM cannot write {}; is there room, and may it?", base.0.display())
            })?;
            let mut found = if identifies { find_classes_and_threads(core, jni).map(Some) } else { Ok(None) };
            if let Ok(Some(found)) = &mut found
                && core.has_ids()
            {
                found.tags = addresses::of_tracked(&core.weak_refs, &mut tracked, jni, !self.collects);
            }
            drop(tracked);
            let (after, finish) = core.collections.last_finish();
            // The time of the dump is just after its own collection, before anything that happened since.
            let time = if after > before { Ticks(finish.0 + 1) } else { Ticks::now() };
            match found {
                Ok(None) if !identifies => return Ok((base, DumpedObjects::default(), time)),
                Ok(Some(found)) if after.0 - before.0 <= own && are_classes(&base.0, &found.classes, last_class)? => {
                    return Ok((base, found, time));
                }
                // Objects moved, or may have: once more.
                Ok(_) => {}
                Err(error) => return Err(format!("objects cannot be found: {error}")),
            }
        }
        Err("collections, or a JVM that is not known, kept objects from being found where they are".into())
    }
}

/// Gives every class a tag, which is its number and one, and returns the last class.
fn register_classes(core: &Core, jni: Jni) -> ClassIndex {
    let mut last = ClassIndex(0);
    // SAFETY: live local references, each deleted when it is done with.
    unsafe {
        match core.jvm.env.get_loaded_classes() {
            Ok(classes) => {
                for &class in classes.iter() {
                    match core.jvm.classes.resolve(jni, class) {
                        Ok(index) => last = last.max(index),
                        Err(error) => core.count_failure("heap dump: class", error),
                    }
                    jni.delete_local_ref(class);
                }
            }
            Err(error) => core.count_failure("heap dump: classes", error),
        }
    }
    last
}

/// Finds the addresses of all classes that have a tag, and of all platform threads.
fn find_classes_and_threads(core: &Core, jni: Jni) -> jvmti::Result<DumpedObjects> {
    let env = core.jvm.env;
    let mut found = DumpedObjects::default();
    let instance_bytes = instance_bytes_by_class(core.jvm)?;
    // SAFETY: live local references, each deleted when it is done with.
    unsafe {
        for &class in env.get_loaded_classes()?.iter() {
            // Without a tag it was loaded after `register_classes`.
            if let Some(index) = u32::try_from(env.get_tag(class)? - 1).ok().map(ClassIndex) {
                found.classes.push(DumpedClass {
                    address: of_local(class),
                    index,
                    bytes: env.get_object_size(class)? as u64,
                    instance_bytes: instance_bytes.get(index.0 as usize).copied().unwrap_or(0),
                });
            }
            jni.delete_local_ref(class);
        }
        for &thread in env.get_all_threads()?.iter() {
            // A thread without a number is dumped, but not named as the one that holds a root.
            if let Some(index) = core.jvm.threads.find(thread) {
                found.threads.push((of_local(thread), index));
            }
            jni.delete_local_ref(thread);
        }
    }
    Ok(found)
}

/// Whether the dump has classes where they were found: those up to the `last` that was there before.
fn are_classes(base: &Path, found: &[DumpedClass], last: ClassIndex) -> Result<bool, String> {
    let problem = |e: &dyn std::fmt::Display| format!("the JVM's dump {} cannot be read: {e}", base.display());
    let mut reader = Reader::new(File::open(base).map_err(|e| problem(&e))?).map_err(|e| problem(&e))?;
    let mut dumped = FxHashSet::default();
    while let Some(record) = reader.next_record().map_err(|e| problem(&e))? {
        match record {
            Record::LoadClass { class, .. } => drop(dumped.insert(class.0)),
            Record::Root(_) | Record::Class(_) | Record::Instance { .. } => break,
            _ => {}
        }
    }
    let (mut there, mut all) = (0, 0);
    for class in found.iter().filter(|class| class.index <= last) {
        all += 1;
        there += usize::from(dumped.contains(&class.address));
    }
    Ok(there > 0 && there * 100 >= all * 99)
}

#[cfg(test)]
mod tests {
    use hprof::write::Writer;
    use hprof::{ClassSerial, NameId, ObjectId, StackSerial};

    use super::*;

    #[test]
    fn classes_are_where_they_were_found_but_for_those_that_came_later() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("base");
        let mut writer = Writer::new(Vec::new(), 0).unwrap();
        for number in 0..100 {
            let (serial, class) = (ClassSerial(number + 1), ObjectId(u64::from(number) * 8));
            writer.load_class(serial, class, StackSerial(0), NameId(1)).unwrap();
        }
        fs::write(&path, writer.finish().unwrap()).unwrap();
        let found = |addresses: std::ops::Range<u64>| -> Vec<DumpedClass> {
            let class = |(index, number)| DumpedClass {
                address: number * 8,
                index: ClassIndex(index),
                bytes: 96,
                instance_bytes: 16,
            };
            (0..).zip(addresses).map(class).collect()
        };
        assert_eq!(are_classes(&path, &found(0..100), ClassIndex(99)), Ok(true));
        assert_eq!(are_classes(&path, &found(0..150), ClassIndex(99)), Ok(true));
        assert_eq!(are_classes(&path, &found(0..150), ClassIndex(149)), Ok(false));
        assert_eq!(are_classes(&path, &found(50..150), ClassIndex(99)), Ok(false));
        assert_eq!(are_classes(&path, &[], ClassIndex(99)), Ok(false));
    }
}
