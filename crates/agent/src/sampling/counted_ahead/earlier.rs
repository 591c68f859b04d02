//! Where a thread is in its buffer at a sample, and what its sampler had counted at the last one.

use super::overflow::Overflow;
use hotspot::buffers::BufferPosition;

/// A thread at a sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) place: BufferPosition,
    /// Bytes that the thread has allocated, the sampled object with them.
    pub(super) bytes: u64,
    /// Where the sampled object is in the buffer; `None` if it is outside.
    pub(super) offset: Option<usize>,
}

/// What a thread's sampler had counted at the last sample, or when the thread began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Earlier {
    pub(super) place: BufferPosition,
    pub(super) bytes: u64,
    /// The last sample was an object outside of the buffer.
    pub(super) is_outside: bool,
    /// What it had counted ahead of the sample before, which is not forgotten yet.
    pub(super) ahead: f64,
    /// Bytes of the buffer in which no object is chosen after it.
    pub(super) hidden: f64,
    /// What it counted beyond the sample, if it counts that twice.
    pub(super) overflow: Option<Overflow>,
}

/// What the sampler counted when it chose an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    /// Bytes, apart from those that did not choose an earlier object.
    pub(super) bytes: f64,
    /// What it stands for beside itself: bytes of objects that could not be chosen.
    pub(super) hidden: f64,
}

impl Earlier {
    /// A thread that begins to allocate.
    pub(super) fn begins(place: BufferPosition, bytes: u64) -> Earlier {
        Earlier { place, bytes, is_outside: false, ahead: 0.0, hidden: 0.0, overflow: None }
    }
}

/// What happened between two samples of a thread.
pub(super) struct Since {
    /// New buffers.
    pub(super) buffers: u32,
    /// A collection took the last buffer away.
    pub(super) is_collected: bool,
    /// Objects outside of the buffer.
    pub(super) outside: u32,
}

impl Since {
    pub(super) fn of(earlier: &Earlier, now: &BufferPosition) -> Since {
        let before = &earlier.place;
        let is_same = before.start == now.start && before.top <= now.top;
        match (is_same, now.refills.checked_sub(before.refills), now.outside.checked_sub(before.outside)) {
            (true, Some(0), Some(outside)) => Since { buffers: 0, is_collected: false, outside },
            (_, Some(buffers @ 1..), Some(outside)) => Since { buffers, is_collected: now.refills == 1, outside },
            // Collections begin to count anew.
            _ => Since { buffers: now.refills.max(1), is_collected: now.refills <= 1, outside: now.outside },
        }
    }

    /// Objects outside of each buffer.
    pub(super) fn per_buffer(&self) -> f64 {
        f64::from(self.outside) / f64::from(self.buffers.max(1))
    }
}

/// Bytes that were allocated since the last sample in the buffer of now.
pub(super) fn in_buffer(earlier: Option<&Earlier>, look: &Look) -> f64 {
    let BufferPosition { start, top, .. } = look.place;
    let here = earlier.filter(|earlier| Since::of(earlier, &look.place).buffers == 0);
    top.saturating_sub(here.map_or(start, |earlier| earlier.place.top)) as f64
}

/// The bytes that lie up to the next sample, or to the end of what is left of a buffer if that comes first, on average.
pub(super) fn up_to_sample(rest: f64, interval: f64) -> f64 {
    -(-rest / interval).exp_m1() * interval
}
