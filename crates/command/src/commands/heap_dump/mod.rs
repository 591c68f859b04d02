//! `martini heap`: what is alive in a heap dump, and what keeps it alive.

mod class;
mod difference;
mod growing;
mod head;
mod held;
mod names;
mod object;
mod overview;
mod references;
mod sites;
mod source;
mod suspects;
mod trace;
mod waste;

use std::io::Write;
use std::path::{Path, PathBuf};

use ::trace::filter::Pattern;
use analysis::heap_dump::{ClassRow, Excluded, Strength};
use anyhow::bail;
use clap::ValueEnum;
use serde_json::Value;

use crate::commands::per_file::{Files, each};
use crate::commands::selection::{row_limit, selects_class, whole_number};
use crate::exit;
use crate::render::page::{Page, PageArguments};
pub(crate) use held::held;
use source::Source;

/// Show what is alive in a heap dump, what keeps it alive, and what is wasted
///
/// Reads HPROF files from the JVM (`jcmd PID GC.heap_dump FILE`) or Martini, plain or gzipped, and traces that contain a dump. A trace without a
/// dump still shows which classes and sites have more survivors after every collection.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "\
Terms:
  shallow      size of the objects themselves
  retained     size that would be freed with them
  dominates    A dominates B if every path from a root to B goes through A
  accumulates  retained size, without the few large objects below it

Weak and phantom references keep nothing alive; soft and final ones do.

Examples:
  martini heap app.hprof                              histogram, suspects, waste
  martini heap app.hprof --show suspects --share 1    from 1 % of the heap
  martini heap app.hprof --show dominators --top 50   what retains most
  martini heap app.hprof --class com.acme.Session     who refers to it
  martini heap app.hprof --object 0x7f1c2d30 --paths 3 --exclude weak,phantom
  martini heap app.trcxml --object 4711               an object's lifetime
  martini heap --diff before.hprof after.hprof        what grew
  martini heap app.hprof --json | jq '.dumps[0].suspects[0]'")]
pub(crate) struct Arguments {
    /// Dumps or traces to read, one by one; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Show only this section (repeatable) [default: all but dominators]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT")]
    show: Vec<Section>,
    /// Show one object: its class, its referrers, what keeps it alive
    #[arg(long, value_name = "ID", value_parser = parse_id, conflicts_with_all = ["show", "class", "diff"])]
    object: Option<u64>,
    /// Show a class, by name or by the id of its class object (in a trace: its class id)
    #[arg(long, value_name = "NAME|ID", conflicts_with_all = ["show", "diff"])]
    class: Option<String>,
    /// Levels of references to follow from the object or class
    #[arg(long, value_name = "N", value_parser = whole_number, default_value_t = 1)]
    depth: usize,
    /// Shortest paths to show, from different roots, to the object or the largest of the class
    #[arg(long, value_name = "N", value_parser = whole_number, default_value_t = 1)]
    paths: usize,
    /// Ignore references of these kinds
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KIND")]
    exclude: Vec<ReferenceKind>,
    /// Compare two dumps: what grew and what shrank
    #[arg(long, conflicts_with = "show")]
    diff: bool,
    /// Use the dump with this id if a trace has several [default: the last]
    #[arg(long, value_name = "ID", value_parser = parse_id)]
    dump: Option<u64>,
    /// Report suspects that accumulate at least this percentage of the heap
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0, value_parser = parse_share)]
    share: f64,
    /// Only matching classes in histogram and differences: a name, with an optional * at its end or beginning (repeatable)
    #[arg(long, value_name = "PATTERN")]
    filter: Vec<Pattern>,
    /// Sort the histogram by this column, largest first
    #[arg(long, value_enum, value_name = "COLUMN", default_value_t = Column::Retained)]
    sort: Column,
    /// Rows per table, 0 for all [default: 20, with --json: 0]
    #[arg(long, value_name = "N", value_parser = whole_number)]
    top: Option<usize>,
    #[command(flatten)]
    page: PageArguments,
    /// Print JSON with exact numbers
    #[arg(long)]
    json: bool,
}

/// What `--show` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Section {
    /// One row per class
    Histogram,
    /// Allocation sites by class and line (Martini dumps with stacks or sites)
    Sites,
    /// Where memory accumulates, of what, and what keeps it alive
    Suspects,
    /// Objects with the largest retained size
    Dominators,
    /// Duplicate strings, empty and sparse collections, boxed values (HPROF only)
    Waste,
}

/// What `--exclude` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReferenceKind {
    Soft,
    Weak,
    Phantom,
    Final,
}

/// What `--sort` takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Column {
    Instances,
    Shallow,
    #[default]
    Retained,
    Name,
}

/// Rows of each table in a report.
const ROWS_OF_REPORT: usize = 300;

/// Suspects in a report: where at least this percentage of the heap accumulates.
const SHARE_OF_REPORT: f64 = 2.0;

/// Rows of a text table where `--top` does not say.
const DEFAULT_TOP: usize = 20;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    if arguments.diff {
        let [before, after] = &arguments.files[..] else {
            bail!("--diff compares two dumps, but {} were given", arguments.files.len());
        };
        let sources = [Source::open(arguments, before)?.histogram()?, Source::open(arguments, after)?.histogram()?];
        let mut out = anstream::stdout().lock();
        difference::show(arguments, sources, &mut Page::new(&mut out, arguments.page.width()))?;
        out.flush()?;
        return Ok(exit::OK);
    }
    each(
        &arguments.files,
        arguments.json.then_some(Files { command: "heap", list: "dumps" }),
        arguments.page.width(),
        |path, out| show(arguments, &Source::open(arguments, path)?, out),
    )
}

/// What a report shows of a dump: the JSON of its histogram, dominators, suspects and waste.
///
/// # Errors
/// The file cannot be read, or has no dump.
pub(crate) fn for_report(path: &Path) -> anyhow::Result<Value> {
    let arguments = Arguments {
        show: vec![Section::Histogram, Section::Dominators, Section::Suspects, Section::Waste],
        share: SHARE_OF_REPORT,
        top: Some(ROWS_OF_REPORT),
        json: true,
        ..Arguments::default()
    };
    let source = Source::open(&arguments, path)?;
    if source.heap.is_none() {
        bail!("{} has no heap dump; leave it out, or record one with martini run --dump end", path.display());
    }
    show(&arguments, &source, &mut Page::new(&mut std::io::sink(), arguments.page.width()))
}

/// The classes of a dump.
///
/// # Errors
/// The file cannot be read, or has no dump.
pub(crate) fn histogram(path: &Path) -> anyhow::Result<Vec<ClassRow>> {
    Ok(Source::open(&Arguments::default(), path)?.histogram()?.1)
}

/// Whether a file is a heap dump of HotSpot's, also a packed one.
pub(crate) fn is_dump(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".hprof") || name.ends_with(".hprof.gz")
}

/// Writes text at once; JSON is given back.
fn show(arguments: &Arguments, source: &Source, out: &mut Page<'_>) -> anyhow::Result<Value> {
    match (arguments.object, &arguments.class) {
        (Some(id), _) => object::show(arguments, source, id, out),
        (None, Some(class)) => class::show(arguments, source, class, out),
        (None, None) => overview::overview(arguments, source, out),
    }
}

impl Arguments {
    fn shows(&self, part: Section) -> bool {
        match self.show.is_empty() {
            true => part != Section::Dominators,
            false => self.show.contains(&part),
        }
    }

    fn excluded(&self) -> Excluded {
        let has = |kind| self.exclude.contains(&kind);
        Excluded {
            soft: has(ReferenceKind::Soft),
            weak: has(ReferenceKind::Weak),
            phantom: has(ReferenceKind::Phantom),
            finals: has(ReferenceKind::Final),
        }
    }

    fn selects(&self, class: &str) -> bool {
        selects_class(&self.filter, class)
    }

    /// How many rows to show; JSON has all by default.
    fn top(&self) -> usize {
        self.limit(if self.json { usize::MAX } else { DEFAULT_TOP })
    }

    /// How many entries of several lines to show, in JSON, too.
    fn few(&self) -> usize {
        self.limit(5)
    }

    /// The limit of `--top`, or a default that holds for JSON, too.
    fn limit(&self, default: usize) -> usize {
        row_limit(self.top, default)
    }

    /// The rows to show, in their order, and how many there are in all.
    fn rows(&self, mut rows: Vec<ClassRow>) -> (Vec<ClassRow>, usize) {
        rows.retain(|row| self.selects(&row.class));
        let all = rows.len();
        let key = |row: &ClassRow| match self.sort {
            Column::Instances => row.instances,
            Column::Shallow => row.shallow,
            Column::Retained => row.retained,
            Column::Name => 0,
        };
        rows.sort_by(|a, b| {
            let by_size =
                || if self.sort == Column::Name { std::cmp::Ordering::Equal } else { b.shallow.cmp(&a.shallow) };
            key(b).cmp(&key(a)).then_with(by_size).then_with(|| a.class.cmp(&b.class))
        });
        rows.truncate(self.top());
        (rows, all)
    }
}

/// An id as heap tools write it, `0x7f1c2d30`, or as traces do, decimal.
fn parse_id(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| "give an id, such as 0x7f1c2d30 or 4711".to_owned())
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=100.0).contains(share));
    share.ok_or_else(|| "give a percentage from 0 to 100, such as 2.5".to_owned())
}

/// The word for the strength of a reference.
fn strength_name(strength: Strength) -> &'static str {
    match strength {
        Strength::Soft => "soft",
        Strength::Weak => "weak",
        Strength::Phantom => "phantom",
        Strength::Final => "final",
    }
}
