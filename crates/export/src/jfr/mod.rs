//! The format of JDK Flight Recorder: one chunk of events, with the types that they have and the constants that they refer to.
//!
//! Waits, samples, collections and threads are events at their times, of a recording. What was
//! allocated is one event for each stack, class and thread, at the end of the trace: a trace with counts does not say when.

mod constants;
mod encode;
mod events;
mod metadata;
mod types;

use trace::file::Kind;

pub use events::jfr;

/// Bytes of the header.
const HEADER: usize = 68;

/// Version 2.1.
const MAGIC: [u8; 8] = [b'F', b'L', b'R', 0, 0, 2, 0, 1];

/// Where the header has the ticks of its beginning. Those of ours count from there.
const START_TICKS: std::ops::Range<usize> = 48..56;

/// Files of this format that are ours.
pub const JFR: Kind = Kind {
    name: "flight recording",
    is_begun_by: |head| head.starts_with(&MAGIC) && head.get(START_TICKS).is_some_and(|ticks| ticks == [0; 8]),
};

/// Puts a chunk together. Ticks are nanoseconds.
fn chunk(begin: u64, length: u64, events: &[u8], checkpoint: &[u8], metadata: &[u8]) -> Vec<u8> {
    let checkpoint_at = HEADER + events.len();
    let metadata_at = checkpoint_at + checkpoint.len();
    let size = metadata_at + metadata.len();
    let mut out = Vec::with_capacity(size);
    out.extend_from_slice(&MAGIC);
    for number in [size as u64, checkpoint_at as u64, metadata_at as u64, begin, length, 0, 1_000_000_000] {
        out.extend_from_slice(&number.to_be_bytes());
    }
    // It is complete; numbers are compressed; no chunk follows.
    out.extend_from_slice(&[0, 0, 0, 0b11]);
    for part in [events, checkpoint, metadata] {
        out.extend_from_slice(part);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_says_where_its_parts_are() {
        let bytes = chunk(5, 6, &[1; 10], &[2; 20], &[3; 30]);
        let number = |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap());
        assert_eq!((number(8), bytes.len(), number(16), number(24)), (128, 128, 78, 98));
        assert_eq!((number(32), number(40), number(56)), (5, 6, 1_000_000_000));
        assert_eq!((bytes[67], bytes[68], bytes[78], bytes[98]), (3, 1, 2, 3));
        assert!((JFR.is_begun_by)(&bytes[..64]));
        let mut other = bytes;
        other[55] = 1;
        assert!(!(JFR.is_begun_by)(&other[..64]));
    }
}
