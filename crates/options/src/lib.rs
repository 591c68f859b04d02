//! The options of the agent. One table ([`OPTIONS`]) drives parsing, `martini help run` and the manual pages.
//!
//! The agent and the command share this crate, so the command needs nothing else of the agent.
//!
//! Options as somebody typed them are [`RawOptions`]: names and values. What they mean together is [`Options`]. Two
//! spellings are understood. Ours: `heap=events,file=app.trcxml,include=com.foo.*`. TPTP's:
//! `JPIAgent:server=standalone,file=x.trcxml,filters=f.txt;HeapProf:allocsites=true`. An option that is not understood
//! is an error, and the JVM does not start: a profile of something else than what was asked for misleads.

#![forbid(unsafe_code)]

mod beside;
mod draft;
mod dump;
mod error;
mod kind;
mod memory;
mod method;
mod pairs;
mod raw;
mod resolve;
mod resolved;
mod spec;
mod switch;
mod table;
#[cfg(test)]
mod tests;
mod tptp;

pub use beside::beside;
pub use dump::{DumpContents, DumpFormat, DumpOptions, DumpWhen};
pub use error::OptionError;
pub use kind::{Choice, size};
pub use method::{MethodName, MethodPattern};
pub use pairs::format_pair;
pub use raw::{RawOptions, if_taken};
pub use resolved::{
    Format, HeapMode, Labels, LockOptions, Options, Owners, Readiness, RequestOptions, SampleOptions, Stacks,
};
pub use spec::{DefaultValue, Group, Need, OptionSpec};
pub use switch::{OFF, is_switched_off};
pub use table::{OPTIONS, find};

/// The first feature release that does not throw all compiled code away when the first class is rewritten in a running JVM (JDK-8324241).
pub const FIRST_TO_KEEP_CODE: u32 = 23;

/// The name of the thread that writes the trace: a JVM has it as long as it is recorded.
pub const WRITER: &str = "martini-writer";

/// Parses what follows the `=` of `-agentpath:...=`.
///
/// # Errors
/// The first option that is not understood.
pub fn parse(given: &str) -> Result<Options, OptionError> {
    let options = given.parse::<RawOptions>()?.resolve()?;
    Ok(Options { given: given.to_owned(), ..options })
}
