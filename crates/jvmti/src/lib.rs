//! What a JVM offers to an agent: results instead of error codes, and buffers that free themselves. It knows nothing about
//! profiling.
//!
//! - JVM TI and JNI: [`Env`] wraps a JVM TI environment, [`Jni`] a thread's JNI environment, [`Vm`] the VM itself.
//! - What libjvm offers beside them: the management functions ([`Management`], [`HeapDumper`], [`is_flag_on`],
//!   [`run_diagnostic_command`]), the room in the heap ([`HeapRoom`]), and the table of structures for debuggers ([`Field`],
//!   [`size_of_type`], [`int_constant`]). A VM without them makes these `None`.
//!
//! References to Java objects stay the raw pointers of JNI; a method that passes one to the VM is therefore `unsafe`. A live
//! reference is a local reference of the current thread or a global one. Beyond what each of them asks for, the current phase and
//! callback must allow the call where the specification makes that the agent's duty (a `GarbageCollection*` or `ObjectFree`
//! callback may call next to nothing).
//!
//! Methods without such arguments are safe: the VM itself refuses them in a wrong phase or on a foreign thread.
//!
//! Every call of JVM TI can also fail with `INVALID_ENVIRONMENT`, `UNATTACHED_THREAD`, `WRONG_PHASE`, `OUT_OF_MEMORY` or
//! `INTERNAL`; the `# Errors` of a method name what it adds, and each call of JNI that fails leaves an exception pending unless it
//! says otherwise.

mod collector;
mod env;
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

pub use jvmti_sys::{self as sys, Error, jni_sys};

pub use collector::Collector;
pub use env::{
    Allocated, Env, ExtensionEvent, FieldName, JniFunctions, MethodName, MonitorUsage, ThreadGroupInfo, ThreadInfo,
};
pub use exported::exported;
pub use guard::{caught_panics, guard};
pub use heap_room::HeapRoom;
pub use jni::{Jni, JniError, NativeMethod, SharedRef};
pub use management::{HeapDumper, Management, is_flag_on, run_diagnostic_command};
pub use method_ids::classes_are_redefined;
pub use turn::Turn;
pub use vm::{Vm, VmError};
pub use vm_structs::{Field, int_constant, size_of_type};

/// The result of a JVM TI call.
pub type Result<T> = std::result::Result<T, Error>;
