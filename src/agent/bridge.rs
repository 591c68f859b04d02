//! The bridge over the start: the program runs while the agent's thread still rewrites the classes that came before the hook,
//! and until it is done the VM's own sampler, told to stop at every allocation, shows the arrays that those classes make.
//!
//! Without it the program waits for the rewriting, which JDK 24 and later make dear: they verify what they redefine, classes
//! of the boot loader too (JDK-8341094), and load further classes for that. Whether hook or sampler reports an array is read
//! off the very code that makes it, so it does not matter when a class changes: what was called before goes on in its old code.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use classfile::opcode;
use jvmti::jni_sys::JNIEnv;
use jvmti::sys::{
    CAN_GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, jthread, jvmtiCapabilities, jvmtiEnv,
    jvmtiFrameInfo,
};
use jvmti::{Env, Jni, guard};

use super::transform::{self, Share};
use super::{Agent, threads};

/// HotSpot's own value, for whoever samples after us.
const USUAL_INTERVAL_BYTES: i32 = 512 * 1024;
/// How often the old code is looked for, and how long one waits between.
const LOOKS: usize = 200;
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);
/// Frames of a thread that are looked at.
const DEPTH: usize = 512;

thread_local! {
    /// Samples that this thread has got before anything was reported.
    static PROBED: Cell<usize> = const { Cell::new(0) };
}

/// The sampler, while it is on.
pub(crate) struct Bridge {
    on: AtomicBool,
}

impl Bridge {
    /// Switches the sampler on, if it is to be had; before the VM makes its first thread, for a thread keeps the interval it
    /// began with.
    pub(crate) fn lay(env: Env) -> Bridge {
        // One environment only can have it.
        let on = env.add_capabilities(jvmtiCapabilities::of(&[CAN_GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS])).is_ok()
            && env.set_heap_sampling_interval(0).is_ok()
            && env.enable_event(JVMTI_EVENT_SAMPLED_OBJECT_ALLOC).is_ok();
        Bridge { on: AtomicBool::new(on) }
    }

    /// For a start where the program waits.
    pub(crate) const fn none() -> Bridge {
        Bridge { on: AtomicBool::new(false) }
    }

    /// Notes a sample before anything is reported.
    pub(crate) fn note_probe() {
        PROBED.set(PROBED.get() + 1);
    }

    /// Runs `make`, which makes so many objects on this thread before anything is reported, and switches the sampler off if
    /// it has missed one: as JDK 17 and 21, where the first half megabyte of a thread is not sampled.
    pub(crate) fn probe<E>(&self, env: Env, objects: usize, make: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        PROBED.set(0);
        make()?;
        if PROBED.get() < objects {
            self.remove(env);
        }
        Ok(())
    }

    /// Whether it is on.
    pub(crate) fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// Switches the sampler off.
    pub(crate) fn remove(&self, env: Env) {
        if self.on.swap(false, Ordering::Relaxed) {
            // Both cannot fail once they have worked.
            let _ = env.disable_event(JVMTI_EVENT_SAMPLED_OBJECT_ALLOC);
            let _ = env.set_heap_sampling_interval(USUAL_INTERVAL_BYTES);
        }
    }
}

/// Whether the current thread is making an array in code of the program that does not tell the hook.
pub(crate) fn makes_array_without_hook(agent: &Agent, jni: Jni) -> bool {
    let env = agent.env;
    let mut frames = [jvmtiFrameInfo::default()];
    // SAFETY: null is the current thread, and a method on its stack is alive, as is its class; the local reference to it is
    // deleted when it is done with.
    unsafe {
        let Ok(&mut [top]) = env.get_stack_trace(std::ptr::null_mut(), 0, &mut frames) else { return false };
        let Ok(at) = usize::try_from(top.location) else { return false };
        if !env.get_bytecodes(top.method).is_ok_and(|code| is_without_hook(&code, at)) {
            return false;
        }
        let (Some(vm), Ok(class)) = (agent.vm.get(), env.get_method_declaring_class(top.method)) else { return false };
        let is_own = vm.proxy.as_ref().is_some_and(|proxy| proxy.is(jni, class));
        jni.delete_local_ref(class);
        !is_own
    }
}

/// Rewrites, beside the program, what the bridge makes up for.
///
/// # Safety
/// Called by the VM, on a thread of its own.
pub(crate) unsafe extern "system" fn cross(_: *mut jvmtiEnv, jni: *mut JNIEnv, _: *mut c_void) {
    guard(|| {
        let Some(agent) = Agent::get() else { return };
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        threads::mute();
        transform::retransform_loaded(agent, jni, Share::AllButObject);
        if agent.bridge.is_on() {
            wait_until_old_code_is_left(agent, jni);
        }
        agent.bridge.remove(agent.env);
    });
}

/// Waits until no thread is in code that makes arrays and does not tell the hook, but not for ever: a thread may stay in such
/// a method for as long as it likes, and not every method can be rewritten.
fn wait_until_old_code_is_left(agent: &Agent, jni: Jni) {
    for _ in 0..LOOKS {
        if Agent::reporting().is_none() || !is_old_code_running(agent.env, jni) {
            return;
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

fn is_old_code_running(env: Env, jni: Jni) -> bool {
    let Ok(threads) = env.get_all_threads() else { return false };
    let mut found = false;
    for &thread in threads.iter() {
        found = found || is_in_old_code(env, thread);
        // SAFETY: a local reference that nobody uses any more.
        unsafe { jni.delete_local_ref(thread) };
    }
    found
}

fn is_in_old_code(env: Env, thread: jthread) -> bool {
    let mut frames = vec![jvmtiFrameInfo::default(); DEPTH];
    // SAFETY: a live reference to a thread. A method's class may go with the last frame, which the VM then calls an error.
    unsafe {
        env.get_stack_trace(thread, 0, &mut frames).is_ok_and(|frames| {
            frames.iter().any(|frame| {
                env.get_bytecodes(frame.method)
                    .is_ok_and(|code| classfile::walk(&code).any(|(at, _)| is_without_hook(&code, at)))
            })
        })
    }
}

/// Whether the instruction makes an array and is not followed by the call of the hook.
fn is_without_hook(code: &[u8], at: usize) -> bool {
    let length = match code.get(at) {
        Some(&opcode::NEWARRAY) => 2,
        Some(&opcode::ANEWARRAY) => 3,
        Some(&opcode::MULTIANEWARRAY) => 4,
        _ => return false,
    };
    // What compilers make of Java never passes a new array on like that.
    code.get(at + length..at + length + 2) != Some(&[opcode::DUP, opcode::INVOKESTATIC])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_tells_whether_the_hook_is_called() {
        let hooked = [opcode::NEWARRAY, 10, opcode::DUP, opcode::INVOKESTATIC, 0, 9, opcode::POP, opcode::RETURN];
        assert!(!is_without_hook(&hooked, 0));
        for bare in [
            &[opcode::NEWARRAY, 10, opcode::DUP, opcode::ICONST_0][..],
            &[opcode::ANEWARRAY, 0, 1, opcode::DUP, opcode::ICONST_0],
            &[opcode::MULTIANEWARRAY, 0, 1, 2, opcode::DUP],
            &[opcode::NEWARRAY, 10],
        ] {
            assert!(is_without_hook(bare, 0));
        }
        assert!(!is_without_hook(&[opcode::MULTIANEWARRAY, 0, 1, 2, opcode::DUP, opcode::INVOKESTATIC, 0, 9], 0));
        assert!(!is_without_hook(&[opcode::NOP, opcode::NEWARRAY, 10], 0));
        assert!(!is_without_hook(&[], 0));
    }
}
