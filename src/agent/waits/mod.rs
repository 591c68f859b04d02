//! Threads that wait for each other (`locks=on`): which monitor, how long, and who owns it.
//!
//! `monitors` takes JVMTI's events, `parking` those of `java.util.concurrent`; `owner` and `roster` find the owner, `snapshot`
//! answers data requests. `pace` bounds what the stacks of owners cost.

mod monitors;
mod owner;
mod pace;
mod parking;
mod recent;
mod roster;
mod snapshot;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jvmti::jni_sys::{jlong, jobject};
use jvmti::sys::{
    CAN_GENERATE_MONITOR_EVENTS, CAN_GET_CURRENT_CONTENDED_MONITOR, CAN_GET_MONITOR_INFO, Capability,
    JVMTI_EVENT_DATA_DUMP_REQUEST, JVMTI_EVENT_MONITOR_CONTENDED_ENTER, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
    JVMTI_EVENT_MONITOR_WAIT, JVMTI_EVENT_MONITOR_WAITED, jvmtiEventCallbacks,
};
use jvmti::{Jni, Vm as JavaVirtualMachine};
use trace::ids::ObjectId;

use super::Agent;
use super::clock::Ticks;
use super::event::Event;
use super::java_thread::JavaThread;
use super::lives::Mark;
use super::stacks::StackIndex;
use super::threads::{ThreadContext, ThreadIndex};
use agent_options::{LockOptions, Owners};
use owner::Layout;
use pace::Pace;
use recent::{JavaId, MonitorAddress};
use roster::{Roster, ThreadFields};

pub(crate) use parking::{DOTTED_NAME, INTERNAL_NAME, LOCK_SUPPORT, register_natives, rewrite};
pub(crate) use recent::Recent;
pub(crate) use snapshot::{Monitor, Scope, Snapshot, Thread, take as take_snapshot};

/// What the events need.
pub(crate) const CAPABILITIES: [Capability; 3] =
    [CAN_GENERATE_MONITOR_EVENTS, CAN_GET_MONITOR_INFO, CAN_GET_CURRENT_CONTENDED_MONITOR];

/// The thread that is made to stop, and the processor that has to turn to it, pay twice as much again (docs/performance.md).
const STACK_PRICE: u64 = 3;

/// All that belongs to `locks=on`.
pub(crate) struct Waits {
    pub(crate) options: LockOptions,
    vm: JavaVirtualMachine,
    roster: Roster,
    layout: OnceLock<Option<Layout>>,
    fields: OnceLock<Fields>,
    parking: OnceLock<parking::Proxy>,
    /// Held while an object gets its id, so that it gets one only.
    announcing: Mutex<()>,
    /// For the stacks of owners.
    stacks: Pace,
    /// For asking JVMTI who the owner is.
    asking: Pace,
    /// Stacks that were taken when the owner had let go already.
    stale_stacks: AtomicU64,
    unknown_owners: AtomicU64,
    asked_owners: AtomicU64,
    /// Threads that waited until another had initialised a class.
    initializations: AtomicU64,
    /// What data requests found, until the writer takes it.
    snapshots: Mutex<Vec<Option<Snapshot>>>,
}

/// Fields of the class library.
struct Fields {
    thread: ThreadFields,
    juc: parking::Fields,
}

// SAFETY: ids and global references of classes that are never unloaded, which JNI lets every thread use.
unsafe impl Send for Fields {}
// SAFETY: as above.
unsafe impl Sync for Fields {}

impl Waits {
    pub(crate) fn new(options: LockOptions, vm: JavaVirtualMachine, start: Ticks) -> Waits {
        Waits {
            roster: Roster::new(options.owners != Owners::WithoutStacks && options.stack_depth > 0),
            options,
            vm,
            layout: OnceLock::new(),
            fields: OnceLock::new(),
            parking: OnceLock::new(),
            announcing: Mutex::new(()),
            stacks: Pace::new(start, STACK_PRICE),
            asking: Pace::new(start, 1),
            stale_stacks: AtomicU64::new(0),
            unknown_owners: AtomicU64::new(0),
            asked_owners: AtomicU64::new(0),
            initializations: AtomicU64::new(0),
            snapshots: Mutex::default(),
        }
    }

    /// The callbacks, in the agent's main environment.
    pub(crate) fn add_callbacks(callbacks: &mut jvmtiEventCallbacks) {
        callbacks.MonitorContendedEnter = Some(monitors::contended_enter);
        callbacks.MonitorContendedEntered = Some(monitors::contended_entered);
        callbacks.MonitorWait = Some(monitors::wait);
        callbacks.MonitorWaited = Some(monitors::waited);
        callbacks.DataDumpRequest = Some(snapshot::data_dump_request);
    }

    /// Gets ready at VMInit, on the first thread, before threads are announced.
    ///
    /// # Errors
    /// One sentence.
    pub(crate) fn begin(&self, agent: &'static Agent, jni: Jni) -> Result<(), String> {
        let fields = Fields::find(jni).map_err(|error| super::lifecycle::cleared(jni, error))?;
        let read = self.options.owners != Owners::ByJvmti;
        let current = read.then(|| JavaThread::current(agent.env, jni)).flatten();
        let _ = self.layout.set(current.and_then(|current| Layout::find(jni, current)));
        let _ = self.fields.set(fields);
        for event in [
            JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
            JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
            JVMTI_EVENT_MONITOR_WAIT,
            JVMTI_EVENT_MONITOR_WAITED,
            JVMTI_EVENT_DATA_DUMP_REQUEST,
        ] {
            agent.env.enable_event(event).map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    /// Defines MartiniParking, at VMStart.
    ///
    /// # Errors
    /// What the VM refuses.
    pub(crate) fn define_parking(&self, jni: Jni) -> Result<(), jvmti::JniError> {
        let _ = self.parking.set(parking::Proxy::define(jni)?);
        Ok(())
    }

    /// Lets the hooks on parking report, or stops them.
    pub(crate) fn set_parking(&self, jni: Jni, on: bool) {
        if let Some(proxy) = self.parking.get() {
            proxy.set_on(jni, on);
        }
    }

    fn layout(&self) -> Option<&Layout> {
        self.layout.get()?.as_ref()
    }

    /// A thread is there.
    ///
    /// # Safety
    /// `thread` is a live reference to a thread that runs and has not had its end event.
    pub(crate) unsafe fn enter(&self, jni: Jni, thread: jobject, index: ThreadIndex) {
        if let Some(fields) = self.fields.get() {
            // SAFETY: by the caller's promise.
            unsafe { self.roster.enter(jni, self.layout(), fields.thread, thread, index) };
        }
    }

    /// The current thread ends.
    ///
    /// # Safety
    /// `thread` is a live reference to it.
    pub(crate) unsafe fn leave(&self, jni: Jni, thread: jobject, index: ThreadIndex) {
        if let Some(fields) = self.fields.get() {
            // SAFETY: by the caller's promise.
            unsafe { self.roster.leave(jni, fields.thread, thread, index) };
        }
    }

    /// Where the current platform thread notes what it carries.
    pub(crate) fn mounted(&self, jni: Jni) -> Option<Arc<AtomicU32>> {
        self.roster.mounted(self.layout()?.current(jni))
    }

    /// The stack of an owner, unless stacks have cost too much lately or it has let go meanwhile.
    ///
    /// # Safety
    /// `owner` gives a new local reference to a thread, or null if that has ended.
    unsafe fn owner_stack(
        &self,
        agent: &'static Agent,
        jni: Jni,
        context: &mut ThreadContext,
        now: Ticks,
        owner: impl FnOnce() -> jobject,
        still_owns: impl FnOnce() -> bool,
    ) -> StackIndex {
        let wanted = self.options.owners != Owners::WithoutStacks;
        let Some(walker) = context.owner_walker.as_mut().filter(|_| wanted) else {
            return StackIndex::default();
        };
        let walked = self.stacks.spend(now, || {
            let owner = owner();
            if owner.is_null() {
                return None;
            }
            // SAFETY: by the caller's promise; the reference is deleted when it is done with.
            unsafe {
                // A thread that has just ended, or a frame that is gone, gives an error, and is no owner any more.
                let stack = walker.walk_other(owner, &agent.tables(jni)).ok();
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

    /// The current thread, without asking JVMTI once more.
    ///
    /// # Safety
    /// `thread` is a live reference to the current thread.
    unsafe fn this_thread(
        &self,
        agent: &Agent,
        jni: Jni,
        recent: &mut Recent,
        thread: jobject,
        now: Ticks,
    ) -> ThreadIndex {
        // SAFETY: by the caller's promise.
        let id = self.fields.get().map(|fields| JavaId(unsafe { jni.get_long_field(thread, fields.thread.tid) }));
        if let Some((_, index)) = recent.thread.filter(|(known, _)| Some(*known) == id) {
            return index;
        }
        // SAFETY: by the caller's promise.
        let index = unsafe { agent.threads.resolve(agent, jni, thread, now) };
        let has_names = agent.threads.get(index).is_some_and(|record| record.names.get().is_some());
        recent.thread = id.filter(|&id| id != JavaId::NONE && has_names).map(|id| (id, index));
        index
    }

    /// Another thread.
    ///
    /// # Safety
    /// `thread` is a live reference to a thread.
    unsafe fn other_thread(&self, agent: &Agent, jni: Jni, thread: jobject, now: Ticks) -> ThreadIndex {
        // SAFETY: by the caller's promise.
        let number = self.fields.get().map(|fields| unsafe { jni.get_long_field(thread, fields.thread.tid) });
        let known = number.and_then(|number| self.roster.of_number(number as u64));
        // SAFETY: by the caller's promise.
        known.unwrap_or_else(|| unsafe { agent.threads.resolve(agent, jni, thread, now) })
    }

    /// What could not be told of owners: key and number.
    pub(crate) fn counts(&self) -> [(&'static str, u64); 6] {
        let stale = self.stale_stacks.load(Ordering::Relaxed);
        [
            ("owners.unknown", self.unknown_owners.load(Ordering::Relaxed)),
            ("owners.asked", self.asked_owners.load(Ordering::Relaxed)),
            ("owners.notAsked", self.asking.skipped()),
            ("ownerStacks.skipped", self.stacks.skipped()),
            ("ownerStacks.stale", stale),
            ("monitors.classInit", self.initializations.load(Ordering::Relaxed)),
        ]
    }

    /// Hands over what a data request found; the number is for the event.
    fn keep(&self, snapshot: Snapshot) -> u32 {
        let mut snapshots = self.snapshots.lock().unwrap_or_else(PoisonError::into_inner);
        snapshots.push(Some(snapshot));
        snapshots.len() as u32 - 1
    }

    /// What `keep` was given.
    pub(crate) fn take(&self, number: u32) -> Option<Snapshot> {
        let mut snapshots = self.snapshots.lock().unwrap_or_else(PoisonError::into_inner);
        snapshots.get_mut(number as usize)?.take()
    }
}

impl Fields {
    fn find(jni: Jni) -> Result<Fields, jvmti::JniError> {
        let class = jni.find_class(c"java/lang/Thread")?;
        // SAFETY: a live local reference, deleted at the end.
        unsafe {
            let thread = ThreadFields {
                eetop: jni.get_field_id(class, c"eetop", c"J")?,
                tid: jni.get_field_id(class, c"tid", c"J")?,
            };
            let juc = parking::Fields::find(jni, class)?;
            jni.delete_local_ref(class);
            Ok(Fields { thread, juc })
        }
    }
}

/// The id of an object on which threads wait; announced if it has none yet. `monitor` is its monitor, if that is known.
///
/// # Safety
/// `object` is a live reference.
unsafe fn id_of(
    agent: &'static Agent,
    waits: &Waits,
    jni: Jni,
    context: &mut ThreadContext,
    monitor: MonitorAddress,
    object: jobject,
) -> Option<ObjectId> {
    // SAFETY: by the caller's promise.
    unsafe {
        if let Some(id) = context.recent.objects.find(jni, monitor, object) {
            return Some(id);
        }
        if let Some(id) = agent.tags.find(object) {
            context.recent.objects.note(jni, monitor, object, id);
            return Some(id);
        }
    }
    let _announcing = waits.announcing.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: by the caller's promise; the class is a local reference, deleted at once.
    let found = unsafe {
        if let Some(id) = agent.tags.find(object) {
            return Some(id);
        }
        let class = jni.get_object_class(object);
        let index = agent.classes.resolve(agent.env, jni, class, agent);
        jni.delete_local_ref(class);
        index.and_then(|index| Ok((index, agent.env.get_object_size(object)?)))
    };
    let (class, bytes) = match found {
        Ok(found) => found,
        Err(error) => {
            agent.count_failure("monitor", error);
            return None;
        }
    };
    let id = context.new_object(agent, Ticks::now());
    // Before the tag, by which other threads find the object.
    context.push(agent, Event::Found { object: id, class, words: (bytes / 8) as u32 }, Ticks::now());
    // SAFETY: by the caller's promise.
    if let Err(error) = unsafe { agent.tags.for_monitors().set_tag(object, id.0 as jlong) } {
        agent.count_failure("tag of a monitor", error);
    }
    // SAFETY: by the caller's promise.
    let mark = Mark::new(id, StackIndex::default());
    // SAFETY: by the caller's promise.
    if agent.follows_lives() && unsafe { context.lives.note(&agent.lives, jni, object, mark) }.is_err() {
        agent.count_lost("no memory for a weak reference", 1);
    }
    Some(id)
}
