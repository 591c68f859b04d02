//! What a trace means: statistics over any TPTP-compatible trace, never over a JVM.
//!
//! One module per subject. Every subject is fed element by element, so that a trace of any length is read once, as a stream.

pub mod ages;
mod facts;
pub mod graph;
pub mod heap;
mod location;
pub mod monitors;
mod symbols;
pub mod timeline;
pub mod truth;
