//! `martini tree`: who calls what allocates, what waits for locks, and what runs, as a tree.

mod calls;
mod samples;
mod waits;

use std::io::Write;
use std::path::{Path, PathBuf};

use analysis::allocations::{By, Location, Scope, Subject};
use analysis::call_tree::{Direction, Granularity, Grouping, Node, TreeOptions};
use analysis::cpu::SampleClock;
use analysis::locks::{LockStats, Selection};
use analysis::own_code::OwnCode;
use anyhow::bail;
use clap::ValueEnum;
use serde_json::Value;
use trace::filter::Pattern;

use crate::commands::call_flags::CallFlags;
use crate::commands::per_file::{Files, each};
use crate::commands::selection::{note, note_unmatched, selects_class, selects_site, whole_number};
use crate::commands::time_window::{TimeFlags, TimeWindow};
use crate::input::contents::{Contents, Wanted, contents};
use crate::input::reading::{self, Reading, Report};
use crate::render::human::{bytes, counted};
use crate::render::page::{Page, PageArguments};
use crate::render::tree::{Columns, Style};
use crate::render::{allocations, coverage, head, notes, tree};

/// Show call trees of allocations, lock waits or CPU samples
///
/// Sizes at the root are exact. Sampled callers (`martini run`) attribute a site's exact bytes to its callers, so nodes below show a 95 % error
/// margin (±). With single objects and stacks (`run --heap events --stack N`) all sizes are exact. A trace without allocations shows its CPU
/// samples (`run --cpu`), or else its calls (execution traces of the old TPTP profilers), or else its lock waits.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Frames with a single caller are not indented further, and unchanged numbers are
not repeated. Long runs of JDK and known runtime frames show only their first
and last frame.

With --cpu and --wall, marks show how a frame ran, most frequent first: [int]
interpreted, [c1] and [c2] compiled, [inl] inlined, [nat] native method.

Calls have three numbers: cumulative is the time from entry to exit, base the
part of it without what was called, calls how many there were. A method that
calls itself is one node.

Examples:
  martini tree app.trcxml                       from the thread to the object
  martini tree app.trcxml --bottom-up --filter 'byte[]'
                                                who allocates byte[]
  martini tree app.trcxml --by thread --frames method
  martini tree app.trcxml --in com.acme.Main.run --cut 0.1
  martini tree app.trcxml --live                where live objects come from
  martini tree app.trcxml --locks               who waits for locks
  martini tree app.trcxml --cpu                 CPU samples
  martini tree app.trcxml --cpu --bottom-up --frames method
  martini tree old.trcxml --calls               methods of an execution trace
  martini tree app.trcxml --folded | flamegraph.pl > app.svg
  martini tree app.trcxml --json | jq '.traces[0].nodes[1]'")]
pub(crate) struct Arguments {
    /// Traces or lock logs to read, one by one
    #[arg(required = true, value_name = "TRACE|LOG")]
    traces: Vec<PathBuf>,
    /// Start at the allocation or wait and go up to its callers
    #[arg(long)]
    bottom_up: bool,
    /// Show one tree for each
    #[arg(long, value_enum)]
    by: Option<Group>,
    /// Merge frames of the same
    #[arg(long, value_enum, default_value = "line")]
    frames: Frames,
    /// Hide nodes below this percentage of the total [default: 1, with --folded: 0]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    cut: Option<f64>,
    /// Maximum frames per path
    #[arg(long, value_name = "N", value_parser = whole_number, conflicts_with_all = ["folded", "json"])]
    depth: Option<usize>,
    /// Only objects or locks of these classes: a name, with an optional * at its end or beginning (repeatable)
    #[arg(long, value_name = "PATTERN")]
    filter: Vec<Pattern>,
    /// Only call stacks with a frame in this code: a class or class.method, with an optional * at its end or beginning (repeatable)
    #[arg(long = "in", value_name = "PATTERN")]
    code: Vec<Pattern>,
    /// Classes of your own code, in any package (repeatable)
    #[arg(long, value_name = "PATTERN")]
    own: Vec<Pattern>,
    /// Show how long threads waited for locks
    #[arg(long, conflicts_with_all = ["calls", "document"])]
    locks: bool,
    /// Show other waits: notifications, conditions, latches, queues
    #[arg(long, conflicts_with_all = ["locks", "calls", "document"])]
    waits: bool,
    /// Show CPU samples (`run --cpu`)
    #[arg(long, conflicts_with_all = ["locks", "waits", "filter"])]
    cpu: bool,
    /// Show wall clock samples (`run --wall`)
    #[arg(long, conflicts_with_all = ["cpu", "locks", "waits", "filter"])]
    wall: bool,
    #[command(flatten)]
    calls: CallFlags,
    #[command(flatten)]
    window: TimeFlags,
    /// Show objects alive at the end by allocation site (`run --sampled`, or single objects)
    #[arg(long, conflicts_with_all = ["locks", "waits", "cpu", "wall", "calls", "document"])]
    live: bool,
    /// Show every frame of the JDK and known runtimes
    #[arg(long)]
    all_frames: bool,
    /// Print one line `frame;frame;frame weight` per path, for flame graph tools
    #[arg(long, conflicts_with = "json")]
    folded: bool,
    #[command(flatten)]
    page: PageArguments,
    /// Print JSON with exact numbers
    #[arg(long)]
    json: bool,
}

/// What `--by` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Group {
    /// Thread
    Thread,
    /// Class of objects or locks
    Class,
    /// Samples only: carrier thread with its virtual threads
    Carrier,
}

/// What `--frames` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Frames {
    /// Line
    Line,
    /// Method
    Method,
    /// Class
    Class,
    /// Package
    Package,
    /// Module
    Module,
}

/// What is below a root, and what that is called.
struct Shown<'a> {
    root: Node<'a>,
    columns: Columns,
    /// What the tree is of.
    title: &'static str,
    /// One thing that counts, and several.
    nouns: [&'static str; 2],
    amount: fn(u64) -> String,
    /// The heading of amounts.
    heading: &'static str,
    leaf: &'static str,
    key: &'static str,
    /// What is wrong or has to be known.
    notes: Vec<String>,
}

const DEFAULT_CUT: f64 = 1.0;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    each(
        &arguments.traces,
        arguments.json.then_some(Files { command: "tree", list: "traces" }),
        arguments.page.width(),
        |path, out| {
            let window = arguments.window.of(path)?;
            match arguments.read(path, window)? {
                Contents::Objects(reading) => {
                    window.check_objects(path, &reading.report)?;
                    show_allocations(arguments, path, &reading, out)
                }
                Contents::Samples(reading) => samples::show(arguments, path, window, reading, out),
                Contents::Calls(reading) => calls::show(arguments, path, window, &reading, out),
                Contents::Waits(reading) => waits::show(arguments, path, window, &reading, out),
            }
        },
    )
}

impl Arguments {
    /// Reads the part of a trace that counts: what is asked for, or else what the trace holds.
    ///
    /// # Errors
    /// The trace cannot be read, or what is asked for has no such groups.
    fn read(&self, path: &Path, window: TimeWindow) -> anyhow::Result<Contents> {
        let scope = Scope { from: window.from(), to: window.to(), over_time: false };
        if let Some(clock) = self.cpu.then_some(SampleClock::Cpu).or(self.wall.then_some(SampleClock::Wall)) {
            return Ok(Contents::Samples(reading::samples(path, clock, &scope)?));
        }
        let calls = self.calls.selection(&self.code, &[]);
        if self.calls.are_asked_for() {
            return Ok(Contents::Calls(reading::calls(path, calls)?));
        }
        if self.by == Some(Group::Carrier) {
            bail!("{}: carrier threads are known only for samples; add --cpu or --wall", path.display());
        }
        if self.locks || self.waits || reading::is_log(path) {
            let selection = Selection { from: scope.from, to: scope.to, ..Selection::default() };
            return Ok(Contents::Waits(reading::locks(path, LockStats::new(selection, None))?));
        }
        match self.live {
            true => Ok(Contents::Objects(Box::new(reading::allocations_in(path, &scope)?))),
            false => contents(path, &scope, Wanted { samples: true, waits: true, calls }),
        }
    }

    fn options(&self) -> TreeOptions {
        TreeOptions {
            direction: if self.bottom_up { Direction::BottomUp } else { Direction::TopDown },
            grouping: match self.by {
                None => Grouping::None,
                Some(Group::Thread | Group::Carrier) => Grouping::Thread,
                Some(Group::Class) => Grouping::Class,
            },
            granularity: match self.frames {
                Frames::Line => Granularity::Line,
                Frames::Method => Granularity::Method,
                Frames::Class => Granularity::Class,
                Frames::Package => Granularity::Package,
                Frames::Module => Granularity::Module,
            },
            cut: self.cut() / 100.0,
        }
    }

    fn cut(&self) -> f64 {
        self.cut.unwrap_or(if self.folded { 0.0 } else { DEFAULT_CUT })
    }

    /// That modules are asked for and not known.
    fn no_modules(&self, are_unknown: bool) -> Vec<String> {
        let are_unknown = self.frames == Frames::Module && are_unknown;
        are_unknown.then(|| allocations::NO_MODULES.to_owned()).into_iter().collect()
    }

    fn selects(&self, class: &str) -> bool {
        selects_class(&self.filter, class)
    }

    /// What `--in` lets pass.
    fn passes(&self, at: &Location<'_>) -> bool {
        selects_site(&self.code, at)
    }
}

fn show_allocations(
    arguments: &Arguments,
    path: &Path,
    reading: &Reading,
    out: &mut Page<'_>,
) -> anyhow::Result<Value> {
    let report = &reading.report;
    let passes = |at: &Location<'_>| arguments.passes(at);
    let code: Option<&dyn Fn(&Location<'_>) -> bool> = (!arguments.code.is_empty()).then_some(&passes);
    let root = match arguments.live {
        true => report.live_tree(&arguments.options(), |class| arguments.selects(class), code),
        false => report.tree(&arguments.options(), |class| arguments.selects(class), code),
    };
    if !arguments.filter.is_empty() && report.has_objects() {
        let classes = report.rows(By::Class, |_| true);
        let names = classes.iter().filter_map(|row| match row.subject {
            Subject::Class(name) => Some(name),
            _ => None,
        });
        note_unmatched(path, &arguments.filter, names);
    }
    let mut notes = Vec::new();
    if arguments.live && root.count == 0 {
        notes
            .push("the trace has no live objects; record them with martini run --sampled, or --heap events".to_owned());
    }
    if report.has_objects() && !report.has_stacks() {
        notes.push(allocations::no_stacks(report));
    }
    notes.extend(arguments.no_modules(report.has_objects() && !report.has_modules()));
    notes.extend(notes::of_allocations(reading));
    let shown = Shown {
        root,
        columns: Columns::Weight,
        title: if arguments.live { "Live objects" } else { "Allocations" },
        nouns: ["object", "objects"],
        amount: bytes,
        heading: "size",
        leaf: "new ",
        key: if arguments.live { "live" } else { "allocations" },
        notes,
    };
    let document = show(arguments, path, reading, &shown, out)?;
    if !arguments.json && !arguments.folded {
        coverage::write(&reading.coverage(), out)?;
        writeln!(out)?;
    }
    Ok(document)
}

fn show<R: Report>(
    arguments: &Arguments,
    path: &Path,
    reading: &Reading<R>,
    shown: &Shown<'_>,
    out: &mut Page<'_>,
) -> anyhow::Result<Value> {
    let root = &shown.root;
    if !arguments.code.is_empty() && root.count == 0 {
        note(path, "no stack has a frame that matches --in");
    }
    if arguments.folded {
        tree::write_folded(root, out)?;
        return Ok(Value::Null);
    }
    if arguments.json {
        let mut document = head::short_json(path, reading);
        document.insert("of".to_owned(), shown.key.into());
        document.insert("nodes".to_owned(), tree::json(root));
        return Ok(document.into());
    }
    head::write(path, reading, out)?;
    let direction = if arguments.bottom_up { "bottom up" } else { "top down" };
    let objects = counted(root.count, shown.nouns[0], shown.nouns[1]);
    let head = format!("{}, {direction}: {objects}, {}", shown.title, (shown.amount)(root.weight));
    let cut = match arguments.cut() {
        0.0 => String::new(),
        cut => format!("; nodes below {cut} % are hidden"),
    };
    out.write_sentence(0, &format!("{head}{cut}"))?;
    writeln!(out)?;
    if root.count > 0 {
        let style = Style {
            columns: shown.columns,
            amount: shown.amount,
            heading: shown.heading,
            leaf: shown.leaf,
            own: &OwnCode::new(arguments.own.clone()),
            all_frames: arguments.all_frames,
            depth: arguments.depth.unwrap_or(usize::MAX),
            cut: arguments.cut() / 100.0,
        };
        tree::write(root, &style, out)?;
        writeln!(out)?;
    }
    notes::write(&shown.notes, out)?;
    Ok(Value::Null)
}

/// A part of a whole on the command line, in percent.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("give a number from 0 to 100, such as 0.5".to_owned()),
    }
}
