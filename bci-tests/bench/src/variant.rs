//! The agents and options that are compared.

use std::ffi::OsString;
use std::path::Path;

use crate::built::Built;
use crate::launch::Launch;
use crate::peers::Peers;

/// What runs in the JVM beside the program.
#[derive(Clone, Copy)]
pub(crate) enum Agent {
    /// Nothing.
    None,
    /// Martini with these options; the trace goes nowhere.
    MartiniToNull(&'static str),
    /// Martini with these options; the trace goes to a file.
    MartiniToDisk(&'static str),
    /// Google's allocation instrumenter, with a callback that counts.
    Instrumenter,
    /// async-profiler with these options, and a file of collapsed stacks.
    AsyncProfiler(&'static str),
    /// The JDK's flight recorder with these settings.
    FlightRecorder(Settings),
}

/// What the flight recorder records.
#[derive(Clone, Copy)]
pub(crate) enum Settings {
    /// A configuration of the JDK.
    OfTheJdk(&'static str),
    /// A file beside the benchmark's programs.
    Own(&'static str),
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

    /// How it is started; `output` is the file that it may write. The error says why it cannot be.
    pub(crate) fn launch(&self, built: &Built, peers: &Peers, output: &Path) -> Result<Launch, String> {
        let option = match self.agent {
            Agent::None => return Ok(Launch::default()),
            Agent::Instrumenter => return peers.instrumenter(output),
            Agent::MartiniToNull(options) => agent_path(&built.martini, options, Path::new("/dev/null")),
            Agent::MartiniToDisk(options) => agent_path(&built.martini, options, output),
            Agent::AsyncProfiler(options) => peers.async_profiler(options, output)?,
            Agent::FlightRecorder(settings) => flight_recorder(settings, output),
        };
        Ok(Launch { options: vec![option], ..Launch::default() })
    }

    /// Whether it leaves a file when the program has ended.
    pub(crate) fn writes(&self) -> bool {
        !matches!(self.agent, Agent::None | Agent::MartiniToNull(_))
    }

    /// Whether it runs Martini.
    pub(crate) fn is_martini(&self) -> bool {
        matches!(self.agent, Agent::MartiniToNull(_) | Agent::MartiniToDisk(_))
    }

    /// Whether it is one of ours, which must not add a word to what the program says.
    pub(crate) fn is_silent(&self) -> bool {
        matches!(self.agent, Agent::None | Agent::MartiniToNull(_) | Agent::MartiniToDisk(_))
    }
}

fn agent_path(library: &Path, options: &str, file: &Path) -> OsString {
    let mut option = OsString::from("-agentpath:");
    option.push(library);
    option.push("=");
    option.push(options);
    option.push(",file=");
    // A comma inside a value is written twice.
    option.push(file.to_string_lossy().replace(',', ",,"));
    option
}

fn flight_recorder(settings: Settings, output: &Path) -> OsString {
    let mut option = OsString::from("-XX:StartFlightRecording=settings=");
    match settings {
        Settings::OfTheJdk(name) => option.push(name),
        Settings::Own(file) => option.push(crate::built::source_folder(file)),
    }
    option.push(",filename=");
    option.push(output);
    option
}
