//! The JNI functions that agents use.

use std::ffi::{CStr, c_void};
use std::fmt;
use std::ptr::null_mut;

use jvmti_sys::jni_sys::{JNIEnv, jint, jthrowable};

/// The JNI environment of one thread.
///
/// All references stay raw, so methods that take one are `unsafe`: see the top of the crate. Except where noted, no method may be
/// called while an exception is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jni(*mut JNIEnv);

/// A JNI call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JniError {
    /// A Java exception is pending; [`Jni::exception_clear`] removes it.
    Exception,
    /// The function returned this error code, without an exception.
    Code(jint),
    /// A length does not fit into a Java array.
    TooLong(usize),
}

impl fmt::Display for JniError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exception => write!(f, "a Java exception is pending after the JNI call"),
            Self::Code(code) => write!(f, "the JNI call failed with code {code}"),
            Self::TooLong(len) => write!(f, "a Java array cannot have {len} elements"),
        }
    }
}

impl std::error::Error for JniError {}

/// A native method to bind to a class.
#[derive(Clone, Copy, Debug)]
pub struct NativeMethod<'a> {
    /// The method's name in Java.
    pub name: &'a CStr,
    /// Its descriptor.
    pub signature: &'a CStr,
    /// The function: `extern "system"`, taking environment and class (or `this`) before the Java arguments.
    pub function: *const c_void,
}

/// Calls a function of the JNI table, which is complete up to Java 8.
macro_rules! jni {
    ($self:ident, $function:ident $(, $argument:expr)*) => {
        ((**$self.0).v1_6.$function)($self.0 $(, $argument)*)
    };
}

mod arrays;
mod classes;
mod fields;
mod methods;
mod references;

pub use references::SharedRef;

fn length(len: usize) -> Result<jint, JniError> {
    jint::try_from(len).map_err(|_| JniError::TooLong(len))
}

impl Jni {
    /// Wraps what a callback or native method received.
    ///
    /// # Safety
    ///
    /// `raw` is the JNI environment of the calling thread, and the value stays on this thread while it is attached.
    #[inline(always)]
    pub unsafe fn from_raw(raw: *mut JNIEnv) -> Self {
        Self(raw)
    }

    /// The pointer, for calls that this crate does not wrap.
    #[inline(always)]
    pub fn as_raw(self) -> *mut JNIEnv {
        self.0
    }

    /// `reference` unless it is null, which stands for a pending exception.
    fn not_null<T>(self, reference: *mut T) -> Result<*mut T, JniError> {
        if reference.is_null() { Err(JniError::Exception) } else { Ok(reference) }
    }

    /// Whether an exception is pending. Allowed while one is.
    pub fn exception_check(self) -> bool {
        // SAFETY: no argument.
        unsafe { jni!(self, ExceptionCheck) }
    }

    /// The pending exception as a new local reference, or null. Allowed while one is pending.
    pub fn exception_occurred(self) -> jthrowable {
        // SAFETY: no argument.
        unsafe { jni!(self, ExceptionOccurred) }
    }

    /// What went wrong, in words; no exception is pending any more.
    pub fn cleared(self, error: JniError) -> String {
        let exception = self.exception_occurred();
        self.exception_clear();
        if exception.is_null() {
            return error.to_string();
        }
        // SAFETY: live local references; the VM has initialised this class.
        let is_full = unsafe {
            let class = self.find_class(c"java/lang/OutOfMemoryError").unwrap_or_else(|_| {
                self.exception_clear();
                null_mut()
            });
            let is_full = !class.is_null() && self.is_instance_of(exception, class);
            self.delete_local_ref(class);
            self.delete_local_ref(exception);
            is_full
        };
        if is_full { "the JVM has no memory left (OutOfMemoryError)".to_owned() } else { error.to_string() }
    }

    /// Removes the pending exception, if any. Allowed while one is pending.
    pub fn exception_clear(self) {
        // SAFETY: no argument.
        unsafe { jni!(self, ExceptionClear) }
    }
}
