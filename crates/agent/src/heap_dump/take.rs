//! Makes one dump.

use std::fs::File;
use std::io::Seek;
use std::path::PathBuf;
use std::ptr::null_mut;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agent_options::{DumpContents, DumpFormat};
use hprof::read::{ReadError, Reader};
use jvmti::jni_sys::jstring;
use jvmti::{Collector, HeapDumper, Jni, is_flag_on};
use trace::ids::HeapDumpId;

use super::addresses::are_classes;
use super::anchors::Anchors;
use super::complete::complete;
use super::data::{DumpData, VmDump};
use super::folder::DumpFolder;
use super::found::{DumpedObjects, register_classes};
use super::id_map::IdMap;
use super::survivors::Survivors;
use super::{HeapDumps, Reason, addresses};
use agent_base::clock::Ticks;
use agent_base::ids::GcNumber;
use agent_base::message::message;
use agent_core::core::Core;

/// A dump that a collection has disturbed is repeated up to so many times in all. Then it is made in a way that nothing can
/// disturb, but for which garbage is kept, and the program's last objects may be missed.
const TRIES: u32 = 2;
/// That other way is repeated up to so many times in all if a collector that moves objects while the program runs has moved some in
/// the pause of the dump.
const ANCHORED_TRIES: u32 = 4;
/// Why there is no dump while the program goes on.
pub(super) const KEEPS_GARBAGE: &str = "with this JDK's ZGC it would keep garbage alive, and the program might run out of memory; use heap=counts or \
     heap=vm";
/// Deaths before a dump are waited for as long as some are found within this time.
const DEATHS: Duration = Duration::from_secs(1);

/// Makes dumps, one after the other.
pub(super) struct DumpMaker {
    dumps: &'static HeapDumps,
    dumper: HeapDumper,
    /// The VM can collect in the pause of the dump. With a concurrent collector the dump would wait for a collection: for ever,
    /// if the VM is ending and has stopped the collector (JDK 21).
    collects: bool,
    /// An event comes of that collection, as of all others.
    sees_collection: bool,
    /// To look at an object is to use it (ZGC). So only what has survived a collection is looked for.
    wants_survivors: bool,
    /// A program that goes on may have no room for a dump.
    keeps_garbage: bool,
    number: u32,
    place: DumpFolder,
    /// The path of the VM's file, the same for all dumps: at an `OutOfMemoryError` there is no room for a string.
    path: jstring,
}

/// What the VM has just written.
struct Dumped {
    file: File,
    time: Ticks,
    /// Collections that had ended before the VM began to write.
    after: GcNumber,
    /// When the VM began to write, in milliseconds since 1970: after a collection of its own, of which some collectors send no event.
    began_millis: u64,
}

impl DumpMaker {
    pub(super) fn new(dumps: &'static HeapDumps, jni: Jni) -> Result<DumpMaker, String> {
        let dumper = HeapDumper::find(jni).ok_or("this JVM does not expose its heap dumper")?;
        if !is_safe(dumps.core.jvm.java, jni) {
            return Err("this JVM's heap dumper crashes with -XX:+UseG1GC and -XX:-ClassUnloading".into());
        }
        let collects = dumps.core.jvm.collector(jni) == Collector::Stopping;
        // The others send one only of collections that begin as operations of their own.
        let sees_collection = is_flag_on(jni, c"UseG1GC") == Some(true);
        let place = DumpFolder::new().map_err(|e| format!("cannot open a file: {e}"))?;
        let text = place.path().to_string_lossy().into_owned();
        let text = std::ffi::CString::new(text).map_err(|_| "its path contains a NUL")?;
        let local = jni.new_string_utf(&text).map_err(|error| jni.cleared(error))?;
        // SAFETY: a live local reference.
        let path = unsafe {
            let path = jni.new_global_ref(local);
            jni.delete_local_ref(local);
            path
        };
        let wants_survivors = Survivors::are_needed(jni);
        let keeps_garbage = Survivors::are_kept_with_garbage(dumps.core, jni);
        Ok(DumpMaker {
            dumps,
            dumper,
            collects,
            sees_collection,
            wants_survivors,
            keeps_garbage,
            number: 1,
            place,
            path,
        })
    }

    /// No more dumps are made.
    pub(super) fn end(self, jni: Jni) {
        // SAFETY: a global reference that nobody else has.
        unsafe { jni.delete_global_ref(self.path) };
    }

    /// Whether the VM collects in the pause of a dump.
    pub(super) fn collects(&self) -> bool {
        self.collects
    }

    fn core(&self) -> &'static Core {
        self.dumps.core
    }

    fn name(&self, number: u32) -> PathBuf {
        let core = self.core();
        core.options.dump.path(&core.trace_path, number)
    }

    /// Makes a dump.
    ///
    /// # Errors
    /// Why there is none: one sentence.
    pub(super) fn make(&mut self, jni: Jni, reason: Reason) -> Result<(), String> {
        if self.dumps.is_writer_behind() {
            return Err("the trace has not taken the previous one yet".into());
        }
        if self.keeps_garbage && reason != Reason::OutOfMemory && !self.dumps.queue.does_vm_end() {
            return Err(KEEPS_GARBAGE.into());
        }
        // What is dead now is not to wait for the next collection.
        self.core().collections.wait_until_processed(DEATHS);
        self.dumps.hold_writer();
        let dumped = self.dump(jni, reason);
        self.dumps.queue.progress.watch(None);
        self.place.clear();
        let (data, result) = match dumped {
            Ok(data) => (Some(data), Ok(())),
            Err(problem) => (None, Err(problem)),
        };
        self.dumps.release_writer(data);
        result
    }

    fn dump(&mut self, jni: Jni, reason: Reason) -> Result<DumpData, String> {
        let core = self.core();
        let wanted = self.name(self.number);
        self.place.open(&wanted).map_err(|e| format!("cannot write to the folder of {}: {e}", wanted.display()))?;
        self.dumps.queue.progress.watch(Some(self.place.folder()));
        let id = HeapDumpId(core.jvm.ids.next());
        let (dumped, found) = self.dump_and_find(jni, reason)?;
        self.dumps.queue.progress.step();
        let lowest_address = found.lowest_address(core);
        let has_classes = !found.classes.is_empty();
        let mut data = DumpData {
            id,
            name: reason.name().into(),
            time: dumped.time,
            generations: core.collections.generations(),
            collections: dumped.after,
            classes: found.classes,
            threads: found.threads,
            tags: found.tags,
            without_ids: found.without_ids,
            base: None,
        };
        let is_in_trace = core.options.dump.format == DumpFormat::Xml && has_classes;
        if is_in_trace {
            // Its blocks stay until it is closed.
            self.place.remove_file();
            data.base = Some(VmDump(dumped.file));
        } else {
            // The trace need not wait for the file.
            let path = self.write(&data, lowest_address, dumped.file)?;
            data.name = format!("{} {}", reason.name(), path.display());
            // The trace wants no more than its name and time.
            data.tags = IdMap::default();
            (data.classes, data.threads, data.generations) = (Vec::new(), Vec::new(), Vec::new());
        }
        if !has_classes && !data.without_ids.is_empty() {
            message(&format!("the heap dump \"{}\" has no trace ids; {}", data.name, data.without_ids));
        }
        Ok(data)
    }

    /// The HPROF file; returns its path.
    fn write(&mut self, data: &DumpData, lowest_address: u64, file: File) -> Result<PathBuf, String> {
        let core = self.core();
        let is_changed = !data.classes.is_empty()
            || !data.without_ids.is_empty()
            || core.options.dump.contents != DumpContents::Full;
        if is_changed {
            let end = core.jvm.ids.next();
            // Objects without an id have their address instead, which must not be the id of another one.
            let offset = if end < lowest_address { 0 } else { 1 << 62 };
            complete(core, data, end, offset, file)?;
        }
        let published = self.place.publish(self.number, |number| self.name(number));
        let (number, path) = published
            .map_err(|e| format!("cannot rename the heap dump to {}: {e}", self.name(self.number).display()))?;
        self.number = number + 1;
        Ok(path)
    }

    /// The VM's dump, and where in it everything lies that the trace names.
    fn dump_and_find(&self, jni: Jni, reason: Reason) -> Result<(Dumped, DumpedObjects), String> {
        let core = self.core();
        if core.options.dump.format != DumpFormat::Xml && !core.has_ids() {
            return Ok((self.dump_by_vm(jni)?, DumpedObjects::default()));
        }
        // The first way looks into words of the VM.
        for _ in 0..if core.hotspot.is_some() { TRIES } else { 0 } {
            let wanted = self.survivors(reason);
            self.dumps.queue.progress.step();
            if let Some(found) = self.try_undisturbed(jni, wanted)? {
                return Ok(found);
            }
            self.dumps.queue.progress.step();
        }
        let mut tries = 0;
        loop {
            let wanted = self.survivors(reason);
            self.dumps.queue.progress.step();
            let (dumped, found) = self.dump_anchored(jni, wanted)?;
            tries += 1;
            if found.moved == 0 || tries == ANCHORED_TRIES {
                return Ok((dumped, found));
            }
            self.dumps.queue.progress.step();
        }
    }

    /// The objects to look for in the next attempt: what is looked for cannot be collected, and the program that goes on may need the room. At
    /// the end of the VM its collector has stopped, and the program has no use for the room; one that has run out of memory has none.
    fn survivors(&self, reason: Reason) -> Survivors {
        if self.wants_survivors && reason != Reason::OutOfMemory {
            self.dumps.queue.collect(|| Survivors::of_collection(self.core())).unwrap_or(Survivors::ALL)
        } else {
            Survivors::ALL
        }
    }

    /// Finds everything where it lies after the dump; `None` if a collection came in between.
    fn try_undisturbed(&self, jni: Jni, wanted: Survivors) -> Result<Option<(Dumped, DumpedObjects)>, String> {
        let core = self.core();
        let last_class = register_classes(core, jni);
        // Held until the addresses are read: the agent's own thread deletes no references of dead objects meanwhile.
        let mut tracked = core.weak_refs.tracked();
        let before = core.collections.finished();
        // ZGC's dumper moves what it comes to by itself, and would keep garbage that is touched.
        if !self.collects && !self.wants_survivors {
            let present = tracked.present(&core.weak_refs);
            addresses::settle(&tracked, &present, jni);
        }
        let dumped = self.dump_by_vm(jni)?;
        // What comes now is not in the dump.
        let present = tracked.present(&core.weak_refs);
        let found = addresses::find(core, jni, (&tracked, &present, wanted), !self.collects);
        drop(tracked);
        // Waits for the end of a pause that has begun, and so for its event.
        // SAFETY: null is an object to JNI.
        unsafe { jni.is_same_object(null_mut(), null_mut()) };
        let is_undisturbed = match self.collects {
            true => !is_later(core.collections.last_finish().1, dumped.began_millis),
            false => core.collections.finished() == before,
        };
        let Ok(mut found) = found.map_err(|error| core.count_failure("heap dump: addresses", error)) else {
            return Ok(None);
        };
        if !is_undisturbed || !are_classes(&dumped.file, &found.classes, last_class).map_err(reading)? {
            return Ok(None);
        }
        found.add_instance_bytes(core);
        Ok(Some((dumped, found)))
    }

    /// Has the dump itself say where everything lies.
    fn dump_anchored(&self, jni: Jni, wanted: Survivors) -> Result<(Dumped, DumpedObjects), String> {
        let core = self.core();
        register_classes(core, jni);
        let mut tracked = core.weak_refs.tracked();
        let late = &self.dumps.late_classes;
        let anchors = Anchors::new(core, jni, &mut tracked, wanted, late);
        self.dumps.queue.progress.step();
        let dumped = self.dump_by_vm(jni);
        let anchored = match anchors {
            Ok((mut references, mut anchored)) => {
                anchored.add_late(core, jni, &mut references, late);
                anchored.count_later(core, &mut tracked);
                // At once: they keep garbage, for which the program may have no room.
                drop(references);
                anchored
            }
            Err(error) => {
                late.discard(jni);
                let without_ids = format!("all: cannot list the JVM's classes and threads: {error}");
                return Ok((dumped?, DumpedObjects { without_ids, ..DumpedObjects::default() }));
            }
        };
        drop(tracked);
        let dumped = dumped?;
        let mut found = anchored.find(&dumped.file, !self.collects).map_err(reading)?;
        found.add_instance_bytes(core);
        Ok((dumped, found))
    }

    /// Has the VM write its dump.
    fn dump_by_vm(&self, jni: Jni) -> Result<Dumped, String> {
        let collections = &self.core().collections;
        self.place.remove_file();
        let before = collections.finished();
        // SAFETY: a global reference to a string.
        unsafe { self.dumper.dump(jni, self.path, self.collects) }.map_err(|_| {
            jni.exception_clear();
            format!(
                "the JVM cannot write it beside {}; check free space and permissions",
                self.name(self.number).display()
            )
        })?;
        let file = self.place.file().map_err(|e| format!("cannot open the JVM's dump: {e}"))?;
        // One that cannot be read is found out later.
        let began_millis = Reader::new(&file).map_or(0, |reader| reader.millis());
        let _ = (&file).rewind();
        let (mut after, finish) = collections.last_finish();
        let mut time = Ticks::now();
        if after > before && is_later(finish, began_millis) {
            after.0 -= 1;
        } else if after > before && self.collects {
            // Before anything that happened since.
            time = Ticks(finish.0 + 1);
        }
        if self.collects && !(self.sees_collection && after > before) {
            collections.note_unseen();
        }
        Ok(Dumped { file, time, after, began_millis })
    }
}

/// Whether a collection ended later than that, in milliseconds since 1970. What the dump's own collection ends in is the same millisecond at
/// the latest; writing a heap takes longer. If there was no collection yet its end is the start of the clock.
fn is_later(finish: Ticks, millis: u64) -> bool {
    let ago = Duration::from_nanos(Ticks::now().0.saturating_sub(finish.0));
    let finished = SystemTime::now().checked_sub(ago).and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    finished.is_some_and(|finished| finished.as_millis() > u128::from(millis))
}

/// Whether the VM survives its own dumper. HotSpot 17 leaves dead objects where they are in a region that is nearly full of live ones;
/// unless it unloads classes it does not distinguish them, and the dumper follows their references to what is there no more.
fn is_safe(java: u32, jni: Jni) -> bool {
    let is_on = |name| is_flag_on(jni, name) == Some(true);
    !(17..21).contains(&java) || is_on(c"ClassUnloading") || !is_on(c"UseG1GC")
}

fn reading(error: ReadError) -> String {
    format!("cannot read the JVM's dump: {error}")
}
