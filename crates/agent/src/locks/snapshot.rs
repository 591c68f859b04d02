//! Data requests (`kill -QUIT`, or `jcmd PID JVMTI.data_dump`): what all threads do, and who owns the monitors for which they
//! wait. The same is recorded at the end for the threads that are blocked then.

use std::time::{Duration, Instant};

use jvmti::jni_sys::jobject;
use jvmti::sys::*;
use jvmti::{Jni, guard};
use rustc_hash::FxHashSet;
use trace::ids::ObjectId;
use trace::model::ThreadState;

use super::answers::{LockSnapshot, MonitorSnapshot, ThreadSnapshot, Usage};
use super::recorder::Locks;
use super::state::LockThread;
use super::usage::{OwnedMonitors, OwnerQuestion};
use agent_base::clock::Ticks;
use agent_base::events::event::Event;
use agent_base::ids::StackIndex;
use agent_core::core::Core;
use agent_core::core::context::{Reporter, ThreadContext, enter};
use agent_core::core::lost::Dropped;
use hotspot::monitors::MonitorAddress;

/// The end of the program waits for the answer, so its time is bounded.
const LONGEST: Duration = Duration::from_secs(3);

/// Requests come as fast as somebody sends signals; the writer answers all of these before more are taken.
const MAX_UNTAKEN: usize = 8;

/// JVMTI `DataDumpRequest`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn data_dump_request(_: *mut jvmtiEnv) {
    guard(|| {
        let Some(locks) = Locks::current().filter(|locks| locks.core().is_reporting()) else { return };
        let Ok(jni) = locks.core().jvm.vm.get_jni() else { return };
        take(locks, jni, SnapshotScope::All);
    });
}

/// Which threads are asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SnapshotScope {
    /// All of them.
    All,
    /// Those that are blocked on a monitor or parked.
    Blocked,
}

/// Asks, and hands the answer to the writer.
pub(super) fn take(locks: &'static Locks, jni: Jni, scope: SnapshotScope) {
    enter(locks.core(), jni, Ticks::now, |local| {
        let (thread, state) = local.with();
        // Answers that the writer has not taken yet are kept, and may be long.
        if locks.answers.untaken() >= MAX_UNTAKEN || !thread.make_room(1) {
            return locks.core().dropped.add(Dropped::DataRequest, 1);
        }
        let mut request = Request { locks, jni, scope, thread, state, asked: FxHashSet::default(), owned: None };
        let number = locks.answers.add(request.ask());
        request.thread.push(Event::Snapshot(number), Ticks::now());
    });
}

/// A request that is being answered.
struct Request<'r> {
    locks: &'static Locks,
    jni: Jni,
    scope: SnapshotScope,
    /// The thread that asks.
    thread: &'r mut ThreadContext,
    state: &'r mut LockThread,
    /// Monitors that are in the answer.
    asked: FxHashSet<ObjectId>,
    /// What all threads own, if they have been asked.
    owned: Option<OwnedMonitors>,
}

impl Request<'_> {
    fn ask(&mut self) -> LockSnapshot {
        let mut snapshot = LockSnapshot::default();
        let begun = Instant::now();
        let threads = match self.locks.core().jvm.env.get_all_threads() {
            Ok(threads) => threads,
            Err(error) => {
                self.locks.core().count_failure("snapshot", error);
                return snapshot;
            }
        };
        self.jni.expect_local_refs(threads.len());
        for &thread in threads.iter() {
            if begun.elapsed() > LONGEST {
                snapshot.skipped += 1;
            } else {
                // SAFETY: a live local reference.
                unsafe { self.ask_thread(thread, &mut snapshot) };
            }
            // SAFETY: as above, and it is not used any more.
            unsafe { self.jni.delete_local_ref(thread) };
        }
        if let Some(owned) = self.owned.take() {
            owned.release(self.jni);
            snapshot.add_waiters();
        }
        snapshot
    }

    /// # Safety
    /// `object` is a live reference.
    unsafe fn id_of(&mut self, object: jobject) -> Option<ObjectId> {
        // It may have to be announced.
        if !self.thread.make_room(1) {
            return None;
        }
        // SAFETY: by the caller's promise.
        unsafe { self.locks.ids.object(self.jni, self.thread, self.state, MonitorAddress::default(), object) }
    }

    /// # Safety
    /// `thread` is a live reference to a platform thread.
    unsafe fn ask_thread(&mut self, thread: jobject, snapshot: &mut LockSnapshot) {
        let (locks, jni, jvm) = (self.locks, self.jni, self.locks.core().jvm);
        let env = jvm.env;
        // SAFETY: by the caller's promise; what JVMTI and JNI return are local references, deleted when they are done with. A
        // thread that ends meanwhile gives errors, and is left out.
        unsafe {
            let Ok(state) = env.get_thread_state(thread) else { return };
            let is_parked = state & JVMTI_THREAD_STATE_PARKED != 0 && locks.shows_parks();
            let is_blocked = state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER != 0;
            if self.scope == SnapshotScope::Blocked && !is_parked && !is_blocked {
                return;
            }
            let (Some(index), Ok(info)) = (jvm.threads.find(jni, thread), env.get_thread_info(thread)) else { return };
            jni.delete_local_ref(info.thread_group);
            jni.delete_local_ref(info.context_class_loader);
            let mut object = None;
            let monitor = env.get_current_contended_monitor(thread).unwrap_or(std::ptr::null_mut());
            if !monitor.is_null() {
                object = self.id_of(monitor);
                if let Some(id) = object.filter(|&id| self.asked.insert(id)) {
                    snapshot.monitors.extend(self.ask_monitor(monitor, id));
                }
                jni.delete_local_ref(monitor);
            } else if is_parked
                && let Some((lock, owner)) = locks.blockers().and_then(|blockers| blockers.parked_on(jni, thread))
            {
                object = self.id_of(lock);
                if let Some(id) = object.filter(|&id| self.asked.insert(id) && !owner.is_null()) {
                    let owner = jvm.threads.resolve(jni, owner, Ticks::now());
                    snapshot.monitors.push(MonitorSnapshot { object: id, owner: Some(owner), usage: None });
                }
                jni.delete_local_ref(lock);
                jni.delete_local_ref(owner);
            }
            let stack = match &mut self.state.owner_walker {
                Some(walker) => walker.walk_other(thread, &locks.core().tables(jni)).unwrap_or_default(),
                None => StackIndex::default(),
            };
            snapshot.threads.push(ThreadSnapshot {
                thread: index,
                name: info.name.as_ref().map(|name| trace::modified_utf8::decode(name)).unwrap_or_default(),
                state: state_of(state),
                priority: info.priority.max(0) as u64,
                is_daemon: info.is_daemon,
                object,
                stack,
            });
        }
    }

    /// # Safety
    /// `monitor` is a live reference.
    unsafe fn ask_monitor(&mut self, monitor: jobject, id: ObjectId) -> Option<MonitorSnapshot> {
        let (locks, jni) = (self.locks, self.jni);
        match locks.owners.question() {
            // SAFETY: by the caller's promise.
            OwnerQuestion::Monitor => unsafe { ask_monitor(locks.core(), jni, monitor, id) },
            OwnerQuestion::Threads => {
                let owned = self.owned.get_or_insert_with(|| OwnedMonitors::of_all(locks.core(), jni));
                // SAFETY: by the caller's promise.
                let owner = unsafe { owned.owner(jni, monitor) };
                // Who waits is known when all threads have been asked.
                Some(MonitorSnapshot { object: id, owner, usage: Some(Usage::default()) })
            }
            OwnerQuestion::None => {
                locks.owners.count_unknown();
                None
            }
        }
    }
}

/// # Safety
/// `monitor` is a live reference.
unsafe fn ask_monitor(core: &Core, jni: Jni, monitor: jobject, id: ObjectId) -> Option<MonitorSnapshot> {
    let now = Ticks::now();
    // SAFETY: by the caller's promise; each thread is a local reference, deleted when it is done with.
    unsafe {
        let usage = core.jvm.env.get_object_monitor_usage(monitor);
        let usage = usage.map_err(|error| core.count_failure("monitor usage", error)).ok()?;
        jni.expect_local_refs(1 + usage.waiters.len() + usage.notify_waiters.len());
        let resolve = |&thread: &jobject| {
            let index = core.jvm.threads.resolve(jni, thread, now);
            jni.delete_local_ref(thread);
            index
        };
        Some(MonitorSnapshot {
            object: id,
            owner: Some(&usage.owner).filter(|owner| !owner.is_null()).map(resolve),
            usage: Some(Usage {
                entry_count: Some(usage.entry_count.into()),
                waiters: usage.waiters.iter().map(resolve).collect(),
                notify_waiters: usage.notify_waiters.iter().map(resolve).collect(),
            }),
        })
    }
}

/// The Java thread state that JVMTI's bits mean.
fn state_of(bits: i32) -> ThreadState {
    let has = |bit: i32| bits & bit != 0;
    if has(JVMTI_THREAD_STATE_TERMINATED) {
        ThreadState::Terminated
    } else if !has(JVMTI_THREAD_STATE_ALIVE) {
        ThreadState::New
    } else if has(JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER) {
        ThreadState::Blocked
    } else if has(JVMTI_THREAD_STATE_WAITING_WITH_TIMEOUT) {
        ThreadState::TimedWaiting
    } else if has(JVMTI_THREAD_STATE_WAITING_INDEFINITELY) {
        ThreadState::Waiting
    } else {
        ThreadState::Runnable
    }
}
