//! Threads that wait for each other (`locks=on`): for which lock, how long, and who owns it.
//!
//! `monitors` handles JVMTI's events, `parking` the waits of `java.util.concurrent`, `sleeping` those for nothing but time, both by
//! `hooks`; `owner` and `usage` find the owner, `identify` the lock; `snapshot` answers data requests. `time_budget` bounds the
//! cost of the stacks of owners. What threads do when they do not wait: `processor_time`, another feature.

mod hooks;
mod identify;
mod monitors;
mod names;
mod owner;
mod parking;
mod section;
mod sleeping;
mod snapshot;
mod state;
mod thread_references;
mod time_budget;
mod usage;

use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use agent_options::{FIRST_TO_KEEP_CODE, LockOptions, Owners};
use jvmti::jni_sys::jobject;
use jvmti::sys::{
    JVMTI_EVENT_DATA_DUMP_REQUEST, JVMTI_EVENT_MONITOR_CONTENDED_ENTER, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
    JVMTI_EVENT_MONITOR_WAIT, JVMTI_EVENT_MONITOR_WAITED, jvmtiEvent, jvmtiEventCallbacks,
};
use jvmti::{Jni, Turn};

use agent_base::clock::Ticks;
use agent_base::helpers::{HelperClass, PARKING, SLEEP};
use agent_base::ids::{StackIndex, ThreadIndex};
use agent_base::mutex::Mutex;
use agent_base::tables::threads::{Beginning, WaitState};
use agent_core::core::Core;
use agent_core::core::context::{LocalThread, Reporter, ThreadContext};
use agent_core::core::current::Current;
use agent_core::core::feature::{End, Feature, Rewriter};
use agent_core::vm::environments::FIRST_BY_THREADS;
use agent_trace::{Output, Section};
use hooks::WaitHooks;
use hotspot::Hotspot;
use hotspot::monitors::MonitorLayout;
use section::LockSection;
use snapshot::SnapshotScope;
use state::LockThread;
use thread_references::ThreadReferences;
use time_budget::TimeBudget;
use usage::OwnerQuestion;

pub(crate) use names::{LockName, MOST as MOST_NAMES, NameAsker, NameRequest};
pub use parking::NATIVES as PARKING_NATIVES;
pub use sleeping::NATIVES as SLEEP_NATIVES;
pub(crate) use snapshot::{LockSnapshot, MonitorSnapshot, ThreadSnapshot};

const EVENTS: [jvmtiEvent; 5] = [
    JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
    JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
    JVMTI_EVENT_MONITOR_WAIT,
    JVMTI_EVENT_MONITOR_WAITED,
    JVMTI_EVENT_DATA_DUMP_REQUEST,
];

/// A stack of another thread costs three times the time that the asking thread waits: that thread is stopped, and its processor
/// is interrupted.
const STACK_PRICE: u64 = 3;

/// The feature.
pub(crate) struct Locks {
    core: &'static Core,
    options: LockOptions,
    /// If owners are asked for their stacks, or for what they own.
    references: Option<ThreadReferences>,
    /// Fields of the class library.
    fields: OnceLock<&'static parking::Fields>,
    /// How JVMTI is asked for an owner.
    question: OnceLock<OwnerQuestion>,
    parking: OnceLock<HelperClass>,
    sleeping: OnceLock<HelperClass>,
    hooks: WaitHooks,
    /// Held while an object gets its id, so that it gets only one.
    announcing: Turn,
    /// For the stacks of owners.
    stack_budget: TimeBudget,
    /// For asking JVMTI for the owner.
    owner_budget: TimeBudget,
    /// Stacks that were taken after the owner had released the lock.
    stale_stacks: AtomicU64,
    unknown_owners: AtomicU64,
    asked_owners: AtomicU64,
    /// How often a thread waited until another had initialised a class.
    initializations: AtomicU64,
    /// What data requests found, until the writer takes it.
    snapshots: Mutex<Vec<Option<LockSnapshot>>>,
}

static CURRENT: Current<Locks> = Current::none();

impl Locks {
    /// What it writes into the trace, and into the lock log.
    pub(crate) fn section(&'static self, name_asker: NameAsker, log: Option<Output>) -> Box<dyn Section> {
        Box::new(LockSection::begin(self, name_asker, log))
    }

    /// For a recording with these options.
    pub(crate) fn new(core: &'static Core, options: LockOptions) -> Locks {
        let asks_threads = core.jvm.java >= FIRST_BY_THREADS;
        let takes_stacks = options.owners != Owners::WithoutStacks && options.stack_depth > 0;
        let sleeps = sleeping::hooked(core.jvm.java);
        // Whoever attaches with locks alone expects that nothing is rewritten.
        let is_cheap = options.juc || !core.is_late || core.jvm.java >= FIRST_TO_KEEP_CODE;
        let hooked = options.juc.then_some(&parking::PARKS).into_iter().chain(sleeps.filter(|_| is_cheap)).collect();
        Locks {
            core,
            references: (takes_stacks || asks_threads).then(ThreadReferences::default),
            options,
            fields: OnceLock::new(),
            question: OnceLock::new(),
            parking: OnceLock::new(),
            sleeping: OnceLock::new(),
            hooks: WaitHooks::new(core, hooked),
            announcing: Turn::free(),
            stack_budget: TimeBudget::new(core.start, STACK_PRICE),
            owner_budget: TimeBudget::new(core.start, 1),
            stale_stacks: AtomicU64::new(0),
            unknown_owners: AtomicU64::new(0),
            asked_owners: AtomicU64::new(0),
            initializations: AtomicU64::new(0),
            snapshots: Mutex::default(),
        }
    }

    /// The layout of monitors, if owners are to be read from memory.
    fn layout(&self) -> Option<&'static MonitorLayout> {
        let layout = self.core.hotspot.filter(|_| self.options.owners != Owners::ByJvmti)?.monitors()?;
        (layout.comparisons().1 == 0).then_some(layout)
    }

    /// The stack of an owner, unless stacks have cost too much lately or it has released the lock meanwhile.
    ///
    /// # Safety
    /// `owner` gives a new local reference to a thread, or null if that has ended.
    unsafe fn owner_stack(
        &self,
        jni: Jni,
        state: &mut LockThread,
        now: Ticks,
        owner: impl FnOnce() -> jobject,
        still_owns: impl FnOnce() -> bool,
    ) -> StackIndex {
        let wanted = self.options.owners != Owners::WithoutStacks;
        let Some(walker) = state.owner_walker.as_mut().filter(|_| wanted) else {
            return StackIndex::default();
        };
        let walked = self.stack_budget.spend(now, || {
            let owner = owner();
            if owner.is_null() {
                return None;
            }
            // SAFETY: by the caller's promise; the reference is deleted when it is done with.
            unsafe {
                // The VM returns an error if the thread has just ended, or a class of its frames is unloaded: it is no owner
                // any more.
                let stack = walker.walk_other(owner, &self.core.tables(jni)).ok();
                jni.delete_local_ref(owner);
                stack.filter(|_| still_owns())
            }
        });
        match walked {
            Some(Some(stack)) => stack,
            Some(None) => {
                self.stale_stacks.fetch_add(1, Ordering::Relaxed);
                StackIndex::default()
            }
            None => StackIndex::default(),
        }
    }

    /// What is not known about owners: key and number.
    pub(crate) fn counts(&self) -> [(&'static str, u64); 8] {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let monitors = self.core.hotspot.and_then(Hotspot::monitors);
        let (compared, mismatches) = monitors.map_or((0, 0), MonitorLayout::comparisons);
        [
            ("owners.compared", compared),
            ("owners.mismatches", mismatches),
            ("owners.unknown", load(&self.unknown_owners)),
            ("owners.asked", load(&self.asked_owners)),
            ("owners.notAsked", self.owner_budget.skipped()),
            ("ownerStacks.skipped", self.stack_budget.skipped()),
            ("ownerStacks.stale", load(&self.stale_stacks)),
            ("monitors.classInit", load(&self.initializations)),
        ]
    }

    /// Whether locks are to be named.
    pub(crate) fn wants_names(&self) -> bool {
        self.options.names && !self.core.source.tracks_objects()
    }

    /// Hands over what a data request found; the number is for the event.
    fn add_snapshot(&self, snapshot: LockSnapshot) -> u32 {
        let mut snapshots = self.snapshots.lock();
        snapshots.push(Some(snapshot));
        snapshots.len() as u32 - 1
    }

    /// How many answers the writer has not taken yet.
    fn untaken_snapshots(&self) -> usize {
        self.snapshots.lock().iter().flatten().count()
    }

    /// What a data request found.
    pub(crate) fn take_snapshot(&self, number: u32) -> Option<LockSnapshot> {
        let mut snapshots = self.snapshots.lock();
        snapshots.get_mut(number as usize)?.take()
    }

    /// The current thread begins to wait, and the trace shows it or not.
    fn note_begin(&self, thread: ThreadIndex, state: WaitState, is_shown: bool) {
        if let Some(record) = self.core.jvm.threads.get(thread) {
            record.begin_wait(state, is_shown);
        }
    }

    /// The current thread has waited. What is known of the beginning.
    fn note_end(&self, thread: ThreadIndex, state: WaitState) -> Beginning {
        self.core.jvm.threads.get(thread).map_or(Beginning::Unseen, |record| record.end_wait(state))
    }

    /// A new local reference to a thread that lives; null if there is none.
    fn reference(&self, jni: Jni, index: ThreadIndex) -> jobject {
        self.references.as_ref().map_or(null_mut(), |references| references.get(jni, index))
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

impl Feature for Locks {
    fn install(&'static self) {
        CURRENT.set(self);
    }

    fn callbacks(&self, main: &mut jvmtiEventCallbacks, _: &mut jvmtiEventCallbacks) {
        main.MonitorContendedEnter = Some(monitors::contended_enter);
        main.MonitorContendedEntered = Some(monitors::contended_entered);
        main.MonitorWait = Some(monitors::wait);
        main.MonitorWaited = Some(monitors::waited);
        main.DataDumpRequest = Some(snapshot::data_dump_request);
    }

    fn prepare(&'static self, jni: Jni) -> Result<(), String> {
        if self.options.juc {
            let class = self.core.jvm.helpers.start(jni, &PARKING);
            let class =
                class.map_err(|error| format!("cannot define MartiniParking, so nothing is recorded: {error}"))?;
            let _ = self.parking.set(class);
        }
        match self.core.jvm.helpers.start(jni, &SLEEP) {
            Ok(class) => drop(self.sleeping.set(class)),
            // Everything else can be recorded.
            Err(error) => {
                self.hooks.leave_sleep();
                self.core.rewriting.refuse(&format!("Thread.sleep: {error}"));
            }
        }
        Ok(())
    }

    fn begin(&'static self, jni: Jni) -> Result<(), String> {
        let env = self.core.jvm.env;
        // Its references to classes are the same in all recordings.
        let known: &'static OnceLock<parking::Fields> = self.core.jvm.keep(OnceLock::new);
        let fields = match known.get() {
            Some(fields) => fields,
            None => {
                let found = parking::Fields::find(jni).map_err(|error| jni.cleared(error))?;
                known.get_or_init(|| found)
            }
        };
        if let Some(hotspot) = self.core.hotspot.filter(|_| self.options.owners != Owners::ByJvmti) {
            hotspot.find_monitors(env, jni);
        }
        let _ = self.fields.set(fields);
        let _ = self.question.set(OwnerQuestion::of(env, self.core.jvm.java, jni));
        if self.options.juc {
            parking::load_lock_support(jni).map_err(|error| jni.cleared(error))?;
        }
        if self.sleeping.get().is_some_and(|&class| !sleeping::wrap(class, jni)) {
            self.core.rewriting.refuse("Thread.sleep: the VM's own function is not found");
        }
        env.enable_events(&EVENTS).map_err(|error| error.to_string())
    }

    unsafe fn thread_found(&'static self, jni: Jni, thread: jobject, index: ThreadIndex) {
        // SAFETY: by the caller's promise.
        self.references.iter().for_each(|references| unsafe { references.enter(jni, thread, index) });
    }

    fn resume(&'static self, jni: Jni) {
        self.parking.get().inspect(|class| class.set_boolean(jni, c"on", true));
    }

    unsafe fn thread_start(&'static self, jni: Jni, local: &mut LocalThread, thread: jobject) {
        // SAFETY: by the caller's promise.
        unsafe { self.thread_found(jni, thread, local.thread.carrier) }
    }

    unsafe fn thread_leaves(&'static self, jni: Jni, _: jobject, index: ThreadIndex) {
        self.references.iter().for_each(|references| references.leave(jni, index));
    }

    fn switched(&'static self, _: Jni, local: &mut LocalThread) {
        let (_, state): (&mut ThreadContext, &mut LockThread) = local.with();
        state.blocked = None;
    }

    fn stop(&'static self, jni: Jni, end: End) {
        if let Some(class) = self.parking.get() {
            self.core.count_lost("park without stack or memory", class.lost(jni));
        }
        if let Some(class) = self.sleeping.get() {
            self.core.count_lost("sleep without stack or memory", class.lost(jni));
        }
        snapshot::take(self, jni, SnapshotScope::Blocked);
        if end.is_survived() {
            self.core.jvm.env.disable_events(&EVENTS);
        }
    }

    fn stopped(&'static self, jni: Jni, _: End) {
        // Not before: a thread that ends has to have reported the end of its park, too.
        self.parking.get().inspect(|class| class.set_boolean(jni, c"on", false));
    }

    fn release(&'static self, jni: Jni) {
        self.references.iter().for_each(|references| references.release(jni));
        *self.snapshots.lock() = Vec::new();
    }

    fn rewriter(&'static self) -> Option<&'static dyn Rewriter> {
        (!self.hooks.is_empty()).then_some(&self.hooks)
    }
}
