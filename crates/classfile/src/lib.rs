//! Reads, rewrites and writes Java class files of every version (45.0 to 69 and newer).
//!
//! Everything is borrowed from the bytes that were given: names are slices of the constant pool, and
//! a class that needs no change costs no copy. There is no tree: [`rewrite`] walks each method once,
//! asks an [`Instrument`] about the instructions it named, and moves what has to move.
//!
//! The crate knows no JVM and does no I/O. It runs inside other people's JVMs on whatever bytes other
//! agents hand on, so no input may make it panic, loop or take memory out of proportion. What it cannot
//! rewrite with certainty it leaves byte for byte as it was and says why ([`Refusal`]).
//!
//! Names are raw "modified UTF-8" (JVMS 4.4.7), which need not be UTF-8: they stay `&[u8]`.
#![forbid(unsafe_code)]

mod attribute;
mod class;
mod code;
mod error;
mod instruction;
mod lines;
pub mod opcode;
mod pool;
mod read;
mod rewrite;
mod walk;
mod write;

pub use attribute::{Attribute, Attributes};
pub use class::{ClassFile, Member, Members, access};
pub use code::{Code, CodeLayout, ExceptionHandler};
pub use error::{ParseError, Refusal};
pub use instruction::{ArrayKind, Instruction, Instructions, MemberRef};
pub use lines::LineTable;
pub use opcode::OpcodeSet;
pub use pool::{Constant, ConstantPool};
pub use rewrite::{
    Bracket, Guard, Insert, Instrument, MethodView, Op, Refused, Rewritten, StaticMethod, rewrite, rewrite_class,
};
pub use walk::walk;
