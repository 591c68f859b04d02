//! The JVM TI environment. Its methods are spread by subject over the files of this folder.

mod allocated;
mod capabilities;
mod classes;
mod events;
mod extensions;
mod fields;
mod heap;
mod jni_functions;
mod memory;
mod methods;
mod monitors;
mod threads;
mod vm;

use jvmti_sys::jvmtiEnv;

pub use allocated::Allocated;
pub use extensions::ExtensionEvent;
pub use fields::FieldName;
pub use jni_functions::JniFunctions;
pub use methods::MethodName;
pub use monitors::MonitorUsage;
pub use threads::{ThreadGroupInfo, ThreadInfo};

/// A JVM TI environment of this process's VM. A copy names the same environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Env(*mut jvmtiEnv);

// SAFETY: an environment belongs to the VM, not to a thread; the specification lets every attached thread use it.
unsafe impl Send for Env {}
// SAFETY: as above; the VM synchronizes what it shares.
unsafe impl Sync for Env {}

impl Env {
    /// Wraps what `GetEnv` returned or a callback received.
    ///
    /// # Safety
    ///
    /// `raw` points to a JVM TI environment of this process that is not disposed while this value or a copy is used.
    #[inline(always)]
    pub unsafe fn from_raw(raw: *mut jvmtiEnv) -> Self {
        Self(raw)
    }

    /// The pointer, for calls that this crate does not wrap.
    #[inline(always)]
    pub fn as_raw(self) -> *mut jvmtiEnv {
        self.0
    }
}

/// Calls a slot of the table with the given arguments; gives [`Error::NOT_AVAILABLE`](crate::Error) where it is empty.
///
/// The expansion contains `unsafe`: whoever uses the macro states why the arguments are right.
macro_rules! call {
    ($env:expr, $slot:ident $(, $argument:expr)*) => {{
        let raw = $env.as_raw();
        // The table of an old VM may be shorter than the type says: read the one slot, refer to nothing else.
        match (**raw).$slot {
            Some(function) => $crate::Error::check(function(raw $(, $argument)*)),
            None => Err($crate::Error::NOT_AVAILABLE),
        }
    }};
}

/// As [`call`], for a slot whose last argument says where to write the answer: gives the answer.
macro_rules! get {
    ($env:expr, $slot:ident $(, $argument:expr)*) => {{
        let mut answer = Default::default();
        $crate::env::call!($env, $slot $(, $argument)*, &mut answer).map(|()| answer)
    }};
}

/// As [`call`], for a slot whose last two arguments say where to write how many there are and where they are: gives them.
macro_rules! get_all {
    ($env:expr, $slot:ident $(, $argument:expr)*) => {{
        let (mut count, mut elements) = (0, std::ptr::null_mut());
        $crate::env::call!($env, $slot $(, $argument)*, &mut count, &mut elements)
            .map(|()| $crate::Allocated::from_raw($env, elements, usize::try_from(count).unwrap_or(0)))
    }};
}

use {call, get, get_all};
