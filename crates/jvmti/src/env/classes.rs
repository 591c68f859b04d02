//! Classes: names, state, methods, retransformation.

use std::ptr::null_mut;

use jvmti_sys::jboolean;
use jvmti_sys::jni_sys::{jclass, jint, jmethodID, jobject};

use super::{Env, call, get, get_all};
use crate::{Allocated, Result};

impl Env {
    /// Every class loaded in the VM, arrays included, as new local references.
    ///
    /// # Errors
    ///
    /// `WRONG_PHASE` before VMInit.
    pub fn get_loaded_classes(self) -> Result<Allocated<jclass>> {
        // SAFETY: the VM writes count and array, which is then ours.
        unsafe { get_all!(self, GetLoadedClasses) }
    }

    /// The class's descriptor, such as `Ljava/lang/String;` or `[I`, in modified UTF-8.
    ///
    /// # Errors
    ///
    /// `INVALID_CLASS`; `WRONG_PHASE` before VMStart.
    ///
    /// # Safety
    ///
    /// `class` is a live reference to a class of this VM.
    pub unsafe fn get_class_signature(self, class: jclass) -> Result<Allocated<u8>> {
        let mut signature = std::ptr::null_mut();
        // SAFETY: the caller vouches for the class; the VM writes a string, which is then ours, and takes null for the
        // generic signature that nobody wants.
        unsafe {
            call!(self, GetClassSignature, class, &mut signature, std::ptr::null_mut())?;
            Allocated::from_c_string(self, signature).ok_or(crate::Error::INTERNAL)
        }
    }

    /// The name in the `SourceFile` attribute, in modified UTF-8.
    ///
    /// # Errors
    ///
    /// `ABSENT_INFORMATION` if the class file has none; `MUST_POSSESS_CAPABILITY` without `can_get_source_file_name`.
    ///
    /// # Safety
    ///
    /// `class` is a live reference to a class of this VM.
    pub unsafe fn get_source_file_name(self, class: jclass) -> Result<Allocated<u8>> {
        // SAFETY: the caller vouches for the class; the VM writes a string, which is then ours.
        unsafe {
            let name = get!(self, GetSourceFileName, class)?;
            Allocated::from_c_string(self, name).ok_or(crate::Error::INTERNAL)
        }
    }

    /// The state of the class as `JVMTI_CLASS_STATUS_*` bits.
    ///
    /// # Errors
    ///
    /// `INVALID_CLASS`; `WRONG_PHASE` before VMStart.
    ///
    /// # Safety
    ///
    /// `class` is a live reference to a class of this VM.
    pub unsafe fn get_class_status(self, class: jclass) -> Result<jint> {
        // SAFETY: the caller vouches for the class; the VM writes the number.
        unsafe { get!(self, GetClassStatus, class) }
    }

    /// Has one module read another (a `java.lang.Module` each), if it does not yet. Runs Java code.
    ///
    /// # Errors
    ///
    /// `INVALID_MODULE`; `UNMODIFIABLE_MODULE` if the module may not be changed.
    ///
    /// # Safety
    ///
    /// Both are live references to a `java.lang.Module`, and the calling thread may run Java code.
    pub unsafe fn add_module_reads(self, module: jobject, to_module: jobject) -> Result<()> {
        // SAFETY: the caller vouches for the modules.
        unsafe { call!(self, AddModuleReads, module, to_module) }
    }

    /// The class's constant pool as a class file holds it (JVMS 4.4), without the count in front.
    ///
    /// Needs `can_get_constant_pool`.
    ///
    /// # Errors
    ///
    /// `MUST_POSSESS_CAPABILITY` without `can_get_constant_pool`; `ABSENT_INFORMATION` for a class without a pool.
    ///
    /// # Safety
    ///
    /// `class` is a live reference to a class of this VM.
    pub unsafe fn get_constant_pool(self, class: jclass) -> Result<Allocated<u8>> {
        let (mut entries, mut length, mut bytes) = (0, 0, null_mut());
        // SAFETY: the caller vouches for the class; the VM fills in memory that it allocated, and its length.
        unsafe {
            call!(self, GetConstantPool, class, &mut entries, &mut length, &mut bytes)?;
            Ok(Allocated::from_raw(self, bytes, length as usize))
        }
    }

    /// The class's access flags (JVMS table 4.1-B).
    ///
    /// # Errors
    ///
    /// `INVALID_CLASS`; `WRONG_PHASE` before VMStart.
    ///
    /// # Safety
    ///
    /// `class` is a live reference to a class of this VM.
    pub unsafe fn get_class_modifiers(self, class: jclass) -> Result<jint> {
        // SAFETY: the caller vouches for the class; the VM writes the number.
        unsafe { get!(self, GetClassModifiers, class) }
    }

    /// The methods that the class itself declares, in no particular order.
    ///
    /// # Errors
    ///
    /// `CLASS_NOT_PREPARED` for a class that is not linked yet.
    ///
    /// # Safety
    ///
    /// `class` is a live reference to a class of this VM.
    pub unsafe fn get_class_methods(self, class: jclass) -> Result<Allocated<jmethodID>> {
        let _turn = self.turn_for_method_ids();
        // SAFETY: the caller vouches for the class; the VM writes count and array, which is then ours.
        unsafe { get_all!(self, GetClassMethods, class) }
    }

    /// The loader as a new local reference, null for the boot loader.
    ///
    /// # Errors
    ///
    /// `INVALID_CLASS`; `WRONG_PHASE` before VMStart.
    ///
    /// # Safety
    ///
    /// `class` is a live reference to a class of this VM.
    pub unsafe fn get_class_loader(self, class: jclass) -> Result<jobject> {
        // SAFETY: the caller vouches for the class; the VM writes the reference.
        unsafe { get!(self, GetClassLoader, class) }
    }

    /// Whether the class is an array class.
    ///
    /// # Errors
    ///
    /// `INVALID_CLASS`; `WRONG_PHASE` before VMStart.
    ///
    /// # Safety
    ///
    /// `class` is a live reference to a class of this VM.
    pub unsafe fn is_array_class(self, class: jclass) -> Result<bool> {
        // SAFETY: the caller vouches for the class; the VM writes the answer.
        unsafe { get!(self, IsArrayClass, class) }.map(|answer: jboolean| answer != 0)
    }

    /// Whether the class may be retransformed; hidden, array and primitive classes may not.
    ///
    /// # Errors
    ///
    /// `INVALID_CLASS`; `WRONG_PHASE` before VMStart.
    ///
    /// # Safety
    ///
    /// `class` is a live reference to a class of this VM.
    pub unsafe fn is_modifiable_class(self, class: jclass) -> Result<bool> {
        // SAFETY: the caller vouches for the class; the VM writes the answer.
        unsafe { get!(self, IsModifiableClass, class) }.map(|answer: jboolean| answer != 0)
    }

    /// Sends the classes through every agent's `ClassFileLoadHook` once more. One class that fails stops them all.
    ///
    /// # Errors
    ///
    /// What stops the whole call: `UNMODIFIABLE_CLASS`; what an agent made of a class is malformed, does not verify or changes
    /// more than a retransformation may; `MUST_POSSESS_CAPABILITY` without `can_retransform_classes`.
    ///
    /// # Safety
    ///
    /// Each of `classes` is a live reference to a class of this VM, and the calling thread may run Java code.
    pub unsafe fn retransform_classes(self, classes: &[jclass]) -> Result<()> {
        let count = jint::try_from(classes.len()).map_err(|_| crate::Error::ILLEGAL_ARGUMENT)?;
        // SAFETY: the caller vouches for the classes; the VM reads the array only.
        unsafe { call!(self, RetransformClasses, count, classes.as_ptr()) }
    }
}
