//! Writes what threads did when they were interrupted.

use std::borrow::Cow;

use trace::ids::{ClassId, FunctionId, MethodId, ObjectId, StackId, ThreadId};
use trace::model::{
    ClassDef, CpuSample, Flag, Frame, FrameType, FrameTypes, Frames, FunctionDef, MethodDef, Record, StackDef,
    ThreadCpu, ThreadEnd, ThreadStart, ThreadState, Tier, WallSample,
};
use trace::time::Nanos;

use super::writer::Writer;
use crate::cpu::{Cpu, Left, OtherThread, Purpose, Sample, VmState, Who};
use agent_base::clock::Ticks;
pub(crate) use hotspot::walk::{self, FrameKind, MethodNames, MethodNumber, Walker};

/// There was no memory for a sample.
const NO_ROOM: &str = "noRoom";
/// No signal came, since the thread ended before, or blocked it.
const UNDELIVERED: &str = "undelivered";

impl Writer {
    /// Writes what is new.
    pub(super) fn thread_samples(&mut self) {
        let Some(cpu) = self.features.cpu else { return };
        // First: what a thread has left was left behind all its samples.
        let (left, unwritten) = (cpu.take_left(), cpu.take_unwritten());
        cpu.drain(|sample| {
            // A full trace takes none, but room is made.
            if !self.text.is_full() {
                self.thread_sample(cpu, sample);
            }
        });
        if self.text.is_full() {
            return;
        }
        for (who, intervals) in unwritten {
            self.lost_intervals(cpu, who, intervals, NO_ROOM, Ticks::now());
        }
        left.iter().for_each(|left| self.left(cpu, left));
    }

    fn thread_sample(&mut self, cpu: &Cpu, sample: &Sample) {
        let Some(thread) = self.sampled_thread(cpu, sample.who) else { return };
        let virtual_thread = sample.mounted.map(|index| self.thread_id(index)).filter(|&id| id != thread);
        let lost = sample.walked.err().map(|error| error.name());
        let walker = cpu.walker().filter(|_| lost.is_none());
        let stack = walker.and_then(|walker| self.walked_stack(walker, sample.stack.frames()));
        self.sampled.cut += u64::from(sample.stack.is_truncated() && lost.is_none());
        let function = self.native_function(sample.pc);
        let time = self.core.clock.time(sample.time);
        match sample.purpose {
            Purpose::Cpu => {
                let nanos = sample.amount * cpu.interval().unwrap_or(0);
                self.sampled.samples += 1;
                self.sampled.intervals += sample.amount;
                lost.inspect(|lost| *self.sampled.lost.entry(lost).or_default() += nanos);
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
                self.text.emit(|out| element.write(out));
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
                self.text.emit(|out| element.write(out));
            }
        }
    }

    /// Writes intervals of which there is no sample.
    fn lost_intervals(&mut self, cpu: &Cpu, who: Who, intervals: u64, lost: &'static str, ticks: Ticks) {
        let Some(thread) = self.sampled_thread(cpu, who).filter(|_| intervals > 0) else { return };
        let nanos = intervals * cpu.interval().unwrap_or(0);
        *self.sampled.lost.entry(lost).or_default() += nanos;
        let element = CpuSample {
            thread,
            virtual_thread: None,
            time: self.core.clock.time(ticks),
            cpu: Nanos(nanos),
            stack: None,
            function: None,
            kernel: None,
            lost: Some(Cow::Borrowed(lost)),
        };
        self.text.emit(|out| element.write(out));
    }

    /// Writes what a thread has left; of one that runs no Java also what it had of the processors, and its end.
    fn left(&mut self, cpu: &Cpu, left: &Left) {
        self.lost_intervals(cpu, left.who, left.undelivered, UNDELIVERED, left.time);
        self.lost_intervals(cpu, left.who, left.unwritten, NO_ROOM, left.time);
        let Who::Other(number) = left.who else { return };
        if let Some(thread) = self.sampled_thread(cpu, left.who).filter(|_| cpu.interval().is_some()) {
            let time = self.time(left.time);
            self.text.emit(|out| ThreadCpu { thread, cpu: Nanos(left.cpu), queued: None, time }.write(out));
        }
        if left.has_ended {
            if self.sampled.others.remove(&number.0)
                && let Some(other) = cpu.other(number)
            {
                let time = self.time(left.time);
                self.text.emit(|out| ThreadEnd { thread: other.id, time }.write(out));
            }
            cpu.forget(number);
        }
    }

    /// The id of a sampled thread, which is defined if it is new.
    fn sampled_thread(&mut self, cpu: &Cpu, who: Who) -> Option<ThreadId> {
        match who {
            Who::Java(index) => Some(self.thread_id(index)),
            Who::Other(number) => self.other_thread(cpu, number),
            Who::Agent => None,
        }
    }

    fn other_thread(&mut self, cpu: &Cpu, number: OtherThread) -> Option<ThreadId> {
        let other = cpu.other(number)?;
        if self.sampled.others.insert(number.0) {
            let element = ThreadStart {
                thread_id: other.id,
                time: self.core.clock.time(other.found),
                thread_name: Cow::Borrowed(&other.name),
                group_name: Cow::Borrowed(""),
                parent_name: Cow::Borrowed(""),
                object: Some(ObjectId(0)),
                kind: Some(other.kind),
            };
            self.text.emit(|out| element.write(out));
        }
        Some(other.id)
    }

    /// The id of a stack that the walker has found, which is defined if it is new; `None` for no frames.
    pub(super) fn walked_stack(&mut self, walker: &Walker, frames: &[walk::Frame]) -> Option<StackId> {
        if frames.is_empty() {
            return None;
        }
        if let Some(known) = self.sampled.stacks.get(frames) {
            return Some(known);
        }
        let stack_id = StackId(self.core.jvm.ids.next());
        let (mut defined, mut types) = (Vec::with_capacity(frames.len()), Vec::with_capacity(frames.len()));
        for frame in frames {
            let Some(method) = self.walked_method(walker, frame.method) else { continue };
            defined.push(Frame { method, line: frame.line.into() });
            types.push(frame_type(frame.kind));
        }
        let types = Some(FrameTypes(Cow::Owned(types)));
        let element = StackDef { stack_id, frames: Frames(Cow::Owned(defined)), types };
        self.text.emit(|out| element.write(out));
        self.sampled.stacks.add(frames, stack_id);
        Some(stack_id)
    }

    fn walked_method(&mut self, walker: &Walker, number: MethodNumber) -> Option<MethodId> {
        if let Some(&known) = self.sampled.methods.get(&number.0) {
            return Some(known);
        }
        let MethodNames { class, name, signature } = walker.method(number)?;
        let class = self.walked_class(class);
        let id = MethodId(self.core.jvm.ids.next());
        let name = trace::modified_utf8::decode(name);
        let element = MethodDef {
            name: Cow::Borrowed(trace::names::method_name(&name)),
            signature: Cow::Owned(trace::modified_utf8::decode(signature)),
            start_line: None,
            end_line: None,
            method_id: id,
            class,
        };
        self.text.emit(|out| element.write(out));
        self.sampled.methods.insert(number.0, id);
        Some(id)
    }

    /// A class that the walker has met: it has an id of its own, whether other elements name that class too or not.
    fn walked_class(&mut self, name: &[u8]) -> ClassId {
        if let Some(&known) = self.sampled.classes.get(name) {
            return known;
        }
        let id = ClassId(self.core.jvm.ids.next());
        let element = ClassDef {
            thread: None,
            name: Cow::Owned(trace::names::class_name_of_internal(&trace::modified_utf8::decode(name))),
            source_name: None,
            class_id: id,
            object: None,
            time: self.core.clock.time(self.core.start),
            module: None,
        };
        self.text.emit(|out| element.write(out));
        self.sampled.classes.insert(name.into(), id);
        id
    }

    /// The id of the native function at an address, which is defined if it is new; `None` if no file has that address: the VM has made
    /// the code.
    pub(super) fn native_function(&mut self, pc: usize) -> Option<FunctionId> {
        let (number, function) = self.sampled.symbols.resolve(pc);
        let library = function.library.as_deref()?;
        if let Some(&known) = self.sampled.functions.get(&number.0) {
            return Some(known);
        }
        let function_id = FunctionId(self.core.jvm.ids.next());
        let (name, library) = (Cow::Borrowed(&*function.name), Some(Cow::Borrowed(library)));
        let element = FunctionDef { function_id, name, library };
        self.text.emit(|out| element.write(out));
        self.sampled.functions.insert(number.0, function_id);
        Some(function_id)
    }

    /// What the samples of CPU time came to: key, detail and number.
    pub(super) fn sample_counts(&self) -> Vec<(&'static str, Option<String>, u64)> {
        let totals = self.features.cpu.and_then(|cpu| cpu.totals());
        let Some((totals, interval)) = totals.and_then(|totals| Some((totals, totals.interval?))) else {
            return Vec::new();
        };
        let sampled = &self.sampled;
        let mut counts = vec![
            ("cpu.interval", None, interval),
            ("cpu.delivered", None, interval * sampled.intervals / sampled.samples.max(1)),
            ("cpu.process", None, totals.process),
            ("cpu.sampled", None, interval * sampled.intervals),
            ("cpu.agent", None, totals.agent),
            ("cpu.notSeen", None, totals.not_seen),
            ("cpu.cut", None, sampled.cut),
        ];
        counts.extend(sampled.lost.iter().map(|(&why, &nanos)| ("cpu.lost", Some(why.to_owned()), nanos)));
        counts.extend(totals.is_by_process.then_some(("cpu.byProcess", None, 1)));
        let others = [("unknownThread", totals.unknown), ("noRoomAtEnd", totals.left_out)];
        let others = others.into_iter().filter(|(_, nanos)| *nanos > 0);
        counts.extend(others.map(|(why, nanos)| ("cpu.lost", Some(why.to_owned()), nanos)));
        counts
    }
}

fn frame_type(kind: FrameKind) -> FrameType {
    match kind {
        FrameKind::Interpreted => FrameType::Interpreted,
        FrameKind::C1Tier1 => FrameType::C1(Tier::Simple),
        FrameKind::C1Tier2 => FrameType::C1(Tier::Limited),
        FrameKind::C1Tier3 => FrameType::C1(Tier::Full),
        FrameKind::C2 => FrameType::C2,
        FrameKind::Native => FrameType::Native,
        FrameKind::Inlined => FrameType::Inlined,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_letters_of_the_walker_are_those_of_the_trace() {
        let kinds = [
            FrameKind::Interpreted,
            FrameKind::C1Tier1,
            FrameKind::C1Tier2,
            FrameKind::C1Tier3,
            FrameKind::C2,
            FrameKind::Native,
            FrameKind::Inlined,
        ];
        for kind in kinds {
            assert!(FrameType::LETTERS.contains(&(frame_type(kind), kind.letter() as u8)), "{kind:?}");
        }
    }
}
