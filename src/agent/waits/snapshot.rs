//! Data requests: what all threads do and who owns the monitors that they wait for, whenever somebody asks (`kill -QUIT`, or
//! `jcmd PID JVMTI.data_dump`), and once at the end of those that are still blocked then.

use std::time::{Duration, Instant};

use jvmti::jni_sys::jobject;
use jvmti::sys::*;
use jvmti::{Jni, guard};
use rustc_hash::FxHashSet;
use trace::ids::ObjectId;
pub(crate) use trace::model::ThreadState;

use super::super::Agent;
use super::super::clock::Ticks;
use super::super::event::Event;
use super::super::stacks::StackIndex;
use super::super::threads::{ThreadContext, ThreadIndex, with_context};
use super::recent::MonitorAddress;
use super::{Waits, id_of};

/// The program waits for the answer at its end, so it must not take for ever.
const LONGEST: Duration = Duration::from_secs(3);

/// What a thread does.
pub(crate) struct Thread {
    pub(crate) thread: ThreadIndex,
    pub(crate) name: String,
    pub(crate) state: ThreadState,
    pub(crate) priority: u64,
    pub(crate) is_daemon: bool,
    pub(crate) object: Option<ObjectId>,
    pub(crate) stack: StackIndex,
}

/// Who owns a monitor and who waits for it.
pub(crate) struct Monitor {
    pub(crate) object: ObjectId,
    pub(crate) owner: Option<ThreadIndex>,
    /// `None` for a lock of `java.util.concurrent`, of which only the owner is known.
    pub(crate) usage: Option<Usage>,
}

/// What JVMTI says of a monitor.
pub(crate) struct Usage {
    pub(crate) entry_count: u64,
    pub(crate) waiters: Vec<ThreadIndex>,
    pub(crate) notify_waiters: Vec<ThreadIndex>,
}

/// One answer.
#[derive(Default)]
pub(crate) struct Snapshot {
    pub(crate) threads: Vec<Thread>,
    pub(crate) monitors: Vec<Monitor>,
    /// Threads and monitors that there was no time for.
    pub(crate) skipped: u64,
}

/// JVMTI `DataDumpRequest`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn data_dump_request(_: *mut jvmtiEnv) {
    guard(|| {
        let Some(agent) = Agent::reporting() else { return };
        let Some(jni) = agent.waits.as_ref().and_then(|waits| waits.vm.get_jni().ok()) else { return };
        take(agent, jni, Scope::All);
    });
}

/// Which threads are asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All of them.
    All,
    /// Those that are blocked on a monitor or parked.
    Blocked,
}

/// Asks, and hands the answer to the writer.
pub(crate) fn take(agent: &'static Agent, jni: Jni, scope: Scope) {
    let Some(waits) = &agent.waits else { return };
    with_context(agent, jni, Ticks::now(), |context| {
        let snapshot = ask(agent, waits, jni, context, scope);
        let number = waits.keep(snapshot);
        context.push(agent, Event::Snapshot(number), Ticks::now());
    });
}

fn ask(agent: &'static Agent, waits: &Waits, jni: Jni, context: &mut ThreadContext, scope: Scope) -> Snapshot {
    let mut snapshot = Snapshot::default();
    let begun = Instant::now();
    let mut asked = FxHashSet::default();
    let threads = match agent.env.get_all_threads() {
        Ok(threads) => threads,
        Err(error) => {
            agent.count_failure("snapshot", error);
            return snapshot;
        }
    };
    for &thread in threads.iter() {
        if begun.elapsed() > LONGEST {
            snapshot.skipped += 1;
        } else {
            // SAFETY: a live local reference.
            unsafe { ask_thread(agent, waits, jni, context, thread, scope, &mut asked, &mut snapshot) };
        }
        // SAFETY: as above, and nobody uses it any more.
        unsafe { jni.delete_local_ref(thread) };
    }
    snapshot
}

/// # Safety
/// `thread` is a live reference to a platform thread.
#[allow(clippy::too_many_arguments, reason = "what one thread is asked with, and where the answer goes")]
unsafe fn ask_thread(
    agent: &'static Agent,
    waits: &Waits,
    jni: Jni,
    context: &mut ThreadContext,
    thread: jobject,
    scope: Scope,
    asked: &mut FxHashSet<ObjectId>,
    snapshot: &mut Snapshot,
) {
    // SAFETY: by the caller's promise; what JVMTI and JNI return are local references, deleted when they are done with. A
    // thread that ends meanwhile gives errors, and is left out.
    unsafe {
        let Ok(state) = agent.env.get_thread_state(thread) else { return };
        let is_parked = state & JVMTI_THREAD_STATE_PARKED != 0 && waits.options.juc;
        if scope == Scope::Blocked && !is_parked && state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER == 0 {
            return;
        }
        let (Some(index), Ok(info)) = (agent.threads.find(agent.env, thread), agent.env.get_thread_info(thread)) else {
            return;
        };
        jni.delete_local_ref(info.thread_group);
        jni.delete_local_ref(info.context_class_loader);
        let mut object = None;
        let monitor = agent.env.get_current_contended_monitor(thread).unwrap_or(std::ptr::null_mut());
        if !monitor.is_null() {
            object = id_of(agent, waits, jni, context, MonitorAddress::default(), monitor);
            if let Some(id) = object.filter(|&id| asked.insert(id)) {
                snapshot.monitors.extend(ask_monitor(agent, jni, monitor, id));
            }
            jni.delete_local_ref(monitor);
        } else if is_parked && let Some((lock, owner)) = waits.parked_on(jni, thread) {
            object = id_of(agent, waits, jni, context, MonitorAddress::default(), lock);
            if let Some(id) = object.filter(|&id| asked.insert(id) && !owner.is_null()) {
                let owner = agent.threads.resolve(agent, jni, owner, Ticks::now());
                snapshot.monitors.push(Monitor { object: id, owner: Some(owner), usage: None });
            }
            jni.delete_local_ref(lock);
            jni.delete_local_ref(owner);
        }
        let stack = match &mut context.owner_walker {
            Some(walker) => walker.walk_other(thread, &agent.tables(jni)).unwrap_or_default(),
            None => StackIndex::default(),
        };
        snapshot.threads.push(Thread {
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
unsafe fn ask_monitor(agent: &'static Agent, jni: Jni, monitor: jobject, id: ObjectId) -> Option<Monitor> {
    let now = Ticks::now();
    // SAFETY: by the caller's promise; each thread is a local reference, deleted when it is done with.
    unsafe {
        let usage = match agent.env.get_object_monitor_usage(monitor) {
            Ok(usage) => usage,
            Err(error) => {
                agent.count_failure("monitor usage", error);
                return None;
            }
        };
        let resolve = |&thread: &jobject| {
            let index = agent.threads.resolve(agent, jni, thread, now);
            jni.delete_local_ref(thread);
            index
        };
        Some(Monitor {
            object: id,
            owner: Some(&usage.owner).filter(|owner| !owner.is_null()).map(resolve),
            usage: Some(Usage {
                entry_count: usage.entry_count.into(),
                waiters: usage.waiters.iter().map(resolve).collect(),
                notify_waiters: usage.notify_waiters.iter().map(resolve).collect(),
            }),
        })
    }
}

/// JVMTI's bits as one of Java's words.
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
