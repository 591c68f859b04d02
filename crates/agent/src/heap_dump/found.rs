//! What the agent knows of a dump: where classes, threads and tracked objects lie in it.

use jvmti::Jni;
use jvmti::jni_sys::{jclass, jobject};

use super::data::DumpedClass;
use super::id_map::IdMap;
use crate::heap_histogram::instance_bytes_by_class;
use agent_base::ids::{ClassIndex, ThreadIndex};
use agent_core::core::Core;
use hotspot::Hotspot;

/// What was found of a dump.
#[derive(Default)]
pub(super) struct DumpedObjects {
    pub(super) classes: Vec<DumpedClass>,
    pub(super) threads: Vec<(u64, ThreadIndex)>,
    pub(super) tags: IdMap,
    /// Which objects have no id of the trace although it has them, and why. Empty if there are none.
    pub(super) without_ids: String,
    /// Objects that lie in the dump where no reference of it says that they lie.
    pub(super) moved: u64,
}

impl DumpedObjects {
    /// Some objects are not found: those that came `later`, and those that were moved.
    pub(super) fn miss(&mut self, later: u64) {
        let reasons = [(later, "allocated while the dump began"), (self.moved, "moved by the collector in its pause")];
        let said = reasons.iter().filter(|(number, _)| *number > 0);
        let number: u64 = said.clone().map(|(number, _)| number).sum();
        let reasons: Vec<_> = said.map(|(_, reason)| *reason).collect();
        if number > 0 {
            self.without_ids = format!("up to {number}: {}", reasons.join(", or "));
        }
    }

    /// No object lies below this address: a heap is no larger than the VM's limit, and class objects lie in it. (ZGC reserves
    /// more addresses than that, but all of them lie above 4 TB, where no id comes near.)
    pub(super) fn lowest_address(&self, core: &Core) -> u64 {
        let lowest_class = self.classes.iter().map(|class| class.address).min().unwrap_or(0);
        lowest_class.saturating_sub(core.hotspot.and_then(Hotspot::max_heap_bytes).unwrap_or(u64::MAX))
    }

    /// Adds the bytes of an instance of each class.
    pub(super) fn add_instance_bytes(&mut self, core: &Core) {
        match instance_bytes_by_class(core.jvm) {
            Ok(bytes) => {
                for class in &mut self.classes {
                    class.instance_bytes = bytes.get(class.index.0 as usize).copied().unwrap_or(0);
                }
            }
            Err(error) => core.count_failure("heap dump: sizes", error),
        }
    }
}

/// Gives every class a tag, which is its number and one, and returns the last class.
pub(super) fn register_classes(core: &Core, jni: Jni) -> ClassIndex {
    let mut last = ClassIndex(0);
    let classes = &core.jvm.classes;
    let registered = classes.each_loaded(jni, |class| {
        // SAFETY: a live reference.
        match unsafe { classes.resolve(jni, class) } {
            Ok(index) => last = last.max(index),
            Err(error) => core.count_failure("heap dump: class", error),
        }
        Ok(())
    });
    registered.unwrap_or_else(|error| core.count_failure("heap dump: classes", error));
    last
}

/// What is known of a class without its address.
///
/// # Safety
/// A live reference.
pub(super) unsafe fn dumped_class(core: &Core, jni: Jni, class: jclass) -> jvmti::Result<DumpedClass> {
    // SAFETY: by the caller's promise.
    unsafe {
        let index = core.jvm.classes.resolve(jni, class)?;
        let bytes = core.jvm.env.get_object_size(class)? as u64;
        Ok(DumpedClass { address: 0, index, bytes, instance_bytes: 0 })
    }
}

/// Calls `visit` with a local reference to each class, and what is known of the class without its address. Classes that were loaded
/// since `register_classes` get their tags here.
pub(super) fn visit_classes(core: &Core, jni: Jni, mut visit: impl FnMut(jobject, DumpedClass)) -> jvmti::Result<()> {
    core.jvm.classes.each_loaded(jni, |class| {
        // SAFETY: a live reference.
        match unsafe { dumped_class(core, jni, class) } {
            Ok(dumped) => visit(class, dumped),
            Err(error) => core.count_failure("heap dump: class", error),
        }
        Ok(())
    })
}

/// Calls `visit` with a local reference to each platform thread that has a number. Another one is dumped, but not named as the
/// one that holds a root.
pub(super) fn visit_threads(core: &Core, jni: Jni, mut visit: impl FnMut(jobject, ThreadIndex)) -> jvmti::Result<()> {
    // SAFETY: live local references, each deleted when it is done with.
    unsafe {
        let threads = core.jvm.env.get_all_threads()?;
        jni.expect_local_refs(threads.len());
        for &thread in threads.iter() {
            if let Some(index) = core.jvm.threads.find(jni, thread) {
                visit(thread, index);
            }
            jni.delete_local_ref(thread);
        }
    }
    Ok(())
}
