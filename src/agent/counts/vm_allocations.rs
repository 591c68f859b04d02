//! What the VM makes itself and reports: the objects of its own native methods, and the `Class` of each class it loads.

use std::cell::Cell;
use std::ffi::CStr;
use std::ptr::null_mut;
use std::sync::OnceLock;

use jvmti::jni_sys::{JNIEnv, jclass, jlong, jobject};
use jvmti::sys::{jthread, jvmtiEnv, jvmtiFrameInfo};
use jvmti::{Jni, guard};
use trace::model::ArrayCode;
use trace::names::array_code;

use super::Counts;
use super::counters::AllocationSite;
use super::jdk_methods::may_load_classes;
use super::threads::{CountsThread, Totals};
use crate::agent::clock::Ticks;
use crate::agent::core::Core;
use crate::agent::core::context::{Reporter, ThreadContext, callback, enter};
use crate::agent::ids::{ClassIndex, CodeLocation};
use crate::agent::instrument::intrinsics::is_counted_by_caller;
use crate::agent::stacks::cache::{Lookup, StackCache};
use crate::agent::tables::methods::MethodRecord;

/// A site is found within so many frames: methods that are counted where they are called call each other.
const MOST_FRAMES: usize = 8;
/// Nearly always within so many. By these it is known again.
const NEAR_FRAMES: usize = 3;

thread_local! {
    /// What the JVM accounted to this thread when it last began or ended to make a class.
    static MAKING_CLASS: Cell<Option<u64>> = const { Cell::new(None) };
    /// How often this thread began to make a class.
    static CLASSES_BEGUN: Cell<u64> = const { Cell::new(0) };
    /// How often it had when it last called a native method that may call Java code to load classes.
    static BEGUN_AT_CALL: Cell<u64> = const { Cell::new(0) };
}

/// A native method is called that makes objects, and that may call Java code to load classes. The VM then reports some
/// objects of that code too.
pub(super) fn note_call() {
    BEGUN_AT_CALL.set(CLASSES_BEGUN.get());
}

/// What the VM makes for each class that it loads.
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

/// The method that makes an object: the innermost one that is not counted where it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AllocatingMethod {
    pub(super) location: CodeLocation,
    /// It calls what is counted where it is called.
    is_counted: bool,
    /// It calls a native method of reflection that may load classes.
    reflects: bool,
}

impl AllocatingMethod {
    /// Whether the VM made the object that it reports in a native method that this one calls, where no site counts it.
    fn makes(&self, counts: &Counts, class: ClassIndex) -> bool {
        let no_class_was_loaded = || BEGUN_AT_CALL.get() == CLASSES_BEGUN.get();
        let is_member = || {
            let class = counts.core.jvm.classes.get(class);
            class.is_some_and(|class| class.name.starts_with("java.lang.reflect."))
        };
        // Reflection links the class that it looks at, which counts by itself.
        let links = || counts.is_for_references(class);
        !self.reflects || no_class_was_loaded() && !links() || is_member()
    }
}

/// A thread's allocating_methods, by the stacks on which it found them.
pub(crate) type AllocatingMethods = StackCache<Option<AllocatingMethod>>;

/// Whether the current thread is in a native method whose objects are counted where it is called, as `Object.clone` most often.
fn is_counted_above(core: &Core, jni: Jni, natives: &mut StackCache<bool>) -> jvmti::Result<bool> {
    let reader = core.stack_reader(jni);
    let was = match natives.look_up(0, 1, reader) {
        Lookup::Hit(known) => return Ok(known),
        Lookup::Uncacheable => return Ok(false),
        Lookup::Miss(was) => was,
    };
    let mut frames = [jvmtiFrameInfo::default(); 1];
    let mut is_counted = false;
    // SAFETY: null is the current thread, and methods on its stack are of living classes.
    unsafe {
        for frame in core.jvm.env.get_stack_trace(null_mut(), 0, &mut frames)? {
            let method = core.jvm.methods.resolve(jni, frame.method, &core.jvm.classes)?;
            is_counted = core.jvm.methods.get(method).is_some_and(|method| is_counted_where_called(core, method));
        }
    }
    natives.insert(is_counted, was, reader);
    Ok(is_counted)
}

fn is_counted_where_called(core: &Core, method: &MethodRecord) -> bool {
    let declaring = core.jvm.classes.get(method.class);
    declaring.is_some_and(|class| is_counted_by_caller(&class.name, &method.name, &method.signature))
}

/// The method that makes an object on the current thread, if there is one near.
pub(super) fn allocating_method(
    core: &Core,
    jni: Jni,
    allocating_methods: &mut AllocatingMethods,
) -> jvmti::Result<Option<AllocatingMethod>> {
    let reader = core.stack_reader(jni);
    // A frame of the VM's may stand for none of Java's.
    let was = match allocating_methods.look_up(0, NEAR_FRAMES + 2, reader) {
        Lookup::Hit(allocating_method) => return Ok(allocating_method),
        Lookup::Uncacheable => return Ok(search(core, jni)?.0),
        Lookup::Miss(was) => was,
    };
    let (allocating_method, depth) = search(core, jni)?;
    if depth <= NEAR_FRAMES || was.is_some() {
        allocating_methods.insert(allocating_method, was, reader);
    }
    Ok(allocating_method)
}

/// The same by asking the VM; and how many frames had to be looked at.
fn search(core: &Core, jni: Jni) -> jvmti::Result<(Option<AllocatingMethod>, usize)> {
    let mut frames = [jvmtiFrameInfo::default(); MOST_FRAMES];
    let (mut is_counted, mut reflects) = (false, false);
    // SAFETY: null is the current thread, and methods on its stack are of living classes.
    unsafe {
        for (above, frame) in core.jvm.env.get_stack_trace(null_mut(), 0, &mut frames)?.iter().enumerate() {
            let method = core.jvm.methods.resolve(jni, frame.method, &core.jvm.classes)?;
            let Some(record) = core.jvm.methods.get(method) else { continue };
            let declaring = core.jvm.classes.get(record.class);
            let by_caller = is_counted_where_called(core, record);
            is_counted |= by_caller;
            reflects |=
                declaring.is_some_and(|c| c.name == "java.lang.Class") && may_load_classes(record.name.as_bytes());
            let is_native = frame.location < 0;
            if !is_native && !by_caller {
                let location = CodeLocation { method, line: record.line(frame.location) };
                return Ok((Some(AllocatingMethod { location, is_counted, reflects }), above + 1));
            }
        }
        Ok((None, MOST_FRAMES))
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

/// JVMTI `ClassLoad`: the VM has made a class on the current thread, and with it an object of `java.lang.Class`, unless that came
/// out of the CDS archive.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn class_load(_: *mut jvmtiEnv, jni: *mut JNIEnv, _: jthread, class: jclass) {
    guard(|| {
        if let Some(counts) = Counts::current() {
            // SAFETY: the VM passes this thread's environment and a live reference.
            unsafe { counts.class_loaded(Jni::from_raw(jni), class) };
        }
    });
}

impl Counts {
    /// Finds out what it takes to count what the VM makes for each class.
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

    /// # Safety
    /// `class` is a live reference.
    unsafe fn class_loaded(&self, jni: Jni, class: jclass) {
        let jvm = self.core.jvm;
        // SAFETY: by the caller's promise.
        unsafe { self.space.rewritings.class_loaded(jvm.env, jni, class) };
        if !self.core.is_reporting() {
            return;
        }
        let now = jvm.accounting.current_thread_bytes(jni);
        let made = MAKING_CLASS.take().zip(now).and_then(|(before, now)| now.checked_sub(before));
        if let Some(made) = made {
            enter(self.core, jni, Ticks::now, |local| {
                let (thread, state) = local.with();
                // SAFETY: by the caller's promise.
                let Ok(size) = (unsafe { jvm.env.get_object_size(class) }) else { return };
                let Some(beside) = made.checked_sub(size as u64) else { return };
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
        if method.makes(self, class) {
            let site = AllocationSite { class, location: Some(method.location) };
            self.count_vm_object(thread, state, site, bytes);
        }
        Ok(())
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
        made: AllocationSite,
        bytes: u64,
    ) {
        let Some(counter) = self.space.counters.of_vm_objects(made) else { return };
        let own = self.own(thread.carrier, state);
        let Some(block) = own.block().or(self.space.sums.as_ref()) else { return };
        if own.block().is_none() {
            own.add_shared(Totals { instances: 1, bytes });
        }
        block.add(counter, 1);
        block.add(counter.next(), bytes);
    }
}
