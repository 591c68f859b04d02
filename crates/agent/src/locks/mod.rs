//! Threads that wait for each other (`locks=on`): for which lock, how long, and who owns it.
//!
//! ```text
//! looks                                   looks at parked threads, where their parks are not recorded
//! monitors, parking, sleeping, snapshot   events of JVMTI and calls of hooks
//! recorder                                what they all use
//! owners, wait_objects, blockers          who owns a lock; which object it is; what is a lock
//! state                                   what a thread keeps from its last waits
//! ```
//!
//! No file uses one above it. What threads do when they do not wait: `processor_time`, another feature.

mod answers;
mod blockers;
mod hooks;
mod looks;
mod monitors;
mod names;
mod owner;
mod owners;
mod parking;
mod recorder;
mod section;
mod sleeping;
mod snapshot;
mod state;
mod thread_references;
mod time_budget;
mod usage;
mod wait_objects;

use jvmti::Jni;
use jvmti::jni_sys::jobject;
use jvmti::sys::{
    JVMTI_EVENT_DATA_DUMP_REQUEST, JVMTI_EVENT_MONITOR_CONTENDED_ENTER, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
    JVMTI_EVENT_MONITOR_WAIT, JVMTI_EVENT_MONITOR_WAITED, jvmtiEvent, jvmtiEventCallbacks,
};

use agent_base::helpers::{PARKING, SLEEP};
use agent_base::ids::ThreadIndex;
use agent_base::message::message;
use agent_core::core::context::{LocalThread, Reporter, ThreadContext};
use agent_core::core::feature::{End, Feature, Rewriter};
use agent_trace::{Output, Section};
use section::LockSection;
use snapshot::SnapshotScope;
use state::LockThread;

pub(crate) use blockers::Blockers;
pub(crate) use names::{NameAsker, NameRequest};
pub use parking::NATIVES as PARKING_NATIVES;
pub(crate) use recorder::Locks;
pub use sleeping::NATIVES as SLEEP_NATIVES;

const EVENTS: [jvmtiEvent; 5] = [
    JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
    JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
    JVMTI_EVENT_MONITOR_WAIT,
    JVMTI_EVENT_MONITOR_WAITED,
    JVMTI_EVENT_DATA_DUMP_REQUEST,
];

impl Locks {
    /// What it writes into the trace, and into the lock log.
    pub(crate) fn section(&'static self, name_asker: NameAsker, log: Option<Output>) -> Box<dyn Section> {
        Box::new(LockSection::begin(self, name_asker, log))
    }
}

impl Feature for Locks {
    fn install(&'static self) {
        self.set_current();
    }

    fn callbacks(&self, main: &mut jvmtiEventCallbacks, _: &mut jvmtiEventCallbacks) {
        main.MonitorContendedEnter = Some(monitors::contended_enter);
        main.MonitorContendedEntered = Some(monitors::contended_entered);
        main.MonitorWait = Some(monitors::wait);
        main.MonitorWaited = Some(monitors::waited);
        main.DataDumpRequest = Some(snapshot::data_dump_request);
    }

    fn prepare(&'static self, jni: Jni) -> Result<(), String> {
        let helpers = &self.core().jvm.helpers;
        if self.shows_parks() {
            let class = helpers.start(jni, &PARKING);
            let class =
                class.map_err(|error| format!("cannot define MartiniParking, so nothing is recorded: {error}"))?;
            let _ = self.parking.set(class);
        }
        match helpers.start(jni, &SLEEP) {
            Ok(class) => drop(self.sleeping.set(class)),
            // Everything else can be recorded.
            Err(error) => {
                self.hooks.leave_sleep();
                self.core().rewriting.refuse(&format!("Thread.sleep: {error}"));
            }
        }
        Ok(())
    }

    fn begin(&'static self, jni: Jni) -> Result<(), String> {
        self.find_blockers(jni).map_err(|error| jni.cleared(error))?;
        self.owners.begin(jni);
        if self.shows_parks() {
            parking::load_lock_support(jni).map_err(|error| jni.cleared(error))?;
        }
        if self.sleeping.get().is_some_and(|&class| !sleeping::wrap(class, jni)) {
            self.core().rewriting.refuse("Thread.sleep: the VM's own function is not found");
        }
        self.core().jvm.env.enable_events(&EVENTS).map_err(|error| error.to_string())
    }

    unsafe fn thread_found(&'static self, jni: Jni, thread: jobject, index: ThreadIndex) {
        // SAFETY: by the caller's promise.
        self.owners.references().into_iter().for_each(|references| unsafe { references.enter(jni, thread, index) });
    }

    fn resume(&'static self, jni: Jni) {
        self.parking.get().inspect(|class| class.set_boolean(jni, c"on", true));
        if let Some(Err(why)) = self.looks.as_ref().map(|looks| looks.start(self, jni)) {
            message(&format!("nobody looks which locks of java.util.concurrent are contended: {why}"));
        }
    }

    unsafe fn thread_start(&'static self, jni: Jni, local: &mut LocalThread, thread: jobject) {
        // SAFETY: by the caller's promise.
        unsafe { self.thread_found(jni, thread, local.thread.carrier) }
    }

    unsafe fn thread_leaves(&'static self, jni: Jni, _: jobject, index: ThreadIndex) {
        self.owners.references().into_iter().for_each(|references| references.leave(jni, index));
    }

    fn switched(&'static self, _: Jni, local: &mut LocalThread) {
        let (_, state): (&mut ThreadContext, &mut LockThread) = local.with();
        state.blocked = None;
    }

    fn stop(&'static self, jni: Jni, end: End) {
        self.looks.as_ref().inspect(|looks| looks.stop());
        for (class, what) in [(&self.parking, "park"), (&self.sleeping, "sleep")] {
            let lost = class.get().map_or(0, |class| class.lost(jni));
            self.core().count_lost(&format!("{what} without stack or memory"), lost);
        }
        snapshot::take(self, jni, SnapshotScope::Blocked);
        if end.is_survived() {
            self.core().jvm.env.disable_events(&EVENTS);
        }
    }

    fn stopped(&'static self, jni: Jni, _: End) {
        // Not before: a thread that ends has to have reported the end of its park, too.
        self.parking.get().inspect(|class| class.set_boolean(jni, c"on", false));
    }

    fn release(&'static self, jni: Jni) {
        self.owners.references().into_iter().for_each(|references| references.release(jni));
        self.answers.release();
    }

    fn rewriter(&'static self) -> Option<&'static dyn Rewriter> {
        (!self.hooks.is_empty()).then_some(&self.hooks)
    }
}
