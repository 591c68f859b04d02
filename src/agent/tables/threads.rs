//! The threads that events refer to: what the trace says of them.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

use jvmti::jni_sys::jobject;
use jvmti::{Env, Jni};
use trace::ids::ThreadId;

use super::table::Table;
use crate::agent::clock::Ticks;
use crate::agent::ids::{IdSource, RecordingNumber, ThreadIndex};

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
    /// Known once the constructor of its `Thread` has set them.
    pub(crate) names: OnceLock<ThreadNames>,
    /// Bytes that the JVM accounts to it and that do not belong to the program's work while the agent reports: what was
    /// allocated earlier, and what the agent itself allocates on it.
    pub(crate) excluded_bytes: AtomicU64,
    /// The last recording that announced it to its features, but for platform threads of a recording that began with the VM.
    announced: AtomicU32,
    /// Its end has begun: later events do not name it as an owner.
    has_ended: AtomicBool,
    /// A bit for each kind of wait that has begun, and four bits higher one for each that is not in the trace.
    waits: AtomicU8,
}

/// The ways of a thread to wait. It can be in several at a time: whoever parks may be blocked on a monitor meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitState {
    /// For a monitor that another thread owns.
    Blocked = 1,
    /// In `Object.wait`.
    Waiting = 2,
    /// In `LockSupport.park`.
    Parked = 4,
    /// In `Thread.sleep`.
    Sleeping = 8,
}

impl WaitState {
    fn begun(self) -> u8 {
        self as u8
    }

    fn dropped(self) -> u8 {
        self.begun() << 4
    }
}

/// What is known of the beginning of a wait that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beginning {
    Shown,
    /// The trace does not show it, and so is not to show the end.
    Dropped,
    /// It was not reported.
    Unseen,
}

impl ThreadRecord {
    /// The thread ends. A time taken after this is later than every event for which it had not ended.
    pub(crate) fn set_ended(&self) {
        self.has_ended.store(true, Ordering::SeqCst);
    }

    /// True the first time that a recording asks: then it announces the thread to its features.
    pub(crate) fn announce(&self, recording: RecordingNumber) -> bool {
        self.announced.swap(recording.0, Ordering::Relaxed) != recording.0
    }

    /// Whether a recording has announced it.
    pub(crate) fn is_announced(&self, recording: RecordingNumber) -> bool {
        self.announced.load(Ordering::Relaxed) == recording.0
    }

    /// The thread begins to wait, and the trace shows it or not.
    pub(crate) fn begin_wait(&self, state: WaitState, is_shown: bool) {
        // It is written by the thread itself, so that two never do so at a time.
        let others = self.waits.load(Ordering::Relaxed) & !(state.begun() | state.dropped());
        let bits = if is_shown { state.begun() } else { state.begun() | state.dropped() };
        self.waits.store(others | bits, Ordering::Relaxed);
    }

    /// The thread has waited. What is known of the beginning.
    pub(crate) fn end_wait(&self, state: WaitState) -> Beginning {
        let bits = self.waits.load(Ordering::Relaxed);
        if bits & state.begun() == 0 {
            return Beginning::Unseen;
        }
        self.waits.store(bits & !(state.begun() | state.dropped()), Ordering::Relaxed);
        if bits & state.dropped() == 0 { Beginning::Shown } else { Beginning::Dropped }
    }

    /// Whether its end has begun.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::SeqCst)
    }

    /// What the program allocated on it while the agent reports, if the JVM accounts `vm_bytes` to it.
    pub(crate) fn accounted(&self, vm_bytes: Option<u64>) -> Option<u64> {
        vm_bytes.map(|bytes| bytes.saturating_sub(self.excluded_bytes.load(Ordering::Relaxed)))
    }
}

/// All threads seen so far.
pub(crate) struct Threads {
    env: Env,
    ids: &'static IdSource,
    table: Table<ThreadRecord>,
}

impl Threads {
    /// No thread yet. Threads carry their numbers in the thread-local storage of `env`.
    pub(crate) fn new(env: Env, ids: &'static IdSource) -> Threads {
        Threads { env, ids, table: Table::new() }
    }

    /// Calls `visit` with every living platform thread that is registered, as a live local reference.
    pub(crate) fn each_living(&self, jni: Jni, mut visit: impl FnMut(jobject, ThreadIndex)) {
        let Ok(threads) = self.env.get_all_threads() else { return };
        jni.expect_local_refs(threads.len());
        for &thread in threads.iter() {
            // SAFETY: live local references, each deleted when it is done with.
            unsafe {
                if let Some(index) = self.find(thread) {
                    visit(thread, index);
                }
                jni.delete_local_ref(thread);
            }
        }
    }

    /// The thread of that number.
    pub(crate) fn get(&self, index: ThreadIndex) -> Option<&ThreadRecord> {
        self.table.get(index.0)
    }

    fn register(&self, now: Ticks) -> ThreadIndex {
        let id = ThreadId(self.ids.next());
        ThreadIndex(self.table.push_with(|_| ThreadRecord {
            id,
            started: now,
            names: OnceLock::new(),
            excluded_bytes: AtomicU64::new(0),
            announced: AtomicU32::new(0),
            has_ended: AtomicBool::new(false),
            waits: AtomicU8::new(0),
        }))
    }

    /// The number of a thread, if it is registered.
    ///
    /// # Safety
    /// `thread` is a live reference to a thread, or null for the current one.
    pub(crate) unsafe fn find(&self, thread: jobject) -> Option<ThreadIndex> {
        // SAFETY: by the caller's promise.
        let stored = unsafe { self.env.get_thread_local_storage(thread) }.map_or(0, |data| data as usize);
        stored.checked_sub(1).map(|index| ThreadIndex(index as u32))
    }

    /// The current thread has that number.
    pub(crate) fn mark_current(&self, index: ThreadIndex) {
        // SAFETY: null is the current thread.
        unsafe { self.mark(null_mut(), index) };
    }

    /// A thread that cannot be marked (it is just starting) is registered once more at its start event, unless its context
    /// remembers.
    ///
    /// # Safety
    /// As for `find`.
    unsafe fn mark(&self, thread: jobject, index: ThreadIndex) {
        // SAFETY: by the caller's promise; the number is stored as if it were a pointer and never followed.
        let _ = unsafe { self.env.set_thread_local_storage(thread, (index.0 as usize + 1) as *const c_void) };
    }

    /// The number of a thread, registered if it is new; its names are looked up if it has any by now.
    ///
    /// # Safety
    /// `thread` is a live reference to a thread, or null for the current one.
    pub(crate) unsafe fn resolve(&self, jni: Jni, thread: jobject, now: Ticks) -> ThreadIndex {
        // SAFETY: by the caller's promise.
        unsafe { self.resolve_as(jni, thread, now, NameStage::Constructed) }
    }

    /// # Safety
    /// As for `resolve`.
    pub(crate) unsafe fn resolve_as(&self, jni: Jni, thread: jobject, now: Ticks, stage: NameStage) -> ThreadIndex {
        // SAFETY: by the caller's promise.
        let index = match unsafe { self.find(thread) } {
            Some(index) => index,
            None => {
                let index = self.register(now);
                // SAFETY: by the caller's promise.
                unsafe { self.mark(thread, index) };
                index
            }
        };
        // SAFETY: by the caller's promise.
        unsafe { self.name(index, jni, thread, stage) };
        index
    }

    /// Looks up the names of a thread that has none yet.
    ///
    /// # Safety
    /// As for `resolve`.
    pub(crate) unsafe fn name(&self, index: ThreadIndex, jni: Jni, thread: jobject, stage: NameStage) {
        let Some(record) = self.get(index).filter(|r| r.names.get().is_none()) else { return };
        // SAFETY: by the caller's promise.
        if let Some(names) = unsafe { names_of(self.env, jni, thread, stage) } {
            // Another thread may have set the same names meanwhile.
            let _ = record.names.set(names);
        }
    }
}

/// How far a thread is when its names are asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameStage {
    /// The constructor of its `java.lang.Thread` may still run: a thread that JNI attaches runs it itself. Its group is set
    /// before its name, so that no name is not yet an empty one.
    Unknown,
    /// It has its first name, which may be empty.
    Constructed,
}

/// The names of a thread; `None` while it has none.
///
/// # Safety
/// `thread` is a live reference to a thread, or null for the current one.
unsafe fn names_of(env: Env, jni: Jni, thread: jobject, stage: NameStage) -> Option<ThreadNames> {
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
        (stage == NameStage::Constructed || !names.name.is_empty()).then_some(names)
    }
}
