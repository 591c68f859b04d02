//! MartiniCounts' native methods.

use std::ptr::null_mut;

use classfile::ClassFile;
use jvmti::jni_sys::{JNIEnv, jbyteArray, jclass, jint, jlong, jobject};
use jvmti::{Jni, guard};

use super::constants::ConstantIndex;
use super::ids::CounterIndex;
use super::sites::DynamicCounters;
use super::threads::CountsThread;
use super::{Counts, upcalls, vm_allocations};
use agent_base::clock::Ticks;
use agent_base::ids::ClassIndex;
use agent_core::core::Core;
use agent_core::core::context::{Reporter, ThreadContext, callback, enter};
use agent_core::core::feature::{ClassPhase, RewriteRequest};
use agent_core::instrument::Instrumentation;

/// `MartiniCounts.count`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn count(jni: *mut JNIEnv, _: jclass, counter: jint, number: jlong, bytes: jlong) {
    let counter = CounterIndex(counter as u32);
    // SAFETY: the VM passes this thread's environment.
    unsafe {
        callback(jni, |counts: &Counts, jni, thread, state| {
            counts.count_on(jni, thread, state, counter, number, bytes as u64);
        });
    }
}

/// `MartiniCounts.countLarge`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn count_large(
    jni: *mut JNIEnv,
    _: jclass,
    counter: jint,
    number: jlong,
    bytes: jlong,
) {
    let counter = CounterIndex(counter as u32);
    // SAFETY: the VM passes this thread's environment.
    unsafe {
        callback(jni, |counts: &Counts, jni, thread, state| {
            counts.count_on(jni, thread, state, counter, number, bytes as u64);
            counts.begin_large(jni, counts.own(thread.carrier, state), counter, bytes as u64);
        });
    }
}

impl Counts {
    /// Counts an object on the current thread, which has that number in Java.
    fn count_on(
        &self,
        jni: Jni,
        thread: &ThreadContext,
        state: &mut CountsThread,
        counter: CounterIndex,
        number: jlong,
        bytes: u64,
    ) {
        let own = self.own(thread.carrier, state);
        self.count(jni, own, number, counter, bytes);
    }
}

/// `MartiniCounts.useConstant`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn use_constant(jni: *mut JNIEnv, _: jclass, number: jint) {
    // SAFETY: the VM passes this thread's environment.
    unsafe {
        callback(jni, |counts: &Counts, jni, thread, state| {
            counts.use_constant(jni, thread, state, ConstantIndex(number as u32));
        });
    }
}

/// `MartiniCounts.rewritten`: null if there is nothing to rewrite.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn rewritten(jni: *mut JNIEnv, _: jclass, class: jbyteArray) -> jbyteArray {
    let mut array = null_mut();
    guard(|| {
        let Some(core) = Core::open() else { return };
        let is_on = |instrumentation: &&Instrumentation| instrumentation.is_initialised();
        let Some(instrumentation) = Instrumentation::current().filter(is_on) else { return };
        // SAFETY: the VM passes this thread's environment and a live array.
        let (jni, class) = unsafe { (Jni::from_raw(jni), Jni::from_raw(jni).get_bytes(class)) };
        let Ok(parsed) = ClassFile::parse(&class) else { return };
        let name = parsed.name();
        let request = RewriteRequest { jni, name, loader: None, phase: ClassPhase::Loading, is_initialised: true };
        // SAFETY: there is no reference in it.
        if let Some(bytes) = unsafe { instrumentation.rewrite(&parsed, request) } {
            enter(core, jni, Ticks::now, |local| {
                core.exclude(jni, local.thread.carrier, || match jni.new_bytes(&bytes) {
                    Ok(copy) => array = copy,
                    Err(_) => {
                        jni.exception_clear();
                        core.rewriting.refuse("class: no memory for it");
                    }
                });
            });
        }
    });
    array
}

/// `MartiniCounts.noteCall`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn note_call(_: *mut JNIEnv, _: jclass) {
    guard(vm_allocations::note_call);
}

/// `MartiniCounts.countArgument`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn count_argument(jni: *mut JNIEnv, _: jclass, object: jobject) {
    // SAFETY: the VM passes this thread's environment and a live reference.
    unsafe {
        callback(jni, |counts: &Counts, jni, thread, state| {
            upcalls::count_argument(counts, jni, thread, state, object)
        });
    }
}

/// `MartiniCounts.accountBegins`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn account_begins(jni: *mut JNIEnv, _: jclass) {
    // SAFETY: the VM passes this thread's environment.
    unsafe {
        callback(jni, |counts: &Counts, jni, _, state: &mut CountsThread| {
            state.account = counts.core.jvm.accounting.current_thread_bytes(jni);
        });
    }
}

/// `MartiniCounts.accountEnds`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn account_ends(jni: *mut JNIEnv, _: jclass, counter: jint, number: jlong) {
    let counter = CounterIndex(counter as u32);
    // SAFETY: the VM passes this thread's environment.
    unsafe {
        callback(jni, |counts: &Counts, jni, thread, state: &mut CountsThread| {
            let now = counts.core.jvm.accounting.current_thread_bytes(jni);
            let bytes = state.account.take().zip(now).and_then(|(before, now)| now.checked_sub(before));
            if let Some(bytes) = bytes.filter(|&bytes| bytes > 0) {
                counts.count_on(jni, thread, state, counter, number, bytes);
            }
        });
    }
}

/// `MartiniCounts.counters`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn counters(
    jni: *mut JNIEnv,
    _: jclass,
    site: jint,
    number: jint,
    class: jclass,
) -> jlong {
    guard(|| {
        let Some(counts) = Counts::current().filter(|counts| counts.core.is_reporting()) else { return 0 };
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        let mut found = None;
        enter(counts.core, jni, Ticks::now, |_| {
            let (site, class_index) = (CounterIndex(site as u32), ClassIndex((number - 1) as u32));
            // SAFETY: the VM passes a live reference.
            found = unsafe { counts.counters_at_dynamic_site(jni, site, class_index, class) };
        });
        match found {
            Some(DynamicCounters::First(counter)) => jlong::from(counter.0),
            Some(DynamicCounters::CountedElsewhere) => -1,
            // Counter 0 is never one of these.
            None => 0,
        }
    })
}
