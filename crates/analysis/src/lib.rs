//! What a trace means: statistics over any TPTP-compatible trace, never over a JVM.
//!
//! One module per subject. Every subject is fed element by element, so that a trace of any length is read once, as a stream.

pub mod ages;
pub mod allocations;
pub mod budgets;
pub mod call_tree;
pub mod class_files;
pub mod comparison;
pub mod coverage;
pub mod cpu;
pub mod execution;
pub mod explain;
mod facts;
pub mod heap_dump;
pub mod ledger;
mod location;
pub mod locks;
pub mod marks;
pub mod own_code;
pub mod requests;
pub mod safepoints;
mod stacks;
mod symbols;
pub mod thread_dumps;
pub mod timeline;
pub mod warm_up;
pub mod weighted;
mod window;
