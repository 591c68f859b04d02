//! Fields of classes.

use std::ptr::null_mut;

use jvmti_sys::jni_sys::{jclass, jfieldID, jint};

use super::{Env, call, get, get_all};
use crate::{Allocated, Error, Result};

/// A field's name and descriptor, in modified UTF-8.
#[derive(Debug)]
pub struct FieldName {
    /// The name.
    pub name: Allocated<u8>,
    /// The descriptor, such as `Ljava/lang/String;`.
    pub signature: Allocated<u8>,
}

impl Env {
    /// The fields that the class itself declares.
    ///
    /// # Errors
    ///
    /// `CLASS_NOT_PREPARED`.
    ///
    /// # Safety
    ///
    /// `class` is a live reference to a class of this VM.
    pub unsafe fn get_class_fields(self, class: jclass) -> Result<Allocated<jfieldID>> {
        // SAFETY: the caller vouches for the class; the VM writes count and array, which is then ours.
        unsafe { get_all!(self, GetClassFields, class) }
    }

    /// Name and descriptor of a field.
    ///
    /// # Errors
    ///
    /// `INVALID_CLASS`, `INVALID_FIELDID`.
    ///
    /// # Safety
    ///
    /// `class` is a live reference to a class of this VM, and `field` one of its fields.
    pub unsafe fn get_field_name(self, class: jclass, field: jfieldID) -> Result<FieldName> {
        let (mut name, mut signature) = (null_mut(), null_mut());
        // SAFETY: the caller vouches for the field; the VM writes two strings, which are then ours.
        let (name, signature) = unsafe {
            call!(self, GetFieldName, class, field, &mut name, &mut signature, null_mut())?;
            (Allocated::from_c_string(self, name), Allocated::from_c_string(self, signature))
        };
        name.zip(signature).map(|(name, signature)| FieldName { name, signature }).ok_or(Error::INTERNAL)
    }

    /// The field's access flags (JVMS table 4.5-A).
    ///
    /// # Errors
    ///
    /// `INVALID_CLASS`, `INVALID_FIELDID`.
    ///
    /// # Safety
    ///
    /// `class` is a live reference to a class of this VM, and `field` one of its fields.
    pub unsafe fn get_field_modifiers(self, class: jclass, field: jfieldID) -> Result<jint> {
        // SAFETY: the caller vouches for the field; the VM writes the number.
        unsafe { get!(self, GetFieldModifiers, class, field) }
    }
}
