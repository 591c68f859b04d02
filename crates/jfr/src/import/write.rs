//! Writes the trace, element by element in the order of time.

use std::collections::BTreeMap;
use std::io::{self, Write};

use trace::model::{
    AgentCreate, AgentDestroy, CpuSample, Flag, GcFinish, GcStart, MartiniCount, MonContendedEnter,
    MonContendedEntered, MonWait, MonWaited, Node, ProcessCreate, ThreadEnd, ThreadSleep, ThreadSlept, TraceEnd,
    TraceStart, WaitEnd, WallSample,
};
use trace::time::{Nanos, Time};

use super::Import;
use super::definitions::Definitions;
use super::events::{Sample, Wait, WaitKind};
use super::order::What;
use super::sums::Sums;

/// So much is written at once.
const ENOUGH: usize = 1 << 16;

/// Sums of allocations are written so often over the length of the trace.
const SLICES: u64 = 64;

/// Why samples have no stack.
const LOST: &str = "the JVM could not walk it";

/// From the first to the last moment.
pub(super) fn length(import: &Import) -> Nanos {
    let (begin, end) = span(import);
    end.since(begin)
}

fn span(import: &Import) -> (Time, Time) {
    let times = || import.ordered.all.iter().map(|&(time, _)| time);
    let begin = import.gathered.begin.unwrap_or_default();
    let begin = times().next().map_or(begin, |first| first.min(begin));
    (begin, times().next_back().map_or(begin, |last| last.max(import.gathered.end)))
}

struct Writing<'i, 'o, W> {
    import: &'i Import,
    names: Definitions<'i>,
    sums: Sums,
    out: &'o mut W,
}

pub(super) fn trace<W: Write>(import: &Import, out: &mut W) -> io::Result<()> {
    let (begin, end) = span(import);
    let names = Definitions::new(&import.gathered.pools, begin);
    let mut writing = Writing { import, names, sums: Sums::default(), out };
    writing.head(begin);
    let slice = (end.since(begin).0 / SLICES).max(1);
    let mut border = Time(begin.0.saturating_add(slice));
    for &(time, what) in &import.ordered.all {
        if time >= border {
            writing.allocations(border);
            let slices = time.since(begin).0 / slice + 1;
            border = Time(begin.0.saturating_add(slice.saturating_mul(slices)));
        }
        writing.record(time, what);
        writing.flush(ENOUGH)?;
    }
    writing.allocations(end);
    writing.tail(end);
    writing.flush(0)?;
    writing.out.flush()
}

impl<W: Write> Writing<'_, '_, W> {
    fn flush(&mut self, enough: usize) -> io::Result<()> {
        if self.names.out.bytes().len() > enough {
            self.out.write_all(self.names.out.bytes())?;
            self.names.out.clear();
        }
        Ok(())
    }

    /// The ids say of what they are: the same recording gives the same trace.
    fn id(&self, what: &str) -> String {
        let (begin, _) = span(self.import);
        format!("{what}-{}-{}", self.import.gathered.settings.pid, begin.0)
    }

    fn head(&mut self, time: Time) {
        let settings = &self.import.gathered.settings;
        let [node, process, agent, trace] = ["node", "process", "agent", "trace"].map(|what| self.id(what));
        let names = &mut self.names;
        names.out.start_document();
        let node_id = &*node;
        names.write(&Node {
            node_id: node_id.into(),
            hostname: "unknown".into(),
            ip_address: "".into(),
            timezone: 0,
            time,
        });
        let name = (!settings.command.is_empty()).then(|| (&*settings.command).into());
        let process_id = &*process;
        names.write(&ProcessCreate {
            process_id: process_id.into(),
            pid: settings.pid,
            node_id: node_id.into(),
            time,
            name,
            java_version: None,
        });
        names.write(&AgentCreate {
            agent_id: (&*agent).into(),
            version: if settings.version.is_empty() { "unknown" } else { &*settings.version }.into(),
            process_id: process_id.into(),
            agent_name: settings.recorder().into(),
            agent_type: "Profiler".into(),
            agent_parameters: "".into(),
            time,
            imported_from: Some("jfr".into()),
        });
        names.write(&TraceStart { trace_id: (&*trace).into(), agent_id: (&*agent).into(), time });
    }

    fn record(&mut self, time: Time, what: What) {
        match what {
            What::ThreadStart(thread) => drop(self.names.thread_since(thread, time)),
            What::ThreadEnd(thread) if self.names.is_known(thread) => {
                // No element names it after its end.
                self.allocations(time);
                let thread = self.names.thread(thread);
                self.names.write(&ThreadEnd { thread, time });
            }
            What::ThreadEnd(_) => {}
            What::Allocated(one) => self.sums.add(&one),
            What::Cpu(sample) => self.cpu(&sample),
            What::Wall(sample) => self.wall(&sample),
            What::WaitBegin(at) => self.begins(time, at),
            What::WaitEnd(at) => self.ends(time, at),
            What::PauseBegin => self.names.write(&GcStart { time, thread: None }),
            What::PauseEnd(collection) => {
                let used_space = self.import.gathered.used.get(&collection).copied();
                self.names.write(&GcFinish { time, used_objects: None, used_space, total_space: None });
            }
        }
    }

    /// Writes the sums that have changed.
    fn allocations(&mut self, time: Time) {
        self.sums.write(&mut self.names, &self.import.gathered.pools, time);
    }

    fn cpu(&mut self, sample: &Sample) {
        let record = CpuSample {
            thread: self.names.thread(sample.thread),
            virtual_thread: None,
            time: sample.time,
            cpu: sample.length,
            stack: sample.seen.stack.map(|stack| self.names.stack(stack)),
            function: sample.seen.function.map(|function| self.names.function(function)),
            kernel: sample.seen.is_kernel.then_some(Flag::Yes),
            lost: sample.is_lost.then(|| LOST.into()),
        };
        self.names.write(&record);
    }

    fn wall(&mut self, sample: &Sample) {
        let record = WallSample {
            thread: self.names.thread(sample.thread),
            virtual_thread: None,
            time: sample.time,
            wall: sample.length,
            state: sample.state,
            stack: sample.seen.stack.map(|stack| self.names.stack(stack)),
            function: sample.seen.function.map(|function| self.names.function(function)),
            lost: None,
        };
        self.names.write(&record);
    }

    fn begins(&mut self, time: Time, at: u32) {
        let wait = self.import.ordered.waits[at as usize];
        let thread = self.names.thread(wait.thread);
        let stack = wait.seen.stack.map(|stack| self.names.stack(stack));
        if wait.kind == WaitKind::Sleeping {
            return self.names.write(&ThreadSleep { thread, time, stack });
        }
        let owner = wait.owner.map(|owner| self.names.thread(owner));
        let object = self.names.lock(wait.lock, time);
        let parked = parked(&wait);
        if is_contended(&wait) {
            let (owner_object, owner_stack) = (None, None);
            self.names.write(&MonContendedEnter {
                thread,
                time,
                object,
                owner,
                owner_object,
                stack,
                owner_stack,
                parked,
                look_interval: None,
            });
        } else {
            let timeout_millis =
                if let WaitKind::Waiting { timeout_millis, .. } = wait.kind { timeout_millis } else { 0 };
            self.names.write(&MonWait { thread, time, object, timeout_millis, stack, parked });
        }
    }

    fn ends(&mut self, time: Time, at: u32) {
        let wait = self.import.ordered.waits[at as usize];
        let thread = self.names.thread(wait.thread);
        if wait.kind == WaitKind::Sleeping {
            return self.names.write(&ThreadSlept { thread, time });
        }
        let object = self.names.lock(wait.lock, time);
        let parked = parked(&wait);
        if is_contended(&wait) {
            return self.names.write(&MonContendedEntered { thread, time, object, parked });
        }
        let reason = match wait.kind {
            WaitKind::Waiting { timed_out: true, .. } => Some(WaitEnd::TimedOut),
            WaitKind::Waiting { notified: true, .. } => Some(WaitEnd::Notified),
            _ => None,
        };
        let timeout_millis = time.since(wait.since).0 / 1_000_000;
        self.names.write(&MonWaited { thread, time, object, timeout_millis, reason, parked });
    }

    fn tail(&mut self, time: Time) {
        let agent_id = self.id("agent");
        let losses = self.import.losses();
        let (sampled, bytes) = self.sums.totals();
        let mut counts: Vec<(&str, Option<&str>, u64)> = Vec::new();
        counts.push(("sampled.interval", None, bytes.checked_div(sampled).unwrap_or(0)));
        counts.push(("sampled.count", None, sampled));
        let is_sized = |what: &What| matches!(what, What::Allocated(one) if one.size.is_none());
        let without_size = self.import.ordered.all.iter().filter(|(_, what)| is_sized(what)).count() as u64;
        counts.push(("imported.withoutSize", None, without_size));
        counts.push(("imported.leftOut", None, losses.left_out.0));
        counts.push(("imported.withoutPeriod", None, losses.without_period));
        counts.push(("imported.overlapping", None, losses.overlapping));
        counts.push(("imported.lost", None, self.import.gathered.lost));
        let (damaged, why) = (losses.damaged_chunks.0, losses.damaged_chunks.1.as_deref());
        counts.push(("imported.damagedChunks", why, damaged));
        counts.push(("imported.damagedEvents", None, losses.damaged_events));
        counts.push(("imported.broken", losses.broken.as_deref(), u64::from(losses.broken.is_some())));
        let mut thresholds: BTreeMap<Nanos, Vec<&str>> = BTreeMap::new();
        for (name, &threshold) in &self.import.gathered.settings.thresholds {
            thresholds.entry(threshold).or_default().push(name);
        }
        let thresholds: Vec<(Nanos, String)> =
            thresholds.into_iter().map(|(threshold, names)| (threshold, names.join(", "))).collect();
        counts.extend(thresholds.iter().map(|(threshold, names)| ("imported.threshold", Some(&**names), threshold.0)));
        for (key, detail, value) in counts.into_iter().filter(|(.., value)| *value > 0) {
            let detail = detail.map(Into::into);
            self.names.write(&MartiniCount { key: key.into(), detail, value });
        }
        self.names.write(&TraceEnd { time });
        self.names.write(&AgentDestroy { agent_id: agent_id.into(), time });
        self.names.out.end_document();
    }
}

fn is_contended(wait: &Wait) -> bool {
    matches!(wait.kind, WaitKind::Blocked | WaitKind::Parked { is_contended: true })
}

fn parked(wait: &Wait) -> Option<Flag> {
    matches!(wait.kind, WaitKind::Parked { .. }).then_some(Flag::Yes)
}
