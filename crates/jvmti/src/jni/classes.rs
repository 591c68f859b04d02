//! Classes: found, defined, and bound to native methods.

use std::ffi::CStr;

use jvmti_sys::jni_sys::{JNI_OK, JNINativeMethod, jclass, jobject};

use super::{Jni, JniError, NativeMethod, length};
use crate::find::find_boot_class;

impl Jni {
    /// The class of the boot loader by its internal name or array descriptor, initialised; a new local reference.
    ///
    /// Where no Java method calls, JNI's `FindClass` asks the system class loader, which may be the program's own
    /// (`-Djava.system.class.loader`) and may do anything when it is asked.
    ///
    /// # Errors
    ///
    /// There is no such class, or it cannot be initialised. An error of loading may be pending.
    pub fn find_class(self, name: &CStr) -> Result<jclass, JniError> {
        let Some(find) = find_boot_class() else {
            // SAFETY: the name ends with NUL.
            return self.not_null(unsafe { jni!(self, FindClass, name.as_ptr()) });
        };
        // SAFETY: as above.
        let class = self.not_null(unsafe { find(self.as_raw(), name.as_ptr()) })?;
        // Whoever asks for a method of a class has the VM initialise it, as FindClass does.
        // SAFETY: a live local reference, deleted if nobody gets it.
        unsafe {
            self.get_method_id(class, c"hashCode", c"()I").inspect_err(|_| self.delete_local_ref(class))?;
        }
        Ok(class)
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
