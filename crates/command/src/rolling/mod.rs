//! Recordings without an end, in pieces (`--roll`): each is a finished trace, which can be carried away while the next one is written.

mod pieces;

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};
use std::{fs, iter};

use anyhow::{Context, bail};
use attach::Target;

use crate::attach::agent_file;
use crate::attach::recording::{self, Trace};
use crate::attach::until::{self, Asked};
use crate::launch::options::AgentOptions;
use crate::push::{Destination, Queue};
use crate::redact::RedactArguments;
use crate::render::human::counted;
use pieces::Pieces;

/// Options of `run` and `attach`.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct RollArguments {
    /// Record in pieces: end the trace after this time, such as 10m, and begin the next
    #[arg(long, value_name = "TIME", value_parser = until::time, help_heading = HEADING)]
    roll: Option<Duration>,
    /// With --roll: folder of the traces [default: .], or otlp:URL or pyroscope:URL to push them to (repeatable)
    #[arg(long, value_name = "DIR|URL", requires = "roll", help_heading = HEADING)]
    to: Vec<To>,
    /// With --roll: delete the oldest traces in the folder beyond this size, such as 2g
    #[arg(long, value_name = "SIZE", requires = "roll", value_parser = size, help_heading = HEADING)]
    keep: Option<u64>,
    #[command(flatten)]
    redact: RedactArguments,
}

/// Where pieces go.
#[derive(Clone, Debug, PartialEq, Eq)]
enum To {
    Folder(PathBuf),
    Server(Destination),
}

impl FromStr for To {
    type Err = String;

    fn from_str(text: &str) -> Result<To, String> {
        if Destination::is_meant(text) { text.parse().map(To::Server) } else { Ok(To::Folder(text.into())) }
    }
}

const HEADING: &str = "Continuously";

/// A number of bytes on the command line.
fn size(text: &str) -> Result<u64, String> {
    agent_options::size(text).ok_or_else(|| "give a size, such as 500m or 2g".to_owned())
}

/// A rolling recording.
#[derive(Debug)]
pub(crate) struct Rolling {
    every: Duration,
    pieces: Pieces,
    /// The folder is only for what was not pushed yet.
    pushes_only: bool,
}

/// The most bytes that wait for a server, if nothing else is said.
const PASSING: u64 = 512 << 20;

/// A folder for what is only pushed.
fn passing_folder() -> anyhow::Result<PathBuf> {
    let folder = tempfile::Builder::new().prefix("martini-").tempdir();
    Ok(folder.context("cannot make a folder for traces that are pushed; name one with --to")?.keep())
}

/// A piece that is being written.
struct Piece {
    library: String,
    trace: String,
    file: PathBuf,
}

impl RollArguments {
    /// Whether a recording rolls.
    pub(crate) fn is_asked_for(&self) -> bool {
        self.roll.is_some()
    }

    /// The rolling recording that is asked for.
    ///
    /// # Errors
    /// Its folder cannot be used, or a file is named.
    pub(crate) fn rolling(&self, agent: &AgentOptions) -> anyhow::Result<Option<Rolling>> {
        if self.roll.is_some() && agent.has("file") {
            bail!("--roll gives each trace a name of its own: name a folder with --to instead of --file");
        }
        let Some(every) = self.roll else {
            if self.redact.is_asked_for() {
                bail!(
                    "--redact takes names out of the traces of --roll; martini push and martini fleet add take it for others"
                );
            }
            return Ok(None);
        };
        let (mut folders, mut servers) = (Vec::new(), Vec::new());
        for to in &self.to {
            match to {
                To::Folder(folder) => folders.push(&**folder),
                To::Server(server) => servers.push(server.clone()),
            }
        }
        let pushes_only = folders.is_empty() && !servers.is_empty();
        let (folder, keep) = match *folders {
            [] if pushes_only => (passing_folder()?, self.keep.or(Some(PASSING))),
            [] => (PathBuf::from("."), self.keep),
            [folder] => (folder.to_owned(), self.keep),
            _ => bail!("--to names several folders; traces are gathered in one"),
        };
        let queues = servers.into_iter().map(|server| Queue::new(server, !pushes_only)).collect();
        let pieces = Pieces::new(&folder, keep, self.redact.redactor(), queues)?;
        Ok(Some(Rolling { every, pieces, pushes_only }))
    }
}

impl Rolling {
    /// Options that write a piece which begins now.
    pub(crate) fn options_of_piece(&self, agent: &AgentOptions) -> AgentOptions {
        agent.clone().with("file", &self.pieces.next().to_string_lossy())
    }

    /// Records a JVM piece by piece, until it ends or somebody asks for the end.
    ///
    /// # Errors
    /// The JVM cannot be recorded, or a piece cannot be finished.
    pub(crate) fn record(&self, target: &Target, agent: &AgentOptions, asked: &Asked) -> anyhow::Result<()> {
        while target.process().is_alive() && !asked.is_so() {
            let begun = Instant::now();
            let piece = self.begin(target, agent);
            let piece = match piece {
                Err(_) if !target.process().is_alive() => break,
                piece => piece?,
            };
            let left = self.every.saturating_sub(begun.elapsed());
            until::wait(asked, Some(left), || !target.process().is_alive(), |_| ());
            if target.process().is_alive() {
                self.end(target, &piece)?;
            }
        }
        self.finish(target.process().inner_pid())
    }

    /// Goes on with the recording of a JVM that was started with a first piece.
    ///
    /// # Errors
    /// As for [`record`](Self::record).
    pub(crate) fn go_on(&self, pid: u32, agent: &AgentOptions, asked: &Asked) -> anyhow::Result<()> {
        until::wait(asked, Some(self.every), || false, |_| ());
        if asked.is_so() {
            return Ok(());
        }
        let target = recording::target(pid)?;
        if let Some(library) = agent_file::loaded(&target)? {
            let stopped = recording::stop(&target, &library, None, self.pieces.folder())?;
            if let Trace::Here(path) = stopped.trace {
                self.pieces.finish(&path)?;
            }
        }
        self.record(&target, agent, asked)
    }

    /// Finishes what a JVM that has ended was writing.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub(crate) fn finish(&self, pid: u32) -> anyhow::Result<()> {
        const LONGEST: Duration = Duration::from_secs(2);
        const PAUSE: Duration = Duration::from_millis(10);
        let begun = Instant::now();
        while self.pieces.finish_abandoned(Some(pid))? && begun.elapsed() < LONGEST {
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Where the pieces are.
    pub(crate) fn folder(&self) -> &Path {
        self.pieces.folder()
    }

    /// Ends it when what is there has been pushed, or soon. Sentences on what there is.
    pub(crate) fn end_all(self) -> Vec<String> {
        let folder = self.pieces.folder().to_owned();
        let written = format!("{} written to {}", counted(self.pieces.count(), "trace", "traces"), folder.display());
        let pushed = self.pieces.into_queues().into_iter().map(Queue::end);
        if !self.pushes_only {
            return iter::once(written).chain(pushed).collect();
        }
        let mut sentences: Vec<String> = pushed.collect();
        // It goes only if nothing is in it.
        if fs::remove_dir(&folder).is_err() {
            sentences.push(format!("what was not pushed is in {}", folder.display()));
        }
        sentences
    }

    fn begin(&self, target: &Target, agent: &AgentOptions) -> anyhow::Result<Piece> {
        let options = self.options_of_piece(agent).resolve()?;
        let started = recording::start(target, &options)?;
        Ok(Piece { library: started.library, trace: started.trace, file: options.file })
    }

    fn end(&self, target: &Target, piece: &Piece) -> anyhow::Result<()> {
        let pid = target.process().pid();
        let stopped = match recording::stop(target, &piece.library, Some(&piece.trace), &piece.file) {
            // It ended meanwhile, and what it wrote is finished with what else it leaves.
            Err(_) if !target.process().is_alive() => return Ok(()),
            stopped => stopped?,
        };
        match stopped.trace {
            Trace::Here(path) => self.pieces.finish(&path).map(drop),
            Trace::There(path) => {
                bail!("the trace is {path} in the file system of process {pid}, where it cannot be gathered")
            }
        }
    }
}
