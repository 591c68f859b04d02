//! What the JVM's compilers did, and its own counters.

use trace::time::Time;

use super::slices::Slice;
use super::{NANOSECONDS, NUMBER, PROCESS, Packets};
use crate::protobuf::Message;
use crate::recorder::constants::Constants;
use crate::recorder::{CompilationEvent, Event, Recording};

/// The numbers of these tracks, far behind those of threads.
const FIRST: u64 = 1 << 40;

/// Writes tracks to `packets`, and what is on them to `events`.
pub(super) fn write(recording: &Recording, constants: &Constants<'_>, packets: &mut Packets, events: &mut Packets) {
    let mut tracks = FIRST..;
    for compiler in ["C1", "C2"] {
        let compilations = recording.events.iter().filter_map(|event| match event {
            Event::Compilation(compilation) => Some(compilation).filter(|one| one.compiler() == compiler),
            _ => None,
        });
        for (lane, compilations) in lanes(compilations.collect()).into_iter().enumerate() {
            let Some(track) = tracks.next() else { return };
            packets.track(track, PROCESS, &format!("{compiler} compiles {}", lane + 1), None);
            events.slices(track, compilations.into_iter().map(|one| slice(one, constants)).collect());
        }
    }
    for (name, values) in &recording.counters {
        let Some(track) = tracks.next() else { return };
        let mut counter = Message::default();
        counter.int(3, if is_time(name) { NANOSECONDS } else { NUMBER });
        packets.track(track, PROCESS, name, Some((8, &counter)));
        values.iter().for_each(|&(time, value)| events.counter(track, time, value));
    }
}

/// Times are in nanoseconds.
fn is_time(counter: &str) -> bool {
    counter.contains("Time") || counter.ends_with(".time")
}

fn slice(compilation: &CompilationEvent, constants: &Constants<'_>) -> Slice {
    let name = constants.method(compilation.method).map(|(_, name)| name).unwrap_or_default();
    let osr = if compilation.is_osr { ", OSR" } else { "" };
    let mut begin = Message::default();
    begin.text(23, &format!("{name} (tier {}{osr})", compilation.level()));
    Slice { since: compilation.since, until: compilation.until, begin }
}

/// Compilations of one compiler such that in a lane none begins before the one in front of it has ended.
fn lanes(mut compilations: Vec<&CompilationEvent>) -> Vec<Vec<&CompilationEvent>> {
    compilations.sort_by_key(|one| (one.since, one.until));
    let mut lanes: Vec<(Time, Vec<&CompilationEvent>)> = Vec::new();
    for one in compilations {
        match lanes.iter_mut().find(|(until, _)| *until <= one.since) {
            Some((until, lane)) => {
                *until = one.until;
                lane.push(one);
            }
            None => lanes.push((one.until, vec![one])),
        }
    }
    lanes.into_iter().map(|(_, lane)| lane).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::model::CodeTier;

    #[test]
    fn what_was_compiled_at_the_same_time_is_in_lanes_of_its_own() {
        let one = |id, since, until| CompilationEvent {
            id,
            method: 0,
            tier: CodeTier::C2,
            is_osr: false,
            since: Time(since),
            until: Time(until),
        };
        let all = [one(1, 10, 20), one(3, 20, 25), one(2, 12, 30), one(4, 27, 28)];
        let lanes = lanes(all.iter().collect());
        let ids: Vec<Vec<u64>> = lanes.iter().map(|lane| lane.iter().map(|one| one.id).collect()).collect();
        assert_eq!(ids, [vec![1, 3, 4], vec![2]]);
    }
}
