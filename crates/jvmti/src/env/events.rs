//! Event callbacks, and which events are sent.

use std::mem::size_of;
use std::ptr::null_mut;

use jvmti_sys::{JVMTI_DISABLE, JVMTI_ENABLE, jvmtiEvent, jvmtiEventCallbacks, jvmtiEventMode};

use super::{Env, call};
use crate::Result;

impl Env {
    /// Replaces all callbacks of the environment.
    ///
    /// # Errors
    ///
    /// `WRONG_PHASE` after VMDeath.
    ///
    /// # Safety
    ///
    /// Each callback must be fit to be called from any thread at any time, and must not unwind.
    pub unsafe fn set_event_callbacks(self, callbacks: &jvmtiEventCallbacks) -> Result<()> {
        // SAFETY: the caller vouches for the callbacks; the VM copies the structure.
        unsafe { call!(self, SetEventCallbacks, callbacks, size_of::<jvmtiEventCallbacks>() as i32) }
    }

    /// Sends the event from now on, for all threads. Allowed while the agent is loaded and from VMInit on, but not in
    /// the phase between VMStart and VMInit.
    ///
    /// # Errors
    ///
    /// `MUST_POSSESS_CAPABILITY` without the event's capability; `WRONG_PHASE`.
    pub fn enable_event(self, event: jvmtiEvent) -> Result<()> {
        self.set_event_notification_mode(JVMTI_ENABLE, event)
    }

    /// Sends these events from now on, as [`enable_event`](Self::enable_event) does.
    ///
    /// # Errors
    ///
    /// The first that the VM refuses; those behind it are not switched on.
    pub fn enable_events(self, events: &[jvmtiEvent]) -> Result<()> {
        events.iter().try_for_each(|&event| self.enable_event(event))
    }

    /// Stops sending the event that [`enable_event`](Self::enable_event) asked for.
    ///
    /// # Errors
    ///
    /// `WRONG_PHASE`, as for [`enable_event`](Self::enable_event).
    pub fn disable_event(self, event: jvmtiEvent) -> Result<()> {
        self.set_event_notification_mode(JVMTI_DISABLE, event)
    }

    /// Stops sending these events; one that the VM refuses to switch off is passed over.
    pub fn disable_events(self, events: &[jvmtiEvent]) {
        for &event in events {
            let _ = self.disable_event(event);
        }
    }

    /// Switches an event on or off for all threads.
    fn set_event_notification_mode(self, mode: jvmtiEventMode, event: jvmtiEvent) -> Result<()> {
        // SAFETY: null stands for all threads.
        unsafe { call!(self, SetEventNotificationMode, mode, event, null_mut()) }
    }
}
