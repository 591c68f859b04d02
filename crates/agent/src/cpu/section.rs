//! Writes what threads did when they were interrupted.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use trace::ids::{ObjectId, ThreadId};
use trace::model::{CpuSample, Flag, Record, ThreadCpu, ThreadEnd, ThreadStart, ThreadState, WallSample};
use trace::time::Nanos;

use super::{Cpu, Left, OtherThread, Purpose, Sample, VmState, Who};
use agent_base::clock::Ticks;
use agent_base::ids::ThreadIndex;
use agent_trace::{Count, Document, Section};

/// There was no memory for a sample.
const NO_ROOM: &str = "noRoom";
/// No signal came, since the thread ended before, or blocked it.
const UNDELIVERED: &str = "undelivered";

/// What samples stand for that have no stack, or are no samples at all: nanoseconds by reason.
type LostTime = BTreeMap<&'static str, u64>;

/// Writes the samples of threads.
pub(super) struct CpuSection {
    cpu: &'static Cpu,
    /// Threads that do not run Java.
    others: FxHashSet<u32>,
    lost: LostTime,
    /// Signals that brought CPU time, and the intervals that they brought.
    samples: u64,
    intervals: u64,
    /// Samples whose stacks have more frames than were found.
    cut: u64,
}

impl Section for CpuSection {
    fn turn(&mut self, document: &mut Document) {
        let cpu = self.cpu;
        // First: what a thread has left was left behind all its samples.
        let (left, unwritten) = (cpu.take_left(), cpu.take_unwritten());
        cpu.drain(|sample| {
            // A full trace takes none, but room is made.
            if !document.is_full() {
                self.sample(document, sample);
            }
        });
        if document.is_full() {
            return;
        }
        for (who, intervals) in unwritten {
            self.lost_intervals(document, who, intervals, NO_ROOM, Ticks::now());
        }
        left.iter().for_each(|left| self.left(document, left));
    }

    fn thread_ends(&mut self, document: &mut Document, _ticks: Ticks, _thread: ThreadIndex) {
        // Nothing of it comes behind its end.
        self.turn(document);
    }

    fn counts(&mut self, _document: &Document) -> Vec<Count> {
        let totals = self.cpu.totals();
        let Some((totals, interval)) = totals.and_then(|totals| Some((totals, totals.interval?))) else {
            return Vec::new();
        };
        let mut counts = vec![
            ("cpu.interval", None, interval),
            ("cpu.delivered", None, interval * self.intervals / self.samples.max(1)),
            ("cpu.process", None, totals.process),
            ("cpu.sampled", None, interval * self.intervals),
            ("cpu.agent", None, totals.agent),
            ("cpu.notSeen", None, totals.not_seen),
            ("cpu.cut", None, self.cut),
        ];
        counts.extend(self.lost.iter().map(|(&why, &nanos)| ("cpu.lost", Some(why.to_owned()), nanos)));
        counts.extend(totals.is_by_process.then_some(("cpu.byProcess", None, 1)));
        let others = [("unknownThread", totals.unknown), ("noRoomAtEnd", totals.left_out)];
        let others = others.into_iter().filter(|(_, nanos)| *nanos > 0);
        counts.extend(others.map(|(why, nanos)| ("cpu.lost", Some(why.to_owned()), nanos)));
        counts
    }
}

impl CpuSection {
    pub(super) fn new(cpu: &'static Cpu) -> CpuSection {
        let (others, lost) = (FxHashSet::default(), LostTime::new());
        CpuSection { cpu, others, lost, samples: 0, intervals: 0, cut: 0 }
    }

    fn sample(&mut self, document: &mut Document, sample: &Sample) {
        let cpu = self.cpu;
        let Some(thread) = self.sampled_thread(document, sample.who) else { return };
        let virtual_thread = sample.mounted.map(|index| document.thread_id(index)).filter(|&id| id != thread);
        let lost = sample.walked.err().map(|error| error.name());
        let walker = cpu.walker().filter(|_| lost.is_none());
        let stack = walker.and_then(|walker| document.walked_stack(walker, sample.stack.frames()));
        self.cut += u64::from(sample.stack.is_truncated() && lost.is_none());
        let function = document.native_function(sample.pc);
        let time = document.core.clock.time(sample.time);
        match sample.purpose {
            Purpose::Cpu => {
                let nanos = sample.amount * cpu.interval().unwrap_or(0);
                self.samples += 1;
                self.intervals += sample.amount;
                lost.inspect(|lost| *self.lost.entry(lost).or_default() += nanos);
                let element = CpuSample {
                    thread,
                    virtual_thread,
                    time,
                    cpu: Nanos(nanos),
                    stack,
                    function,
                    kernel: sample.in_kernel.then_some(Flag::Yes),
                    lost: lost.map(Cow::Borrowed),
                };
                document.emit(|out| element.write(out));
            }
            Purpose::Wall => {
                let element = WallSample {
                    thread,
                    virtual_thread,
                    time,
                    wall: Nanos(sample.amount),
                    state: sample.state.map_or(ThreadState::Runnable, state),
                    stack,
                    function,
                    lost: lost.map(Cow::Borrowed),
                };
                document.emit(|out| element.write(out));
            }
        }
    }

    /// Writes intervals of which there is no sample.
    fn lost_intervals(&mut self, document: &mut Document, who: Who, intervals: u64, lost: &'static str, ticks: Ticks) {
        let Some(thread) = self.sampled_thread(document, who).filter(|_| intervals > 0) else { return };
        let nanos = intervals * self.cpu.interval().unwrap_or(0);
        *self.lost.entry(lost).or_default() += nanos;
        let element = CpuSample {
            thread,
            virtual_thread: None,
            time: document.core.clock.time(ticks),
            cpu: Nanos(nanos),
            stack: None,
            function: None,
            kernel: None,
            lost: Some(Cow::Borrowed(lost)),
        };
        document.emit(|out| element.write(out));
    }

    /// Writes what a thread has left; of one that runs no Java also what it had of the processors, and its end.
    fn left(&mut self, document: &mut Document, left: &Left) {
        self.lost_intervals(document, left.who, left.undelivered, UNDELIVERED, left.time);
        self.lost_intervals(document, left.who, left.unwritten, NO_ROOM, left.time);
        let cpu = self.cpu;
        let Who::Other(number) = left.who else { return };
        if let Some(thread) = self.sampled_thread(document, left.who).filter(|_| cpu.interval().is_some()) {
            let time = document.time(left.time);
            document.emit(|out| ThreadCpu { thread, cpu: Nanos(left.cpu), queued: None, time }.write(out));
        }
        if left.has_ended {
            if self.others.remove(&number.0)
                && let Some(other) = cpu.other(number)
            {
                let time = document.time(left.time);
                document.emit(|out| ThreadEnd { thread: other.id, time }.write(out));
            }
            cpu.forget(number);
        }
    }

    /// The id of a sampled thread, which is defined if it is new.
    fn sampled_thread(&mut self, document: &mut Document, who: Who) -> Option<ThreadId> {
        match who {
            Who::Java(index) => Some(document.thread_id(index)),
            Who::Other(number) => self.other_thread(document, number),
            Who::Agent => None,
        }
    }

    fn other_thread(&mut self, document: &mut Document, number: OtherThread) -> Option<ThreadId> {
        let other = self.cpu.other(number)?;
        if self.others.insert(number.0) {
            let element = ThreadStart {
                thread_id: other.id,
                time: document.core.clock.time(other.found),
                thread_name: Cow::Borrowed(&other.name),
                group_name: Cow::Borrowed(""),
                parent_name: Cow::Borrowed(""),
                object: Some(ObjectId(0)),
                kind: Some(other.kind),
            };
            document.emit(|out| element.write(out));
        }
        Some(other.id)
    }
}

/// What a thread does, by the number that HotSpot keeps of it (`osThread.hpp`). A wait with a limit has the same as one without.
fn state(VmState(state): VmState) -> ThreadState {
    match state {
        3 => ThreadState::Blocked,
        4 | 5 => ThreadState::Waiting,
        7 => ThreadState::TimedWaiting,
        _ => ThreadState::Runnable,
    }
}
