//! Threads: what the trace says of them, and each one's own end of the event path.
//!
//! A thread finds its context in a native thread-local, made when the thread is first met: at its start event, or in its
//! first hook if it was there before us or allocates before its start event (a thread attaching by JNI does). While a
//! context is in use the thread is inside the agent, and whatever it allocates there is not reported.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jvmti::jni_sys::jobject;
use jvmti::{Env, Jni};
use trace::ids::{ObjectId, ThreadId};

use super::buffer::{Consumer, Producer, channel};
use super::classes::Surroundings;
use super::clock::Ticks;
use super::counts::{Makers, ThreadCounts};
use super::event::Event;
use super::familiar::Familiar;
use super::lives::Recorder;
use super::stacks::StackWalker;
use super::table::Table;
use super::tags::Shard;
use super::waits::Recent;
use super::{Agent, accounting};

/// Number of a thread in [`Threads`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ThreadIndex(pub(crate) u32);

/// Names of a thread.
#[derive(Debug, Default)]
pub(crate) struct ThreadNames {
    pub(crate) name: String,
    pub(crate) group: String,
    pub(crate) parent: String,
}

/// What is known of a thread.
#[derive(Debug)]
pub(crate) struct ThreadRecord {
    pub(crate) id: ThreadId,
    pub(crate) started: Ticks,
    /// Known once the thread is far enough to have them.
    pub(crate) names: OnceLock<ThreadNames>,
    /// What the JVM accounts to it and the program did not allocate while the agent reports: what it allocated before, and
    /// what the agent itself allocates on it.
    pub(crate) excluded_bytes: AtomicU64,
    /// With `locks=on`, of a virtual thread: it is known by what monitors call their owner.
    pub(crate) is_on_roster: AtomicBool,
    /// Its end has begun: it is no owner in events of later.
    has_ended: AtomicBool,
}

impl ThreadRecord {
    /// The thread ends. What is stamped after this is later than every event for which it had not ended.
    pub(crate) fn ends(&self) {
        self.has_ended.store(true, Ordering::SeqCst);
    }

    /// Whether its end has begun.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::SeqCst)
    }

    /// What the program allocated on it while the agent reports, by what the JVM accounts to it.
    pub(crate) fn accounted(&self, vm_bytes: Option<u64>) -> Option<u64> {
        vm_bytes.map(|bytes| bytes.saturating_sub(self.excluded_bytes.load(Ordering::Relaxed)))
    }
}

/// All threads met so far, and buffers that the writer has not taken over yet.
pub(crate) struct Threads {
    table: Table<ThreadRecord>,
    fresh: Mutex<Vec<(ThreadIndex, Consumer)>>,
}

impl Threads {
    pub(crate) fn new() -> Threads {
        Threads { table: Table::new(), fresh: Mutex::default() }
    }

    /// The thread of that number.
    pub(crate) fn get(&self, index: ThreadIndex) -> Option<&ThreadRecord> {
        self.table.get(index.0)
    }

    /// The buffers that came since the last call.
    pub(crate) fn take_fresh(&self) -> Vec<(ThreadIndex, Consumer)> {
        std::mem::take(&mut self.fresh.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn register(&self, agent: &Agent, now: Ticks) -> ThreadIndex {
        let id = ThreadId(agent.new_id());
        ThreadIndex(self.table.push_with(|_| ThreadRecord {
            id,
            started: now,
            names: OnceLock::new(),
            excluded_bytes: AtomicU64::new(0),
            is_on_roster: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
        }))
    }

    /// The number of a thread, if it is registered.
    ///
    /// # Safety
    /// `thread` is a live reference to a thread, or null for the current one.
    pub(crate) unsafe fn find(&self, env: Env, thread: jobject) -> Option<ThreadIndex> {
        // SAFETY: by the caller's promise.
        let stored = unsafe { env.get_thread_local_storage(thread) }.map_or(0, |data| data as usize);
        stored.checked_sub(1).map(|index| ThreadIndex(index as u32))
    }

    /// The number of a thread, registered if it is new; its names are looked up if it has any by now.
    ///
    /// # Safety
    /// `thread` is a live reference to a thread, or null for the current one.
    pub(crate) unsafe fn resolve(&self, agent: &Agent, jni: Jni, thread: jobject, now: Ticks) -> ThreadIndex {
        // SAFETY: by the caller's promise.
        unsafe { self.resolve_as(agent, jni, thread, now, Stage::Constructed) }
    }

    /// # Safety
    /// As for `resolve`.
    unsafe fn resolve_as(&self, agent: &Agent, jni: Jni, thread: jobject, now: Ticks, stage: Stage) -> ThreadIndex {
        let env = agent.env;
        // SAFETY: by the caller's promise.
        let index = match unsafe { self.find(env, thread) } {
            Some(index) => index,
            None => {
                let index = self.register(agent, now);
                // A thread that cannot be marked (it is just starting) is registered once more at its start event, unless
                // its context remembers.
                // SAFETY: by the caller's promise; the number is stored as if it were a pointer and never followed.
                let _ = unsafe { env.set_thread_local_storage(thread, (index.0 as usize + 1) as *const c_void) };
                index
            }
        };
        // SAFETY: by the caller's promise.
        unsafe { self.name(index, env, jni, thread, stage) };
        index
    }

    /// Looks up the names of a thread that has none yet.
    ///
    /// # Safety
    /// As for `resolve`.
    unsafe fn name(&self, index: ThreadIndex, env: Env, jni: Jni, thread: jobject, stage: Stage) {
        let Some(record) = self.get(index).filter(|r| r.names.get().is_none()) else { return };
        // SAFETY: by the caller's promise.
        if let Some(names) = unsafe { names_of(env, jni, thread, stage) } {
            // Somebody else may have been faster, with the same names.
            let _ = record.names.set(names);
        }
    }
}

/// How far a thread is when its names are asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The constructor of its `java.lang.Thread` may still run: a thread that JNI attaches runs it itself. Its group is set
    /// before its name, so that no name is not yet an empty one.
    Unknown,
    /// It has the name that it starts with, which may be empty.
    Constructed,
}

/// The names of a thread; `None` while it has none.
///
/// # Safety
/// `thread` is a live reference to a thread, or null for the current one.
unsafe fn names_of(env: Env, jni: Jni, thread: jobject, stage: Stage) -> Option<ThreadNames> {
    // SAFETY: by the caller's promise; what the VM returns are local references, deleted below.
    unsafe {
        let info = env.get_thread_info(thread).ok()?;
        jni.delete_local_ref(info.context_class_loader);
        let mut names = ThreadNames {
            name: info.name.as_ref().map(|n| trace::modified_utf8::decode(n)).unwrap_or_default(),
            ..ThreadNames::default()
        };
        if info.thread_group.is_null() {
            // Not yet constructed, or already ended.
            return (!names.name.is_empty()).then_some(names);
        }
        if let Ok(group) = env.get_thread_group_info(info.thread_group) {
            names.group = group.name.as_ref().map(|n| trace::modified_utf8::decode(n)).unwrap_or_default();
            if !group.parent.is_null() {
                if let Ok(parent) = env.get_thread_group_info(group.parent) {
                    names.parent = parent.name.as_ref().map(|n| trace::modified_utf8::decode(n)).unwrap_or_default();
                    jni.delete_local_ref(parent.parent);
                }
                jni.delete_local_ref(group.parent);
            }
        }
        jni.delete_local_ref(info.thread_group);
        (stage == Stage::Constructed || !names.name.is_empty()).then_some(names)
    }
}

/// A thread's own end of the event path.
pub(crate) struct ThreadContext {
    /// The platform thread itself.
    pub(crate) carrier: ThreadIndex,
    /// The virtual thread that runs on it, or itself.
    pub(crate) current: ThreadIndex,
    /// With `locks=on`, where it tells others of `current`.
    mounted: Option<Arc<AtomicU32>>,
    /// With `locks=on`: for its own stack when it waits, and for those of others.
    pub(crate) wait_walker: Option<StackWalker>,
    pub(crate) owner_walker: Option<StackWalker>,
    /// Where it tags what it allocates next, and where it looks classes up.
    pub(crate) shard: Shard,
    pub(crate) class_shard: Shard,
    /// Notes the objects that it allocates.
    pub(crate) lives: Recorder,
    /// A virtual thread runs on it, and so may have begun elsewhere what it ends here.
    pub(crate) is_virtual: bool,
    /// With `locks=on`, what it did last.
    pub(crate) recent: Recent,
    producer: Producer,
    next_object: u64,
    last_object: u64,
    /// The end of the collection after which the ids at hand were taken.
    generation: Ticks,
    pub(crate) walker: Option<StackWalker>,
    pub(crate) unconstructed: Unconstructed,
    /// With `heap=counts`, from its first allocation on.
    pub(crate) counts: Option<Arc<ThreadCounts>>,
    /// With `heap=counts`, which methods made the VM make objects.
    pub(crate) makers: Makers,
    /// With `heap=counts`, which native methods are counted where they are called.
    pub(crate) natives: Familiar<bool>,
    /// With `heap=counts`, what the JVM accounted to the thread before it called a method that makes objects nobody sees.
    pub(crate) account: Option<u64>,
}

/// Instances that `Unsafe.allocateInstance` made and that the VM has told of: if a constructor runs on one after all (method
/// handles do so), its hook must not report it again.
#[derive(Default)]
pub(crate) struct Unconstructed {
    instances: u32,
    patience: u32,
}

impl Unconstructed {
    /// So many constructors may run before an instance is taken for one that never gets its own.
    const PATIENCE: u32 = 4096;

    /// Such an instance was made.
    pub(crate) fn made(&mut self) {
        self.instances += 1;
        self.patience = Self::PATIENCE;
    }

    /// Whether an object whose constructor runs now may be one of them.
    #[inline]
    pub(crate) fn expected(&mut self) -> bool {
        if self.instances == 0 {
            return false;
        }
        self.patience -= 1;
        if self.patience == 0 {
            self.instances = 0;
        }
        true
    }

    /// It is one of them.
    pub(crate) fn constructed(&mut self) {
        self.instances = self.instances.saturating_sub(1);
    }
}

thread_local! {
    static CONTEXT: Cell<*mut ThreadContext> = const { Cell::new(null_mut()) };
}

/// Stands in `CONTEXT` while the context is being made or is in use: hooks that run meanwhile do nothing.
const BUSY: *mut ThreadContext = std::ptr::without_provenance_mut(1);

/// Object ids that a thread takes at once.
const ID_BLOCK: u64 = 1024;

impl ThreadContext {
    /// Hands an event to the writer.
    #[inline]
    pub(crate) fn push(&mut self, agent: &Agent, event: Event, time: Ticks) {
        if self.producer.push(event.pack(time)) {
            agent.wake_writer_if_behind();
        }
    }

    /// From now on that thread runs here: a virtual one, or the platform thread itself.
    pub(crate) fn switch(&mut self, agent: &Agent, jni: Jni, thread: ThreadIndex, now: Ticks) {
        self.current = thread;
        self.is_virtual = thread != self.carrier;
        self.recent.blocked = None;
        if let Some(waits) = &agent.waits {
            if self.mounted.is_none() {
                self.mounted = waits.mounted(jni);
            }
            if let Some(mounted) = &self.mounted {
                mounted.store(thread.0, Ordering::Relaxed);
            }
        }
        self.push(agent, Event::Switch(thread), now);
    }

    /// An id for an object made at that time. Ids taken before a collection are not given to objects made after it, so that an
    /// id tells how many collections its object may have survived.
    #[inline]
    pub(crate) fn new_object(&mut self, agent: &Agent, now: Ticks) -> ObjectId {
        let generation = agent.gc.generation();
        if self.next_object == self.last_object || generation != self.generation && generation <= now {
            self.generation = generation;
            self.next_object = agent.ids.fetch_add(ID_BLOCK, Ordering::Relaxed);
            self.last_object = self.next_object + ID_BLOCK;
        }
        self.next_object += 1;
        ObjectId(self.next_object - 1)
    }
}

/// Runs `body` with the current thread's context, unless the thread is inside the agent already.
#[inline]
pub(crate) fn with_context(agent: &'static Agent, jni: Jni, now: Ticks, body: impl FnOnce(&mut ThreadContext)) {
    in_context(agent, jni, || now, body);
}

/// As `with_context`; `now` is asked for only if the thread is new. For those who take the time inside `body`.
#[inline]
pub(crate) fn in_context(
    agent: &'static Agent,
    jni: Jni,
    now: impl FnOnce() -> Ticks,
    body: impl FnOnce(&mut ThreadContext),
) {
    let mut context = CONTEXT.get();
    if context.is_null() {
        context = make_context(agent, jni, now());
    }
    if context == BUSY {
        return;
    }
    // Not put back when `body` panics: then the thread's events end, which is better than a second panic.
    CONTEXT.set(BUSY);
    // SAFETY: a pointer in this thread's CONTEXT comes from `make_context` and is freed by `end` only, which this thread
    // calls. While it is out of CONTEXT nobody can make a second reference of it: a hook inside `body` ends above.
    let own = unsafe { &mut *context };
    // Events of threads that wait name each other, so their order counts.
    let in_order = agent.waits.is_some();
    if in_order {
        own.producer.promise();
    }
    body(own);
    if in_order {
        own.producer.kept();
    }
    CONTEXT.set(context);
}

#[cold]
fn make_context(agent: &'static Agent, jni: Jni, now: Ticks) -> *mut ThreadContext {
    CONTEXT.set(BUSY);
    // SAFETY: null is the current thread.
    let carrier = unsafe { agent.threads.resolve_as(agent, jni, null_mut(), now, Stage::Unknown) };
    let (producer, consumer) = channel(&agent.pool);
    agent.threads.fresh.lock().unwrap_or_else(PoisonError::into_inner).push((carrier, consumer));
    let depth = agent.options.frames();
    let waiting = agent.waits.as_ref().map_or(0, |waits| waits.options.stack_depth);
    let context = Box::into_raw(Box::new(ThreadContext {
        carrier,
        current: carrier,
        mounted: None,
        wait_walker: (waiting > 0).then(|| StackWalker::new(waiting)),
        owner_walker: (waiting > 0).then(|| StackWalker::new(waiting)),
        shard: agent.tags.for_objects(carrier),
        class_shard: agent.tags.for_classes(carrier),
        lives: Recorder::default(),
        is_virtual: false,
        recent: Recent::default(),
        producer,
        next_object: 0,
        last_object: 0,
        generation: Ticks(0),
        walker: (depth > 0).then(|| StackWalker::new(depth)),
        unconstructed: Unconstructed::default(),
        counts: None,
        makers: Makers::default(),
        natives: Familiar::default(),
        account: None,
    }));
    CONTEXT.set(context);
    context
}

/// The current thread begins.
///
/// # Safety
/// `thread` is a live reference to the current thread.
pub(crate) unsafe fn start(agent: &'static Agent, jni: Jni, thread: jobject) {
    let now = Ticks::now();
    unmute();
    with_context(agent, jni, now, |context| {
        // SAFETY: by the caller's promise.
        unsafe {
            agent.threads.name(context.carrier, agent.env, jni, thread, Stage::Constructed);
            if let Some(waits) = &agent.waits {
                waits.enter(jni, thread, context.carrier);
            }
            if let Some(counts) = agent.counts.as_ref().filter(|_| Agent::reporting().is_some()) {
                counts.thread_starts(jni, context, thread);
            }
        }
        context.push(agent, Event::ThreadStart(context.carrier), now);
    });
}

/// The current thread ends: its last event, and its context goes.
///
/// # Safety
/// `thread` is a live reference to the current thread.
pub(crate) unsafe fn end(agent: &'static Agent, jni: Jni, thread: jobject) {
    if let Some(waits) = &agent.waits {
        // SAFETY: by the caller's promise.
        unsafe {
            if let Some(index) = agent.threads.find(agent.env, thread) {
                agent.threads.get(index).inspect(|record| record.ends());
                waits.leave(jni, thread, index);
            }
        }
    }
    // Later than every event of others that still name this thread as an owner.
    let now = Ticks::now();
    if !agent.pool.is_closed() {
        with_context(agent, jni, now, |context| {
            accounting::thread_ends(agent, jni, context, now);
            context.push(agent, Event::ThreadEnd(context.carrier), now);
        });
    }
    // What the thread still does, such as telling those who join it, is no event of it any more.
    let context = CONTEXT.replace(BUSY);
    if !context.is_null() && context != BUSY {
        // SAFETY: made by `make_context` of this thread and taken out of CONTEXT, so nobody else can reach it; this
        // callback does not run inside `with_context`.
        let mut context = unsafe { Box::from_raw(context) };
        context.recent.objects.forget(jni);
        if let (Some(counts), Some(own)) = (&agent.counts, &context.counts) {
            counts.end(own);
        }
    }
}

/// A thread whose events had ended is Java's again: a native one that was attached before, or the one that ends the VM, of whose
/// beginning the VM does not tell.
pub(crate) fn unmute() {
    if CONTEXT.get() == BUSY {
        CONTEXT.set(null_mut());
    }
}

/// Marks the current thread as one whose events are never reported.
pub(crate) fn mute() {
    CONTEXT.set(BUSY);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_is_expected_until_constructed_or_given_up() {
        let mut unconstructed = Unconstructed::default();
        assert!(!unconstructed.expected());
        unconstructed.made();
        assert!(unconstructed.expected());
        unconstructed.constructed();
        assert!(!unconstructed.expected());
        unconstructed.made();
        assert_eq!((0..10_000).filter(|_| unconstructed.expected()).count(), Unconstructed::PATIENCE as usize);
    }
}
