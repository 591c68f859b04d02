//! What the VM makes itself and tells of: the objects of its own native methods, and the `Class` of each class it loads.

use std::cell::Cell;
use std::ffi::CStr;
use std::ptr::null_mut;
use std::sync::OnceLock;

use jvmti::jni_sys::{JNIEnv, jclass, jlong, jobject};
use jvmti::sys::{jthread, jvmtiEnv, jvmtiFrameInfo};
use jvmti::{Jni, guard};
use trace::model::ArrayCode;
use trace::names::array_code;

use super::instrument::{is_counted_by_caller, may_load_classes};
use super::slots::{Place, Resolved};
use super::{Counts, Totals};
use crate::agent::Agent;
use crate::agent::classes::{ClassIndex, Surroundings};
use crate::agent::clock::Ticks;
use crate::agent::familiar::{Answer, Familiar};
use crate::agent::lifecycle::cleared;
use crate::agent::methods::MethodRecord;
use crate::agent::threads::{ThreadContext, with_context};

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

/// A native method is called that makes objects, and that may call Java code to load classes. The VM then tells of some
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
    fn find(agent: &'static Agent, jni: Jni) -> Result<ClassObjects, String> {
        let java = |error| cleared(jni, error);
        let jvmti = |error: jvmti::Error| error.to_string();
        let index = |name: &CStr| {
            let class = jni.find_class(name).map_err(java)?;
            // SAFETY: a live local reference, deleted at once.
            unsafe {
                let index = agent.classes.resolve(agent.env, jni, class, agent);
                jni.delete_local_ref(class);
                index.map_err(jvmti)
            }
        };
        Ok(ClassObjects {
            class: index(c"java/lang/Class")?,
            lock: index(c"[I")?,
            lock_bytes: agent.layout(ArrayCode::INT).map_or(0, |layout| layout.bytes(0)),
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
pub(crate) struct Maker {
    pub(super) place: Place,
    /// It calls what is counted where it is called.
    is_counted: bool,
    /// It calls a native method of reflection that may load classes.
    reflects: bool,
}

impl Maker {
    /// Whether the VM made the object that it tells of in a native method that this one calls, where no site counts it.
    fn makes(&self, agent: &Agent, class: ClassIndex) -> bool {
        let no_class_was_loaded = || BEGUN_AT_CALL.get() == CLASSES_BEGUN.get();
        let is_member = || agent.classes.get(class).is_some_and(|class| class.name.starts_with("java.lang.reflect."));
        // Reflection links the class that it looks at, which counts by itself.
        let links = || agent.counts.as_ref().is_some_and(|counts| counts.is_for_references(class));
        !self.reflects || no_class_was_loaded() && !links() || is_member()
    }
}

/// A thread's makers, by the stacks on which it found them.
pub(crate) type Makers = Familiar<Option<Maker>>;

/// Whether the current thread is in a native method whose objects are counted where it is called, as `Object.clone` most often.
fn is_counted_above(agent: &'static Agent, jni: Jni, natives: &mut Familiar<bool>) -> jvmti::Result<bool> {
    let reading = agent.reading(jni);
    let was = match natives.recall(0, 1, reading) {
        Answer::Known(known) => return Ok(known),
        Answer::Untold => return Ok(false),
        Answer::Ask(was) => was,
    };
    let mut frames = [jvmtiFrameInfo::default(); 1];
    let mut is_counted = false;
    // SAFETY: null is the current thread, and methods on its stack are of living classes.
    unsafe {
        for frame in agent.env.get_stack_trace(null_mut(), 0, &mut frames)? {
            let method = agent.methods.resolve(agent.env, jni, frame.method, &agent.classes, agent)?;
            is_counted = agent.methods.get(method).is_some_and(|method| is_counted_where_called(agent, method));
        }
    }
    natives.learn(is_counted, was, reading);
    Ok(is_counted)
}

fn is_counted_where_called(agent: &Agent, method: &MethodRecord) -> bool {
    let declaring = agent.classes.get(method.class);
    declaring.is_some_and(|class| is_counted_by_caller(&class.name, &method.name, &method.signature))
}

/// The method that makes an object on the current thread, if there is one near.
pub(super) fn maker(agent: &'static Agent, jni: Jni, makers: &mut Makers) -> jvmti::Result<Option<Maker>> {
    let reading = agent.reading(jni);
    // A frame of the VM's may stand for none of Java's.
    let was = match makers.recall(0, NEAR_FRAMES + 2, reading) {
        Answer::Known(maker) => return Ok(maker),
        Answer::Untold => return Ok(search(agent, jni)?.0),
        Answer::Ask(was) => was,
    };
    let (maker, depth) = search(agent, jni)?;
    if depth <= NEAR_FRAMES || was.is_some() {
        makers.learn(maker, was, reading);
    }
    Ok(maker)
}

/// The same by asking the VM; and how many frames had to be looked at.
fn search(agent: &'static Agent, jni: Jni) -> jvmti::Result<(Option<Maker>, usize)> {
    let mut frames = [jvmtiFrameInfo::default(); MOST_FRAMES];
    let (mut is_counted, mut reflects) = (false, false);
    // SAFETY: null is the current thread, and methods on its stack are of living classes.
    unsafe {
        for (above, frame) in agent.env.get_stack_trace(null_mut(), 0, &mut frames)?.iter().enumerate() {
            let method = agent.methods.resolve(agent.env, jni, frame.method, &agent.classes, agent)?;
            let Some(record) = agent.methods.get(method) else { continue };
            let declaring = agent.classes.get(record.class);
            let by_caller = is_counted_where_called(agent, record);
            is_counted |= by_caller;
            reflects |=
                declaring.is_some_and(|c| c.name == "java.lang.Class") && may_load_classes(record.name.as_bytes());
            let is_native = frame.location < 0;
            if !is_native && !by_caller {
                let place = Place { method, line: record.line(frame.location) };
                return Ok((Some(Maker { place, is_counted, reflects }), above + 1));
            }
        }
        Ok((None, MOST_FRAMES))
    }
}

/// JVMTI `VMObjectAlloc`: a native method of the VM's own made an object.
///
/// # Safety
/// Called by the VM.
pub(crate) unsafe extern "system" fn vm_object_alloc(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    _: jthread,
    _: jobject,
    class: jclass,
    size: jlong,
) {
    guard(|| {
        let Some(agent) = Agent::reporting() else { return };
        let Some(counts) = &agent.counts else { return };
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        with_context(agent, jni, Ticks::now(), |context| {
            // SAFETY: the VM passes a live class.
            if let Err(error) = unsafe { counts.made_by_the_vm(agent, jni, context, class, size as u64) } {
                agent.count_failure("VM object", error);
            }
        });
    });
}

/// The VM begins to make a class on the current thread.
pub(crate) fn class_begins(agent: &Agent, jni: Jni) {
    CLASSES_BEGUN.set(CLASSES_BEGUN.get() + 1);
    MAKING_CLASS.set(agent.accounting.current_thread_bytes(jni));
}

/// The VM has made a class on the current thread, and with it an object of `java.lang.Class`, unless that came out of
/// the CDS archive.
///
/// # Safety
/// `class` is a live reference.
pub(crate) unsafe fn class_loaded(agent: &'static Agent, jni: Jni, class: jclass) {
    let Some(counts) = &agent.counts else { return };
    // SAFETY: by the caller's promise.
    unsafe { counts.rewritings.class_loaded(agent.env, jni, class) };
    if Agent::reporting().is_none() {
        return;
    }
    let now = agent.accounting.current_thread_bytes(jni);
    let made = MAKING_CLASS.take().zip(now).and_then(|(before, now)| now.checked_sub(before));
    if let Some(made) = made {
        with_context(agent, jni, Ticks::now(), |context| {
            // SAFETY: by the caller's promise.
            let Ok(size) = (unsafe { agent.env.get_object_size(class) }) else { return };
            let Some(beside) = made.checked_sub(size as u64) else { return };
            let Some(objects) = counts.class_objects.get() else { return };
            counts.count_by_the_vm(context, Resolved { class: objects.class, place: None }, size as u64);
            if objects.has_lock(beside) {
                counts.count_by_the_vm(context, Resolved { class: objects.lock, place: None }, objects.lock_bytes);
            }
        });
    }
    // The class may be the superclass of one that is still being made.
    MAKING_CLASS.set(agent.accounting.current_thread_bytes(jni));
}

impl Counts {
    /// Finds out what it takes to count what the VM makes for each class.
    ///
    /// # Errors
    /// What the VM refuses.
    pub(crate) fn watch_classes(&self, agent: &'static Agent, jni: Jni) -> Result<(), String> {
        let _ = self.class_objects.set(ClassObjects::find(agent, jni)?);
        Ok(())
    }

    /// The class of an `Object[]` of that length, and its bytes.
    pub(super) fn references(&self, agent: &Agent, length: u32) -> Option<(ClassIndex, u64)> {
        let layout = agent.layout(array_code("[Ljava/lang/Object;"))?;
        Some((self.class_objects.get()?.references, layout.bytes(length)))
    }

    /// Counts what a native method of the VM's own made on the current thread, unless its caller counts it.
    ///
    /// # Safety
    /// `class` is a live reference.
    unsafe fn made_by_the_vm(
        &self,
        agent: &'static Agent,
        jni: Jni,
        context: &mut ThreadContext,
        class: jclass,
        bytes: u64,
    ) -> jvmti::Result<()> {
        if is_counted_above(agent, jni, &mut context.natives)? {
            return Ok(());
        }
        let Some(maker) = maker(agent, jni, &mut context.makers)?.filter(|maker| !maker.is_counted) else {
            return Ok(());
        };
        // SAFETY: by the caller's promise.
        let class = unsafe { agent.classes.resolve(agent.env, jni, class, agent) }?;
        if maker.makes(agent, class) {
            self.count_by_the_vm(context, Resolved { class, place: Some(maker.place) }, bytes);
        }
        Ok(())
    }

    /// Whether that is the class of the array that the VM makes when it links a class.
    fn is_for_references(&self, class: ClassIndex) -> bool {
        self.class_objects.get().is_some_and(|objects| objects.references == class)
    }

    /// Counts an object that the VM made on the current thread.
    pub(super) fn count_by_the_vm(&self, context: &mut ThreadContext, made: Resolved, bytes: u64) {
        let Some(counter) = self.slots.by_the_vm(made) else { return };
        let own = self.share(context);
        let Some(block) = own.block().or(self.sums.as_ref()) else { return };
        if own.block().is_none() {
            own.add_shared(Totals { instances: 1, bytes });
        }
        block.add(counter, 1);
        block.add(counter.next(), bytes);
    }
}
