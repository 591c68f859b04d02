//! What walks of the heap count: the histogram (`live=true`), and the bytes of an instance of a class.

mod last_collection;
mod section;

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::OnceLock;

use jvmti::Jni;
use jvmti::jni_sys::{jclass, jint, jlong};
use jvmti::sys::{JVMTI_VISIT_ABORT, JVMTI_VISIT_OBJECTS, jvmtiHeapCallbacks, jvmtiHeapIterationCallback};

use agent_base::clock::Ticks;
use agent_base::ids::ClassIndex;
use agent_base::mutex::Mutex;
use agent_core::core::current::Current;
use agent_core::core::feature::{End, Feature};
use agent_core::core::{Core, Jvm, deep_stacks};
use agent_trace::Section;
use last_collection::LastCollection;
use section::HistogramSection;
pub(crate) use section::write;

/// What was in the heap by class, and when.
type Found = (Ticks, Vec<(ClassIndex, ClassTotals)>);

/// The feature: one histogram, when the recording ends, and the sums before it if it begins late.
pub(crate) struct HeapHistogram {
    core: &'static Core,
    last_collection: OnceLock<LastCollection>,
    found: Mutex<Option<Found>>,
}

static CURRENT: Current<HeapHistogram> = Current::none();

impl HeapHistogram {
    /// What it writes into the trace.
    pub(crate) fn section(&'static self) -> Box<dyn Section> {
        Box::new(HistogramSection(self))
    }

    /// For a recording.
    pub(crate) fn new(core: &'static Core) -> HeapHistogram {
        HeapHistogram { core, last_collection: OnceLock::new(), found: Mutex::default() }
    }

    /// What was found, and when, for the writer; `None` before the end.
    pub(crate) fn take_found(&self) -> Option<Found> {
        self.found.lock().take()
    }

    /// The recording, which is late, is about to report: counts what lives before it.
    pub(crate) fn count_before(&self, jni: Jni) {
        match walk(self.core, jni, true) {
            Ok(found) => {
                let sum = |of: fn(&ClassTotals) -> u64| found.iter().map(|(_, totals)| of(totals)).sum();
                self.core.before.set_objects(sum(|totals| totals.instances), sum(|totals| totals.bytes));
            }
            Err(error) => self.core.count_failure("heap walk", error),
        }
    }

    /// Whether garbage is to be collected now, when the recording ends.
    fn collects(&self, end: End) -> bool {
        match self.last_collection.get() {
            Some(last) if end == End::Vm => last.collects_at_vm_death(self.core),
            _ => true,
        }
    }
}

/// All hooks of the VM's shutdown have run.
pub(crate) fn program_ends() {
    if let Some(histogram) = CURRENT.get().filter(|histogram| histogram.core.is_reporting())
        && let Some(last) = histogram.last_collection.get()
    {
        last.collect(histogram.core);
    }
}

impl Feature for HeapHistogram {
    fn install(&'static self) {
        CURRENT.set(self);
    }

    fn begin(&'static self, jni: Jni) -> Result<(), String> {
        let _ = self.last_collection.set(LastCollection::prepare(self.core.jvm, jni));
        Ok(())
    }

    fn stop(&'static self, jni: Jni, end: End) {
        if end == End::Unwanted {
            return;
        }
        match walk(self.core, jni, self.collects(end)) {
            Ok(found) => {
                *self.found.lock() = Some((Ticks::now(), found));
            }
            Err(error) => self.core.count_failure("heap walk", error),
        }
    }

    fn release(&'static self, _: Jni) {
        drop(self.take_found());
    }
}

/// The living instances of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClassTotals {
    pub(crate) instances: u64,
    pub(crate) bytes: u64,
}

/// Counts what is in the heap, after garbage was collected if `collects`: then it is what `jmap -histo:live` shows. The program
/// stands still meanwhile.
///
/// # Errors
/// What the VM refuses.
pub(crate) fn walk(core: &Core, jni: Jni, collects: bool) -> jvmti::Result<Vec<(ClassIndex, ClassTotals)>> {
    let mut found = Vec::new();
    if collects {
        // Most of the work with classes is done in front of it, since what is made behind it is counted too, garbage or not.
        make_room(core, jni, &mut found)?;
        core.collect()?;
    }
    make_room(core, jni, &mut found)?;
    // SAFETY: the callback takes such a vector.
    unsafe { visit_heap(core.jvm, null_mut(), count_instance, &mut found) }?;
    let included = |&(index, totals): &(ClassIndex, ClassTotals)| totals.instances > 0 && core.includes(index);
    Ok((0..).map(ClassIndex).zip(found).filter(included).collect())
}

/// Registers all classes, with room for the totals of each: the walk shows a class by its tag, which only registered classes have.
fn make_room(core: &Core, jni: Jni, found: &mut Vec<ClassTotals>) -> jvmti::Result<()> {
    let classes = &core.jvm.classes;
    classes.each_loaded(jni, |class| {
        // SAFETY: a live reference.
        let needed = unsafe { classes.resolve(jni, class) }?.0 as usize + 1;
        found.resize(found.len().max(needed), ClassTotals::default());
        Ok(())
    })
}

/// By the number of the class: bytes of an instance that is no array; 0 if the heap holds none. The program stands still
/// meanwhile. (The bytes of a class object differ from class to class.)
///
/// # Errors
/// What the VM refuses.
pub(crate) fn instance_bytes_by_class(jvm: &Jvm) -> jvmti::Result<Vec<u32>> {
    let mut found = Vec::new();
    // SAFETY: the callback takes such a vector.
    unsafe { visit_heap(jvm, null_mut(), note_instance_bytes, &mut found) }?;
    Ok(found)
}

/// Bytes of an instance of a class that is no array, if there is one in the heap, alive or not. The program stands still until
/// one is found.
///
/// # Errors
/// What the VM refuses.
///
/// # Safety
/// `class` is a live reference.
pub(crate) unsafe fn instance_bytes(jvm: &Jvm, class: jclass) -> jvmti::Result<Option<u64>> {
    let mut bytes: jlong = 0;
    // SAFETY: the callback takes such a number; the class is live by the caller's promise.
    unsafe { visit_heap(jvm, class, note_first, &mut bytes) }?;
    Ok((bytes > 0).then_some(bytes as u64))
}

/// Walks the heap, unless that would take minutes (`deep_stacks`): calls `visit` with a pointer to `found` for each instance of
/// `class`, or for each object if that is null.
///
/// # Safety
/// `visit` takes such a pointer; `class` is a live reference or null.
unsafe fn visit_heap<T>(
    jvm: &Jvm,
    class: jclass,
    visit: jvmtiHeapIterationCallback,
    found: &mut T,
) -> jvmti::Result<()> {
    let jni = jvm.vm.get_jni().map_err(|_| jvmti::Error::NOT_AVAILABLE)?;
    if !deep_stacks::are_bearable(jvm, jni) {
        return Err(jvmti::Error::NOT_AVAILABLE);
    }
    let callbacks = jvmtiHeapCallbacks { heap_iteration_callback: Some(visit), ..jvmtiHeapCallbacks::default() };
    // SAFETY: the callbacks of this file do not unwind and call nothing; `found` lives until the walk is over; the rest by the
    // caller's promise.
    unsafe { jvm.env.iterate_through_heap(0, class, &callbacks, (&raw mut *found).cast::<c_void>().cast_const()) }
}

/// The number of the class whose tag that is: the tag is the number and one.
fn class_number(class_tag: jlong) -> Option<usize> {
    usize::try_from(class_tag).ok()?.checked_sub(1)
}

/// # Safety
/// Called by the VM with the pointer that `instance_bytes` gave.
unsafe extern "system" fn note_first(_: jlong, size: jlong, _: *mut jlong, _: jint, found: *mut c_void) -> jint {
    // SAFETY: by the caller's promise; the walk calls back on one thread, while `instance_bytes` waits.
    unsafe { *found.cast::<jlong>() = size };
    JVMTI_VISIT_ABORT as jint
}

/// # Safety
/// Called by the VM with the pointer that `instance_bytes_by_class` gave.
unsafe extern "system" fn note_instance_bytes(
    class_tag: jlong,
    size: jlong,
    _: *mut jlong,
    length: jint,
    found: *mut c_void,
) -> jint {
    // SAFETY: by the caller's promise; the walk calls back on one thread, while `instance_bytes_by_class` waits.
    let found = unsafe { &mut *found.cast::<Vec<u32>>() };
    // The length is -1 for what is no array.
    if length < 0
        && let Some(class) = class_number(class_tag)
    {
        if found.len() <= class {
            found.resize((class + 1).next_power_of_two(), 0);
        }
        found[class] = size as u32;
    }
    JVMTI_VISIT_OBJECTS as jint
}

/// # Safety
/// Called by the VM with the pointer that `walk` gave.
unsafe extern "system" fn count_instance(
    class_tag: jlong,
    size: jlong,
    _: *mut jlong,
    _: jint,
    found: *mut c_void,
) -> jint {
    // SAFETY: by the caller's promise; the walk calls back on one thread, while `walk` waits.
    let found = unsafe { &mut *found.cast::<Vec<ClassTotals>>() };
    if let Some(totals) = class_number(class_tag).and_then(|class| found.get_mut(class)) {
        totals.instances += 1;
        totals.bytes += size as u64;
    }
    JVMTI_VISIT_OBJECTS as jint
}
