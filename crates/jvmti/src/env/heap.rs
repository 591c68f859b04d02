//! Tags, sizes and walks of the heap.

use std::ffi::c_void;

use jvmti_sys::jni_sys::{jclass, jint, jlong, jobject};
use jvmti_sys::{JVMTI_VERSION_11, jvmtiHeapCallbacks};

use super::{Env, call, get};
use crate::{Allocated, Error, Result};

impl Env {
    /// The object's tag in this environment, 0 if it has none.
    ///
    /// # Errors
    ///
    /// `MUST_POSSESS_CAPABILITY` without `can_tag_objects`; `INVALID_OBJECT`.
    ///
    /// # Safety
    ///
    /// `object` is a live reference.
    #[inline]
    pub unsafe fn get_tag(self, object: jobject) -> Result<jlong> {
        // SAFETY: the caller vouches for the object; the VM writes the tag.
        unsafe { get!(self, GetTag, object) }
    }

    /// Sets the object's tag; 0 removes it.
    ///
    /// # Errors
    ///
    /// `MUST_POSSESS_CAPABILITY` without `can_tag_objects`; `INVALID_OBJECT`.
    ///
    /// # Safety
    ///
    /// `object` is a live reference.
    #[inline]
    pub unsafe fn set_tag(self, object: jobject, tag: jlong) -> Result<()> {
        // SAFETY: the caller vouches for the object.
        unsafe { call!(self, SetTag, object, tag) }
    }

    /// The objects that have one of these tags in this environment, as new local references, and the tag of each.
    ///
    /// # Errors
    ///
    /// `MUST_POSSESS_CAPABILITY` without `can_tag_objects`; `ILLEGAL_ARGUMENT` for a tag of 0; `OUT_OF_MEMORY`.
    pub fn get_objects_with_tags(self, tags: &[jlong]) -> Result<(Allocated<jobject>, Allocated<jlong>)> {
        let count = jint::try_from(tags.len()).map_err(|_| Error::ILLEGAL_ARGUMENT)?;
        let (mut found, mut objects, mut their_tags) = (0, std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the VM reads as many tags as there are, and writes the number and two arrays, which are then ours.
        unsafe {
            call!(self, GetObjectsWithTags, count, tags.as_ptr(), &mut found, &mut objects, &mut their_tags)?;
            let length = found as usize;
            Ok((Allocated::from_raw(self, objects, length), Allocated::from_raw(self, their_tags, length)))
        }
    }

    /// The object's size in bytes, header and padding included.
    ///
    /// # Errors
    ///
    /// `INVALID_OBJECT`; `WRONG_PHASE` before VMStart.
    ///
    /// # Safety
    ///
    /// `object` is a live reference.
    #[inline]
    pub unsafe fn get_object_size(self, object: jobject) -> Result<jlong> {
        // SAFETY: the caller vouches for the object; the VM writes the size.
        unsafe { get!(self, GetObjectSize, object) }
    }

    /// Collects the whole heap before it returns.
    ///
    /// # Errors
    ///
    /// `WRONG_PHASE` before VMInit and after VMDeath.
    pub fn force_garbage_collection(self) -> Result<()> {
        // SAFETY: no argument.
        unsafe { call!(self, ForceGarbageCollection) }
    }

    /// Bytes between two `SampledObjectAlloc` events, on average; 0 means every allocation.
    ///
    /// # Errors
    ///
    /// `NOT_AVAILABLE` before JDK 11.
    pub fn set_heap_sampling_interval(self, bytes: jint) -> Result<()> {
        // The table of JDK 8 ends before this slot.
        if self.get_version_number()? < JVMTI_VERSION_11 {
            return Err(Error::NOT_AVAILABLE);
        }
        // SAFETY: the slot exists from JVM TI 11 on.
        unsafe { call!(self, SetHeapSamplingInterval, bytes) }
    }

    /// Calls back for each object in the heap, reachable or not. `class` is null or restricts the walk to its instances.
    ///
    /// # Errors
    ///
    /// `MUST_POSSESS_CAPABILITY` without `can_tag_objects`; `INVALID_CLASS`.
    ///
    /// # Safety
    ///
    /// `class` is null or a live reference to a class of this VM. The callbacks fit `user_data`, do not unwind, and obey the rules for heap
    /// callbacks: no JNI, and no JVM TI function that is not marked as allowed there.
    pub unsafe fn iterate_through_heap(
        self,
        heap_filter: jint,
        class: jclass,
        callbacks: &jvmtiHeapCallbacks,
        user_data: *const c_void,
    ) -> Result<()> {
        // SAFETY: the caller vouches for class and callbacks.
        unsafe { call!(self, IterateThroughHeap, heap_filter, class, callbacks, user_data) }
    }

    /// Calls back for each reference that is reachable from `initial_object` or, if that is null, from the roots.
    ///
    /// # Errors
    ///
    /// `MUST_POSSESS_CAPABILITY` without `can_tag_objects`; `INVALID_CLASS`, `INVALID_OBJECT`.
    ///
    /// # Safety
    ///
    /// `class` is null or a live reference to a class of this VM, `initial_object` null or a live reference. The callbacks fit
    /// `user_data`, do not unwind, and obey the rules for heap callbacks: no JNI, and no JVM TI function that is not marked as
    /// allowed there.
    pub unsafe fn follow_references(
        self,
        heap_filter: jint,
        class: jclass,
        initial_object: jobject,
        callbacks: &jvmtiHeapCallbacks,
        user_data: *const c_void,
    ) -> Result<()> {
        // SAFETY: the caller vouches for class, object and callbacks.
        unsafe { call!(self, FollowReferences, heap_filter, class, initial_object, callbacks, user_data) }
    }
}
