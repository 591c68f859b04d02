//! How many bytes the VM's sampler counted when it chose an object, from where the thread was in its buffer then and at its last sample.

use crate::agent::hotspot::buffers::Place;

/// A buffer is left if less than this part of it is free.
const WASTED_PART: f64 = 64.0;
/// The least that is counted of an object outside the buffer, as a part of it.
const LEAST_PART: f64 = 0.25;

/// A thread at a sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) place: Place,
    /// Bytes that the thread has allocated, the sampled object with them.
    pub(super) bytes: u64,
    /// Where the sampled object is in the buffer; `None` if it is outside.
    pub(super) offset: Option<usize>,
}

/// What a thread's sampler had counted at the last sample, or when the thread began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Earlier {
    place: Place,
    bytes: u64,
    /// What it had counted ahead of the sample before, which is not forgotten yet.
    ahead: f64,
}

impl Earlier {
    /// A thread that begins to allocate.
    pub(super) fn begins(place: Place, bytes: u64) -> Earlier {
        Earlier { place, bytes, ahead: 0.0 }
    }

    /// What the sampler has counted after a sample, chosen every so many bytes.
    pub(super) fn after(earlier: Option<&Earlier>, look: &Look, interval: f64) -> Earlier {
        let ahead = match (look.offset, earlier) {
            // What was counted ahead is forgotten with a sample in the buffer.
            (Some(_), _) | (None, None) => 0.0,
            (None, Some(earlier)) => {
                let since = Since::of(earlier, &look.place);
                let (ahead, rest) = match since.buffers {
                    0 => (earlier.ahead, earlier.place.rest() as f64),
                    _ => (0.0, look.place.end.saturating_sub(look.place.start) as f64),
                };
                // The rest of the buffer, or up to the sample: their minimum on average.
                let expected = -(-rest / interval).exp_m1() * interval;
                ahead + expected + since.outside.saturating_sub(1) as f64 * rest
            }
        };
        Earlier { place: look.place, bytes: look.bytes, ahead }
    }
}

/// What happened between two samples of a thread.
struct Since {
    /// New buffers.
    buffers: u32,
    /// A collection took the last buffer away.
    is_collected: bool,
    /// Objects outside of the buffer.
    outside: u32,
}

impl Since {
    fn of(earlier: &Earlier, now: &Place) -> Since {
        let before = &earlier.place;
        let is_same = before.start == now.start && before.top <= now.top;
        match (is_same, now.refills.checked_sub(before.refills), now.outside.checked_sub(before.outside)) {
            (true, Some(0), Some(outside)) => Since { buffers: 0, is_collected: false, outside },
            (_, Some(buffers @ 1..), Some(outside)) => Since { buffers, is_collected: now.refills == 1, outside },
            // Collections begin to count anew.
            _ => Since { buffers: now.refills.max(1), is_collected: now.refills <= 1, outside: now.outside },
        }
    }
}

/// The bytes that the sampler counted when it chose an object of that size, apart from those that did not choose an earlier one.
pub(super) fn counted(earlier: Option<&Earlier>, look: &Look, size: u64) -> f64 {
    let bytes = size as f64;
    match look.offset {
        Some(0) => bytes + left_over(earlier, look, size),
        Some(_) => bytes,
        None => bytes - earlier.map_or(0.0, |earlier| forgotten(earlier, look)).min(bytes * (1.0 - LEAST_PART)),
    }
}

/// Bytes that were counted and not allocated before the first object in a buffer.
fn left_over(earlier: Option<&Earlier>, look: &Look, size: u64) -> f64 {
    let Place { refills, wanted, .. } = look.place;
    let waste = (size as f64).min(wanted as f64 / WASTED_PART) / 2.0;
    let Some(earlier) = earlier else { return if refills == 1 { wanted as f64 / 2.0 } else { waste } };
    let since = Since::of(earlier, &look.place);
    let (rest, buffer) = (earlier.place.rest() as f64, earlier.place.wanted.max(1) as f64);
    let made = look.bytes.saturating_sub(earlier.bytes).saturating_sub(size) as f64;
    let ahead = if since.buffers <= 1 { earlier.ahead } else { 0.0 };
    if since.outside > 0 {
        // Each of them counts what was left of the buffer once more.
        let per_buffer = f64::from(since.outside) / f64::from(since.buffers.max(1));
        let once_more = if since.buffers <= 1 { rest } else { buffer };
        let at_last = if since.is_collected { once_more } else { waste };
        return ahead + at_last + per_buffer * once_more / 2.0;
    }
    if since.buffers <= 1 && made <= rest {
        return ahead + rest - made;
    }
    match since.is_collected {
        true => buffer - (made - rest).max(0.0) % buffer,
        false => waste,
    }
}

/// Bytes of objects outside of the buffer that could not be chosen, behind those that were forgotten: an object that is chosen then stands
/// for them, too. A single object outside that is larger than what was forgotten stands for itself ([`counted`]).
pub(super) fn hidden(earlier: Option<&Earlier>, look: &Look, size: u64) -> f64 {
    let Some(earlier) = earlier.filter(|_| look.offset.is_none()) else { return 0.0 };
    let (since, forgotten) = (Since::of(earlier, &look.place), in_buffer(earlier, look));
    if since.outside > 1 && forgotten > size as f64 { forgotten } else { 0.0 }
}

/// Bytes in the buffer that are forgotten because of an object outside.
fn forgotten(earlier: &Earlier, look: &Look) -> f64 {
    // Of several objects it is that of the first.
    if Since::of(earlier, &look.place).outside == 1 { in_buffer(earlier, look) } else { 0.0 }
}

/// Bytes that were allocated since the last sample in the buffer of now.
fn in_buffer(earlier: &Earlier, look: &Look) -> f64 {
    let Place { start, top, .. } = look.place;
    let from = if Since::of(earlier, &look.place).buffers == 0 { earlier.place.top } else { start };
    top.saturating_sub(from) as f64
}
