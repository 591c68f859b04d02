//! The agents and options that are compared.

use std::ffi::OsString;
use std::path::Path;

use crate::built::Built;

/// What runs in the JVM beside the program.
#[derive(Clone, Copy)]
pub(crate) enum Agent {
    /// Nothing.
    None,
    /// The floor agent in this mode.
    Floor(&'static str),
    /// Martini with these options; the trace goes nowhere.
    MartiniToNull(&'static str),
    /// Martini with these options; the trace goes to a file.
    MartiniToDisk(&'static str),
}

/// An agent with options, and a name for the table.
#[derive(Clone, Copy)]
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    pub(crate) agent: Agent,
}

impl Variant {
    pub(crate) const fn new(name: &'static str, agent: Agent) -> Self {
        Self { name, agent }
    }

    /// The JVM option that starts the agent; `trace` is the file for variants that write one.
    pub(crate) fn jvm_option(&self, built: &Built, trace: &Path) -> Option<OsString> {
        let (library, options, file) = match self.agent {
            Agent::None => return None,
            Agent::Floor(mode) => (&built.floor, mode, None),
            Agent::MartiniToNull(options) => (&built.martini, options, Some(Path::new("/dev/null"))),
            Agent::MartiniToDisk(options) => (&built.martini, options, Some(trace)),
        };
        let mut option = OsString::from("-agentpath:");
        option.push(library);
        option.push("=");
        option.push(options);
        if let Some(file) = file {
            option.push(",file=");
            // A comma inside a value is written twice.
            option.push(file.to_string_lossy().replace(',', ",,"));
        }
        Some(option)
    }
}
