//! Requests that have begun: what their threads had when they did.
//!
//! A virtual thread may go on on another carrier. What it had of this one is added up when it leaves it.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use jvmti::Jni;
use rustc_hash::FxHashMap;

use trace::time::Nanos;

use super::entry_points::EntryNumber;
use super::statistics::{Ended, FIRST};
use crate::processor_time::{OWN, queued_nanos};
use agent_base::clock::{Ticks, thread_cpu_nanos};
use agent_base::ids::ThreadIndex;
use agent_base::mutex::Mutex;
use agent_core::core::Core;
use agent_core::core::context::{FeatureState, Slot, ThreadState};

/// What a platform thread has had so far.
#[derive(Clone, Copy, Debug)]
struct Meters {
    cpu: u64,
    bytes: Option<u64>,
}

impl Meters {
    /// Those of the current platform thread.
    fn read(core: &Core, jni: Jni, carrier: ThreadIndex) -> Meters {
        let accounted = core.jvm.accounting.current_thread_bytes(jni);
        let bytes = core.jvm.threads.get(carrier).and_then(|record| record.accounted(accounted));
        Meters { cpu: thread_cpu_nanos(), bytes }
    }
}

/// A request that has begun.
pub(super) struct Request {
    /// The entry points that were entered and not left, the outermost first.
    frames: Vec<EntryNumber>,
    number: u64,
    begun: Ticks,
    /// On carriers that it has left.
    cpu: u64,
    bytes: Option<u64>,
    /// Of the platform thread, when it began or went on there.
    since: Meters,
    queued: Option<u64>,
    handed_over: bool,
}

impl Request {
    /// One that begins on the current thread.
    pub(super) fn begin(core: &Core, jni: Jni, carrier: ThreadIndex, start: Start) -> Request {
        let Start { entry, number, begun, queued } = start;
        let since = Meters::read(core, jni, carrier);
        Request { frames: vec![entry], number, begun, cpu: 0, bytes: Some(0), since, queued, handed_over: false }
    }

    /// Another entry point is entered: no request of its own.
    pub(super) fn enter(&mut self, entry: EntryNumber) {
        self.frames.push(entry);
    }

    /// An entry point is left, and all that were entered after it. True if that ends the request.
    pub(super) fn leave(&mut self, entry: EntryNumber) -> bool {
        let last = self.frames.iter().rposition(|&entered| entered == entry);
        self.frames.truncate(last.unwrap_or(self.frames.len()));
        self.frames.is_empty()
    }

    /// It is handed over: it may go on elsewhere when the entry point is left.
    pub(super) fn depart(&mut self) {
        self.handed_over = true;
    }

    /// It ends on the current thread.
    pub(super) fn end(mut self, core: &Core, jni: Jni, carrier: ThreadIndex, end: End<'_>) -> Ended {
        let End { failed, queue } = end;
        self.leave_carrier(core, jni, carrier);
        let so_far = Ticks::now().0.saturating_sub(self.begun.0);
        let is_worth = self.number <= FIRST || so_far >= WORTH;
        let before = self.queued.filter(|_| is_worth);
        let queued = before.and_then(|before| Some(queue.read()?.saturating_sub(before)));
        let took = Nanos(Ticks::now().0.saturating_sub(self.begun.0));
        Ended {
            number: self.number,
            begun: self.begun,
            took,
            cpu: Nanos(self.cpu.min(took.0)),
            ready: queued.map(Nanos),
            bytes: self.bytes,
            failed,
            handed_over: self.handed_over,
        }
    }

    /// Its virtual thread leaves the current platform thread, or it ends.
    fn leave_carrier(&mut self, core: &Core, jni: Jni, carrier: ThreadIndex) {
        let now = Meters::read(core, jni, carrier);
        self.cpu += now.cpu.saturating_sub(self.since.cpu);
        let added = now.bytes.zip(self.since.bytes).map(|(now, before)| now.saturating_sub(before));
        self.bytes = self.bytes.zip(added).map(|(bytes, added)| bytes + added);
    }
}

/// How a request begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) entry: EntryNumber,
    pub(super) number: u64,
    pub(super) begun: Ticks,
    /// What its thread had waited for processors until then, if that is known.
    pub(super) queued: Option<u64>,
}

/// How a request ends.
pub(super) struct End<'q> {
    pub(super) failed: bool,
    pub(super) queue: &'q mut Queue,
}

/// A reading of how long a thread has waited for processors takes five microseconds: it is worth that for the first requests, and for
/// those that take so many nanoseconds.
const WORTH: u64 = 1_000_000;

/// How long the current platform thread has waited for processors, as it was read last.
#[derive(Default)]
pub(super) struct Queue(Option<(Ticks, u64)>);

impl Queue {
    /// Until now; for a request beyond the first, until up to a millisecond ago.
    pub(super) fn before(&mut self, number: u64, now: Ticks) -> Option<u64> {
        let is_new = |&(at, _): &(Ticks, u64)| now.0.saturating_sub(at.0) < WORTH;
        match self.0.filter(is_new) {
            Some((_, queued)) if number > FIRST => Some(queued),
            _ => self.read(),
        }
    }

    fn read(&mut self) -> Option<u64> {
        let queued = queued_nanos(Path::new(OWN))?;
        self.0 = Some((Ticks::now(), queued));
        Some(queued)
    }
}

/// What a platform thread keeps: the request of the thread that runs on it.
pub(crate) struct RequestThread {
    pub(super) request: Option<Request>,
    /// Whose it is.
    thread: ThreadIndex,
    pub(super) queue: Queue,
}

impl RequestThread {
    /// Another thread runs on this platform thread from now on.
    pub(super) fn switch(&mut self, aside: &Aside, core: &Core, jni: Jni, carrier: ThreadIndex, to: ThreadIndex) {
        if let Some(mut request) = self.request.take() {
            request.leave_carrier(core, jni, carrier);
            aside.put(self.thread, request);
        }
        self.thread = to;
        self.request = aside.take(to).map(|request| Request { since: Meters::read(core, jni, carrier), ..request });
    }

    /// The thread that runs on it.
    pub(super) fn set_thread(&mut self, thread: ThreadIndex) {
        self.thread = thread;
    }
}

impl ThreadState for RequestThread {}

impl FeatureState for RequestThread {
    const SLOT: Slot = Slot::Requests;

    fn new(_: &'static Core) -> RequestThread {
        RequestThread { request: None, thread: ThreadIndex(0), queue: Queue::default() }
    }
}

/// Virtual threads share as many locks.
const SHARDS: usize = 16;

/// Requests of virtual threads that are not on a carrier.
#[derive(Default)]
pub(super) struct Aside {
    shards: [Mutex<FxHashMap<u32, Request>>; SHARDS],
    /// How many there are.
    number: AtomicU64,
}

impl Aside {
    fn shard(&self, thread: ThreadIndex) -> &Mutex<FxHashMap<u32, Request>> {
        &self.shards[thread.0 as usize % SHARDS]
    }

    fn put(&self, thread: ThreadIndex, request: Request) {
        if self.shard(thread).lock().insert(thread.0, request).is_none() {
            self.number.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Takes that of a thread, if it has one.
    pub(super) fn take(&self, thread: ThreadIndex) -> Option<Request> {
        // The thread put it there itself, or was handed on by a thread that did.
        if self.number.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let request = self.shard(thread).lock().remove(&thread.0)?;
        self.number.fetch_sub(1, Ordering::Relaxed);
        Some(request)
    }
}
