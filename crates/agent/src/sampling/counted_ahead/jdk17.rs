//! What the sampler of JDK 17 to 24 counts.

use super::earlier::{Counted, Earlier, Look, Since, in_buffer, up_to_sample};
use hotspot::buffers::BufferPosition;

/// A buffer is left if less than this part of it is free.
const WASTED_PART: f64 = 64.0;
/// The least that is counted of an object outside the buffer, as a part of it.
const LEAST_PART: f64 = 0.25;

/// What the sampler counted when it chose an object of that size.
pub(super) fn counted(earlier: Option<&Earlier>, look: &Look, size: u64) -> Counted {
    let bytes = size as f64;
    match look.offset {
        Some(0) => Counted { bytes: bytes + left_over(earlier, look, size), hidden: 0.0 },
        Some(_) => Counted { bytes, hidden: 0.0 },
        None => outside(earlier, look, bytes),
    }
}

/// What the sampler has counted after a sample though it is not allocated yet, apart from what lies up to the next sample.
pub(super) fn ahead(earlier: Option<&Earlier>, look: &Look, interval: f64) -> f64 {
    // What was counted ahead is forgotten with a sample in the buffer.
    let Some(earlier) = earlier.filter(|_| look.offset.is_none()) else { return 0.0 };
    let since = Since::of(earlier, &look.place);
    let (ahead, rest) = match since.buffers {
        0 => (earlier.ahead, earlier.place.rest() as f64),
        _ => (0.0, look.place.end.saturating_sub(look.place.start) as f64),
    };
    ahead + up_to_sample(rest, interval) + since.outside.saturating_sub(1) as f64 * rest
}

/// What it counted for an object outside of the buffer. What was allocated in the buffer since the last look is forgotten with it.
pub(super) fn outside(earlier: Option<&Earlier>, look: &Look, bytes: f64) -> Counted {
    let (outside, in_buffer) =
        (earlier.map_or(0, |earlier| Since::of(earlier, &look.place).outside), in_buffer(earlier, look));
    match outside {
        // A single one that is larger than what was forgotten stands for itself.
        1 => Counted { bytes: bytes - in_buffer.min(bytes * (1.0 - LEAST_PART)), hidden: 0.0 },
        // Of several, those that made up for what was forgotten could not be chosen.
        2.. if in_buffer > bytes => Counted { bytes, hidden: in_buffer },
        _ => Counted { bytes, hidden: 0.0 },
    }
}

/// Bytes that were counted and not allocated before the first object in a buffer.
fn left_over(earlier: Option<&Earlier>, look: &Look, size: u64) -> f64 {
    match earlier.map(|earlier| (earlier, Since::of(earlier, &look.place))) {
        Some((earlier, since)) if since.outside > 0 => {
            let once_more = if since.buffers <= 1 { earlier.place.rest() } else { earlier.place.wanted.max(1) } as f64;
            let ahead = if since.buffers <= 1 { earlier.ahead } else { 0.0 };
            let at_last = if since.is_collected { once_more } else { waste(&look.place, size) };
            // Each of them counts what was left of the buffer once more.
            ahead + at_last + since.per_buffer() * once_more / 2.0
        }
        _ => unused(earlier, look, size),
    }
}

/// Bytes that were counted and not allocated before the first object in a buffer, if none was outside of the one before.
pub(super) fn unused(earlier: Option<&Earlier>, look: &Look, size: u64) -> f64 {
    let BufferPosition { refills, wanted, .. } = look.place;
    let Some(earlier) = earlier else {
        return if refills == 1 { wanted as f64 / 2.0 } else { waste(&look.place, size) };
    };
    let since = Since::of(earlier, &look.place);
    let (rest, buffer) = (earlier.place.rest() as f64, earlier.place.wanted.max(1) as f64);
    let made = look.bytes.saturating_sub(earlier.bytes).saturating_sub(size) as f64;
    if since.buffers <= 1 && made <= rest {
        return earlier.ahead + rest - made;
    }
    match since.is_collected {
        true => buffer - (made - rest).max(0.0) % buffer,
        false => waste(&look.place, size),
    }
}

/// Bytes at the end of a buffer in which an object did not fit, on average.
fn waste(place: &BufferPosition, size: u64) -> f64 {
    (size as f64).min(place.wanted as f64 / WASTED_PART) / 2.0
}
