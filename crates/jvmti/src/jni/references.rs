//! References: global, weak, local.

use std::ptr::null_mut;

use jvmti_sys::jni_sys::{JNI_OK, jclass, jint, jobject, jweak};

use super::{Jni, JniError};

/// A global or weak reference, which every thread may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedRef(pub jobject);

// SAFETY: JNI lets every thread use it.
unsafe impl Send for SharedRef {}
// SAFETY: as above.
unsafe impl Sync for SharedRef {}

impl Jni {
    /// A global reference to the same object, null for null. Valid on every thread until it is deleted.
    ///
    /// # Safety
    ///
    /// `object` is null or live.
    pub unsafe fn new_global_ref(self, object: jobject) -> jobject {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, NewGlobalRef, object) }
    }

    /// Deletes a global reference. Allowed while an exception is pending.
    ///
    /// # Safety
    ///
    /// `reference` is null or a global reference that nobody uses any more.
    pub unsafe fn delete_global_ref(self, reference: jobject) {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, DeleteGlobalRef, reference) }
    }

    /// A weak global reference to the same object.
    ///
    /// # Errors
    ///
    /// An `OutOfMemoryError` is pending.
    ///
    /// # Safety
    ///
    /// `object` is live.
    pub unsafe fn new_weak_global_ref(self, object: jobject) -> Result<jweak, JniError> {
        // SAFETY: by the caller's promise.
        self.not_null(unsafe { jni!(self, NewWeakGlobalRef, object) })
    }

    /// Deletes a weak global reference. Allowed while an exception is pending.
    ///
    /// # Safety
    ///
    /// `reference` is a weak global reference that nobody uses any more.
    pub unsafe fn delete_weak_global_ref(self, reference: jweak) {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, DeleteWeakGlobalRef, reference) }
    }

    /// A local reference to the same object; null if that is null or, for a weak reference, collected.
    ///
    /// # Safety
    ///
    /// `reference` is null or live; a weak reference may be one whose object is collected.
    pub unsafe fn new_local_ref(self, reference: jobject) -> jobject {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, NewLocalRef, reference) }
    }

    /// Deletes a local reference. Allowed while an exception is pending.
    ///
    /// # Safety
    ///
    /// `reference` is null or a local reference of this thread that is not used any more.
    #[inline]
    pub unsafe fn delete_local_ref(self, reference: jobject) {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, DeleteLocalRef, reference) }
    }

    /// Says that this many local references more are made, by JVMTI too, which makes room for them by itself: `-Xcheck:jni` prints a
    /// warning for those that nobody has announced.
    pub fn expect_local_refs(self, number: usize) {
        // HotSpot ignores a number that is no larger than what it has announced before, which is 32 at first: those that are
        // there already count too.
        const OTHERS: usize = 64;
        let number = jint::try_from(number + OTHERS).unwrap_or(jint::MAX);
        // SAFETY: no reference passes. HotSpot refuses a number that is too large without an exception, others may throw.
        if unsafe { jni!(self, EnsureLocalCapacity, number) } != JNI_OK {
            self.exception_clear();
        }
    }

    /// Begins a frame with room for this many local references.
    ///
    /// # Errors
    ///
    /// An `OutOfMemoryError` is pending.
    pub fn push_local_frame(self, capacity: jint) -> Result<(), JniError> {
        // SAFETY: no reference passes.
        match unsafe { jni!(self, PushLocalFrame, capacity) } {
            JNI_OK => Ok(()),
            _ => Err(JniError::Exception),
        }
    }

    /// Deletes all local references made since the matching [`push_local_frame`](Self::push_local_frame). Allowed while
    /// an exception is pending.
    ///
    /// # Safety
    ///
    /// A frame is open, and none of its references is used any more.
    pub unsafe fn pop_local_frame(self) {
        // SAFETY: by the caller's promise; null keeps no reference.
        unsafe { jni!(self, PopLocalFrame, null_mut()) };
    }

    /// Whether both references name the same object (or null, or a collected one).
    ///
    /// # Safety
    ///
    /// Both are null or live.
    #[inline]
    pub unsafe fn is_same_object(self, one: jobject, other: jobject) -> bool {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, IsSameObject, one, other) }
    }

    /// Whether the object is of that class or of one that extends it.
    ///
    /// # Safety
    ///
    /// Both are live.
    pub unsafe fn is_instance_of(self, object: jobject, class: jclass) -> bool {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, IsInstanceOf, object, class) }
    }
}
