//! The heap histogram (`live=true`): living instances and bytes per class, by a walk of the heap.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::OnceLock;

use jvmti::Jni;
use jvmti::jni_sys::{jclass, jint, jlong};
use jvmti::sys::{JVMTI_VISIT_ABORT, JVMTI_VISIT_OBJECTS, jvmtiHeapCallbacks};

use super::clock::Ticks;
use super::core::feature::{End, Feature};
use super::core::{Core, Jvm};
use super::ids::ClassIndex;

/// The feature: one histogram, when the recording ends.
pub(crate) struct HeapHistogram {
    core: &'static Core,
    found: OnceLock<(Ticks, Vec<(ClassIndex, ClassTotals)>)>,
}

impl HeapHistogram {
    /// For a recording.
    pub(crate) fn new(core: &'static Core) -> HeapHistogram {
        HeapHistogram { core, found: OnceLock::new() }
    }

    /// What was found, and when; `None` before the end.
    pub(crate) fn found(&self) -> Option<&(Ticks, Vec<(ClassIndex, ClassTotals)>)> {
        self.found.get()
    }
}

impl Feature for HeapHistogram {
    fn begin(&'static self, _: Jni) -> Result<(), String> {
        Ok(())
    }

    fn stop(&'static self, jni: Jni, _: End) {
        match walk(self.core, jni) {
            Ok(found) => drop(self.found.set((Ticks::now(), found))),
            Err(error) => self.core.count_failure("heap walk", error),
        }
    }
}

/// The living instances of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClassTotals {
    pub(crate) instances: u64,
    pub(crate) bytes: u64,
}

/// Collects garbage and counts what is left, as `jmap -histo:live` does. The program stands still meanwhile.
///
/// # Errors
/// What the VM refuses.
pub(crate) fn walk(core: &Core, jni: Jni) -> jvmti::Result<Vec<(ClassIndex, ClassTotals)>> {
    core.jvm.env.force_garbage_collection()?;
    // The walk shows a class by its tag, which only registered classes have.
    let classes = core.jvm.env.get_loaded_classes()?;
    let mut found = Vec::new();
    for &class in classes.iter() {
        // SAFETY: live local references, each deleted when it is done with.
        unsafe {
            let index = core.jvm.classes.resolve(jni, class);
            jni.delete_local_ref(class);
            let needed = index?.0 as usize + 1;
            if found.len() < needed {
                found.resize(needed, ClassTotals::default());
            }
        }
    }
    let callbacks = jvmtiHeapCallbacks { heap_iteration_callback: Some(visit), ..jvmtiHeapCallbacks::default() };
    // SAFETY: the callback fits, does not unwind, calls nothing, and gets a pointer to what lives until the walk is over.
    unsafe {
        let user_data = (&raw mut found).cast::<c_void>().cast_const();
        core.jvm.env.iterate_through_heap(0, null_mut(), &callbacks, user_data)?;
    }
    let included = |&(index, totals): &(ClassIndex, ClassTotals)| totals.instances > 0 && core.includes(index);
    Ok((0..).map(ClassIndex).zip(found).filter(included).collect())
}

/// Bytes of an instance of a class that is no array, if there is one in the heap, alive or not. The program stands still until one is found.
///
/// # Errors
/// What the VM refuses.
///
/// # Safety
/// `class` is a live reference.
pub(crate) unsafe fn instance_bytes(jvm: &Jvm, class: jclass) -> jvmti::Result<Option<u64>> {
    let mut bytes: jlong = 0;
    let callbacks = jvmtiHeapCallbacks { heap_iteration_callback: Some(first), ..jvmtiHeapCallbacks::default() };
    // SAFETY: the callback fits, does not unwind, calls nothing, and gets a pointer to what lives until the walk is over; by the
    // caller's promise.
    unsafe {
        let user_data = (&raw mut bytes).cast::<c_void>().cast_const();
        jvm.env.iterate_through_heap(0, class, &callbacks, user_data)?;
    }
    Ok((bytes > 0).then_some(bytes as u64))
}

/// # Safety
/// Called by the VM with the pointer that `instance_bytes` gave.
unsafe extern "system" fn first(_: jlong, size: jlong, _: *mut jlong, _: jint, found: *mut c_void) -> jint {
    // SAFETY: by the caller's promise; the walk calls back on one thread, while `instance_bytes` waits.
    unsafe { *found.cast::<jlong>() = size };
    JVMTI_VISIT_ABORT as jint
}

/// # Safety
/// Called by the VM with the pointer that `walk` gave.
unsafe extern "system" fn visit(class_tag: jlong, size: jlong, _: *mut jlong, _: jint, found: *mut c_void) -> jint {
    // SAFETY: by the caller's promise; the walk calls back on one thread, while `walk` waits.
    let found = unsafe { &mut *found.cast::<Vec<ClassTotals>>() };
    // The tag is the class's number and one.
    let index = usize::try_from(class_tag).ok().and_then(|tag| tag.checked_sub(1));
    if let Some(living) = index.and_then(|index| found.get_mut(index)) {
        living.instances += 1;
        living.bytes += size as u64;
    }
    JVMTI_VISIT_OBJECTS as jint
}
