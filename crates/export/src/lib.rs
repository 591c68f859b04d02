//! What a trace says, in the formats of other tools.
//!
//! Writers take the same [`Profiles`], call stacks with what happened on each, or the same [`Recording`], what happened when. A file
//! of a format says exactly what the trace says, in the format's own units, and what a format has no place for is left out, not bent.

mod collapsed;
mod firefox;
mod frame;
mod jfr;
mod otlp;
mod perfetto;
mod pprof;
mod profiles;
mod protobuf;
mod pyroscope;
mod recorder;
mod speedscope;
mod table;

pub use collapsed::collapsed;
pub use firefox::{FIREFOX, firefox};
pub use jfr::{JFR, jfr};
pub use otlp::{OTLP, otlp, rejected};
pub use perfetto::{PERFETTO, perfetto};
pub use pprof::{PPROF, pprof};
pub use profiles::{Measure, Profiles, Subject};
pub use pyroscope::pyroscope;
pub use recorder::{Recorder, Recording};
pub use speedscope::{SPEEDSCOPE, speedscope};
pub use table::{CSV, JSON, csv, json};
