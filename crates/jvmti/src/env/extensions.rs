//! Extension events: what a VM offers beyond the specification, HotSpot's class unload event for one.

use std::ffi::c_char;

use jvmti_sys::{jvmtiExtensionEvent, jvmtiExtensionEventInfo};

use super::{Env, call};
use crate::{Allocated, Result};

/// One extension event of the VM.
#[derive(Debug)]
pub struct ExtensionEvent {
    /// The number to hand to [`Env::set_extension_event_callback`].
    pub index: i32,
    /// The name that identifies the event, such as `com.sun.hotspot.events.ClassUnload`.
    pub id: Allocated<u8>,
    /// How many parameters the callback receives after the environment.
    pub parameter_count: i32,
}

impl Env {
    /// The extension events of this VM.
    ///
    /// # Errors
    ///
    /// `WRONG_PHASE` before the agent is loaded; `OUT_OF_MEMORY`.
    pub fn get_extension_events(self) -> Result<Vec<ExtensionEvent>> {
        let (mut count, mut infos) = (0, std::ptr::null_mut());
        // SAFETY: the VM writes count and array, which is then ours.
        let infos: Allocated<jvmtiExtensionEventInfo> = unsafe {
            call!(self, GetExtensionEvents, &mut count, &mut infos)?;
            Allocated::from_raw(self, infos, count as usize)
        };
        // SAFETY: every text and array in the structures is a separate allocation that we own too. What is not handed
        // out is taken all the same, to be freed.
        let text = |text: *mut c_char| unsafe { Allocated::from_c_string(self, text) };
        let mut events = Vec::with_capacity(infos.len());
        for info in infos.iter() {
            let id = text(info.id);
            drop(text(info.short_description));
            // SAFETY: as for `text`.
            let parameters = unsafe { Allocated::from_raw(self, info.params, info.param_count as usize) };
            for parameter in parameters.iter() {
                drop(text(parameter.name));
            }
            if let Some(id) = id {
                events.push(ExtensionEvent {
                    index: info.extension_event_index,
                    id,
                    parameter_count: info.param_count,
                });
            }
        }
        Ok(events)
    }

    /// Sets the callback of an extension event and switches the event on; `None` switches it off.
    ///
    /// # Errors
    ///
    /// `ILLEGAL_ARGUMENT` if the VM has no extension event of that number.
    ///
    /// # Safety
    ///
    /// The callback takes exactly the parameters that the VM describes for this event, may be called from any thread at
    /// any time, and does not unwind.
    pub unsafe fn set_extension_event_callback(self, index: i32, callback: Option<jvmtiExtensionEvent>) -> Result<()> {
        // SAFETY: the caller vouches for the callback.
        unsafe { call!(self, SetExtensionEventCallback, index, callback) }
    }
}
