//! What the events of waiting threads are recorded with.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use agent_options::LockOptions;
use jvmti::{Jni, JniError};

use super::answers::{Answers, LockSnapshot};
use super::blockers::Blockers;
use super::hooks::WaitHooks;
use super::looks::Looks;
use super::owners::OwnerFinder;
use super::state::LockThread;
use super::wait_objects::WaitObjects;
use agent_base::helpers::HelperClass;
use agent_base::ids::ThreadIndex;
use agent_base::tables::threads::{Beginning, WaitState};
use agent_core::core::Core;
use agent_core::core::context::Reporter;
use agent_core::core::current::Current;

/// The feature.
pub(crate) struct Locks {
    core: &'static Core,
    options: LockOptions,
    pub(super) owners: OwnerFinder,
    pub(super) ids: WaitObjects,
    /// What data requests found.
    pub(super) answers: Answers,
    pub(super) hooks: WaitHooks,
    /// MartiniParking and MartiniSleep, where rewritten code calls them.
    pub(super) parking: OnceLock<HelperClass>,
    pub(super) sleeping: OnceLock<HelperClass>,
    blockers: OnceLock<&'static Blockers>,
    /// Where waits of `java.util.concurrent` are not recorded in an attached recording.
    pub(super) looks: Option<Looks>,
    /// How often a thread waited until another had initialised a class.
    initializations: AtomicU64,
}

static CURRENT: Current<Locks> = Current::none();

impl Locks {
    /// For a recording with these options.
    pub(crate) fn new(core: &'static Core, options: LockOptions) -> Locks {
        Locks {
            core,
            owners: OwnerFinder::new(core, &options),
            ids: WaitObjects::new(core),
            answers: Answers::default(),
            hooks: WaitHooks::new(core, options.juc),
            parking: OnceLock::new(),
            sleeping: OnceLock::new(),
            blockers: OnceLock::new(),
            initializations: AtomicU64::new(0),
            looks: (core.is_late && !options.juc).then(|| Looks::new(core.start)),
            options,
        }
    }

    /// Makes it the one that callbacks find.
    pub(super) fn set_current(&'static self) {
        CURRENT.set(self);
    }

    /// Finds out what threads park for, from VMInit on.
    ///
    /// # Errors
    /// What the VM refuses; an exception is pending then.
    pub(super) fn find_blockers(&self, jni: Jni) -> Result<(), JniError> {
        let _ = self.blockers.set(Blockers::of(self.core, jni)?);
        Ok(())
    }

    /// What threads park for, from VMInit on.
    pub(super) fn blockers(&self) -> Option<&'static Blockers> {
        self.blockers.get().copied()
    }

    /// Whether waits of `java.util.concurrent` are recorded.
    pub(super) fn shows_parks(&self) -> bool {
        self.options.juc
    }

    /// Whether locks are to be named.
    pub(crate) fn wants_names(&self) -> bool {
        self.options.names && !self.core.source.tracks_objects()
    }

    /// A thread has waited until another had initialised a class.
    pub(super) fn count_initialization(&self) {
        self.initializations.fetch_add(1, Ordering::Relaxed);
    }

    /// What is not recorded as an event: key and number.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let initializations = self.initializations.load(Ordering::Relaxed);
        let looked = self.looks.as_ref().map(|looks| ("parks.lookInterval", looks.longest().0));
        self.owners.counts().into_iter().chain([("monitors.classInit", initializations)]).chain(looked)
    }

    /// What a data request found.
    pub(crate) fn take_snapshot(&self, number: u32) -> Option<LockSnapshot> {
        self.answers.take(number)
    }

    /// The current thread begins to wait, and the trace shows it or not.
    pub(super) fn note_begin(&self, thread: ThreadIndex, state: WaitState, is_shown: bool) {
        if let Some(record) = self.core.jvm.threads.get(thread) {
            record.begin_wait(state, is_shown);
        }
    }

    /// The current thread has waited. What is known of the beginning.
    pub(super) fn note_end(&self, thread: ThreadIndex, state: WaitState) -> Beginning {
        self.core.jvm.threads.get(thread).map_or(Beginning::Unseen, |record| record.end_wait(state))
    }
}

impl Reporter for Locks {
    type State = LockThread;

    fn current() -> Option<&'static Locks> {
        CURRENT.get()
    }

    fn core(&self) -> &'static Core {
        self.core
    }
}
