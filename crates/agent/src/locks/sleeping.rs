//! Threads in `Thread.sleep`.
//!
//! Platform threads sleep in a native method, which is wrapped: the VM lets a native method be bound once more. Virtual threads
//! sleep in Java, by a method of their own, which is rewritten to call MartiniSleep.

use std::ffi::{CStr, c_void};
use std::sync::OnceLock;

use jvmti::jni_sys::{JNIEnv, jclass, jlong};
use jvmti::{Jni, exported, guard};

use super::recorder::Locks;
use super::state::LockThread;
use agent_base::clock::Ticks;
use agent_base::events::event::Event;
use agent_base::helpers::{HelperClass, Natives, native};
use agent_base::natives;
use agent_base::tables::threads::{Beginning, WaitState};
use agent_core::core::context::{Reporter, enter_for};
use agent_core::core::lost::Dropped;
use agent_core::stacks::walker::FramesToSkip;

/// The native method of `Thread` in which platform threads sleep: the names that it has had, and the functions of the VM that it is
/// bound to, newest first.
const SLEEP_FUNCTIONS: [(&CStr, &CStr); 3] =
    [(c"sleepNanos0", c"JVM_SleepNanos"), (c"sleep0", c"JVM_Sleep"), (c"sleep", c"JVM_Sleep")];

type SleepFunction = unsafe extern "system" fn(*mut JNIEnv, jclass, jlong);

/// The function of the VM.
static ORIGINAL: OnceLock<SleepFunction> = OnceLock::new();

/// Has the sleep of platform threads reported by MartiniSleep, from now on until the VM ends. False if it is not.
pub(super) fn wrap(class: HelperClass, jni: Jni) -> bool {
    class.call(jni, c"wrap").is_ok() && ORIGINAL.get().is_some()
}

/// Those of MartiniSleep.
pub static NATIVES: Natives = natives! {
    wrap_native(), c"wrapNative", c"()V";
    begin(), c"begin", c"()V";
    end(), c"end", c"()V";
};

/// Binds the native method of `Thread` to `sleep`.
fn wrap_native(jni: Jni) {
    let Ok(class) = jni.find_class(c"java/lang/Thread") else { return jni.exception_clear() };
    for (name, function) in SLEEP_FUNCTIONS {
        // SAFETY: the class is a local reference, which the VM deletes; the function that the VM exports has the signature of every native
        // method with these arguments.
        unsafe {
            if jni.get_static_method_id(class, name, c"(J)V").is_err() {
                jni.exception_clear();
                continue;
            }
            let Some(function) = exported(function) else { return };
            ORIGINAL.get_or_init(|| std::mem::transmute::<*mut c_void, SleepFunction>(function.as_ptr()));
            // An exception stays pending: the caller learns of it.
            let _ = jni.register_natives(class, &[native(name, c"(J)V", sleep as *const c_void)]);
        }
        return;
    }
}

/// Sleeps as the VM's own function does, and reports that.
///
/// # Safety
/// Called by the VM.
unsafe extern "system" fn sleep(jni: *mut JNIEnv, class: jclass, length: jlong) {
    let Some(original) = ORIGINAL.get() else { return };
    // SAFETY: what the VM passes goes to the VM. An exception that the sleep leaves pending does not matter to `end`.
    unsafe {
        if length <= 0 {
            return original(jni, class, length);
        }
        guard(|| begin(Jni::from_raw(jni)));
        original(jni, class, length);
        guard(|| end(Jni::from_raw(jni)));
    }
}

/// The current thread is about to sleep.
fn begin(jni: Jni) {
    enter_for(jni, |locks: &Locks, jni, context, state: &mut LockThread| {
        let is_shown = context.admit(1, Dropped::Wait);
        locks.note_begin(context.current, WaitState::Sleeping, is_shown);
        if is_shown {
            let stack = state.own_stack(locks.core(), jni, FramesToSkip::Sleep);
            context.push(Event::Sleep { thread: context.current, stack }, Ticks::now());
        }
    });
}

/// The current thread has slept. An exception may be pending.
fn end(jni: Jni) {
    enter_for(jni, |locks: &Locks, _, context, _: &mut LockThread| {
        if locks.note_end(context.current, WaitState::Sleeping) == Beginning::Shown {
            context.push(Event::Slept(context.current), Ticks::now());
        }
    });
}
