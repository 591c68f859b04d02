//! Objects that no bytecode makes: those that the VM makes in its native methods, the `Class` object of each class that it loads, and
//! what native code makes by JNI.

use std::cell::Cell;
use std::sync::OnceLock;

use jvmti::Jni;
use jvmti::jni_sys::{jclass, jobject};
use trace::model::ArrayCode;
use trace::names::array_code;

use super::current_thread::Here;
use super::native_code::Kind;
use super::threads::Threads;
use agent_base::ids::ClassIndex;
use agent_core::core::Core;
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

/// The classes of the objects that no bytecode makes, as far as they are known.
pub(super) struct ClassObjects {
    /// `java.lang.Class`.
    class: ClassIndex,
    /// Most VMs make an empty `int[]` beside each, as a lock.
    lock_bytes: u64,
    makes_locks: OnceLock<bool>,
    /// `Object[]`.
    references: ClassIndex,
    /// `java.lang.String`.
    string: ClassIndex,
    /// Arrays of primitive values, in the order of their codes.
    arrays: [ClassIndex; 8],
}

impl ClassObjects {
    /// Looks the classes up.
    ///
    /// # Errors
    /// What the VM refuses; no exception is pending any more.
    fn find(core: &Core, jni: Jni) -> Result<ClassObjects, String> {
        let classes = &core.jvm.classes;
        let mut arrays = [ClassIndex(0); 8];
        let names = [c"[Z", c"[C", c"[F", c"[D", c"[B", c"[S", c"[I", c"[J"];
        for (array, name) in arrays.iter_mut().zip(names) {
            *array = classes.find(jni, name)?;
        }
        Ok(ClassObjects {
            class: classes.find(jni, c"java/lang/Class")?,
            lock_bytes: core.layout(ArrayCode::INT).map_or(0, |layout| layout.bytes(0)),
            makes_locks: OnceLock::new(),
            references: classes.find(jni, c"[Ljava/lang/Object;")?,
            string: classes.find(jni, c"java/lang/String")?,
            arrays,
        })
    }

    /// The class of arrays with that code.
    fn array(&self, code: ArrayCode) -> ClassIndex {
        self.arrays[usize::from(code.0 - ArrayCode::BOOLEAN.0)]
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

/// What the VM makes by itself.
#[derive(Default)]
pub(super) struct VmAllocations {
    /// Known from VMInit on.
    classes: OnceLock<ClassObjects>,
}

/// The VM begins to make a class on the current thread.
pub(super) fn class_begins(core: &Core, jni: Jni) {
    CLASSES_BEGUN.set(CLASSES_BEGUN.get() + 1);
    MAKING_CLASS.set(core.jvm.accounting.current_thread_bytes(jni));
}

impl VmAllocations {
    /// Looks up what is needed to count the objects that the VM makes for each class.
    ///
    /// # Errors
    /// What the VM refuses.
    pub(super) fn find(&self, core: &Core, jni: Jni) -> Result<(), String> {
        if self.classes.get().is_none() {
            let _ = self.classes.set(ClassObjects::find(core, jni)?);
        }
        Ok(())
    }

    /// The VM has made a class on the current thread, and with it an object of `java.lang.Class`, unless that came out of the CDS archive.
    ///
    /// # Safety
    /// `class` is a live reference.
    pub(super) unsafe fn class_made(&self, threads: &Threads, jni: Jni, class: jclass) {
        let jvm = threads.core().jvm;
        let now = jvm.accounting.current_thread_bytes(jni);
        let allocated = MAKING_CLASS.take().zip(now).and_then(|(before, now)| now.checked_sub(before));
        if let Some(allocated) = allocated {
            Here::enter(threads, jni, |here| {
                // SAFETY: by the caller's promise.
                let Ok(size) = (unsafe { jvm.env.get_object_size(class) }) else { return };
                let Some(beside) = allocated.checked_sub(size as u64) else { return };
                let Some(objects) = self.classes.get() else { return };
                here.count_vm_object(objects.class, None, size as u64);
                if objects.has_lock(beside) {
                    here.count_vm_object(objects.array(ArrayCode::INT), None, objects.lock_bytes);
                }
            });
        }
        // The class may be the superclass of one that is still being made.
        MAKING_CLASS.set(jvm.accounting.current_thread_bytes(jni));
    }

    /// The VM has linked a class on the current thread, and with it an `Object[]` of that length.
    pub(super) fn class_linked(&self, threads: &Threads, jni: Jni, length: u32) {
        let layout = threads.core().layout(array_code("[Ljava/lang/Object;"));
        if let (Some(layout), Some(objects)) = (layout, self.classes.get()) {
            Here::enter(threads, jni, |here| here.count_vm_object(objects.references, None, layout.bytes(length)));
        }
    }

    /// Counts what a native method of the VM's own made on the current thread, unless its caller counts it.
    ///
    /// # Errors
    /// What the VM refuses.
    ///
    /// # Safety
    /// `class` is a live reference.
    pub(super) unsafe fn object_made(&self, here: &mut Here<'_>, class: jclass, bytes: u64) -> jvmti::Result<()> {
        let (core, jni) = (here.core, here.jni);
        if is_counted_above(core, jni, &mut here.state.natives)? {
            return Ok(());
        }
        let method = allocating_method(core, jni, &mut here.state.allocating_methods)?;
        let Some(method) = method.filter(|method| !method.is_counted) else { return Ok(()) };
        // SAFETY: by the caller's promise.
        let class = unsafe { core.jvm.classes.resolve(jni, class) }?;
        if self.is_made_in(core, &method, class) {
            here.count_vm_object(class, Some(method.location), bytes);
        }
        Ok(())
    }

    /// Counts what native code made by JNI on the current thread, and the array of a string if that many bytes were allocated `together`.
    ///
    /// # Errors
    /// What the VM refuses.
    ///
    /// # Safety
    /// `object` is a live reference, and no exception is pending.
    pub(super) unsafe fn native_code_made(
        &self,
        here: &mut Here<'_>,
        object: jobject,
        kind: Kind,
        together: Option<u64>,
    ) -> jvmti::Result<()> {
        let (core, jni) = (here.core, here.jni);
        let Some(objects) = self.classes.get() else { return Ok(()) };
        // JDK 11 has `Unsafe.allocateInstance` call `AllocObject`.
        if kind == Kind::Object && is_counted_above(core, jni, &mut here.state.natives)? {
            return Ok(());
        }
        // None on a thread that runs no Java code.
        let method = allocating_method(core, jni, &mut here.state.allocating_methods)?;
        let location = method.map(|method| method.location);
        // SAFETY: by the caller's promise.
        let bytes = unsafe { core.jvm.env.get_object_size(object) }? as u64;
        let class = match kind {
            Kind::Array(array) => objects.array(array),
            Kind::String => objects.string,
            // SAFETY: as above; a local reference, deleted at once.
            Kind::Object => unsafe {
                let class = jni.get_object_class(object);
                let found = core.jvm.classes.resolve(jni, class);
                jni.delete_local_ref(class);
                found?
            },
        };
        here.count_vm_object(class, location, bytes);
        if let Some(characters) = together.and_then(|together| together.checked_sub(bytes)).filter(|&bytes| bytes > 0) {
            here.count_vm_object(objects.array(ArrayCode::BYTE), location, characters);
        }
        Ok(())
    }

    /// Whether the VM made an object of that class in a native method that the given one calls, where no site counts it.
    fn is_made_in(&self, core: &Core, method: &AllocatingMethod, class: ClassIndex) -> bool {
        let no_class_was_loaded = || BEGUN_AT_CALL.get() == CLASSES_BEGUN.get();
        let is_member = || {
            let class = core.jvm.classes.get(class);
            class.is_some_and(|class| class.name.starts_with("java.lang.reflect."))
        };
        // Reflection links the class that it looks at, whose array counts by itself.
        let is_linking = || self.classes.get().is_some_and(|objects| objects.references == class);
        !method.reflects || no_class_was_loaded() && !is_linking() || is_member()
    }
}
