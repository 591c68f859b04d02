//! `martini diff`: what differs between two runs, or between several runs a side.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use analysis::allocations::Naming;
use analysis::comparison::{Comparison, compare};
use analysis::execution::{CallBy, CallSubject};
use analysis::ledger::{Callers, Ledger, Measure, Unit};
use anyhow::bail;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::{Value, json};
use trace::filter::Pattern;
use trace::names;

use crate::commands::heap_dump;
use crate::commands::per_file::print_json;
use crate::commands::selection::{row_limit, whole_number};
use crate::exit;
use crate::input::whole::{self, Whole};
use crate::render::comparison::Found;
use crate::render::notes;
use crate::render::page::{Page, PageArguments, Width};

/// Rows of a text table by default.
const DEFAULT_TOP: usize = 10;
/// A smaller part of the whole is no change, for a report.
const LEAST: f64 = 0.005;

/// Show what differs between two runs: what is new, gone, more, less, or moved
///
/// Compares allocations by the method that makes the objects, living objects by class, CPU time, lock waits and calls; of heap dumps (.hprof) live and retained sizes by class. Code that was renamed, moved, split
/// or inlined costs the same elsewhere: it is listed as moved, not as a loss and a gain.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With several runs a side, a change is more than chance: each method's own
spread, moderated by that of all methods, with one false alarm in a hundred
comparisons. With one run a side, chance is judged by how much all other methods
differ; what varies by itself in your program may be named. Three runs a side
tell the two apart.

Columns:
  change   after less before, without what only moved; of sampled numbers with a
           95 % error margin; below it the classes of the objects, and the lines
           of your code through which it came (~, from samples)
  chance   how likely such a difference is without a change, for one method

Examples:
  martini diff before.trcxml after.trcxml
  martini diff a1.trcxml a2.trcxml a3.trcxml -- b1.trcxml b2.trcxml b3.trcxml
  martini diff before.trcxml after.trcxml --by line --own 'com.acme.*'
  martini diff before.trcxml after.trcxml --per request
  martini diff before.trcxml after.trcxml --measure bytes --least 0.1
  martini diff before.hprof after.hprof
  martini diff before.trcxml after.trcxml --markdown >> summary.md
  martini diff before.trcxml after.trcxml --json | jq '.comparisons[0].changes'")]
pub(crate) struct Arguments {
    /// Two traces; or those before the change, with the others behind --
    #[arg(required = true, value_name = "TRACE")]
    before: Vec<PathBuf>,
    /// Traces after the change
    #[arg(last = true, value_name = "AFTER")]
    after: Vec<PathBuf>,
    /// What changes: lines, methods, classes or packages of the code
    #[arg(long, value_parser = units(), default_value = "method")]
    by: Unit,
    /// Only these measures (repeatable) [default: all that the traces have]
    #[arg(long, value_parser = measures(), value_name = "MEASURE", value_delimiter = ',')]
    measure: Vec<Measure>,
    /// Name the innermost frame in classes of your own, a name with an optional * at its end or beginning, instead of the innermost of all:
    /// callers are estimated from samples (repeatable)
    #[arg(long, value_name = "PATTERN")]
    own: Vec<Pattern>,
    /// Compare costs per second, per request, or per request of one entry point, instead of those of whole runs
    #[arg(long, value_name = "second|request|METHOD")]
    per: Option<Per>,
    /// Leave out changes of less than this percentage of the whole
    #[arg(long, value_name = "PERCENT", default_value = "0.5", value_parser = percentage)]
    least: f64,
    /// Rows per table, 0 for all [default: 10, with --json: 0]
    #[arg(long, value_name = "N", value_parser = whole_number)]
    top: Option<usize>,
    #[command(flatten)]
    page: PageArguments,
    /// Print JSON with exact numbers
    #[arg(long)]
    json: bool,
    /// Print Markdown, as for a pull request
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

/// The words for a unit of the code.
fn units() -> impl TypedValueParser<Value = Unit> {
    let words = PossibleValuesParser::new(Unit::ALL.map(|unit| unit.words()[0]));
    words.map(|word| Unit::of_word(&word).expect("it is one of the words"))
}

/// The words for a measure.
fn measures() -> impl TypedValueParser<Value = Measure> {
    let words = PossibleValuesParser::new(Measure::ALL.map(Measure::word));
    words.map(|word| Measure::of_word(&word).expect("it is one of the words"))
}

/// What costs are divided by.
#[derive(Clone, Debug)]
enum Per {
    Second,
    Request,
    /// Requests of the entry points that match.
    Entry(Pattern),
}

impl FromStr for Per {
    type Err = String;

    fn from_str(text: &str) -> Result<Per, String> {
        match text {
            "second" => Ok(Per::Second),
            "request" => Ok(Per::Request),
            method => method.parse().map(Per::Entry).map_err(|error: trace::filter::PatternError| error.to_string()),
        }
    }
}

/// How often the methods that match were called, in a trace of calls.
fn calls(run: &Whole, pattern: &Pattern) -> u64 {
    let matches = |subject: &CallSubject<'_>| match subject {
        CallSubject::Method(at) => pattern.matches(&format!("{}.{}", at.class, names::jvm_method_name(at.method))),
        _ => false,
    };
    let rows = run.calls.report.rows(CallBy::Method);
    rows.iter().filter(|row| matches(&row.subject)).map(|row| row.calls).sum()
}

impl Per {
    /// How many of them a run has.
    fn number(&self, path: &Path, run: &Whole) -> anyhow::Result<f64> {
        let requests = |matches: &dyn Fn(&str) -> bool| -> u64 {
            let entries = run.requests.entries();
            entries.iter().filter(|entry| matches(entry.method)).map(|entry| entry.sums.requests).sum()
        };
        let number = match self {
            Per::Second => run.allocations.report.length().0 as f64 / 1e9,
            Per::Request => requests(&|_| true) as f64,
            Per::Entry(pattern) => (requests(&|method| pattern.matches(method)) + calls(run, pattern)) as f64,
        };
        if number > 0.0 {
            return Ok(number);
        }
        match self {
            Per::Second => bail!("{}: the trace has no length; compare whole runs, without --per", path.display()),
            Per::Request | Per::Entry(_) => bail!(
                "{}: no such request in the trace; record with --requests or --request METHOD, or leave --per out",
                path.display()
            ),
        }
    }

    fn text(&self) -> String {
        match self {
            Per::Second => "second".to_owned(),
            Per::Request => "request".to_owned(),
            Per::Entry(pattern) => format!("request of {pattern}"),
        }
    }
}

pub(super) fn percentage(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("give a percentage from 0 to 100, such as 0.5".to_owned()),
    }
}

/// What is known of a run.
#[derive(Default)]
struct Run {
    name: String,
    ledgers: Vec<Ledger>,
    /// Whose code had the objects made that libraries make.
    callers: Callers,
    /// What makes its numbers doubtful.
    notes: Vec<String>,
    /// What it was recorded with, and on what.
    options: String,
    java: String,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let (before, after) = match (&arguments.before[..], &arguments.after[..]) {
        ([one, other], []) => (std::slice::from_ref(one), std::slice::from_ref(other)),
        (_, []) => bail!("give two traces, or several before the change, --, and several after it"),
        sides => sides,
    };
    if let Some(flag) = after.iter().find(|path| path.as_os_str().as_encoded_bytes().starts_with(b"--")) {
        bail!("{} stands behind --, where only traces are; give flags before them", flag.display());
    }
    let how = arguments.how();
    let read = |path: &PathBuf| match heap_dump::is_dump(path) {
        true => how.read_dump(path),
        false => how.read(path, &whole::whole(path)?),
    };
    let read = |paths: &[PathBuf]| paths.iter().map(read).collect::<anyhow::Result<Vec<_>>>();
    let sides = [read(before)?, read(after)?];
    let comparisons = how.compare(&sides);
    if comparisons.is_empty() {
        bail!("the traces have no measure in common; record both with the same options");
    }
    let mut found = how.found(&sides, &comparisons);
    found.rows = row_limit(arguments.top, if arguments.json { 0 } else { DEFAULT_TOP });
    let mut out = anstream::stdout().lock();
    print("diff", &found, arguments.json, arguments.markdown, arguments.page.width(), &mut out)?;
    out.flush()?;
    Ok(exit::OK)
}

/// Prints what was found in the form that the flags of a command ask for.
pub(super) fn print(
    command: &str,
    found: &Found<'_>,
    json: bool,
    markdown: bool,
    width: Width,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    if json {
        print_json(command, &found.to_json(), out)?;
    } else if markdown {
        out.write_all(found.markdown().as_bytes())?;
    } else {
        found.write(&mut Page::new(out, width))?;
    }
    Ok(())
}

/// What differs between two traces, for a report: as the command finds it by itself.
pub(crate) fn for_report(traces: [&Path; 2], wholes: [&Whole; 2]) -> Value {
    let how = How { by: Unit::Method, wanted: Measure::ALL.to_vec(), own: &[], per: None, least: LEAST };
    let read = |at: usize| how.read(traces[at], wholes[at]).map(|run| vec![run]);
    match (read(0), read(1)) {
        (Ok(before), Ok(after)) => {
            let sides = [before, after];
            how.found(&sides, &how.compare(&sides)).for_report()
        }
        (Err(error), _) | (_, Err(error)) => json!({ "measures": [], "notes": [exit::sentence(&error)] }),
    }
}

/// How runs are compared.
struct How<'a> {
    by: Unit,
    wanted: Vec<Measure>,
    own: &'a [Pattern],
    per: Option<&'a Per>,
    /// A smaller part of the whole is no change.
    least: f64,
}

impl Arguments {
    fn how(&self) -> How<'_> {
        let wanted = match &self.measure[..] {
            [] => Measure::ALL.to_vec(),
            chosen => chosen.to_vec(),
        };
        How { by: self.by, wanted, own: &self.own, per: self.per.as_ref(), least: self.least / 100.0 }
    }
}

impl How<'_> {
    /// What a run has cost.
    fn read(&self, path: &Path, run: &Whole) -> anyhow::Result<Run> {
        let naming = if self.own.is_empty() { Naming::Innermost } else { Naming::Own(self.own.to_vec()) };
        let (allocations, cpu) = (&run.allocations.report, &run.cpu.report);
        let (names, cpu_names) = (allocations.site_names(&naming), cpu.site_names(&naming));
        let unit = self.by;
        let mut ledgers = Ledger::of_allocations(allocations, &names, unit);
        ledgers.extend(Ledger::of_living(allocations, &names));
        ledgers.extend(Ledger::of_cpu(cpu, &cpu_names, unit));
        ledgers.extend(Ledger::of_locks(&run.locks.report, unit));
        ledgers.extend(Ledger::of_calls(&run.calls.report, unit));
        let own = allocations.site_names(&Naming::Own(self.own.to_vec()));
        let mut callers = Callers::of(allocations, &own, unit);
        if let Some(per) = self.per {
            let number = per.number(path, run)?;
            callers.scale(1.0 / number);
            let of_the_run = |ledger: &&mut Ledger| !ledger.measure().is_of_a_moment();
            ledgers.iter_mut().filter(of_the_run).for_each(|ledger| ledger.scale(1.0 / number));
        }
        let origin = allocations.facts().origins.first();
        let doubts = if notes::is_complete(&run.allocations) {
            Vec::new()
        } else {
            vec![format!("{} is not complete: what it lacks looks like a change", path.display())]
        };
        Ok(Run {
            name: path.display().to_string(),
            ledgers,
            callers,
            notes: doubts,
            options: origin.map(|origin| comparable(&origin.parameters)).unwrap_or_default(),
            java: origin.map(|origin| origin.java_version.clone()).unwrap_or_default(),
        })
    }

    /// What the heap held.
    fn read_dump(&self, path: &Path) -> anyhow::Result<Run> {
        if self.per.is_some() {
            bail!("{}: a heap dump is of a moment: leave --per out", path.display());
        }
        Ok(Run {
            name: path.display().to_string(),
            ledgers: Ledger::of_dump(&heap_dump::histogram(path)?),
            ..Run::default()
        })
    }

    /// Compares what all runs have.
    fn compare(&self, sides: &[Vec<Run>; 2]) -> Vec<Comparison> {
        let of = |runs: &[Run], measure: Measure| -> Vec<Ledger> {
            let ledger = |run: &Run| run.ledgers.iter().find(|ledger| ledger.measure() == measure).cloned();
            runs.iter().map(|run| ledger(run).unwrap_or_else(|| Ledger::new(measure))).collect()
        };
        let compared = self.wanted.iter().filter_map(|&measure| {
            let [before, after] = sides.each_ref().map(|runs| of(runs, measure));
            let has_any = |side: &[Ledger]| side.iter().any(|ledger| !ledger.is_empty());
            // A run without waits had none; one without CPU samples was not asked for them.
            let is_comparable = match measure {
                Measure::Blocked | Measure::Waits => has_any(&before) || has_any(&after),
                _ => before.iter().chain(&after).all(|ledger| !ledger.is_empty()),
            };
            is_comparable.then(|| {
                let (before, after): (Vec<&Ledger>, Vec<&Ledger>) = (before.iter().collect(), after.iter().collect());
                compare(measure, &before, &after, self.least)
            })
        });
        compared.collect()
    }

    fn found<'f>(&self, sides: &'f [Vec<Run>; 2], comparisons: &'f [Comparison]) -> Found<'f> {
        let [before, after] = sides.each_ref().map(|runs| runs.iter().map(|run| run.name.clone()).collect());
        Found {
            before,
            after,
            per: self.per.map(Per::text),
            notes: notes_of(&sides[0], &sides[1]),
            comparisons,
            callers: sides.each_ref().map(|runs| runs.iter().map(|run| &run.callers).collect()),
            rows: DEFAULT_TOP,
            unit: self.by.words(),
            is_by_callers: !self.own.is_empty(),
        }
    }
}

/// Options that change what is recorded: all but where to.
fn comparable(parameters: &str) -> String {
    let is_comparable = |option: &&str| !["file=", "control=", "log="].iter().any(|name| option.starts_with(name));
    parameters.split(',').filter(is_comparable).collect::<Vec<_>>().join(",")
}

fn notes_of(before: &[Run], after: &[Run]) -> Vec<String> {
    let all = || before.iter().chain(after);
    let mut notes: Vec<String> = all().flat_map(|run| run.notes.clone()).collect();
    let differ = |of: fn(&Run) -> &String| {
        let first = of(all().next()?);
        all().map(of).find(|other| *other != first).map(|other| (first.clone(), other.clone()))
    };
    if let Some((one, other)) = differ(|run| &run.options) {
        notes.push(format!("the runs were recorded with different options: {one}; {other}"));
    }
    // The agent writes the release alone where the JVM does not say more yet.
    let is_release = |version: &str| !version.contains('.');
    let java = differ(|run| &run.java).filter(|(one, other)| {
        let same = |short: &str, long: &str| is_release(short) && long.split(['.', '+', '-']).next() == Some(short);
        !same(one, other) && !same(other, one)
    });
    if let Some((one, other)) = java {
        notes.push(format!("the runs are of different JVMs: {one}; {other}"));
    }
    if before.len().min(after.len()) < 2 {
        notes.push(
            "one run on a side: chance is judged by how much all other methods differ; three runs a side tell it from \
             what varies by itself"
                .to_owned(),
        );
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_only_say_where_to_write_do_not_count() {
        assert_eq!(comparable("heap=counts,file=/tmp/a.trcxml,locks=on"), "heap=counts,locks=on");
    }

    #[test]
    fn percentages_are_checked() {
        assert_eq!(percentage("0.5"), Ok(0.5));
        assert!(percentage("-1").is_err() && percentage("NaN").is_err() && percentage("101").is_err());
    }
}
