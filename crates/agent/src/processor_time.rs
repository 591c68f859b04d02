//! What each platform thread has of the processors: how long it runs on one, and how long it could run and none is free. The rest
//! of its life it waits. Recorded with `locks` and with `cpu`.
//!
//! The system counts both, so they are read at the end of the thread, or of the recording.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use jvmti::jni_sys::jobject;
use jvmti::{Env, Jni};
use rustc_hash::FxHashMap;

use trace::model::{Record, ThreadCpu};
use trace::time::Nanos;

use agent_base::clock::{Ticks, thread_cpu_nanos};
use agent_base::events::event::Event;
use agent_base::ids::ThreadIndex;
use agent_base::mutex::Mutex;
use agent_core::core::Core;
use agent_core::core::context::{LocalThread, enter};
use agent_core::core::feature::{End, Feature};
use agent_trace::{Document, Section, SourceNumber};

/// What the system says of the current thread.
pub(crate) const OWN: &str = "/proc/thread-self/schedstat";
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
pub(crate) fn queued_nanos(path: &Path) -> Option<u64> {
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

/// The feature.
pub(crate) struct ProcessorTimes {
    core: &'static Core,
    /// The living platform threads.
    known: Mutex<FxHashMap<u32, Known>>,
}

impl ProcessorTimes {
    /// What it writes into the trace.
    pub(crate) fn section(&'static self) -> Box<dyn Section> {
        Box::new(ProcessorTimeSection::default())
    }

    /// For a recording.
    pub(crate) fn new(core: &'static Core) -> ProcessorTimes {
        ProcessorTimes { core, known: Mutex::default() }
    }

    /// What a living thread has had by now; `None` of a thread that is not known.
    ///
    /// # Safety
    /// `thread` is a live reference to it.
    unsafe fn of_living(&self, thread: jobject, index: ThreadIndex) -> Option<Event> {
        let Known { id, before, .. } = *self.known.lock().get(&index.0)?;
        // SAFETY: by the caller's promise.
        Some(event(index, before, unsafe { ProcessorTime::of(self.core.jvm.env, thread, id) }?))
    }
}

impl Feature for ProcessorTimes {
    fn begin(&'static self, _: Jni) -> Result<(), String> {
        Ok(())
    }

    unsafe fn thread_found(&'static self, jni: Jni, thread: jobject, index: ThreadIndex) {
        // SAFETY: by the caller's promise; null is the current thread.
        let (id, before) = unsafe {
            // A virtual one.
            if self.core.jvm.threads.address(jni, thread).is_none() {
                return;
            }
            let is_current = self.core.jvm.threads.find_current() == Some(index);
            let id = is_current.then(SystemId::of_current);
            (id, ProcessorTime::of(self.core.jvm.env, thread, id))
        };
        if let Some(before) = before {
            self.known.lock().insert(index.0, Known { id, before, after: None });
        }
    }

    unsafe fn thread_start(&'static self, _: Jni, local: &mut LocalThread, _: jobject) {
        let known = Known { id: Some(SystemId::of_current()), before: ProcessorTime::at_start(), after: None };
        self.known.lock().insert(local.thread.carrier.0, known);
    }

    // The time of the end is taken later, so that what is read here is not more than its life.
    unsafe fn thread_leaves(&'static self, _: Jni, _: jobject, index: ThreadIndex) {
        // Virtual threads are not known, and cost nothing.
        let Some(known) = self.known.lock().get(&index.0).copied() else { return };
        let started = self.core.jvm.threads.get(index).map_or(Ticks::now(), |record| record.started);
        let after = Some(ProcessorTime::at_end(Ticks::now().0.saturating_sub(started.0)));
        self.known.lock().insert(index.0, Known { after, ..known });
    }

    fn thread_end(&'static self, _: Jni, local: &mut LocalThread, now: Ticks) {
        let index = local.thread.carrier;
        let known = self.known.lock().remove(&index.0);
        if let Some((before, after)) = known.and_then(|known| Some((known.before, known.after?))) {
            local.thread.push(event(index, before, after), now);
        }
    }

    fn stop(&'static self, jni: Jni, _: End) {
        enter(self.core, jni, Ticks::now, |local| {
            self.core.jvm.threads.each_living(jni, |thread, index| {
                // SAFETY: a live reference from `each_living`.
                let event = unsafe { self.of_living(thread, index) };
                event.into_iter().for_each(|event| local.thread.push(event, Ticks::now()));
            });
        });
    }

    fn release(&'static self, _: Jni) {
        *self.known.lock() = FxHashMap::default();
    }
}

fn event(thread: ThreadIndex, before: ProcessorTime, now: ProcessorTime) -> Event {
    let queued = now.queued.zip(before.queued).map(|(now, before)| now.saturating_sub(before));
    Event::ProcessorTime { thread, cpu: now.cpu.saturating_sub(before.cpu), queued }
}
/// Writes what threads have had of the processors: of living ones also what was written last.
#[derive(Default)]
pub(crate) struct ProcessorTimeSection(FxHashMap<u32, (u64, Option<u64>)>);

impl Section for ProcessorTimeSection {
    /// What a thread has had of the processors until now; nothing if its end has been written meanwhile.
    fn event(&mut self, document: &mut Document, _: SourceNumber, ticks: Ticks, event: Event) -> bool {
        let Event::ProcessorTime { thread, cpu, queued } = event else { return false };
        if document.has_ended(thread) {
            return true;
        }
        // A thread's own report and that of the end of the recording may come in either order.
        let most = self.0.entry(thread.0).or_default();
        *most = (cpu.max(most.0), queued.max(most.1));
        let (cpu, queued) = (Nanos(most.0), most.1.map(Nanos));
        let element = ThreadCpu { thread: document.thread_id(thread), cpu, queued, time: document.time(ticks) };
        document.emit(|out| element.write(out));
        true
    }

    fn thread_ends(&mut self, _: &mut Document, _: Ticks, thread: ThreadIndex) {
        self.0.remove(&thread.0);
    }
}
