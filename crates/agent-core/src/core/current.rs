//! The instance that callbacks of the VM work with, which have no argument of the agent's own.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The current instance of `T`, if there is one.
pub struct Current<T: 'static>(AtomicPtr<T>);

impl<T: Sync> Current<T> {
    /// No instance yet.
    pub const fn none() -> Current<T> {
        Current(AtomicPtr::new(null_mut()))
    }

    /// Replaces the instance.
    pub fn set(&self, instance: &'static T) {
        self.0.store(std::ptr::from_ref(instance).cast_mut(), Ordering::Release);
    }

    /// The instance.
    #[inline]
    pub fn get(&self) -> Option<&'static T> {
        // SAFETY: null, or a shared reference that is valid for ever.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }
}
