//! What each platform thread has of the processors: how long it runs on one, and how long it could run and none is free. The rest
//! of its life it waits.
//!
//! The system counts both, so they are read at the end of the thread, or of the recording.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jvmti::Env;
use jvmti::jni_sys::jobject;
use rustc_hash::FxHashMap;

use crate::agent::clock::{Ticks, thread_cpu_nanos};
use crate::agent::events::event::Event;
use crate::agent::ids::ThreadIndex;
use crate::agent::tables::threads::Threads;

/// What the system says of the current thread.
const OWN: &str = "/proc/thread-self/schedstat";
/// In nanoseconds: a thread that has run longer at its start event is not new.
const MAX_CPU_OF_NEW: u64 = 2_000_000;
/// In nanoseconds: of a thread that lives shorter the system is not asked. The thread itself takes half a millisecond longer to end
/// if it has read of itself in `/proc` (5 us), since the system then has to remove what it made there (measured on Linux 6.18). The
/// processor's clock costs half a microsecond.
const SHORT_LIFE: u64 = 100_000_000;

/// Nanoseconds since the thread began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ProcessorTime {
    cpu: u64,
    /// `None` if the system does not say.
    queued: Option<u64>,
}

impl ProcessorTime {
    /// Of the current thread, which has just started. If it is new its time in the queue counts from its birth: the system is asked only
    /// about one that comes in from native code.
    fn at_start() -> ProcessorTime {
        let cpu = thread_cpu_nanos();
        let queued = if cpu < MAX_CPU_OF_NEW { Some(0) } else { queued_nanos(Path::new(OWN)) };
        ProcessorTime { cpu, queued }
    }

    /// Of the current thread, which has lived so long.
    fn at_end(lived_nanos: u64) -> ProcessorTime {
        let queued = if lived_nanos < SHORT_LIFE { None } else { queued_nanos(Path::new(OWN)) };
        ProcessorTime { cpu: thread_cpu_nanos(), queued }
    }

    /// Of any thread, as far as the VM and the system say; `None` if it has ended, or is a virtual one.
    ///
    /// # Safety
    /// `thread` is a live reference to a thread.
    unsafe fn of(env: Env, thread: jobject, id: Option<SystemId>) -> Option<ProcessorTime> {
        let queued = id.and_then(|SystemId(id)| queued_nanos(Path::new(&format!("/proc/self/task/{id}/schedstat"))));
        // Afterwards, since the id of a thread that has ended may be another one's.
        // SAFETY: by the caller's promise.
        let cpu = unsafe { env.get_thread_cpu_time(thread) }.ok()?;
        Some(ProcessorTime { cpu: cpu.max(0) as u64, queued })
    }
}

/// The second number of a file `schedstat`: how long the thread has waited for a processor.
fn queued_nanos(path: &Path) -> Option<u64> {
    let mut text = [0; 64];
    let length = File::open(path).ok()?.read(&mut text).ok()?;
    std::str::from_utf8(&text[..length]).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// The number of a thread in the system.
#[derive(Clone, Copy, Debug)]
struct SystemId(libc::pid_t);

impl SystemId {
    fn of_current() -> SystemId {
        // SAFETY: no argument.
        SystemId(unsafe { libc::gettid() })
    }
}

/// A living platform thread.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// `None` of a thread that was there before the recording, which has no part in this.
    id: Option<SystemId>,
    /// What it had when it began to be recorded.
    before: ProcessorTime,
    /// What it had when its end began.
    after: Option<ProcessorTime>,
}

/// The living platform threads.
#[derive(Debug, Default)]
pub(super) struct ProcessorTimes(Mutex<FxHashMap<u32, Known>>);

impl ProcessorTimes {
    fn known(&self) -> MutexGuard<'_, FxHashMap<u32, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A platform thread is found that is older than the recording.
    ///
    /// # Safety
    /// `thread` is a live reference to it.
    pub(super) unsafe fn found(&self, env: Env, threads: &Threads, thread: jobject, index: ThreadIndex) {
        // SAFETY: null is the current thread; and by the caller's promise.
        let (id, before) = unsafe {
            let id = (threads.find(null_mut()) == Some(index)).then(SystemId::of_current);
            (id, ProcessorTime::of(env, thread, id))
        };
        if let Some(before) = before {
            self.known().insert(index.0, Known { id, before, after: None });
        }
    }

    /// The current thread starts.
    pub(super) fn started(&self, index: ThreadIndex) {
        let known = Known { id: Some(SystemId::of_current()), before: ProcessorTime::at_start(), after: None };
        self.known().insert(index.0, known);
    }

    /// The current thread is about to end, which may be a virtual one. The time of its end is taken later, so that what is read here
    /// is not more than its life.
    pub(super) fn ends(&self, threads: &Threads, index: ThreadIndex) {
        // Virtual threads are not known, and cost nothing.
        let Some(known) = self.known().get(&index.0).copied() else { return };
        let started = threads.get(index).map_or(Ticks::now(), |record| record.started);
        let after = Some(ProcessorTime::at_end(Ticks::now().0.saturating_sub(started.0)));
        self.known().insert(index.0, Known { after, ..known });
    }

    /// The thread has ended.
    pub(super) fn ended(&self, index: ThreadIndex) -> Option<Event> {
        let Known { before, after, .. } = self.known().remove(&index.0)?;
        Some(event(index, before, after?))
    }

    /// What a living thread has had by now; `None` of a thread that is not known.
    ///
    /// # Safety
    /// `thread` is a live reference to it.
    pub(super) unsafe fn of_living(&self, env: Env, thread: jobject, index: ThreadIndex) -> Option<Event> {
        let Known { id, before, .. } = *self.known().get(&index.0)?;
        // SAFETY: by the caller's promise.
        Some(event(index, before, unsafe { ProcessorTime::of(env, thread, id) }?))
    }
}

fn event(thread: ThreadIndex, before: ProcessorTime, now: ProcessorTime) -> Event {
    let queued = now.queued.zip(before.queued).map(|(now, before)| now.saturating_sub(before));
    Event::ProcessorTime { thread, cpu: now.cpu.saturating_sub(before.cpu), queued }
}
