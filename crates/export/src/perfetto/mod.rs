//! The format of Perfetto: packets of Protocol Buffers, as `perfetto_trace.proto` describes them.
//!
//! Requests, waits and static initialisers are slices on the tracks of their threads, inside each other as they were; collections are slices on a
//! track of their own, compilations on one for each that a compiler did at the same time; CPU samples are those of `perf`; what was
//! allocated, what the heap held and the JVM's own counters are counters.

mod interned;
mod slices;
mod start;

use trace::file::Kind;
use trace::time::Time;

use crate::frame::thread_name;
use crate::protobuf::Message;
use crate::recorder::constants::Constants;
use crate::recorder::{Event, Recording, RequestEvent};
use interned::{Annotation, Interned, Name};
use slices::Slice;

/// What all packets of ours say that they belong to.
const SEQUENCE: u64 = 0x6d61_7274;

/// The numbers of tracks; those of threads follow.
const PROCESS: u64 = 1;
const COLLECTIONS: u64 = 2;
const ALLOCATED: u64 = 3;
const HEAP: u64 = 4;
/// Static initialisers of threads that are not known.
const INITIALISERS: u64 = 5;
const THREADS: u64 = 16;

/// Of a packet: all that was said before is void.
const CLEARED: u64 = 1;
/// Of a packet: it needs what was said before.
const NEEDS: u64 = 2;

/// What a track event does.
const BEGINS: u64 = 1;
const ENDS: u64 = 2;
const COUNTS: u64 = 4;

/// The clock that timestamps are of, and that of the day; both say the same.
const BOOT_TIME: u64 = 6;
const REAL_TIME: u64 = 1;

/// Units of a counter.
const NANOSECONDS: u64 = 1;
const NUMBER: u64 = 2;
const BYTES: u64 = 3;

/// That samples are of CPU clocks.
const CPU_CLOCK: u64 = 1;

/// Files of this format that are ours.
pub const PERFETTO: Kind = Kind {
    name: "Perfetto trace",
    is_begun_by: |head| {
        let mut packets = Packets(Message::default());
        packets.first();
        head.starts_with(&packets.0.into_bytes())
    },
};

/// Packets that are being written.
struct Packets(Message);

impl Packets {
    fn write(&mut self, flags: u64, time: Option<Time>, field: u32, body: &Message) {
        let mut packet = Message::default();
        packet.int(10, SEQUENCE);
        packet.int(13, flags);
        packet.int(8, time.map_or(0, |time| time.0));
        packet.message(field, body);
        self.0.message(1, &packet);
    }

    /// Of samples, of which clock they are.
    fn first(&mut self) {
        let (mut timebase, mut samples, mut defaults) = (Message::default(), Message::default(), Message::default());
        timebase.int(4, CPU_CLOCK);
        samples.message(1, &timebase);
        defaults.message(12, &samples);
        self.write(CLEARED, None, 59, &defaults);
    }

    fn clocks(&mut self, now: Time) {
        let mut snapshot = Message::default();
        for id in [REAL_TIME, BOOT_TIME] {
            let mut clock = Message::default();
            clock.int(1, id);
            clock.int(2, now.0);
            snapshot.message(1, &clock);
        }
        snapshot.int(2, BOOT_TIME);
        self.write(0, None, 6, &snapshot);
    }

    fn track(&mut self, id: u64, parent: u64, name: &str, kind: Option<(u32, &Message)>) {
        let mut track = Message::default();
        track.int(1, id);
        track.int(5, parent);
        track.text(2, name);
        if let Some((field, kind)) = kind {
            track.message(field, kind);
        }
        self.write(0, None, 60, &track);
    }

    fn counter(&mut self, track: u64, time: Time, value: u64) {
        let mut event = Message::default();
        event.int(9, COUNTS);
        event.int(11, track);
        event.number(30, value.min(i64::MAX as u64));
        self.write(NEEDS, Some(time), 11, &event);
    }

    fn slices(&mut self, track: u64, slices: Vec<Slice>) {
        slices::in_order(slices, |time, begins| {
            let (mut event, kind) = begins.map_or((Message::default(), ENDS), |slice| (slice.begin, BEGINS));
            event.int(9, kind);
            event.int(11, track);
            self.write(NEEDS, Some(time), 11, &event);
        });
    }
}

/// Threads have numbers behind that of the process: one with its number would be its first.
fn tid(pid: u64, thread: u64) -> u64 {
    pid.saturating_add(thread)
}

/// Writes a trace of Perfetto.
pub fn perfetto(recording: &Recording) -> Vec<u8> {
    let constants = Constants::of(recording);
    let pid = recording.pid.filter(|&pid| pid > 0 && pid < u64::from(u16::MAX) << 14).unwrap_or(1);
    let mut packets = Packets(Message::default());
    packets.first();
    packets.clocks(recording.begin);
    tracks(recording, pid, &mut packets);
    let mut interned = Interned::new(&constants);
    let mut events = Packets(Message::default());
    write_slices(recording, &constants, &mut interned, &mut events);
    write_samples(recording, pid, &mut interned, &mut events);
    for &(time, bytes) in &recording.allocated {
        events.counter(ALLOCATED, time, bytes);
    }
    for event in &recording.events {
        if let &Event::Collection { until, used: Some(used), .. } = event {
            events.counter(HEAP, until, used);
        }
    }
    start::write(recording, &constants, &mut packets, &mut events);
    packets.write(NEEDS, None, 12, &interned.into_message());
    let mut bytes = packets.0.into_bytes();
    bytes.extend(events.0.into_bytes());
    bytes
}

fn tracks(recording: &Recording, pid: u64, packets: &mut Packets) {
    let mut process = Message::default();
    process.int(1, pid);
    process.text(6, "JVM");
    packets.track(PROCESS, 0, "", Some((3, &process)));
    for (number, thread) in recording.pools.threads.in_order() {
        let mut of = Message::default();
        of.int(1, pid);
        of.int(2, tid(pid, number));
        of.text(5, thread_name(Some(&thread.name)));
        packets.track(THREADS + number, 0, "", Some((4, &of)));
    }
    let mut counter = Message::default();
    counter.int(3, BYTES);
    packets.track(ALLOCATED, PROCESS, "Allocated bytes", Some((8, &counter)));
    packets.track(HEAP, PROCESS, "Heap used after collections", Some((8, &counter)));
    packets.track(COLLECTIONS, PROCESS, "Collections", None);
    packets.track(INITIALISERS, PROCESS, "Static initialisers", None);
}

fn write_slices(recording: &Recording, constants: &Constants<'_>, interned: &mut Interned<'_>, packets: &mut Packets) {
    let mut threads: std::collections::BTreeMap<u64, Vec<Slice>> = std::collections::BTreeMap::new();
    for event in &recording.events {
        match event {
            Event::Wait(wait) => {
                let mut begin = Message::default();
                begin.int(10, interned.name(Name::Wait(wait.kind)));
                begin.int(56, interned.stack(wait.stack));
                let owner = constants.thread(wait.owner).map(|owner| thread_name(Some(&owner.name)));
                for (name, text) in [
                    (Annotation::Class, constants.class(wait.class)),
                    (Annotation::Lock, recording.lock_name(wait.lock)),
                    (Annotation::Owner, owner),
                ] {
                    if let Some(text) = text {
                        let mut annotation = Message::default();
                        annotation.int(1, name as u64);
                        annotation.text(6, text);
                        begin.message(4, &annotation);
                    }
                }
                let slice = Slice { since: wait.since, until: wait.until, begin };
                threads.entry(THREADS + wait.thread).or_default().push(slice);
            }
            &Event::Collection { since, until, .. } => {
                let mut begin = Message::default();
                begin.int(10, interned.name(Name::Collection));
                threads.entry(COLLECTIONS).or_default().push(Slice { since, until, begin });
            }
            Event::Initialiser(initialiser) => {
                let mut begin = Message::default();
                begin.text(23, &format!("<clinit> {}", constants.class(initialiser.class).unwrap_or_default()));
                begin.int(56, interned.stack(initialiser.stack));
                let track = if initialiser.thread == 0 { INITIALISERS } else { THREADS + initialiser.thread };
                let slice = Slice { since: initialiser.since, until: initialiser.until, begin };
                threads.entry(track).or_default().push(slice);
            }
            Event::Request(request) => {
                let slice = Slice { since: request.since, until: request.until, begin: of_request(recording, request) };
                threads.entry(THREADS + request.thread).or_default().push(slice);
            }
            // Compilations have tracks of their own.
            Event::Compilation(_)
            | Event::ClassLoad { .. }
            | Event::ThreadStart { .. }
            | Event::ThreadEnd { .. }
            | Event::Sample { .. } => {}
        }
    }
    threads.into_iter().for_each(|(track, slices)| packets.slices(track, slices));
}

/// The beginning of a request's slice. What it had of processors and allocated is said beside its name.
fn of_request(recording: &Recording, request: &RequestEvent) -> Message {
    let mut begin = Message::default();
    let method = recording.entry_points.get(request.entry).map_or("", |method| method);
    let failed = if request.failed { " (failed)" } else { "" };
    begin.text(23, &format!("{method} #{}{failed}", request.number));
    for (name, value) in [("cpu_nanos", request.cpu.map(|cpu| cpu.0)), ("allocated_bytes", request.bytes)] {
        if let Some(value) = value {
            let mut annotation = Message::default();
            annotation.text(10, name);
            annotation.int(3, value);
            begin.message(4, &annotation);
        }
    }
    begin
}

/// The counter of the clock grows from sample to sample, over all threads.
fn write_samples(recording: &Recording, pid: u64, interned: &mut Interned<'_>, packets: &mut Packets) {
    let mut samples: Vec<_> = (recording.events.iter())
        .filter_map(|event| match *event {
            Event::Sample { thread, time, cpu, stack } => Some((time, thread, cpu, stack)),
            _ => None,
        })
        .collect();
    samples.sort_by_key(|sample| sample.0);
    let mut clock = 0_u64;
    for (time, thread, cpu, stack) in samples {
        clock = clock.saturating_add(cpu.0);
        let mut sample = Message::default();
        sample.number(1, 0);
        sample.int(2, pid);
        sample.int(3, tid(pid, thread));
        sample.int(4, interned.stack(stack));
        sample.int(6, clock);
        packets.write(NEEDS, Some(time), 66, &sample);
    }
}

#[cfg(test)]
mod tests {
    use trace::time::Nanos;

    use super::*;

    #[test]
    fn a_file_begins_as_ours_and_has_the_clock_of_all_samples() {
        let empty = perfetto(&Recording::default());
        assert!((PERFETTO.is_begun_by)(&empty) && !(PERFETTO.is_begun_by)(&empty[1..]));
        let sample = |time, cpu| Event::Sample { thread: 1, time: Time(time), cpu: Nanos(cpu), stack: 0 };
        let recording = Recording { events: vec![sample(7, 2), sample(6, 3)], ..Recording::default() };
        let (constants, mut packets) = (Constants::of(&recording), Packets(Message::default()));
        write_samples(&recording, 1, &mut Interned::new(&constants), &mut packets);
        // Of each: sequence, flags, time, and the sample: processor 0, pid, tid, clock.
        let packet = |time, clock| {
            let head = [0x0a, 21, 80, 0xf4, 0xe4, 0x85, 0xeb, 6, 104, 2, 64, time];
            [&head[..], &[0x92, 4, 8, 8, 0, 16, 1, 24, 2, 48, clock]].concat()
        };
        assert_eq!(packets.0.into_bytes(), [packet(6, 3), packet(7, 5)].concat());
    }
}
