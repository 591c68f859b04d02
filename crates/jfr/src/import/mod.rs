//! Makes a trace of a recording.
//!
//! Events stand in a recording in the order in which threads had filled their buffers, and a wait stands at its end. A trace has
//! the order of time, so all of what a trace has is gathered first, and then written.

mod constants;
mod definitions;
mod events;
mod order;
mod pools;
mod reading;
mod settings;
mod sums;
mod write;

use std::io::{self, Read, Seek, Write};

use trace::time::Nanos;

use crate::read::{Error, Recording};
use events::Gathered;
use order::Ordered;

/// A recording of which a trace can be written.
#[derive(Debug)]
pub struct Import {
    gathered: Gathered,
    ordered: Ordered,
    empty_chunks: u64,
    /// Chunks that make no sense, and what is wrong with the first.
    damaged: (u64, Option<Error>),
    /// Why the rest of the recording was not read.
    broken: Option<Error>,
}

/// What of a recording is not in its trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Events of other types, and how many types these are.
    pub left_out: (u64, usize),
    /// Events that say once more what others say more exactly, by their type.
    pub twice: Vec<(&'static str, u64)>,
    /// Samples of which the recording does not say for how long they stand.
    pub without_period: u64,
    /// Waits and pauses during others of the same thread.
    pub overlapping: u64,
    /// Chunks without any event.
    pub empty_chunks: u64,
    /// Chunks of which at least a part was skipped, and what is wrong with the first.
    pub damaged_chunks: (u64, Option<String>),
    /// Events that were skipped because their fields make no sense.
    pub damaged_events: u64,
    /// What is wrong with the end of the recording, which was not read.
    pub broken: Option<String>,
}

/// What a trace has of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Samples of objects.
    pub allocations: u64,
    /// Samples of CPU time.
    pub cpu: u64,
    /// Samples of the time.
    pub wall: u64,
    /// Waits.
    pub waits: u64,
    /// Pauses of collections.
    pub pauses: u64,
    /// From its beginning to its end.
    pub length: Nanos,
}

impl Import {
    /// Reads a recording. A chunk and an event say how long they are, so one that makes no sense is stepped over.
    ///
    /// # Errors
    /// It cannot be read, or is none.
    pub fn read<R: Read + Seek>(recording: &mut Recording<R>) -> Result<Import, Error> {
        let mut gathered = Gathered::default();
        let (mut read, mut empty_chunks, mut damaged, mut broken) = (0_u64, 0, (0, None), None);
        loop {
            let at = recording.at();
            let next = recording.next_chunk().and_then(|chunk| {
                let Some(chunk) = chunk else { return Ok(false) };
                empty_chunks += u64::from(chunk.is_empty());
                gathered.chunk(&chunk).map_err(|damage| Error::Damaged { damage, chunk: at }).map(|()| true)
            });
            match next {
                Ok(true) => read += 1,
                Ok(false) => break,
                Err(error) if recording.at() > at => {
                    damaged.0 += 1;
                    damaged.1.get_or_insert(error);
                }
                Err(error) => {
                    broken = Some(error);
                    break;
                }
            }
        }
        match (damaged.1.take(), broken) {
            (Some(error), _) | (None, Some(error)) if read == 0 => Err(error),
            (first, broken) => {
                damaged.1 = first;
                let ordered = Ordered::new(&mut gathered);
                Ok(Import { gathered, ordered, empty_chunks, damaged, broken })
            }
        }
    }

    /// What is not in the trace.
    pub fn losses(&self) -> Losses {
        let left_out = &self.gathered.left_out;
        Losses {
            left_out: (left_out.values().sum(), left_out.len()),
            twice: self.ordered.twice.clone(),
            without_period: self.gathered.without_period,
            overlapping: self.ordered.overlapping,
            empty_chunks: self.empty_chunks,
            damaged_chunks: (self.damaged.0, self.damaged.1.as_ref().map(ToString::to_string)),
            damaged_events: self.gathered.damaged,
            broken: self.broken.as_ref().map(ToString::to_string),
        }
    }

    /// What is in the trace.
    pub fn sums(&self) -> Sums {
        let mut sums = Sums { waits: self.ordered.waits.len() as u64, length: write::length(self), ..Sums::default() };
        for (_, what) in &self.ordered.all {
            match what {
                order::What::Allocated(_) => sums.allocations += 1,
                order::What::Cpu(_) => sums.cpu += 1,
                order::What::Wall(_) => sums.wall += 1,
                order::What::PauseBegin => sums.pauses += 1,
                _ => {}
            }
        }
        sums
    }

    /// Writes the trace.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        write::trace(self, out)
    }
}
