//! The part of a recording that each thread has for itself: its buffer, the ids that it assigns, and the state of each feature.
//!
//! A thread finds its context in a native thread-local. It is made at the thread's start event, or in its first hook if the
//! thread is older than the agent or allocates before its start event (a thread that attaches by JNI does). While a context is
//! in use the thread is inside the agent, and whatever it allocates there is not reported: [`Entry`] is the one guard against
//! re-entry, and [`callback`] the one way into the agent for events that are reported.

use std::any::Any;
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::Arc;

use jvmti::jni_sys::{JNIEnv, jobject};
use jvmti::{Jni, guard};
use trace::ids::ObjectId;

use super::Core;
use super::living::LivingThread;
use super::lost::Dropped;
use agent_base::clock::Ticks;
use agent_base::events::buffer::{Producer, channel};
use agent_base::events::event::Event;
use agent_base::events::pool::Room;
use agent_base::ids::ThreadIndex;
use agent_base::objects::tags::{ClassShard, ObjectShard};
use agent_base::objects::weak_refs::WeakRefRecorder;
use agent_base::tables::threads::RunningThread;

/// What all features use of the current thread.
pub struct ThreadContext {
    /// The recording.
    pub core: &'static Core,
    /// The platform thread itself.
    pub carrier: ThreadIndex,
    /// The virtual thread that runs on it, or itself.
    pub current: ThreadIndex,
    /// A virtual thread runs on it, which may have begun on another carrier what it ends here.
    pub is_virtual: bool,
    /// What the others see of it, once it carried a virtual thread.
    living: Option<Arc<LivingThread>>,
    /// The buffer does not show yet that `current` runs: there was no room.
    owes_switch: bool,
    /// It ends, and the trace does not say so: nothing is pushed any more.
    is_left_out: bool,
    /// The environments in which it tags what it allocates, and looks classes up.
    pub object_tags: ObjectShard,
    /// The environment in which it looks classes up.
    pub class_tags: ClassShard,
    /// Keeps weak references to the objects that it allocates.
    pub weak_refs: WeakRefRecorder,
    producer: Producer,
    next_object: u64,
    last_object: u64,
    /// The end of the last collection before the current block of ids was taken.
    generation: Ticks,
}

/// Number of object ids that a thread takes at a time.
const ID_BLOCK: u64 = 1024;

impl ThreadContext {
    /// Whether there is room for an event that takes up to so many records. Waits while the writer is behind and gets on. If
    /// there is no room the event must be left out as a whole, and is counted.
    #[inline]
    pub fn admit(&mut self, records: usize, what: Dropped) -> bool {
        if self.producer.has_room(records) && !self.owes_switch {
            return true;
        }
        let has_room = self.make_room(records);
        if !has_room {
            self.core.dropped.add(what, 1);
        }
        has_room
    }

    /// The same for what is no loss.
    #[cold]
    pub fn make_room(&mut self, records: usize) -> bool {
        if !self.producer.has_room(records + 1) {
            match self.producer.make_room() {
                Room::Free => {}
                Room::None => return false,
                Room::StallBegins => {
                    self.core.say_stalled();
                    return false;
                }
            }
        }
        if std::mem::take(&mut self.owes_switch) {
            self.push(Event::Switch(self.current), Ticks::now());
        }
        true
    }

    fn switch(&mut self, thread: ThreadIndex) {
        self.current = thread;
        self.is_virtual = thread != self.carrier;
        self.living = self.living.take().or_else(|| self.core.living.get(self.carrier));
        self.living.as_ref().inspect(|living| living.set_running(thread));
        self.owes_switch = true;
        // Without room it can wait until there is some for an event.
        self.make_room(0);
    }

    /// The platform thread ends. What the trace knows of a thread gets an end, and there is one for each thread; an end of which
    /// the trace would show nothing else is left out if there is no room.
    pub(crate) fn begin_end(&mut self) {
        /// What was counted, the account, the time of processors, the end.
        const RECORDS: usize = 4;
        self.is_left_out = !self.producer.has_pushed() && !self.admit(RECORDS, Dropped::Thread);
    }

    /// Hands an event to the writer. Never waits; unless it was admitted it must be one of few.
    #[inline]
    pub fn push(&mut self, event: Event, time: Ticks) {
        if !self.is_left_out && self.producer.push(event.pack(time)) {
            self.core.wake_writer_if_behind();
        }
    }

    /// An id for an object made at that time. Ids taken before a collection are not given to objects made after it, so that an
    /// id shows how many collections its object may have survived.
    #[inline]
    pub fn new_object(&mut self, now: Ticks) -> ObjectId {
        let generation = self.core.collections.generation();
        if self.next_object == self.last_object || generation != self.generation && generation <= now {
            self.generation = generation;
            self.next_object = self.core.jvm.ids.take(ID_BLOCK);
            self.last_object = self.next_object + ID_BLOCK;
        }
        self.next_object += 1;
        ObjectId(self.next_object - 1)
    }
}

/// Where a thread's context keeps what a feature needs for it.
#[derive(Clone, Copy, Debug)]
pub enum Slot {
    /// `heap=events` and `heap=vm`.
    HeapEvents,
    /// `heap=counts`.
    Counts,
    /// `sampled` and `callers`.
    Sampling,
    /// `locks`.
    Locks,
    /// `warmup`.
    WarmUp,
    /// `requests`.
    Requests,
    /// `cpu` and `wall`; the last slot, which gives their number.
    Cpu,
}

impl Slot {
    /// Number of slots.
    pub(crate) const COUNT: usize = Slot::Cpu as usize + 1;
}

/// What a feature keeps for one thread.
pub trait ThreadState: Any {
    /// The thread ends, or enters another recording.
    fn end(&mut self, _jni: Jni) {}
}

/// The state of a feature, as the feature names it.
pub trait FeatureState: ThreadState + Sized {
    /// Where contexts keep it.
    const SLOT: Slot;

    /// For a thread that enters the recording for the first time.
    fn new(core: &'static Core) -> Self;
}

/// A thread's context with what features keep for it.
pub struct LocalThread {
    /// What all features use.
    pub thread: ThreadContext,
    states: [Option<Box<dyn ThreadState>>; Slot::COUNT],
}

impl LocalThread {
    /// The context, and the state of one feature, which is made if the thread has none yet.
    #[inline]
    pub fn with<S: FeatureState>(&mut self) -> (&mut ThreadContext, &mut S) {
        let slot = &mut self.states[S::SLOT as usize];
        let core = self.thread.core;
        let state: &mut dyn Any = &mut **slot.get_or_insert_with(|| Box::new(S::new(core)));
        (&mut self.thread, state.downcast_mut().expect("each slot has one type"))
    }

    /// A virtual thread runs on the platform thread from now on. It is announced if it is new.
    ///
    /// # Safety
    /// `thread` is a live reference to it.
    pub(crate) unsafe fn mount(&mut self, jni: Jni, thread: jobject, index: ThreadIndex, now: Ticks) {
        // SAFETY: by the caller's promise.
        let is_new = unsafe { self.thread.core.thread_found(jni, thread, index, || ()) };
        // Without it the first event that names the thread defines it.
        if is_new && self.thread.make_room(1) {
            self.thread.push(Event::ThreadStart(index), now);
        }
        self.switch(jni, index);
    }

    /// Another thread runs on the platform thread from now on: a virtual one, or the platform thread itself.
    pub(crate) fn switch(&mut self, jni: Jni, thread: ThreadIndex) {
        self.thread.switch(thread);
        self.thread.core.features().for_each(|feature| feature.switched(jni, self));
    }

    fn end(mut self, jni: Jni) {
        self.states.iter_mut().flatten().for_each(|state| state.end(jni));
        if !self.thread.producer.has_pushed() {
            self.thread.core.forget_buffer(&self.thread.producer);
        }
    }
}

thread_local! {
    static CONTEXT: Cell<*mut LocalThread> = const { Cell::new(null_mut()) };
    /// The thread whose end was reported last.
    static ENDED: Cell<Option<ThreadIndex>> = const { Cell::new(None) };
}

/// The value of `CONTEXT` while the context is being made or is in use: hooks that run meanwhile do nothing.
const BUSY: *mut LocalThread = std::ptr::without_provenance_mut(1);

/// The current thread is inside the agent until this is left. There is one for each thread at a time.
pub struct Entry(*mut LocalThread);

impl Entry {
    /// Enters, unless the thread is inside the agent already. `now` is asked for only if the thread is new.
    #[inline]
    fn enter(core: &'static Core, jni: Jni, now: impl FnOnce() -> Ticks) -> Option<Entry> {
        let mut context = CONTEXT.get();
        if context == BUSY {
            return None;
        }
        // SAFETY: a pointer in this thread's CONTEXT comes from `make_context`, and only this thread frees it, after it removed
        // it.
        if context.is_null() || !std::ptr::eq(unsafe { (*context).thread.core }, core) {
            context = make_context(core, jni, now(), context);
        }
        CONTEXT.set(BUSY);
        Some(Entry(context))
    }

    #[inline]
    fn context(&mut self) -> &mut LocalThread {
        // SAFETY: as in `enter`. While CONTEXT is BUSY no second reference is made of it.
        unsafe { &mut *self.0 }
    }

    /// Leaves. This is skipped when the body panics: the thread reports nothing more, which is better than a second panic.
    #[inline]
    fn leave(self) {
        CONTEXT.set(self.0);
    }

    /// Whether the current thread is inside the agent: one of the agent's own always is.
    pub fn is_inside() -> bool {
        CONTEXT.get() == BUSY
    }

    /// Keeps the current thread inside the agent for good, so that none of its events is ever reported.
    pub fn stay() {
        CONTEXT.set(BUSY);
    }

    /// Drops the current thread's context and keeps the thread inside: what it still does, such as waking the threads that join
    /// it, is not reported.
    pub fn end(jni: Jni) {
        let context = CONTEXT.replace(BUSY);
        if !context.is_null() && context != BUSY {
            // SAFETY: made by `make_context` of this thread and removed from CONTEXT, so there is no other reference.
            let context = *unsafe { Box::from_raw(context) };
            ENDED.set(Some(context.thread.carrier));
            context.end(jni);
        }
    }

    /// Lets a thread report again after `end`, as another thread: a native one that attaches once more.
    pub fn begin_again() {
        ENDED.set(None);
        if CONTEXT.get() == BUSY {
            CONTEXT.set(null_mut());
        }
    }

    /// Lets a thread report again after `end`, as what it was: it ends the VM. JDK 21 has forgotten its number by then.
    pub fn go_on(core: &Core) {
        if let Some(ended) = ENDED.take() {
            core.jvm.threads.mark_current(ended);
        }
        Entry::begin_again();
    }
}

/// Runs `body` with the current thread's context, unless the thread is inside the agent already. `now` is asked for only if the
/// thread is new.
#[inline]
pub fn enter(core: &'static Core, jni: Jni, now: impl FnOnce() -> Ticks, body: impl FnOnce(&mut LocalThread)) {
    let Some(mut entry) = Entry::enter(core, jni, now) else { return };
    let local = entry.context();
    // Events of threads that wait refer to each other, so their order matters.
    let in_order = core.records_locks();
    if in_order {
        local.thread.producer.begin_publish();
    }
    body(local);
    if in_order {
        local.thread.producer.end_publish();
    }
    entry.leave();
}

/// Runs `body`, which has the VM do something, as a part of the agent; `None` if the thread is inside the agent already.
pub fn inside<T>(core: &'static Core, jni: Jni, body: impl FnOnce() -> T) -> Option<T> {
    let mut result = None;
    enter(core, jni, Ticks::now, |local| result = Some(core.exclude(jni, local.thread.carrier, body)));
    result
}

/// A feature whose events callbacks of the VM report.
pub trait Reporter: Sync + Sized + 'static {
    /// What it keeps for each thread.
    type State: FeatureState;

    /// The instance of the current recording.
    fn current() -> Option<&'static Self>;

    /// Its recording.
    fn core(&self) -> &'static Core;
}

/// The entry of each callback that reports an event. It does nothing unless the recording reports, or if the thread is inside
/// the agent already; no panic leaves it.
///
/// # Safety
/// `jni` is the current thread's environment.
#[inline]
pub unsafe fn callback<F: Reporter>(
    jni: *mut JNIEnv,
    body: impl FnOnce(&'static F, Jni, &mut ThreadContext, &mut F::State),
) {
    // SAFETY: by the caller's promise.
    guard(|| enter_for(unsafe { Jni::from_raw(jni) }, body));
}

/// The same, where no panic leaves the caller.
#[inline]
pub fn enter_for<F: Reporter>(jni: Jni, body: impl FnOnce(&'static F, Jni, &mut ThreadContext, &mut F::State)) {
    let Some(feature) = F::current().filter(|feature| feature.core().is_reporting()) else { return };
    enter(feature.core(), jni, Ticks::now, |local| {
        let (thread, state) = local.with();
        body(feature, jni, thread, state);
    });
}

/// A context of the current thread for this recording; that of an earlier recording is dropped.
#[cold]
fn make_context(core: &'static Core, jni: Jni, now: Ticks, before: *mut LocalThread) -> *mut LocalThread {
    CONTEXT.set(BUSY);
    if !before.is_null() {
        // SAFETY: made by this function on this thread, and removed from CONTEXT.
        (*unsafe { Box::from_raw(before) }).end(jni);
    }
    let RunningThread { carrier, mounted } = core.jvm.threads.resolve_running(jni, now);
    let (producer, consumer) = channel(&core.pool);
    core.add_buffer(carrier, consumer);
    let thread = ThreadContext {
        core,
        carrier,
        current: carrier,
        is_virtual: false,
        living: None,
        owes_switch: false,
        is_left_out: false,
        object_tags: core.tags.for_objects(carrier),
        class_tags: core.tags.for_classes(carrier),
        weak_refs: WeakRefRecorder::default(),
        producer,
        next_object: 0,
        last_object: 0,
        generation: Ticks(0),
    };
    let mut context = Box::new(LocalThread { thread, states: [const { None }; Slot::COUNT] });
    if let Some((thread, index)) = mounted {
        // SAFETY: a live local reference, deleted when it is done with.
        unsafe {
            if core.follows_virtual_threads() {
                context.thread.producer.begin_publish();
                context.mount(jni, thread, index, now);
                context.thread.producer.end_publish();
            }
            jni.delete_local_ref(thread);
        }
    }
    let context = Box::into_raw(context);
    CONTEXT.set(context);
    context
}
