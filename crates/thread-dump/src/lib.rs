//! HotSpot's thread dumps: what `jcmd PID Thread.print` prints, of JDK 11 to 25, and `Thread.dump_to_file` of JDK 21 and later.
//!
//! ```text
//! model       a dump: threads, frames, what each holds and waits for
//! text, json  read one
//! waits       who waits for whom: deadlocks, threads held up by one owner, queues
//! groups      threads with the same stack
//! ```
//!
//! The text comes from a JVM that names threads and classes as its program likes: whatever it is, reading it is safe, and what is not
//! understood is left out.

#![forbid(unsafe_code)]

mod groups;
mod json;
mod model;
mod text;
mod waits;

pub use groups::Group;
pub use json::NotADump;
pub use model::{DumpThread, Frame, FrameIndex, Lock, ThreadDump, ThreadIndex, Wait, WaitKind};
pub use waits::{HeldUp, Queue, Waits};
