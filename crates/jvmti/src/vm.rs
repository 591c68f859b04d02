//! The VM: environments, and attaching threads.

use std::ffi::{CStr, c_void};
use std::fmt;
use std::ptr::null_mut;

use jvmti_sys::jni_sys::{JNI_EDETACHED, JNI_EVERSION, JNI_OK, JNI_VERSION_1_6, JavaVM, JavaVMAttachArgs, jint};

use crate::{Env, Jni};

/// The VM of this process. A copy names the same VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vm(*mut JavaVM);

// SAFETY: the invocation interface belongs to the process; the JNI specification lets every thread use it.
unsafe impl Send for Vm {}
// SAFETY: as above.
unsafe impl Sync for Vm {}

/// Why the VM gave no environment: an error code of JNI's invocation interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VmError(jint);

impl VmError {
    /// Whether the calling thread is not attached, or the VM is in a phase in which it gives no environments: just starting, or ended.
    pub fn is_detached(self) -> bool {
        self.0 == JNI_EDETACHED
    }
}

impl fmt::Display for VmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            JNI_EDETACHED => write!(f, "the calling thread is not attached to the VM (JNI_EDETACHED)"),
            JNI_EVERSION => write!(f, "the VM does not offer this version of the interface (JNI_EVERSION)"),
            code => write!(f, "the VM refuses the environment (JNI error {code})"),
        }
    }
}

impl std::error::Error for VmError {}

impl Vm {
    /// Wraps what `Agent_OnLoad` received.
    ///
    /// # Safety
    ///
    /// `raw` points to this process's VM.
    pub unsafe fn from_raw(raw: *mut JavaVM) -> Self {
        Self(raw)
    }

    /// The pointer, for calls that this crate does not wrap.
    pub fn as_raw(self) -> *mut JavaVM {
        self.0
    }

    /// A new JVM TI environment of the version, a `JVMTI_VERSION_*` constant.
    ///
    /// # Errors
    ///
    /// The VM does not offer this version, or gives no environment in its present phase.
    pub fn get_env(self, version: jint) -> Result<Env, VmError> {
        let raw = self.environment(version)?;
        // SAFETY: the VM has just made it.
        Ok(unsafe { Env::from_raw(raw.cast()) })
    }

    /// The JNI environment of the calling thread, if it is attached.
    ///
    /// # Errors
    ///
    /// The calling thread is not attached.
    pub fn get_jni(self) -> Result<Jni, VmError> {
        let raw = self.environment(JNI_VERSION_1_6)?;
        // SAFETY: the VM says that it is this thread's.
        Ok(unsafe { Jni::from_raw(raw.cast()) })
    }

    /// Attaches the calling thread as a daemon, which the VM does not wait for when it exits. An attached thread stays
    /// as it is.
    ///
    /// # Errors
    ///
    /// The VM attaches no thread any more, or has no memory for one.
    pub fn attach_current_thread_as_daemon(self, name: &CStr) -> Result<Jni, VmError> {
        let mut arguments =
            JavaVMAttachArgs { version: JNI_VERSION_1_6, name: name.as_ptr().cast_mut(), group: null_mut() };
        let mut environment = null_mut();
        // SAFETY: the table is complete from JNI 1.4 on; the VM reads the arguments and writes the pointer.
        let code = unsafe {
            ((**self.0).v1_4.AttachCurrentThreadAsDaemon)(
                self.0,
                &mut environment,
                (&raw mut arguments).cast::<c_void>(),
            )
        };
        check(code)?;
        // SAFETY: the VM says that it is this thread's.
        Ok(unsafe { Jni::from_raw(environment.cast()) })
    }

    fn environment(self, version: jint) -> Result<*mut c_void, VmError> {
        let mut environment = null_mut();
        // SAFETY: the table is complete from JNI 1.2 on; the VM writes the pointer.
        check(unsafe { ((**self.0).v1_4.GetEnv)(self.0, &mut environment, version) })?;
        Ok(environment)
    }
}

fn check(code: jint) -> Result<(), VmError> {
    if code == JNI_OK { Ok(()) } else { Err(VmError(code)) }
}
