//! What a trace says, in the formats of other tools.
//!
//! All writers take the same [`Profiles`]: call stacks with what happened on each. A file of a format says exactly what the trace says,
//! in the format's own units, and what a format has no place for is left out, not bent.

mod collapsed;
mod frame;
mod jfr;
mod pprof;
mod profiles;
mod protobuf;
mod speedscope;
mod table;

pub use collapsed::collapsed;
pub use jfr::{JFR, Recorder};
pub use pprof::{PPROF, pprof};
pub use profiles::{Measure, Profiles, Subject};
pub use speedscope::{SPEEDSCOPE, speedscope};
pub use table::{CSV, JSON, csv, json};
