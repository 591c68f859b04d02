//! Exceptions that are made, and look-ups of classes that failed.
//!
//! Each exception gets its stack by a native method of `Throwable`, which is wrapped: the VM lets a native method be bound once more, so
//! no code is rewritten. Exceptions are counted; of a `ClassNotFoundException` it is also kept where it was made, which shows the class
//! loader and who asked it.

use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use jvmti::jni_sys::{JNIEnv, jclass, jint, jobject};
use jvmti::{Jni, SharedRef, exported, guard};
use rustc_hash::FxHashMap;

use super::WarmUp;
use agent_base::helpers::{HelperClass, Natives, native};
use agent_base::ids::StackIndex;
use agent_base::mutex::Mutex;
use agent_base::natives;
use agent_core::core::Core;
use agent_core::core::context::{FeatureState, Slot, ThreadState, enter_for};
use agent_core::core::current::Current;
use agent_core::stacks::walker::{FramesToSkip, StackWalker};

/// `JVM_FillInStackTrace`.
type Fill = unsafe extern "system" fn(*mut JNIEnv, jobject);

/// Frames of a failed look-up: loaders ask each other, and frameworks ask loaders.
const DEPTH: usize = 48;
/// So many different stacks are kept.
const MOST_STACKS: usize = 4096;

/// The function of the VM.
static ORIGINAL: OnceLock<Fill> = OnceLock::new();
/// `java.lang.ClassNotFoundException`.
static NOT_FOUND: OnceLock<SharedRef> = OnceLock::new();

pub(super) static CURRENT: Current<WarmUp> = Current::none();

/// What was seen of exceptions.
#[derive(Default)]
pub(super) struct Exceptions {
    made: AtomicU64,
    failed: AtomicU64,
    by_stack: Mutex<FxHashMap<StackIndex, Lookups>>,
}

/// Look-ups that failed with the same stack.
#[derive(Clone, Copy, Default)]
struct Lookups {
    count: u64,
    written: u64,
}

impl Exceptions {
    /// How many exceptions were made.
    pub(super) fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    /// How many look-ups have failed.
    pub(super) fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    fn add(&self, stack: StackIndex) {
        let mut by_stack = self.by_stack.lock();
        // Those of other stacks are only counted.
        if by_stack.len() < MOST_STACKS || by_stack.contains_key(&stack) {
            by_stack.entry(stack).or_default().count += 1;
        }
    }

    /// Look-ups by stack, as far as they have become more since the last call.
    pub(super) fn changed(&self) -> Vec<(StackIndex, u64)> {
        let mut by_stack = self.by_stack.lock();
        let changed = by_stack.iter_mut().filter(|(_, lookups)| lookups.count > lookups.written);
        changed
            .map(|(&stack, lookups)| {
                lookups.written = lookups.count;
                (stack, lookups.count)
            })
            .collect()
    }
}

/// What a thread keeps that makes exceptions.
pub(crate) struct WarmUpThread(StackWalker);

impl ThreadState for WarmUpThread {}

impl FeatureState for WarmUpThread {
    const SLOT: Slot = Slot::WarmUp;

    fn new(_: &'static Core) -> WarmUpThread {
        WarmUpThread(StackWalker::new(DEPTH))
    }
}

/// Has exceptions reported from now on until the VM ends. False if they are not.
pub(super) fn wrap(class: HelperClass, jni: Jni) -> bool {
    class.call(jni, c"wrap").is_ok() && ORIGINAL.get().is_some()
}

/// Those of MartiniExceptions.
pub static NATIVES: Natives = natives! {
    wrap_native(), c"wrapNative", c"()V";
};

/// Binds the native method of `Throwable` to `fill`.
fn wrap_native(jni: Jni) {
    let Some(function) = exported(c"JVM_FillInStackTrace") else { return };
    let (Ok(class), Ok(not_found)) =
        (jni.find_class(c"java/lang/Throwable"), jni.find_class(c"java/lang/ClassNotFoundException"))
    else {
        return jni.exception_clear();
    };
    // SAFETY: the classes are local references, which the VM deletes; what the VM exports by that name has this signature.
    unsafe {
        NOT_FOUND.get_or_init(|| SharedRef(jni.new_global_ref(not_found)));
        ORIGINAL.get_or_init(|| std::mem::transmute::<*mut c_void, Fill>(function.as_ptr()));
        let method = native(c"fillInStackTrace", c"(I)Ljava/lang/Throwable;", fill as *const c_void);
        // An exception stays pending: the caller learns of it.
        let _ = jni.register_natives(class, &[method]);
    }
}

/// Fills in the stack as the VM's own function does, and counts that.
///
/// # Safety
/// Called by the VM.
unsafe extern "system" fn fill(jni: *mut JNIEnv, exception: jobject, _: jint) -> jobject {
    let Some(original) = ORIGINAL.get() else { return exception };
    // SAFETY: what the VM passes goes to the VM.
    unsafe { original(jni, exception) };
    // SAFETY: the VM passes this thread's environment, and a live reference.
    guard(|| unsafe { made(Jni::from_raw(jni), exception) });
    exception
}

/// The current thread makes an exception.
///
/// # Safety
/// `exception` is a live reference.
unsafe fn made(jni: Jni, exception: jobject) {
    let Some(warm_up) = CURRENT.get().filter(|warm_up| warm_up.core.is_reporting()) else { return };
    warm_up.exceptions.made.fetch_add(1, Ordering::Relaxed);
    // SAFETY: by the caller's promise; the class is a local reference that is deleted.
    let is_not_found = unsafe {
        let class: jclass = jni.get_object_class(exception);
        let is_it = NOT_FOUND.get().is_some_and(|not_found| jni.is_same_object(class, not_found.0));
        jni.delete_local_ref(class);
        is_it
    };
    if is_not_found {
        enter_for(jni, |warm_up: &WarmUp, jni, _, state: &mut WarmUpThread| {
            warm_up.exceptions.failed.fetch_add(1, Ordering::Relaxed);
            match state.0.walk(FramesToSkip::Method, &warm_up.core.tables(jni)) {
                Ok(stack) => warm_up.exceptions.add(stack),
                Err(error) => warm_up.core.count_failure("stacks of failed look-ups", error),
            }
        });
    }
}
