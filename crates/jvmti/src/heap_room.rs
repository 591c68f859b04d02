//! How much room the heap has.

use std::ffi::{CStr, c_void};
use std::mem::transmute;
use std::ptr::NonNull;
use std::sync::OnceLock;

use jvmti_sys::jni_sys::jlong;

use crate::{Jni, exported};

type Bytes = unsafe extern "system" fn() -> jlong;

/// Room in the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapRoom {
    /// Bytes that objects may still take before the heap is as large as it may be and full. Garbage takes room too.
    pub free: u64,
    /// Bytes of the largest heap.
    pub max: u64,
    /// Bytes of the heap as it is at present.
    pub total: u64,
    /// Bytes of it that objects take, garbage too.
    pub used: u64,
}

impl HeapRoom {
    /// The room at present; `None` if libjvm does not export the functions of `java.lang.Runtime`. The thread of `_jni` asks.
    pub fn now(_jni: Jni) -> Option<Self> {
        static FUNCTIONS: OnceLock<Option<[Bytes; 3]>> = OnceLock::new();
        let functions = (*FUNCTIONS.get_or_init(|| {
            Some([function(c"JVM_FreeMemory")?, function(c"JVM_TotalMemory")?, function(c"JVM_MaxMemory")?])
        }))?;
        // SAFETY: a thread of the VM calls them, since it has a JNI environment, and they take nothing.
        let [free, total, max] = functions.map(|function| unsafe { function() });
        let [free, total, max] = [free, total, max].map(|number| u64::try_from(number).unwrap_or(0));
        Some(Self { free: max - total.min(max) + free, max, total, used: total.saturating_sub(free) })
    }
}

fn function(name: &CStr) -> Option<Bytes> {
    // SAFETY: so these functions are declared in every JDK's jvm.h.
    exported(name).map(|symbol| unsafe { transmute::<NonNull<c_void>, Bytes>(symbol) })
}
