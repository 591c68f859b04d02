//! The threads that events refer to: what the trace says of them.

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

use jvmti::jni_sys::{jclass, jfieldID, jobject};
use jvmti::{Env, Jni, JniError};
use rustc_hash::FxHashMap;
use trace::ids::ThreadId;

use super::table::Table;
use crate::clock::Ticks;
use crate::ids::{IdSource, RecordingNumber, ThreadIndex};
use crate::mutex::RwLock;

/// Names of a thread.
#[derive(Debug, Default)]
pub struct ThreadNames {
    /// `Thread.getName`.
    pub name: String,
    /// The name of its thread group; empty if it has none.
    pub group: String,
    /// The name of the parent of its thread group.
    pub parent: String,
}

/// What is known of a thread.
#[derive(Debug)]
pub struct ThreadRecord {
    /// Its id in the trace.
    pub id: ThreadId,
    /// When it started or was found.
    pub started: Ticks,
    /// Known once the constructor of its `Thread` has set them.
    pub names: OnceLock<ThreadNames>,
    /// Bytes that the JVM accounts to it and that do not belong to the program's work while the agent reports: what was
    /// allocated earlier, and what the agent itself allocates on it.
    pub excluded_bytes: AtomicU64,
    /// The last recording that announced it to its features.
    announced: AtomicU32,
    /// Its end has begun: later events do not name it as an owner.
    has_ended: AtomicBool,
    /// A bit for each kind of wait that has begun, and four bits higher one for each that is not in the trace.
    waits: AtomicU8,
}

/// The ways of a thread to wait. It can be in several at a time: whoever parks may be blocked on a monitor meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitState {
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
pub enum Beginning {
    /// The trace shows it.
    Shown,
    /// The trace does not show it, and so is not to show the end.
    Dropped,
    /// It was not reported.
    Unseen,
}

impl ThreadRecord {
    /// The thread ends. A time taken after this is later than every event for which it had not ended.
    pub fn set_ended(&self) {
        self.has_ended.store(true, Ordering::SeqCst);
    }

    /// Whether a recording has announced it.
    pub fn is_announced(&self, recording: RecordingNumber) -> bool {
        self.announced.load(Ordering::SeqCst) == recording.0
    }

    /// The thread begins to wait, and the trace shows it or not.
    pub fn begin_wait(&self, state: WaitState, is_shown: bool) {
        // It is written by the thread itself, so that two never do so at a time.
        let others = self.waits.load(Ordering::Relaxed) & !(state.begun() | state.dropped());
        let bits = if is_shown { state.begun() } else { state.begun() | state.dropped() };
        self.waits.store(others | bits, Ordering::Relaxed);
    }

    /// The thread has waited. What is known of the beginning.
    pub fn end_wait(&self, state: WaitState) -> Beginning {
        let bits = self.waits.load(Ordering::Relaxed);
        if bits & state.begun() == 0 {
            return Beginning::Unseen;
        }
        self.waits.store(bits & !(state.begun() | state.dropped()), Ordering::Relaxed);
        if bits & state.dropped() == 0 { Beginning::Shown } else { Beginning::Dropped }
    }

    /// Whether its end has begun.
    pub fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::SeqCst)
    }

    /// What the program allocated on it while the agent reports, if the JVM accounts `vm_bytes` to it.
    pub fn accounted(&self, vm_bytes: Option<u64>) -> Option<u64> {
        vm_bytes.map(|bytes| bytes.saturating_sub(self.excluded_bytes.load(Ordering::Relaxed)))
    }
}

/// `Thread.tid`, the number of a thread in Java, which no other thread ever has; 0 while its constructor runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JavaNumber(pub i64);

/// The fields of `java.lang.Thread` by which threads are told apart.
struct ThreadFields {
    tid: jfieldID,
    /// The address of what the VM has of a platform thread; 0 for a virtual thread and for one that does not run.
    eetop: jfieldID,
}

// SAFETY: ids, used on every thread.
unsafe impl Send for ThreadFields {}
// SAFETY: as above.
unsafe impl Sync for ThreadFields {}

/// The class of all virtual threads, a global reference, and the field of `java.lang.VirtualThread` with the platform thread that carries
/// one. Whoever looks for that class by its name initialises it, which starts threads: it is asked for its field once there is a virtual
/// thread.
struct VirtualThreads {
    class: jclass,
    carrier: OnceLock<Option<CarrierField>>,
}

/// The field.
struct CarrierField(jfieldID);

// SAFETY: a global reference and an id, used on every thread.
unsafe impl Send for VirtualThreads {}
// SAFETY: as above.
unsafe impl Sync for VirtualThreads {}

impl VirtualThreads {
    /// # Errors
    /// This VM has none, or others; an exception is pending.
    fn find(jni: Jni) -> Result<VirtualThreads, JniError> {
        let local = jni.find_class(c"java/lang/BaseVirtualThread")?;
        // SAFETY: a live local reference, deleted at the end.
        unsafe {
            let found = VirtualThreads { class: jni.new_global_ref(local), carrier: OnceLock::new() };
            jni.delete_local_ref(local);
            Ok(found)
        }
    }

    /// The platform thread that carries a virtual one: a new local reference, or null.
    ///
    /// # Safety
    /// `thread` is a live reference to a virtual thread.
    unsafe fn carrier(&self, jni: Jni, thread: jobject) -> jobject {
        // SAFETY: by the caller's promise; the class is a local reference, deleted at once.
        let field = self.carrier.get_or_init(|| unsafe {
            let class = jni.get_object_class(thread);
            let field = jni.get_field_id(class, c"carrierThread", c"Ljava/lang/Thread;");
            jni.delete_local_ref(class);
            field.inspect_err(|_| jni.exception_clear()).ok().map(CarrierField)
        });
        // SAFETY: by the caller's promise; virtual threads with carriers are of one class.
        field.as_ref().map_or(null_mut(), |field| unsafe { jni.get_object_field(thread, field.0) })
    }
}

/// The platform thread that runs, and the virtual thread that is mounted on it: a live local reference to be deleted, and which it is.
pub struct RunningThread {
    /// The platform thread.
    pub carrier: ThreadIndex,
    /// The virtual thread on it, if there is one.
    pub mounted: Option<(jobject, ThreadIndex)>,
}

/// All threads seen so far.
///
/// A thread has its number in the thread-local storage of JVMTI, where it finds it at once. Nobody may look for it there but the
/// thread itself: the VM frees the storage of a thread that ends while others read it (`JvmtiEnv::GetThreadLocalStorage` takes no lock;
/// seen to crash on 11). Others look for the number in Java.
pub struct Threads {
    env: Env,
    ids: &'static IdSource,
    table: Table<ThreadRecord>,
    fields: OnceLock<ThreadFields>,
    by_number: RwLock<FxHashMap<JavaNumber, ThreadIndex>>,
    virtual_threads: OnceLock<VirtualThreads>,
}

impl Threads {
    /// No thread yet. Threads carry their numbers in the thread-local storage of `env`.
    pub fn new(env: Env, ids: &'static IdSource) -> Threads {
        Threads {
            env,
            ids,
            table: Table::empty(),
            fields: OnceLock::new(),
            by_number: RwLock::default(),
            virtual_threads: OnceLock::new(),
        }
    }

    /// Calls `visit` with every living platform thread that is registered, as a live local reference.
    pub fn each_living(&self, jni: Jni, mut visit: impl FnMut(jobject, ThreadIndex)) {
        let Ok(threads) = self.env.get_all_threads() else { return };
        jni.expect_local_refs(threads.len());
        for &thread in threads.iter() {
            // SAFETY: live local references, each deleted when it is done with.
            unsafe {
                if let Some(index) = self.find(jni, thread) {
                    visit(thread, index);
                }
                jni.delete_local_ref(thread);
            }
        }
    }

    /// The thread of that number.
    pub fn get(&self, index: ThreadIndex) -> Option<&ThreadRecord> {
        self.table.get(index.0)
    }

    /// True the first time that a recording asks: then it announces the thread to its features.
    pub fn announce(&self, index: ThreadIndex, recording: RecordingNumber) -> bool {
        let announced = |record: &ThreadRecord| record.announced.swap(recording.0, Ordering::SeqCst);
        self.get(index).is_some_and(|record| announced(record) != recording.0)
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

    /// Finds out how threads are identified, from VMInit on.
    ///
    /// # Errors
    /// What the VM refuses; no exception is pending any more.
    pub fn find_fields(&self, jni: Jni) -> Result<(), String> {
        if self.fields.get().is_none() {
            let field = |name| thread_field(jni, name).map_err(|error| jni.cleared(error));
            let _ = self.fields.set(ThreadFields { tid: field(c"tid")?, eetop: field(c"eetop")? });
            match VirtualThreads::find(jni) {
                Ok(found) => drop(self.virtual_threads.set(found)),
                Err(_) => jni.exception_clear(),
            }
        }
        Ok(())
    }

    /// The number in Java of a thread; `None` while it has none.
    ///
    /// # Safety
    /// `thread` is a live reference to a thread, or null.
    pub unsafe fn number(&self, jni: Jni, thread: jobject) -> Option<JavaNumber> {
        let fields = self.fields.get().filter(|_| !thread.is_null())?;
        // SAFETY: by the caller's promise; the field is one of java.lang.Thread.
        let number = unsafe { jni.get_long_field(thread, fields.tid) };
        (number != 0).then_some(JavaNumber(number))
    }

    /// The address of what the VM has of a thread; `None` for a virtual thread and for one that does not run.
    ///
    /// # Safety
    /// `thread` is a live reference to a thread.
    pub unsafe fn address(&self, jni: Jni, thread: jobject) -> Option<usize> {
        let fields = self.fields.get()?;
        // SAFETY: by the caller's promise; the field is one of java.lang.Thread.
        let address = unsafe { jni.get_long_field(thread, fields.eetop) } as usize;
        (address != 0).then_some(address)
    }

    /// Any thread, if it is registered.
    ///
    /// # Safety
    /// `thread` is a live reference to a thread.
    pub unsafe fn find(&self, jni: Jni, thread: jobject) -> Option<ThreadIndex> {
        // SAFETY: by the caller's promise.
        let number = unsafe { self.number(jni, thread) }?;
        self.of_number(number)
    }

    /// The thread of that number in Java, if it is registered.
    pub fn of_number(&self, number: JavaNumber) -> Option<ThreadIndex> {
        self.by_number.read().get(&number).copied()
    }

    /// Any thread, registered if it is new; its names are looked up if it has any by now.
    ///
    /// # Safety
    /// `thread` is a live reference to a thread.
    pub unsafe fn resolve(&self, jni: Jni, thread: jobject, now: Ticks) -> ThreadIndex {
        // SAFETY: by the caller's promise.
        unsafe {
            let index = self.resolve_number(self.number(jni, thread), now);
            self.name(index, jni, thread, NameStage::Constructed);
            index
        }
    }

    /// The thread of that number in Java, registered if it is new.
    fn resolve_number(&self, number: Option<JavaNumber>, now: Ticks) -> ThreadIndex {
        let Some(number) = number else { return self.register(now) };
        let known = self.of_number(number);
        known.unwrap_or_else(|| *self.by_number.write().entry(number).or_insert_with(|| self.register(now)))
    }

    /// The current thread, if it is registered and was asked for before.
    pub fn find_current(&self) -> Option<ThreadIndex> {
        // SAFETY: null is the current thread.
        unsafe { self.find_own(null_mut()) }
    }

    /// # Safety
    /// As for `resolve_own`.
    unsafe fn find_own(&self, thread: jobject) -> Option<ThreadIndex> {
        // SAFETY: by the caller's promise.
        let stored = unsafe { self.env.get_thread_local_storage(thread) }.map_or(0, |data| data as usize);
        stored.checked_sub(1).map(|index| ThreadIndex(index as u32))
    }

    /// The current thread, or the virtual one that it carries, registered if it is new; its names are looked up if it has any by now.
    ///
    /// # Safety
    /// `thread` is a live reference to it, or null for the current one.
    pub unsafe fn resolve_own(&self, jni: Jni, thread: jobject, now: Ticks, stage: NameStage) -> ThreadIndex {
        // SAFETY: by the caller's promise; the reference to the current thread is deleted.
        unsafe {
            let index = self.find_own(thread).unwrap_or_else(|| {
                let current =
                    if thread.is_null() { self.env.get_current_thread().unwrap_or(null_mut()) } else { null_mut() };
                let number = self.number(jni, if current.is_null() { thread } else { current });
                jni.delete_local_ref(current);
                let index = self.resolve_number(number, now);
                self.mark(thread, index);
                index
            });
            self.name(index, jni, thread, stage);
            index
        }
    }

    /// The current thread, registered if it is new. In the middle of a recording a virtual thread may be mounted on it: to JVMTI that is
    /// the current one.
    pub fn resolve_running(&self, jni: Jni, now: Ticks) -> RunningThread {
        // SAFETY: null is the current thread; the others are live local references, deleted but for that of the mounted thread.
        unsafe {
            let Some((thread, carrier)) = self.mounted(jni) else {
                let carrier = self.resolve_own(jni, null_mut(), now, NameStage::Unknown);
                return RunningThread { carrier, mounted: None };
            };
            let index = self.resolve(jni, carrier, now);
            jni.delete_local_ref(carrier);
            let mounted = self.resolve_own(jni, thread, now, NameStage::Constructed);
            RunningThread { carrier: index, mounted: Some((thread, mounted)) }
        }
    }

    /// The virtual thread that is mounted on the current one, and the current one: live local references to be deleted.
    fn mounted(&self, jni: Jni) -> Option<(jobject, jobject)> {
        let known = self.virtual_threads.get()?;
        let current = self.env.get_current_thread().ok()?;
        // SAFETY: live local references, deleted unless they are given back.
        unsafe {
            let is_virtual = !current.is_null() && jni.is_instance_of(current, known.class);
            let carrier = if is_virtual { known.carrier(jni, current) } else { null_mut() };
            if carrier.is_null() {
                jni.delete_local_ref(current);
                return None;
            }
            Some((current, carrier))
        }
    }

    /// The current thread, which may have been registered before it had a number in Java, is found by it from now on.
    ///
    /// # Safety
    /// `thread` is a live reference to it.
    pub unsafe fn note_number(&self, jni: Jni, thread: jobject, index: ThreadIndex) {
        // SAFETY: by the caller's promise.
        if let Some(number) = unsafe { self.number(jni, thread) } {
            self.by_number.write().insert(number, index);
        }
    }

    /// The current thread has that number.
    pub fn mark_current(&self, index: ThreadIndex) {
        // SAFETY: null is the current thread.
        unsafe { self.mark(null_mut(), index) };
    }

    /// A thread that cannot be marked (it is just starting) is registered once more at its start event, unless its context
    /// remembers.
    ///
    /// # Safety
    /// As for `resolve_own`.
    unsafe fn mark(&self, thread: jobject, index: ThreadIndex) {
        // SAFETY: by the caller's promise; the number is stored as if it were a pointer and never followed.
        let _ = unsafe { self.env.set_thread_local_storage(thread, (index.0 as usize + 1) as *const c_void) };
    }

    /// Looks up the names of a thread that has none yet.
    ///
    /// # Safety
    /// `thread` is a live reference to it, or null for the current one.
    pub unsafe fn name(&self, index: ThreadIndex, jni: Jni, thread: jobject, stage: NameStage) {
        let Some(record) = self.get(index).filter(|r| r.names.get().is_none()) else { return };
        // SAFETY: by the caller's promise.
        if let Some(names) = unsafe { names_of(self.env, jni, thread, stage) } {
            // Another thread may have set the same names meanwhile.
            let _ = record.names.set(names);
        }
    }
}

/// `Thread.tid`.
///
/// # Errors
/// JNI does not find it; an exception is pending.
pub fn tid_field(jni: Jni) -> Result<jfieldID, JniError> {
    thread_field(jni, c"tid")
}

/// A field of `java.lang.Thread`, a long.
fn thread_field(jni: Jni, name: &CStr) -> Result<jfieldID, JniError> {
    let class = jni.find_class(c"java/lang/Thread")?;
    // SAFETY: a live local reference, deleted at once.
    unsafe {
        let field = jni.get_field_id(class, name, c"J");
        jni.delete_local_ref(class);
        field
    }
}

/// How far a thread is when its names are asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum NameStage {
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
