//! A thin layer over the raw JVM TI and JNI: results instead of error codes, buffers that free themselves, and nothing
//! else. It knows nothing about profiling.
//!
//! [`Env`] wraps a JVM TI environment, [`Jni`] a thread's JNI environment, [`Vm`] the VM itself. References to Java objects
//! stay the raw pointers of JNI; a method that passes one to the VM is therefore `unsafe`, and its caller promises that
//!
//! - the reference is live: a local reference of the current thread, a global one, or null where the JVM TI
//!   specification allows null;
//! - method and field ids come from this VM and their class is not unloaded;
//! - the current phase and callback allow the call where the specification makes that the agent's duty (a `GarbageCollection*`
//!   or `ObjectFree` callback may call next to nothing).
//!
//! Methods without such arguments are safe: the VM itself refuses them in a wrong phase or on a foreign thread.

mod collector;
mod env;
mod error;
mod exported;
mod find;
mod guard;
mod heap_room;
mod jni;
mod management;
mod method_ids;
mod turn;
mod vm;
mod vm_structs;

pub use jvmti_sys::{self as sys, jni_sys};

pub use collector::Collector;
pub use env::{Allocated, Env, ExtensionEvent, FieldName, MethodName, MonitorUsage, ThreadGroupInfo, ThreadInfo};
pub use error::{Error, Result};
pub use exported::exported;
pub use guard::{caught_panics, guard};
pub use heap_room::HeapRoom;
pub use jni::{Jni, JniError, NativeMethod};
pub use management::{HeapDumper, Management, is_flag_on, run_diagnostic_command};
pub use method_ids::classes_are_redefined;
pub use turn::Turn;
pub use vm::{Vm, VmError};
pub use vm_structs::{Field, size_of_type};
