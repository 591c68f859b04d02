//! When objects are allocated, and what is alive at which time: numbers by slices of the trace, read once.
//!
//! Objects of which each one is in the trace fall into slices of equal length. Counts say only how much was allocated between two
//! times of writing, so there a slice reaches from one such time to another: nothing is spread evenly over it.

mod axis;
mod recorder;
mod series;
mod slices;

pub(super) use axis::{FEW, MANY, MINUTES};
pub(super) use recorder::Recorder;
pub use slices::{OverTime, RowOverTime, Slice};
