//! Recordings of JDK Flight Recorder: a reader for those that the JDK, async-profiler and `martini export` write, and what makes a
//! trace of one.

mod import;
mod read;

pub use import::{Import, Losses, Sums};
pub use read::{Chunk, Constant, Damage, Error, Event, Object, Recording, Value};
