//! Objects that the VM reports: those that it makes itself in its native methods, and the `Class` object of each class that it loads.

use std::cell::Cell;
use std::ffi::CStr;
use std::sync::OnceLock;

use jvmti::Jni;
use jvmti::jni_sys::{JNIEnv, jclass, jlong, jobject};
use jvmti::sys::{jthread, jvmtiEnv};
use trace::model::ArrayCode;
use trace::names::array_code;

use super::Counts;
use super::threads::{CountsThread, Totals};
use agent_base::clock::Ticks;
use agent_base::ids::{AllocationSite, ClassIndex};
use agent_core::core::Core;
use agent_core::core::context::{ThreadContext, callback, enter};
use agent_core::instrument::allocating_method::{AllocatingMethod, allocating_method, is_counted_above};

thread_local! {
    /// What the JVM accounted to this thread when it last began or ended to make a class.
    static MAKING_CLASS: Cell<Option<u64>> = const { Cell::new(None) };
    /// How often this thread began to make a class.
    static CLASSES_BEGUN: Cell<u64> = const { Cell::new(0) };
    /// The value of `CLASSES_BEGUN` when this thread last called a native method that may call Java code to load classes.
    static BEGUN_AT_CALL: Cell<u64> = const { Cell::new(0) };
}

/// A native method is called that makes objects, and that may call Java code to load classes. The VM then reports some
/// objects of that code too.
pub(super) fn note_call() {
    BEGUN_AT_CALL.set(CLASSES_BEGUN.get());
}

/// The classes of the objects that the VM makes for each class that it loads.
pub(super) struct ClassObjects {
    /// `java.lang.Class`.
    class: ClassIndex,
    /// `int[]`: most VMs make an empty one beside each, as a lock.
    lock: ClassIndex,
    lock_bytes: u64,
    makes_locks: OnceLock<bool>,
    /// `Object[]`.
    references: ClassIndex,
}

impl ClassObjects {
    /// Looks the classes up.
    ///
    /// # Errors
    /// What the VM refuses; no exception is pending any more.
    fn find(core: &Core, jni: Jni) -> Result<ClassObjects, String> {
        let java = |error| jni.cleared(error);
        let jvmti = |error: jvmti::Error| error.to_string();
        let index = |name: &CStr| {
            let class = jni.find_class(name).map_err(java)?;
            // SAFETY: a live local reference, deleted at once.
            unsafe {
                let index = core.jvm.classes.resolve(jni, class);
                jni.delete_local_ref(class);
                index.map_err(jvmti)
            }
        };
        Ok(ClassObjects {
            class: index(c"java/lang/Class")?,
            lock: index(c"[I")?,
            lock_bytes: core.layout(ArrayCode::INT).map_or(0, |layout| layout.bytes(0)),
            makes_locks: OnceLock::new(),
            references: index(c"[Ljava/lang/Object;")?,
        })
    }

    /// Whether a lock was made, where so many bytes were allocated beside the class. The first class beside which nothing else
    /// was allocated shows whether this VM makes locks.
    fn has_lock(&self, beside: u64) -> bool {
        if beside == 0 || beside == self.lock_bytes {
            let _ = self.makes_locks.set(beside > 0);
        }
        beside >= self.lock_bytes && self.makes_locks.get() == Some(&true)
    }
}

/// JVMTI `VMObjectAlloc`: a native method of the VM's own made an object.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn vm_object_alloc(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    _: jthread,
    _: jobject,
    class: jclass,
    size: jlong,
) {
    // SAFETY: the VM passes this thread's environment and a live class.
    unsafe {
        callback(jni, |counts: &Counts, jni, thread, state| {
            if let Err(error) = counts.vm_object(jni, thread, state, class, size as u64) {
                counts.core.count_failure("VM object", error);
            }
        });
    }
}

impl Counts {
    /// Looks up what is needed to count the objects that the VM makes for each class.
    ///
    /// # Errors
    /// What the VM refuses.
    pub(super) fn watch_classes(&self, jni: Jni) -> Result<(), String> {
        if self.space.class_objects.get().is_none() {
            let _ = self.space.class_objects.set(ClassObjects::find(self.core, jni)?);
        }
        Ok(())
    }

    /// The VM begins to make a class on the current thread.
    pub(super) fn class_begins(&self, jni: Jni) {
        CLASSES_BEGUN.set(CLASSES_BEGUN.get() + 1);
        MAKING_CLASS.set(self.core.jvm.accounting.current_thread_bytes(jni));
    }

    /// The VM has made a class on the current thread, and with it an object of `java.lang.Class`, unless that came out of the CDS archive.
    ///
    /// # Safety
    /// `class` is a live reference.
    pub(super) unsafe fn class_made(&self, jni: Jni, class: jclass) {
        let jvm = self.core.jvm;
        // SAFETY: by the caller's promise.
        unsafe { self.space.rewritings.class_loaded(jvm.env, jni, class) };
        if !self.core.is_reporting() {
            return;
        }
        let now = jvm.accounting.current_thread_bytes(jni);
        let allocated = MAKING_CLASS.take().zip(now).and_then(|(before, now)| now.checked_sub(before));
        if let Some(allocated) = allocated {
            enter(self.core, jni, Ticks::now, |local| {
                let (thread, state) = local.with();
                // SAFETY: by the caller's promise.
                let Ok(size) = (unsafe { jvm.env.get_object_size(class) }) else { return };
                let Some(beside) = allocated.checked_sub(size as u64) else { return };
                let Some(objects) = self.space.class_objects.get() else { return };
                let of = |class| AllocationSite { class, location: None };
                self.count_vm_object(thread, state, of(objects.class), size as u64);
                if objects.has_lock(beside) {
                    self.count_vm_object(thread, state, of(objects.lock), objects.lock_bytes);
                }
            });
        }
        // The class may be the superclass of one that is still being made.
        MAKING_CLASS.set(jvm.accounting.current_thread_bytes(jni));
    }

    /// The class of an `Object[]` of that length, and its bytes.
    pub(super) fn references(&self, length: u32) -> Option<(ClassIndex, u64)> {
        let layout = self.core.layout(array_code("[Ljava/lang/Object;"))?;
        Some((self.space.class_objects.get()?.references, layout.bytes(length)))
    }

    /// Counts what a native method of the VM's own made on the current thread, unless its caller counts it.
    ///
    /// # Safety
    /// `class` is a live reference.
    unsafe fn vm_object(
        &self,
        jni: Jni,
        thread: &ThreadContext,
        state: &mut CountsThread,
        class: jclass,
        bytes: u64,
    ) -> jvmti::Result<()> {
        let core = self.core;
        if is_counted_above(core, jni, &mut state.natives)? {
            return Ok(());
        }
        let method = allocating_method(core, jni, &mut state.allocating_methods)?;
        let Some(method) = method.filter(|method| !method.is_counted) else { return Ok(()) };
        // SAFETY: by the caller's promise.
        let class = unsafe { core.jvm.classes.resolve(jni, class) }?;
        if self.is_made_in(&method, class) {
            let site = AllocationSite { class, location: Some(method.location) };
            self.count_vm_object(thread, state, site, bytes);
        }
        Ok(())
    }

    /// Whether the VM made an object of that class in a native method that the given one calls, where no site counts it.
    fn is_made_in(&self, method: &AllocatingMethod, class: ClassIndex) -> bool {
        let no_class_was_loaded = || BEGUN_AT_CALL.get() == CLASSES_BEGUN.get();
        let is_member = || {
            let class = self.core.jvm.classes.get(class);
            class.is_some_and(|class| class.name.starts_with("java.lang.reflect."))
        };
        // Reflection links the class that it looks at, which counts by itself.
        let is_linking = || self.is_for_references(class);
        !method.reflects || no_class_was_loaded() && !is_linking() || is_member()
    }

    /// Whether that is the class of the array that the VM makes when it links a class.
    fn is_for_references(&self, class: ClassIndex) -> bool {
        self.space.class_objects.get().is_some_and(|objects| objects.references == class)
    }

    /// Counts an object that the VM made on the current thread.
    pub(super) fn count_vm_object(
        &self,
        thread: &ThreadContext,
        state: &mut CountsThread,
        site: AllocationSite,
        bytes: u64,
    ) {
        let Some(counter) = self.space.counters.of_vm_objects(site) else { return };
        let own = self.own(thread.carrier, state);
        let Some(block) = own.block().or(self.space.sums.as_ref()) else { return };
        if own.block().is_none() {
            own.add_shared(Totals { instances: 1, bytes });
        }
        block.add(counter, 1);
        block.add(counter.next(), bytes);
    }
}
