//! Who owns a monitor, by JVMTI.
//!
//! `GetObjectMonitorUsage` answers all at once, but not every VM survives the question:
//!
//! | HotSpot | |
//! |---|---|
//! | up to 17 with `-XX:+UseHeavyMonitors` | compiled code locks objects on its stack all the same, and the VM does not look for the owner there: JDK 11 names none, later ones use the thread that they have not found |
//! | 23 and later | the VM looks at the `Thread` object of each thread, and a thread of native code that is about to attach has none yet |
//!
//! From 23 on each thread is asked instead which monitors it owns (`GetOwnedMonitorInfo`). That does not say how often it has entered
//! them, and virtual threads are in no list.

use std::ops::ControlFlow;

use jvmti::jni_sys::jobject;
use jvmti::sys::CAN_GET_OWNED_MONITOR_INFO;
use jvmti::{Env, Jni, is_flag_on};

use agent_core::vm::environments::FIRST_BY_THREADS;

use super::owner::Owner;
use agent_base::clock::Ticks;
use agent_base::ids::ThreadIndex;
use agent_core::core::Core;

/// How the owner of a monitor is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnerQuestion {
    /// The VM, about the monitor.
    Monitor,
    /// Each thread, about the monitors that it owns.
    Threads,
    /// Nobody.
    None,
}

impl OwnerQuestion {
    /// The one that this VM survives, if it grants what that needs.
    pub(super) fn of(env: Env, java: u32, jni: Jni) -> OwnerQuestion {
        let can_ask_threads = || env.get_capabilities().is_ok_and(|granted| granted.has(CAN_GET_OWNED_MONITOR_INFO));
        match java {
            FIRST_BY_THREADS.. if !can_ask_threads() => OwnerQuestion::None,
            FIRST_BY_THREADS.. => OwnerQuestion::Threads,
            ..=17 if is_flag_on(jni, c"UseHeavyMonitors") == Some(true) => OwnerQuestion::None,
            _ => OwnerQuestion::Monitor,
        }
    }
}

/// The monitors that threads own, as local references.
pub(super) struct OwnedMonitors(Vec<(jobject, ThreadIndex)>);

impl OwnedMonitors {
    /// Asks all platform threads.
    pub(super) fn of_all(core: &Core, jni: Jni) -> OwnedMonitors {
        let mut owned = Vec::new();
        let now = Ticks::now();
        // SAFETY: live local references.
        visit_owned(core, jni, |thread, monitor| unsafe {
            owned.push((jni.new_local_ref(monitor), core.jvm.threads.resolve(jni, thread, now)));
            ControlFlow::Continue(())
        });
        OwnedMonitors(owned)
    }

    /// The owner of a monitor, if it is a platform thread.
    ///
    /// # Safety
    /// `monitor` is a live reference.
    pub(super) unsafe fn owner(&self, jni: Jni, monitor: jobject) -> Option<ThreadIndex> {
        // SAFETY: by the caller's promise; live local references.
        let found = self.0.iter().find(|(owned, _)| unsafe { jni.is_same_object(*owned, monitor) });
        found.map(|&(_, owner)| owner)
    }

    /// Deletes the references.
    pub(super) fn release(self, jni: Jni) {
        // SAFETY: local references of this thread that are not used any more.
        self.0.iter().for_each(|&(owned, _)| unsafe { jni.delete_local_ref(owned) });
    }
}

/// # Safety
/// `object` is a live reference.
pub(super) unsafe fn owner_by_vm(core: &Core, jni: Jni, object: jobject, now: Ticks) -> Option<Owner> {
    // SAFETY: by the caller's promise; live local references, each deleted when it is done with.
    unsafe {
        let usage = core.jvm.env.get_object_monitor_usage(object).ok()?;
        let mut owner = Owner::Free;
        jni.expect_local_refs(1 + usage.waiters.len() + usage.notify_waiters.len());
        if !usage.owner.is_null() {
            owner = Owner::Thread(core.jvm.threads.resolve(jni, usage.owner, now));
        }
        for &thread in [usage.owner].iter().chain(usage.waiters.iter()).chain(usage.notify_waiters.iter()) {
            jni.delete_local_ref(thread);
        }
        Some(owner)
    }
}

/// Calls `visit` with each platform thread that lives and each monitor that it owns, as local references, until that breaks.
pub(super) fn visit_owned(core: &Core, jni: Jni, mut visit: impl FnMut(jobject, jobject) -> ControlFlow<()>) {
    let Ok(threads) = core.jvm.env.get_all_threads() else { return };
    jni.expect_local_refs(threads.len());
    let mut flow = ControlFlow::Continue(());
    for &thread in threads.iter() {
        // SAFETY: a live local reference, deleted when it is done with.
        unsafe {
            if flow.is_continue() {
                flow = visit_owned_by(core, jni, thread, |monitor| visit(thread, monitor))
                    .unwrap_or(ControlFlow::Continue(()));
            }
            jni.delete_local_ref(thread);
        }
    }
}

/// Calls `visit` with each monitor that a thread owns, until that breaks; `None` if the thread has ended.
///
/// # Safety
/// `thread` is a live reference to a thread.
pub(super) unsafe fn visit_owned_by(
    core: &Core,
    jni: Jni,
    thread: jobject,
    mut visit: impl FnMut(jobject) -> ControlFlow<()>,
) -> Option<ControlFlow<()>> {
    // SAFETY: by the caller's promise; live local references, each deleted when it is done with.
    unsafe {
        let owned = core.jvm.env.get_owned_monitor_info(thread).ok()?;
        jni.expect_local_refs(owned.len());
        let mut flow = ControlFlow::Continue(());
        for &monitor in owned.iter() {
            if flow.is_continue() {
                flow = visit(monitor);
            }
            jni.delete_local_ref(monitor);
        }
        Some(flow)
    }
}
