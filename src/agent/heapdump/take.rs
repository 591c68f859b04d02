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
use super::data::{Base, DumpData, DumpedClass};
use super::id_map::IdMap;
use super::{HeapDumps, Reason, addresses};
use crate::agent::clock::Ticks;
use crate::agent::core::Core;
use crate::agent::hotspot::object_addresses::tagged_objects;
use crate::agent::ids::{ClassIndex, ThreadIndex};

/// A dump that a collection came upon is made again so often.
const TRIES: u32 = 3;

/// Tags of threads, among those of classes: this and the thread's number.
const THREAD_TAG: i64 = 1 << 40;

/// Makes dumps, one after the other.
pub(super) struct DumpMaker {
    dumps: &'static HeapDumps,
    dumper: HeapDumper,
    /// The VM can collect in the pause of the dump. A concurrent collector would have to be waited for: for ever, once the VM has
    /// stopped it at its end (JDK 21).
    collects: bool,
    number: u32,
    /// The VM's file, as a string made in time: at an `OutOfMemoryError` there is no room for one.
    base: PathBuf,
    base_string: jstring,
    is_prepared: bool,
}

/// What stood still while it was looked at.
#[derive(Default)]
struct DumpedObjects {
    classes: Vec<DumpedClass>,
    threads: Vec<(u64, ThreadIndex)>,
    tags: IdMap,
    /// No object lies below.
    lowest: u64,
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

    /// Names the next dump, if that is not done.
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
        self.dumps.hold_back();
        let taken = self.dump(jni, reason);
        let (data, result) = match taken {
            Ok((data, result)) => (Some(data), result),
            Err(problem) => (None, Err(problem)),
        };
        self.dumps.let_go(data);
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
        let (base, found, time) = self.still(jni)?;
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
        let result = self.write(&data, found.lowest, &base, &path);
        data.tags = IdMap::default();
        Ok((data, result))
    }

    /// The HPROF file.
    fn write(&self, data: &DumpData, lowest: u64, base: &Base, path: &Path) -> Result<(), String> {
        let core = self.core();
        let naming = |e: std::io::Error| format!("{} cannot be given its name: {e}", path.display());
        if data.classes.is_empty() && core.options.dump.contents == DumpContents::Full {
            return fs::rename(&base.0, path).map_err(naming);
        }
        let end = core.jvm.ids.next();
        let offset = if end < lowest { 0 } else { 1 << 62 };
        complete(core, data, end, offset, &base.0)?;
        fs::rename(&base.0, path).map_err(naming)
    }

    /// The VM's dump, and what was found where while nothing had moved since.
    fn still(&self, jni: Jni) -> Result<(Base, DumpedObjects, Ticks), String> {
        let base = Base(self.base.clone());
        let core = self.core();
        let looks = core.options.dump.format == DumpFormat::Xml || core.has_ids();
        let own = u64::from(self.collects);
        for _ in 0..TRIES {
            let registered = if looks { register(core, jni) } else { ClassIndex(0) };
            // The agent's thread must not give up dead objects meanwhile: looking at them here is enough.
            let mut tracked = core.weak_refs.tracked();
            let before = core.collections.finished();
            let _ = fs::remove_file(&base.0);
            // SAFETY: a global reference to a string.
            unsafe { self.dumper.dump(jni, self.base_string, self.collects) }.map_err(|_| {
                jni.exception_clear();
                format!("the JVM cannot write {}; is there room, and may it?", base.0.display())
            })?;
            let mut found = if looks { look(core) } else { Ok(None) };
            if let Ok(Some(found)) = &mut found
                && core.has_ids()
            {
                found.tags = addresses::of_tracked(&core.weak_refs, &mut tracked, jni, !self.collects);
            }
            drop(tracked);
            let (after, finish) = core.collections.last_finish();
            // The dump lies behind its own collection, before anything that happened since.
            let time = if after > before { Ticks(finish.0 + 1) } else { Ticks::now() };
            match found {
                Ok(None) if !looks => return Ok((base, DumpedObjects::default(), time)),
                Ok(Some(found)) if after.0 - before.0 <= own && are_classes(&base.0, &found.classes, registered)? => {
                    return Ok((base, found, time));
                }
                // Something moved, or was about to: once more.
                Ok(_) => {}
                Err(error) => return Err(format!("objects cannot be found: {error}")),
            }
        }
        Err("collections, or a JVM that is not known, kept objects from being found where they are".into())
    }
}

/// Gives every class and thread a tag by which `look` knows it, and returns the last class.
fn register(core: &Core, jni: Jni) -> ClassIndex {
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
        for &thread in core.jvm.env.get_all_threads().iter().flat_map(|threads| threads.iter()) {
            if let Some(index) = core.jvm.threads.find(thread) {
                // A thread without it is dumped, but not named as the one that holds a root.
                let _ = core.jvm.env.set_tag(thread, THREAD_TAG | i64::from(index.0));
            }
            jni.delete_local_ref(thread);
        }
    }
    last
}

/// Finds classes and threads.
fn look(core: &Core) -> jvmti::Result<Option<DumpedObjects>> {
    let Some(marked) = tagged_objects(core.jvm.env)? else { return Ok(None) };
    let mut found = DumpedObjects { lowest: marked.lowest, ..DumpedObjects::default() };
    for object in marked.tagged {
        if object.tag & THREAD_TAG != 0 && object.tag > 0 {
            found.threads.push((object.address, ThreadIndex(object.tag as u32)));
        } else if (1..THREAD_TAG).contains(&object.tag) {
            found.classes.push(DumpedClass {
                address: object.address,
                index: ClassIndex((object.tag - 1) as u32),
                bytes: object.bytes,
                instance_bytes: marked.instance_bytes.get(object.tag as usize).copied().unwrap_or(0),
            });
        }
    }
    Ok(Some(found))
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
