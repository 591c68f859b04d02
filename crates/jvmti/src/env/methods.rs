//! Methods: names, lines, bytecodes.

use std::ptr::null_mut;
use std::sync::MutexGuard;

use jvmti_sys::jni_sys::{jclass, jint, jmethodID};
use jvmti_sys::jvmtiLineNumberEntry;

use super::{Env, call, get, get_all};
use crate::{Allocated, Error, Result, method_ids};

/// A method's name and descriptor, in modified UTF-8.
#[derive(Debug)]
pub struct MethodName {
    /// The name, such as `<init>`.
    pub name: Allocated<u8>,
    /// The descriptor, such as `(I)V`.
    pub signature: Allocated<u8>,
}

impl Env {
    /// Keeps others from asking for ids of methods, where that is needed.
    pub(super) fn turn_for_method_ids(self) -> Option<MutexGuard<'static, ()>> {
        // SAFETY: null is the calling thread.
        method_ids::turn(|| _ = unsafe { self.get_thread_state(null_mut()) })
    }

    /// Name and descriptor of the method.
    ///
    /// # Errors
    ///
    /// `INVALID_METHODID`; `WRONG_PHASE` before VMStart.
    ///
    /// # Safety
    ///
    /// `method` is an id from this VM, and its class is not unloaded.
    pub unsafe fn get_method_name(self, method: jmethodID) -> Result<MethodName> {
        let (mut name, mut signature) = (null_mut(), null_mut());
        // SAFETY: the caller vouches for the method; the VM writes two strings, which are then ours.
        let (name, signature) = unsafe {
            call!(self, GetMethodName, method, &mut name, &mut signature, null_mut())?;
            (Allocated::from_c_string(self, name), Allocated::from_c_string(self, signature))
        };
        name.zip(signature).map(|(name, signature)| MethodName { name, signature }).ok_or(Error::INTERNAL)
    }

    /// The class that declares the method, as a new local reference.
    ///
    /// # Errors
    ///
    /// `INVALID_METHODID`; `WRONG_PHASE` before VMStart.
    ///
    /// # Safety
    ///
    /// `method` is an id from this VM, and its class is not unloaded.
    pub unsafe fn get_method_declaring_class(self, method: jmethodID) -> Result<jclass> {
        // SAFETY: the caller vouches for the method; the VM writes the reference.
        unsafe { get!(self, GetMethodDeclaringClass, method) }
    }

    /// The method's access flags (JVMS table 4.6-A).
    ///
    /// # Errors
    ///
    /// `INVALID_METHODID`; `WRONG_PHASE` before VMStart.
    ///
    /// # Safety
    ///
    /// `method` is an id from this VM, and its class is not unloaded.
    pub unsafe fn get_method_modifiers(self, method: jmethodID) -> Result<jint> {
        // SAFETY: the caller vouches for the method; the VM writes the number.
        unsafe { get!(self, GetMethodModifiers, method) }
    }

    /// Which source line the code from each location on belongs to; not sorted by contract.
    ///
    /// # Errors
    ///
    /// `ABSENT_INFORMATION` without a line table, `NATIVE_METHOD`, `MUST_POSSESS_CAPABILITY` without
    /// `can_get_line_numbers`.
    ///
    /// # Safety
    ///
    /// `method` is an id from this VM, and its class is not unloaded.
    pub unsafe fn get_line_number_table(self, method: jmethodID) -> Result<Allocated<jvmtiLineNumberEntry>> {
        // SAFETY: the caller vouches for the method; the VM writes count and array, which is then ours.
        unsafe { get_all!(self, GetLineNumberTable, method) }
    }

    /// The method's bytecodes, with the instructions as in the class file; constant pool indexes are the VM's own.
    ///
    /// # Errors
    ///
    /// `NATIVE_METHOD`; `MUST_POSSESS_CAPABILITY` without `can_get_bytecodes`.
    ///
    /// # Safety
    ///
    /// `method` is an id from this VM, and its class is not unloaded.
    pub unsafe fn get_bytecodes(self, method: jmethodID) -> Result<Allocated<u8>> {
        // SAFETY: the caller vouches for the method; the VM writes count and array, which is then ours.
        unsafe { get_all!(self, GetBytecodes, method) }
    }

    /// Sends the event `Breakpoint` when the method is entered.
    ///
    /// # Errors
    ///
    /// `NATIVE_METHOD`, `DUPLICATE` if there is one already, `MUST_POSSESS_CAPABILITY` without
    /// `can_generate_breakpoint_events`.
    ///
    /// # Safety
    ///
    /// `method` is an id from this VM, and its class is not unloaded.
    pub unsafe fn set_entry_breakpoint(self, method: jmethodID) -> Result<()> {
        // SAFETY: the caller vouches for the method, which has code from 0 on, or the VM refuses it.
        unsafe { call!(self, SetBreakpoint, method, 0) }
    }

    /// Undoes [`set_entry_breakpoint`](Self::set_entry_breakpoint).
    ///
    /// # Errors
    ///
    /// `NOT_FOUND` if there is none.
    ///
    /// # Safety
    ///
    /// `method` is an id from this VM, and its class is not unloaded.
    pub unsafe fn clear_entry_breakpoint(self, method: jmethodID) -> Result<()> {
        // SAFETY: as above.
        unsafe { call!(self, ClearBreakpoint, method, 0) }
    }
}
