//! `martini top`: what a JVM or a trace does now.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agent_options::HeapMode;
use anyhow::{Context, bail};
use attach::{Request, Target};
use crossterm::event::Event;
use tempfile::TempDir;

use crate::attach::agent_file;
use crate::attach::recording::{self, Started};
use crate::attach::stage::Stage;
use crate::attach::until::{self, Asked};
use crate::commands::attach::keeps_code;
use crate::exit;
use crate::input::{progress, reading};
use crate::launch::options::{AgentOptions, Resolved};
use crate::top::figures::Figures;
use crate::top::follow::Follower;
use crate::top::keys::{Next, View};
use crate::top::rates::History;
use crate::top::screen::{self, Title};
use crate::top::terminal::Terminal;

/// The trace's name in a folder that goes away.
const OWN_TRACE: &str = "top.trcxml";
/// A trace that is thrown away takes no more room than this; then the recording ends.
const LIMIT: &str = "1g";
/// Nobody reads faster.
const LEAST_REFRESH: Duration = Duration::from_millis(200);
/// Making figures takes at most this part of the time.
const MOST_WORK: u32 = 5;
/// Keys and signals are looked for as often.
const PAUSE: Duration = Duration::from_millis(50);
/// What is recorded by numbers that are written seldom is asked for as often.
const SNAPSHOTS: Duration = Duration::from_secs(5);

/// Live view of a running JVM: lines, classes, CPU, locks, threads
///
/// With a PID, the JVM is recorded as by `martini attach`, with the same options, until this command ends. The trace is deleted unless --file is
/// given, and the recording stops at 1 GiB. A recording already in progress is shown and continues. With a file, follows a trace that another
/// process is writing.
///
/// Keys: 1 to 5 select the table, Left and Right the sort column, / filters, Space pauses, h shows all keys, q quits.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  martini top 4711
  martini top 4711 --heap counts      exact counts; rewrites classes
  martini top 4711 --file app.trcxml  keep the trace
  martini top app.trcxml              follow a growing trace

Exit status:
  0 once it was shown; 2 if there is no such JVM or trace, or no terminal")]
pub(crate) struct Arguments {
    /// Process id of a JVM, or a trace
    #[arg(value_name = "PID|TRACE")]
    target: PathBuf,
    #[command(flatten)]
    agent: AgentOptions,
    /// Refresh interval, such as 500ms, 2s
    #[arg(long, value_name = "TIME", value_parser = refresh, default_value = "1s")]
    refresh: Duration,
}

fn refresh(text: &str) -> Result<Duration, String> {
    let time = until::time(text)?;
    if time < LEAST_REFRESH { Err("it takes 200ms or more".to_owned()) } else { Ok(time) }
}

/// A JVM that is recorded for this command.
struct Recorded {
    target: Target,
    library: String,
    /// What is to be stopped at the end; not if somebody else has begun it.
    own: Option<(Started, Resolved)>,
    /// Where its trace is, for us.
    trace: PathBuf,
    /// It writes its numbers seldom, unless asked.
    is_asked: bool,
    _folder: Option<TempDir>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        bail!("martini top needs a terminal; use martini stats or martini explain to read a trace");
    }
    let asked = Asked::listen()?;
    let Some(pid) = recording::pid(&arguments.target) else {
        let trace = &arguments.target;
        let what = trace.file_name().unwrap_or(trace.as_os_str()).to_string_lossy().into_owned();
        show(arguments, &asked, &what, trace)?;
        return Ok(exit::OK);
    };
    let recorded = record(pid, &arguments.agent)?;
    let is_over = AtomicBool::new(false);
    let shown = std::thread::scope(|scope| {
        scope.spawn(|| ask_for_snapshots(&recorded, &is_over));
        let shown = show(arguments, &asked, &format!("JVM {pid}"), &recorded.trace);
        is_over.store(true, Ordering::Relaxed);
        shown
    });
    if let Some((started, options)) = &recorded.own
        && recorded.target.process().is_alive()
    {
        recording::stop(&recorded.target, &recorded.library, Some(&started.trace), &options.file)?;
    }
    shown?;
    Ok(exit::OK)
}

/// Has numbers written that would come seldom. The JVM may take long to answer, while keys are pressed.
fn ask_for_snapshots(recorded: &Recorded, is_over: &AtomicBool) {
    let mut last = Instant::now();
    while recorded.is_asked && !is_over.load(Ordering::Relaxed) {
        std::thread::sleep(PAUSE);
        if last.elapsed() >= SNAPSHOTS {
            // What is not written now is written later.
            let _ = recorded.target.ask(&recorded.library, Request::Snapshot, "");
            last = Instant::now();
        }
    }
}

/// Begins to record a JVM, unless it is recorded already.
fn record(pid: u32, agent: &AgentOptions) -> anyhow::Result<Recorded> {
    recording::refuse_if_off()?;
    let target = recording::target(pid)?;
    if let Some(library) = agent_file::loaded(&target)? {
        let answer = target.ask(&library, Request::Status, "")?;
        if let (Some("yes"), Some(trace)) = (answer.value("recording"), answer.value("trace")) {
            if !target.shares_files() && Stage::of(trace).is_none() {
                bail!(
                    "JVM {pid} is being recorded into {trace} in its own file system; first stop that with martini \
                     stop {pid}"
                );
            }
            let trace = recording::visible(&target, trace);
            return Ok(Recorded { target, library, own: None, trace, is_asked: false, _folder: None });
        }
    }
    recording::suitable(pid)?;
    let folder = (!agent.has("file")).then(|| tempfile::Builder::new().prefix("martini-top-").tempdir()).transpose()?;
    let mut agent = agent.clone().or_at_once(keeps_code(pid));
    if let Some(folder) = &folder {
        let trace = folder.path().join(OWN_TRACE);
        if !agent.has("limit") {
            agent = agent.with("limit", LIMIT);
        }
        agent = agent.with("file", trace.to_str().context("the path of the temporary folder is not UTF-8")?);
    }
    let options = agent.resolve()?;
    let started = recording::start(&target, &options)?;
    started.notes.iter().for_each(|sentence| recording::say(sentence));
    let trace = recording::visible(&target, &started.trace);
    // Objects one by one are written at once.
    let is_asked = matches!(options.heap, HeapMode::Counts | HeapMode::Off);
    let library = started.library.clone();
    Ok(Recorded { target, library, own: Some((started, options)), trace, is_asked, _folder: folder })
}

/// Shows a trace until a key or a signal ends it.
fn show(arguments: &Arguments, asked: &Asked, what: &str, trace: &Path) -> anyhow::Result<()> {
    let mut follower = Follower::of(trace).with_context(|| format!("cannot read {}", trace.display()))?;
    let (mut view, mut history) = (View::default(), History::default());
    history.push(Instant::now(), first_figures(&mut follower, asked, trace)?);
    let mut terminal = Terminal::take().context("cannot use the terminal")?;
    let begun = Instant::now();
    let (mut next, mut asking) = (begun, None);
    let mut is_stale = true;
    loop {
        if asked.is_so() {
            return Ok(());
        }
        if let Some(problem) = follower.problem() {
            drop(terminal);
            bail!("cannot continue to read {}: {problem}", trace.display());
        }
        if asking.is_none() && Instant::now() >= next && !view.is_paused {
            follower.ask();
            asking = Some(Instant::now());
        }
        if let Some(figures) = follower.figures() {
            let since = asking.take().unwrap_or_else(Instant::now);
            next = since + arguments.refresh.max(since.elapsed() * MOST_WORK);
            if !view.is_paused {
                history.push(Instant::now(), figures);
                is_stale = true;
            }
        }
        if is_stale {
            let title = Title {
                what: what.to_owned(),
                bytes: follower.bytes(),
                seconds: begun.elapsed().as_secs(),
                is_ended: follower.is_ended(),
            };
            let (width, height) = terminal.size();
            terminal.show(&screen::lines(&title, &view, &history, width, height))?;
            is_stale = false;
        }
        match terminal.wait(PAUSE)? {
            // Some terminals report that a key is let go.
            Some(Event::Key(key)) if !key.is_release() => {
                let rows = history.last().map_or(0, |figures| figures.rows(view.topic()).len());
                if view.press(key, rows) == Next::Ends {
                    return Ok(());
                }
                is_stale = true;
            }
            Some(Event::Resize(..)) => is_stale = true,
            _ => {}
        }
    }
}

/// Waits until all that is there is read, and gives what it says: with this, rates begin.
///
/// # Errors
/// It is no trace.
fn first_figures(follower: &mut Follower, asked: &Asked, trace: &Path) -> anyhow::Result<Figures> {
    follower.ask();
    let mut bar = progress::bar(std::fs::metadata(trace).ok().map(|file| file.len()), "reading the trace so far");
    let figures = loop {
        if let Some(problem) = follower.problem() {
            bail!("cannot read {}: {problem}", trace.display());
        }
        if let Some(figures) = follower.figures() {
            break figures;
        }
        if asked.is_so() {
            bail!("interrupted");
        }
        bar.set_position(follower.bytes());
        std::thread::sleep(PAUSE);
    };
    reading::refuse_foreign(trace, figures.elements, figures.unknown, 0)?;
    Ok(figures)
}
