//! The calling thread's stack by `AsyncGetCallTrace`, which HotSpot exports for profilers.
//!
//! Made for signal handlers, it takes no lock and makes no method ids. Called in an ordinary callback, where the thread's
//! last Java frame is known, it finds the frames that `GetStackTrace` finds, at a twentieth of its price. It gives nothing
//! while a collection is under way, nothing where compiled code allocates, by way of a stub whose frame HotSpot takes for
//! incomplete, and null for a method that nobody has asked for before. So it is used for one question only: which native method
//! the thread is in.

use std::ffi::c_void;
use std::mem::transmute;
use std::ptr::{NonNull, null_mut};
use std::sync::OnceLock;

use jvmti::jni_sys::{JNIEnv, jint, jmethodID};
use jvmti::{Jni, exported};

/// Where in which method, as HotSpot's `forte.cpp` has it.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct CallFrame {
    /// Bytecode index; negative in native methods.
    pub(crate) bci: jint,
    pub(crate) method: jmethodID,
}

#[repr(C)]
struct CallTrace {
    env: *mut JNIEnv,
    /// Frames found, or a negative reason why there are none.
    frame_count: jint,
    frames: *mut CallFrame,
}

type Walk = unsafe extern "C" fn(*mut CallTrace, jint, *mut c_void);

/// A frame to fill buffers with.
pub(crate) const NO_FRAME: CallFrame = CallFrame { bci: 0, method: null_mut() };

/// Room for the registers that a signal handler would pass, on every CPU; larger than glibc's largest `ucontext_t`.
#[repr(C, align(16))]
struct Registers([u64; 1024]);

/// The function, if this VM exports it.
fn function() -> Option<Walk> {
    static WALK: OnceLock<Option<Walk>> = OnceLock::new();
    // SAFETY: what HotSpot exports by this name has this type.
    let as_function = |address| unsafe { transmute::<NonNull<c_void>, Walk>(address) };
    *WALK.get_or_init(|| exported(c"AsyncGetCallTrace").map(as_function))
}

/// Fills the buffer with the frames of the calling thread, innermost first, and returns the filled part. `None` if the VM
/// does not say, or not of all frames which methods they are.
///
/// The thread is in native code that Java code or the VM called; `ClassLoad` events are enabled, or there is nothing.
pub(crate) fn walk(jni: Jni, frames: &mut [CallFrame]) -> Option<&[CallFrame]> {
    static REGISTERS: Registers = Registers([0; 1024]);
    let walk = function()?;
    let depth = jint::try_from(frames.len()).ok()?;
    let mut trace = CallTrace { env: jni.as_raw(), frame_count: 0, frames: frames.as_mut_ptr() };
    // SAFETY: the environment is this thread's and there is room for `depth` frames. The thread has left its last Java frame
    // in an orderly way, so the VM starts there and does not look at the registers.
    unsafe { walk(&mut trace, depth, (&raw const REGISTERS).cast_mut().cast()) };
    let found = frames.get(..usize::try_from(trace.frame_count).ok()?)?;
    found.iter().all(|frame| !frame.method.is_null()).then_some(found)
}
