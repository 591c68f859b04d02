//! With which probability the VM's sampler chose an object, from where the thread was in its buffer then and at its last sample.

use super::super::samples::probability;
use super::earlier::{Counted, Earlier, Look, in_buffer};
use super::overflow::Overflow;
use super::{jdk11, jdk17};

/// The sampler of the VM. Two count what nobody allocates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VmSampler {
    /// That of JDK 11 to 16.
    Jdk11,
    /// That of JDK 17 to 24.
    Jdk17,
}

/// How an object was chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen {
    pub(super) counted: Counted,
    /// The object stands for its size divided by that.
    pub(super) probability: f64,
}

/// How an object of that size was chosen, with a sample every so many bytes, and what the sampler has counted after it.
pub(super) fn choose(
    vm: VmSampler,
    earlier: Option<&Earlier>,
    look: &Look,
    size: u64,
    interval: f64,
) -> (Chosen, Earlier) {
    let (bytes, is_outside) = (size as f64, look.offset.is_none());
    let (counted, (ahead, hidden)) = match vm {
        VmSampler::Jdk11 => (jdk11::counted(earlier, look, size, interval), jdk11::ahead(earlier, look, interval)),
        VmSampler::Jdk17 => (jdk17::counted(earlier, look, size), (jdk17::ahead(earlier, look, interval), 0.0)),
    };
    let probability = match earlier {
        Some(&Earlier { overflow: Some(overflow), bytes: before, .. }) => {
            // Of what is in the buffer an object outside of it counts nothing.
            let uncounted = if is_outside { in_buffer(earlier, look) } else { 0.0 };
            let since = look.bytes.saturating_sub(before).saturating_sub(size) as f64 - uncounted;
            overflow.probability(since.max(0.0), counted.bytes, interval)
        }
        _ => probability(counted.bytes, interval),
    };
    let chosen = Chosen { counted, probability: bytes / (bytes / probability + counted.hidden) };
    let overflow = (vm == VmSampler::Jdk11).then_some(match look.offset {
        Some(1..) => Overflow::Of(bytes),
        Some(0) | None => Overflow::UpTo(bytes),
    });
    (chosen, Earlier { place: look.place, bytes: look.bytes, is_outside, ahead, hidden, overflow })
}
