//! What the sampler of JDK 11 to 16 counts.
//!
//! After an object outside of the buffer it chooses none in the rest of the buffer. What it has counted ahead there is counted with the
//! first object in the next one.

use super::super::samples::probability;
use super::earlier::{Counted, Earlier, Look, Since, in_buffer, up_to_sample};
use super::jdk17;

/// What the sampler counted when it chose an object of that size.
pub(super) fn counted(earlier: Option<&Earlier>, look: &Look, size: u64, interval: f64) -> Counted {
    let bytes = size as f64;
    let since = earlier.map(|earlier| (earlier, Since::of(earlier, &look.place)));
    let (more, hidden) = match (look.offset, since) {
        (Some(0), Some((earlier, since))) if earlier.is_outside && since.buffers <= 1 => {
            // It is the only one that may be chosen for them.
            (earlier.ahead, earlier.hidden / probability(bytes + earlier.ahead, interval))
        }
        (Some(0), Some((earlier, since))) if since.outside > 0 => {
            let rest = if since.buffers <= 1 { earlier.place.rest() } else { earlier.place.wanted };
            (rest as f64 * since.per_buffer().min(1.0), 0.0)
        }
        (Some(0), _) => (jdk17::unused(earlier, look, size), 0.0),
        (None, Some((earlier, since))) if !earlier.is_outside || since.buffers > 0 => {
            return jdk17::outside(Some(earlier), look, bytes);
        }
        _ => (0.0, 0.0),
    };
    Counted { bytes: bytes + more, hidden }
}

/// What the sampler counts of the buffer at its end, after a sample outside of it, and the bytes up to there, none of whose objects
/// is chosen.
pub(super) fn ahead(earlier: Option<&Earlier>, look: &Look, interval: f64) -> (f64, f64) {
    let Some(earlier) = earlier.filter(|_| look.offset.is_none()) else { return (0.0, 0.0) };
    let since = Since::of(earlier, &look.place);
    if since.buffers == 0 && earlier.is_outside {
        return (earlier.ahead, earlier.hidden);
    }
    // What was made in the buffer before, and up to the next sample from there.
    let rest = look.place.rest() as f64;
    (in_buffer(Some(earlier), look) + up_to_sample(rest, interval), rest)
}
