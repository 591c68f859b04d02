//! From events to records: what happened when, and to whom.

use rustc_hash::FxHashMap;
use trace::model::ThreadState;
use trace::time::{Nanos, Time};

use super::constants::Constants;
use super::pools::{Class, ClassAt, Lock, LockAt, Pools, Seen, ThreadAt};
use super::reading::Reading;
use super::settings::{Settings, is_wait};
use crate::read::{Chunk, Damage, Event};

/// Objects that were allocated, as a sample says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allocated {
    pub(super) time: Time,
    pub(super) thread: Option<ThreadAt>,
    pub(super) class: ClassAt,
    pub(super) seen: Seen,
    pub(super) bytes: u64,
    /// How large the sampled object is, if that is said.
    pub(super) size: Option<u64>,
}

/// A thread that was seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) time: Time,
    pub(super) thread: ThreadAt,
    pub(super) seen: Seen,
    /// For how long it stands.
    pub(super) length: Nanos,
    pub(super) state: ThreadState,
    /// Its stack was not found.
    pub(super) is_lost: bool,
}

/// What a thread does while it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitKind {
    Blocked,
    Waiting { timeout_millis: u64, timed_out: bool, notified: bool },
    Parked { is_contended: bool },
    Sleeping,
}

/// A wait of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub(super) since: Time,
    pub(super) until: Time,
    pub(super) thread: ThreadAt,
    pub(super) kind: WaitKind,
    pub(super) lock: LockAt,
    pub(super) owner: Option<ThreadAt>,
    pub(super) seen: Seen,
}

/// Threads were stopped for a collection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pause {
    pub(super) since: Time,
    pub(super) until: Time,
    pub(super) collection: i64,
}

/// All that events say.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) pools: Pools,
    pub(super) settings: Settings,
    pub(super) begin: Option<Time>,
    pub(super) end: Time,
    /// By samples of the VM's own choice, and by each new buffer of a thread.
    pub(super) sampled: Vec<Allocated>,
    pub(super) buffers: Vec<Allocated>,
    /// By looks at threads that run, and by their CPU clocks.
    pub(super) execution: Vec<Sample>,
    pub(super) cpu_time: Vec<Sample>,
    pub(super) wall: Vec<Sample>,
    pub(super) waits: Vec<Wait>,
    pub(super) pauses: Vec<Pause>,
    pub(super) collections: Vec<Pause>,
    /// Bytes in use after each collection.
    pub(super) used: FxHashMap<i64, u64>,
    pub(super) starts: Vec<(ThreadAt, Time)>,
    pub(super) ends: Vec<(ThreadAt, Time)>,
    /// Events that were left out, by type.
    pub(super) left_out: FxHashMap<Box<str>, u64>,
    /// Samples of which it is not said for how long they stand.
    pub(super) without_period: u64,
    /// Samples that the JVM lost.
    pub(super) lost: u64,
    /// Events whose fields make no sense.
    pub(super) damaged: u64,
}

/// Whether a park is for a lock that one thread can own.
fn is_lock(class: &str) -> bool {
    let name = class.strip_prefix("java.util.concurrent.locks.");
    name.is_some_and(|name| {
        ["ReentrantLock", "ReentrantReadWriteLock", "StampedLock"]
            .iter()
            .any(|lock| name.strip_prefix(lock).is_some_and(|rest| rest.is_empty() || rest.starts_with('$')))
    })
}

impl Gathered {
    /// Takes in a chunk; of a damaged one what comes before the damage.
    ///
    /// # Errors
    /// An event does not say where it ends.
    pub(super) fn chunk(&mut self, chunk: &Chunk) -> Result<(), Damage> {
        let mut constants = Constants::new(chunk);
        self.begin = Some(self.begin.map_or(chunk.begin(), |begin| begin.min(chunk.begin())));
        self.end = self.end.max(chunk.end());
        // What was set counts for all events, also for those in front of it.
        let mut others = Vec::new();
        let mut end = Ok(());
        for event in chunk.events() {
            match event.map(|event| (event, self.settings.event(chunk, &event, &mut constants))) {
                Ok((_, Ok(true))) => {}
                Ok((event, Ok(false))) => others.push(event),
                Ok((_, Err(_))) => self.damaged += 1,
                Err(damage) => end = Err(damage),
            }
        }
        for event in others {
            self.damaged += u64::from(self.event(chunk, &event, &mut constants).is_err());
        }
        end
    }

    fn event<'c>(&mut self, chunk: &'c Chunk, event: &Event, constants: &mut Constants<'c>) -> Result<(), Damage> {
        let mut e = Reading::new(chunk, constants, event);
        let name = chunk.event_name(event);
        let is_taken = match name {
            "jdk.ObjectAllocationSample" => self.allocated(&mut e, "weight", None)?,
            "jdk.ObjectAllocationInNewTLAB" => self.allocated(&mut e, "tlabSize", Some("allocationSize"))?,
            "jdk.ObjectAllocationOutsideTLAB" => self.allocated(&mut e, "allocationSize", Some("allocationSize"))?,
            "jdk.ExecutionSample" => self.execution(&mut e)?,
            "jdk.CPUTimeSample" => self.cpu_time(&mut e)?,
            "jdk.CPUTimeSamplesLost" => {
                self.lost = self.lost.saturating_add(e.bytes("lostSamples")?.unwrap_or(0));
                true
            }
            "profiler.WallClockSample" => self.wall(&mut e)?,
            _ if is_wait(name) => self.wait(name, &mut e)?,
            "jdk.GCPhasePause" | "jdk.GarbageCollection" => {
                let collection = e.number("gcId")?.unwrap_or(-1);
                let (since, mut until) = e.borders()?;
                if let Some(stopped) = e.span("sumOfPauses")? {
                    until = Time(since.0.saturating_add(stopped.0));
                }
                let pause = Pause { since, until, collection };
                if name == "jdk.GCPhasePause" { &mut self.pauses } else { &mut self.collections }.push(pause);
                true
            }
            "jdk.GCHeapSummary" => {
                let is_after = &*e.constants.text(e.object, "when")? == "After GC";
                if let (true, Some(collection), Some(used)) = (is_after, e.number("gcId")?, e.bytes("heapUsed")?) {
                    self.used.insert(collection, used);
                }
                true
            }
            "jdk.ThreadStart" | "jdk.ThreadEnd" => {
                let time = e.time()?;
                if let Some(thread) = e.thread("thread", &mut self.pools)? {
                    if name == "jdk.ThreadStart" { &mut self.starts } else { &mut self.ends }.push((thread, time));
                }
                true
            }
            _ => false,
        };
        if !is_taken {
            *self.left_out.entry(name.into()).or_default() += 1;
        }
        Ok(())
    }

    fn allocated(&mut self, e: &mut Reading<'_, '_>, weight: &str, size: Option<&str>) -> Result<bool, Damage> {
        let (time, thread) = (e.time()?, e.thread("eventThread", &mut self.pools)?);
        let class = e.class("objectClass", &mut self.pools)?;
        let class = class.unwrap_or_else(|| ClassAt(self.pools.classes.of(Class::named("(unknown class)"))));
        let (seen, bytes) = (e.stack(&mut self.pools)?, e.bytes(weight)?.unwrap_or(0));
        let size = size.map(|size| e.bytes(size)).transpose()?.flatten();
        let into = if size.is_some() { &mut self.buffers } else { &mut self.sampled };
        into.push(Allocated { time, thread, class, seen, bytes, size });
        Ok(true)
    }

    fn execution(&mut self, e: &mut Reading<'_, '_>) -> Result<bool, Damage> {
        // Before async-profiler 4, samples of the time were such events, too.
        let state = e.constants.text(e.object, "state")?;
        if &*state == "STATE_SLEEPING" || !self.settings.is_of_cpu() {
            return Ok(false);
        }
        let Some(thread) = e.thread("sampledThread", &mut self.pools)? else { return Ok(false) };
        let Some(length) = e.span("cpuTime")?.or(self.settings.cpu_period()) else {
            self.without_period += 1;
            return Ok(true);
        };
        let (time, seen) = (e.time()?, e.stack(&mut self.pools)?);
        self.execution.push(Sample { time, thread, seen, length, state: ThreadState::Runnable, is_lost: false });
        Ok(true)
    }

    fn cpu_time(&mut self, e: &mut Reading<'_, '_>) -> Result<bool, Damage> {
        let Some(thread) = e.thread("eventThread", &mut self.pools)? else { return Ok(false) };
        let (time, seen) = (e.time()?, e.stack(&mut self.pools)?);
        let length = e.span("samplingPeriod")?.unwrap_or_default();
        let is_lost = e.number("failed")?.is_some_and(|failed| failed != 0);
        self.cpu_time.push(Sample { time, thread, seen, length, state: ThreadState::Runnable, is_lost });
        Ok(true)
    }

    fn wall(&mut self, e: &mut Reading<'_, '_>) -> Result<bool, Damage> {
        let Some(thread) = e.thread("sampledThread", &mut self.pools)? else { return Ok(false) };
        let Some(interval) = self.settings.wall_period() else {
            self.without_period += 1;
            return Ok(true);
        };
        let (time, seen) = (e.time()?, e.stack(&mut self.pools)?);
        let state = match &*e.constants.text(e.object, "state")? {
            "STATE_RUNNABLE" | "STATE_DEFAULT" => ThreadState::Runnable,
            _ => ThreadState::Waiting,
        };
        // One event stands for several looks at a thread that did not go on.
        let samples = e.bytes("samples")?.unwrap_or(1);
        let length = Nanos(interval.0.saturating_mul(samples));
        self.wall.push(Sample { time, thread, seen, length, state, is_lost: false });
        Ok(true)
    }

    fn wait(&mut self, name: &str, e: &mut Reading<'_, '_>) -> Result<bool, Damage> {
        let Some(thread) = e.thread("eventThread", &mut self.pools)? else { return Ok(false) };
        let (since, until) = e.borders()?;
        let (seen, owner) = (e.stack(&mut self.pools)?, e.thread("previousOwner", &mut self.pools)?);
        let field = if name == "jdk.ThreadPark" { "parkedClass" } else { "monitorClass" };
        let (class, address) = (e.class(field, &mut self.pools)?, e.number("address")?.unwrap_or(0));
        let kind = match name {
            "jdk.JavaMonitorEnter" => WaitKind::Blocked,
            "jdk.JavaMonitorWait" => WaitKind::Waiting {
                timeout_millis: e.span("timeout")?.map_or(0, |timeout| timeout.0 / 1_000_000),
                timed_out: e.number("timedOut")?.is_some_and(|timed_out| timed_out != 0),
                notified: e.thread("notifier", &mut self.pools)?.is_some(),
            },
            "jdk.ThreadPark" => WaitKind::Parked {
                is_contended: class.is_some_and(|class| is_lock(&self.pools.classes.get(class.0).name)),
            },
            _ => WaitKind::Sleeping,
        };
        let unknown = match kind {
            // A park for nothing is a park for the thread itself.
            WaitKind::Parked { .. } => "java.lang.Thread",
            _ => "(unknown class)",
        };
        // Each thread is another one.
        let address = if class.is_none() { -i64::from(thread.0) - 1 } else { address };
        let class = class.unwrap_or_else(|| ClassAt(self.pools.classes.of(Class::named(unknown))));
        let lock = LockAt(self.pools.locks.of(Lock { class, address }));
        self.waits.push(Wait { since, until, thread, kind, lock, owner, seen });
        Ok(true)
    }
}
