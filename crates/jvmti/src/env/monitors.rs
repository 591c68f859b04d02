//! Monitors: who owns them and who waits.

use jvmti_sys::jni_sys::jobject;
use jvmti_sys::{jthread, jvmtiMonitorUsage};

use super::{Env, call, get, get_all};
use crate::{Allocated, Result};

/// Who owns a monitor and who waits for it. All threads are new local references.
#[derive(Debug)]
pub struct MonitorUsage {
    /// The owner, or null.
    pub owner: jthread,
    /// How many times the owner has entered it.
    pub entry_count: u32,
    /// The threads that wait to enter it.
    pub waiters: Allocated<jthread>,
    /// The threads that wait to be notified.
    pub notify_waiters: Allocated<jthread>,
}

impl Env {
    /// The present use of the object's monitor. HotSpot stops all threads for it, or makes the owner stop.
    ///
    /// # Errors
    ///
    /// `MUST_POSSESS_CAPABILITY` without `can_get_monitor_info`.
    ///
    /// # Safety
    ///
    /// `object` is a live reference.
    pub unsafe fn get_object_monitor_usage(self, object: jobject) -> Result<MonitorUsage> {
        let mut usage = jvmtiMonitorUsage::default();
        // SAFETY: the caller vouches for the object; the VM fills the structure, whose arrays are then ours.
        unsafe {
            call!(self, GetObjectMonitorUsage, object, &mut usage)?;
            Ok(MonitorUsage {
                owner: usage.owner,
                entry_count: usage.entry_count.max(0) as u32,
                waiters: Allocated::from_raw(self, usage.waiters, usage.waiter_count.max(0) as usize),
                notify_waiters: Allocated::from_raw(
                    self,
                    usage.notify_waiters,
                    usage.notify_waiter_count.max(0) as usize,
                ),
            })
        }
    }

    /// The monitors that the thread owns, as new local references. HotSpot makes the thread stop for it.
    ///
    /// # Errors
    ///
    /// `MUST_POSSESS_CAPABILITY` without `can_get_owned_monitor_info`.
    ///
    /// # Safety
    ///
    /// `thread` is a live reference to a thread, or null for the calling one.
    pub unsafe fn get_owned_monitor_info(self, thread: jthread) -> Result<Allocated<jobject>> {
        // SAFETY: the caller vouches for the thread; the VM makes the array, which is then ours.
        unsafe { get_all!(self, GetOwnedMonitorInfo, thread) }
    }

    /// The object whose monitor the thread waits to enter or to be notified on, as a new local reference, or null.
    ///
    /// # Errors
    ///
    /// `MUST_POSSESS_CAPABILITY` without `can_get_current_contended_monitor`.
    ///
    /// # Safety
    ///
    /// `thread` is a live reference to a thread, or null for the calling one.
    pub unsafe fn get_current_contended_monitor(self, thread: jthread) -> Result<jobject> {
        // SAFETY: the caller vouches for the thread; the VM writes the reference.
        unsafe { get!(self, GetCurrentContendedMonitor, thread) }
    }
}
