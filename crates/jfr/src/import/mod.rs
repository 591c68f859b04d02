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
    /// Chunks after the first that were not read, and why.
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
    /// Reads a recording. What is wrong in a chunk after the first ends it: those before are kept.
    ///
    /// # Errors
    /// It cannot be read, or is none.
    pub fn read<R: Read + Seek>(recording: &mut Recording<R>) -> Result<Import, Error> {
        let mut gathered = Gathered::default();
        let (mut broken, mut at, mut is_first) = (None, 0, true);
        loop {
            let next = recording.next_chunk().and_then(|chunk| {
                let Some(chunk) = chunk else { return Ok(false) };
                let damaged = |damage| Error::Damaged { damage, chunk: at };
                gathered.chunk(&chunk).map_err(damaged).map(|()| true)
            });
            match next {
                Ok(true) => (is_first, at) = (false, recording.at()),
                Ok(false) => break,
                Err(error) if is_first => return Err(error),
                Err(error) => {
                    broken = Some(error);
                    break;
                }
            }
        }
        let ordered = Ordered::new(&mut gathered);
        Ok(Import { gathered, ordered, broken })
    }

    /// What is not in the trace.
    pub fn losses(&self) -> Losses {
        let left_out = &self.gathered.left_out;
        Losses {
            left_out: (left_out.values().sum(), left_out.len()),
            twice: self.ordered.twice.clone(),
            without_period: self.gathered.without_period,
            overlapping: self.ordered.overlapping,
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
