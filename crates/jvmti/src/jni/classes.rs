//! Classes: found, defined, and bound to native methods.

use std::ffi::CStr;

use jvmti_sys::jni_sys::{JNI_OK, JNINativeMethod, jclass, jobject};

use super::{Jni, JniError, NativeMethod, length};

impl Jni {
    /// The class by its internal name, as the caller's class loader finds it; a new local reference.
    ///
    /// # Errors
    ///
    /// `NoClassDefFoundError` or another error of loading is pending.
    pub fn find_class(self, name: &CStr) -> Result<jclass, JniError> {
        // SAFETY: the name ends with NUL.
        self.not_null(unsafe { jni!(self, FindClass, name.as_ptr()) })
    }

    /// Defines a class from the bytes of a class file; a new local reference.
    ///
    /// # Errors
    ///
    /// The VM's refusal is pending as an exception: a malformed class, a name that is taken; or more bytes than Java's arrays have.
    ///
    /// # Safety
    ///
    /// `loader` is null (boot loader) or live.
    pub unsafe fn define_class(self, name: &CStr, loader: jobject, bytes: &[u8]) -> Result<jclass, JniError> {
        let len = length(bytes.len())?;
        // SAFETY: the caller vouches for the loader; the VM reads `len` bytes.
        self.not_null(unsafe { jni!(self, DefineClass, name.as_ptr(), loader, bytes.as_ptr().cast(), len) })
    }

    /// The class of the object, as a new local reference.
    ///
    /// # Safety
    ///
    /// `object` is live and not null.
    #[inline]
    pub unsafe fn get_object_class(self, object: jobject) -> jclass {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, GetObjectClass, object) }
    }

    /// The superclass as a new local reference; null for `Object` and interfaces.
    ///
    /// # Safety
    ///
    /// `class` is live.
    pub unsafe fn get_superclass(self, class: jclass) -> jclass {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, GetSuperclass, class) }
    }

    /// Whether objects of the first class are of the second, too.
    ///
    /// # Safety
    ///
    /// Both are live.
    pub unsafe fn is_assignable_from(self, class: jclass, to: jclass) -> bool {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, IsAssignableFrom, class, to) }
    }

    /// Binds native methods to the class.
    ///
    /// From JDK 17 on the VM prints a warning to standard output (`[warning][jni,resolve] Re-registering of platform
    /// native method`) if the class belongs to a named module of the boot or platform loader, unless the innermost Java
    /// method on the stack is of a class of that same loader. An agent that defines such a class avoids the warning by
    /// binding from inside a native method of that class, which the VM finds by its exported name
    /// `Java_java_lang_TheClass_theMethod` in the agent's library, and which a Java method of the class calls. That works
    /// from VMStart on (tried on JDK 11, 17, 21 and 25).
    ///
    /// # Errors
    ///
    /// `NoSuchMethodError` is pending if the class has no such native method; [`JniError::Code`] for other refusals.
    ///
    /// # Safety
    ///
    /// `class` is live, and each function fits its descriptor, does not unwind, and stays loaded as long as the class.
    pub unsafe fn register_natives(self, class: jclass, methods: &[NativeMethod<'_>]) -> Result<(), JniError> {
        let methods: Vec<JNINativeMethod> = methods
            .iter()
            .map(|method| JNINativeMethod {
                name: method.name.as_ptr().cast_mut(),
                signature: method.signature.as_ptr().cast_mut(),
                fnPtr: method.function.cast_mut(),
            })
            .collect();
        let count = length(methods.len())?;
        // SAFETY: the caller vouches for class and functions; the VM copies the array.
        match unsafe { jni!(self, RegisterNatives, class, methods.as_ptr(), count) } {
            JNI_OK => Ok(()),
            _ if self.exception_check() => Err(JniError::Exception),
            code => Err(JniError::Code(code)),
        }
    }
}
