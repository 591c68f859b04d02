//! HPROF 1.0.1 and 1.0.2: the binary heap dump format of the JVM, which every heap tool reads.
//!
//! A dump is a header and records: names, classes and stacks first, then the heap in segments of sub-records. Each has a tag, and
//! all numbers are big-endian. Ids of objects, names and frames are 4 or 8 bytes wide, as the header says.

mod format;
pub mod layouts;
pub mod martini;
pub mod patch;
pub mod read;
pub mod write;

pub use format::{BasicType, ClassSerial, FrameId, NameId, ObjectId, RootKind, StackSerial, ThreadSerial, Value};
