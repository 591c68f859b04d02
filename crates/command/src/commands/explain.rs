//! `martini explain`: what stands out in a trace, and the command to type next.

use std::io::Write;
use std::path::{Path, PathBuf};

use analysis::allocations::{Facts, Naming, ObjectTotals, Origin, SiteNames};
use analysis::explain::{Explanation, Finding, explain};
use analysis::own_code::is_jdk;
use owo_colors::OwoColorize;
use serde_json::{Map, Value, json};
use trace::filter::Pattern;

use crate::commands::heap_dump;
use crate::commands::per_file::{Files, each};
use crate::commands::selection::row_limit;
use crate::input::program::Program;
use crate::input::reading::Reading;
use crate::input::whole::{self, Whole};
use crate::render::explain::{self as render, Source};
use crate::render::human::{bytes, counted, printable, shell_word};
use crate::render::page::{Page, PageArguments, Width};
use crate::render::{
    conservation, coverage, head, lock_summary, markdown, notes, requests, run_summary, safepoints, warm_up,
};

/// Report the main findings: growth, churn, expensive locks
///
/// Each finding shows its numbers, the line of code and the command for details. A healthy program has no findings; the report then lists what
/// was checked.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Findings:
  deadlock  threads that wait for each other
  stuck     threads that had been waiting for a lock for at least 1 s at the end
            or all the time, since before the recording (`attach`)
  growth    a line whose objects are allocated steadily and never released
            (traces with single objects, `run --stack 16`, or with samples,
            `run --sampled`); with counts, a heap that is fuller after each
            third of the collections
  churn     a line that allocates at least 10 % of all bytes and more than
            50 MB/s (single objects: half of all bytes, and 64 MiB), or where
            collections take 5 % of the time
  cpu       at least 10 % of CPU time is one line with its callees, or the
            collectors; 20 % is compilers or the kernel; at least 2 % of CPU
            time has no stack (`run --cpu`)
  calls     at least 10 % of the time is in one method, without what it calls
            (execution traces of the old TPTP profilers)
  lock      threads waited for a lock, or a class of locks, at least 5 % of the
            time and 100 ms (`run --locks`, `run --juc`)
  late      threads delayed safepoints for at least 1 % of the time and 20 ms
            (`run --ttsp`)

Deadlocks and stuck threads come first, then whatever costs most: the share of
the time that threads wait or processors are busy, or the share of the heap.
Less than 1 % of one processor's time, or fewer than 10 samples, is no finding.

A line is the innermost one in your own code, if the trace has call stacks.

Examples:
  martini explain app.trcxml
  martini explain app.trcxml --own 'com.acme.*'
  martini explain app.trcxml --markdown >> summary.md
  martini explain app.trcxml --json | jq '.traces[0].findings[].kind'")]
pub(crate) struct Arguments {
    /// Traces to read, one by one
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// Classes of your own code: a name, with an optional * at its end or beginning (repeatable) [default: all but the JDK and known
    /// frameworks]
    #[arg(long, value_name = "PATTERN")]
    own: Vec<Pattern>,
    #[command(flatten)]
    page: PageArguments,
    /// Print JSON with exact numbers
    #[arg(long)]
    json: bool,
    /// Print Markdown, as for a pull request or an assistant
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    each(
        &arguments.traces,
        arguments.json.then_some(Files { command: "explain", list: "traces" }),
        arguments.page.width(),
        |path, out| {
            let whole = whole::whole(path)?;
            let explained = Explained::new(path, &whole, arguments.own.clone());
            if arguments.json {
                return Ok(explained.to_json());
            }
            if arguments.markdown {
                write!(out, "{}", markdown::explained(&explained.overview()))?;
                return Ok(Value::Null);
            }
            head::write(path, &whole.allocations, out)?;
            explained.write(out)?;
            writeln!(out)?;
            Ok(Value::Null)
        },
    )
}

/// A trace, and what stands out in it.
pub(crate) struct Explained<'a> {
    whole: &'a Whole,
    /// How stacks are called.
    names: SiteNames,
    explanation: Explanation<'a>,
    /// The trace is of allocations, rather than of waits or samples of CPU time alone.
    has_allocations: bool,
    /// It has samples of CPU time.
    has_cpu: bool,
    /// It has calls of methods.
    has_calls: bool,
    /// How stacks of these are called.
    cpu_names: SiteNames,
    source: Source<'a>,
}

impl<'a> Explained<'a> {
    /// Finds what stands out in a trace. `own`: patterns for classes that are the reader's own.
    pub(crate) fn new(path: &'a Path, whole: &'a Whole, own: Vec<Pattern>) -> Self {
        let report = &whole.allocations.report;
        let naming = Naming::Own(own.clone());
        let (names, cpu_names) = (report.site_names(&naming), whole.cpu.report.site_names(&naming));
        let mut explanation = explain(report, &whole.locks.report, &whole.cpu.report, &whole.collections, &naming);
        explanation.add_safepoints(&whole.safepoints, &own);
        explanation.add_warm_up(&whole.warm_up, &own);
        explanation.add_requests(&whole.requests, &own);
        explanation.add_calls(&whole.calls.report);
        let has_cpu = explanation.on_processors.is_some();
        let has_calls = explanation.calls.is_some();
        let dump = last_dump(path, &report.facts().dumps);
        let source = Source {
            path,
            held: dump.as_deref().and_then(|dump| held(dump, &explanation)),
            dump,
            has_stacks: report.has_stacks(),
            program: Program::of(report.facts()),
        };
        let has_allocations = explanation.allocated.is_some()
            || !explanation.has_waits
                && !has_cpu
                && !has_calls
                && notes::recorded::allocations(report.facts()) != Some(false);
        Explained { whole, names, explanation, has_allocations, has_cpu, has_calls, cpu_names, source }
    }

    /// Writes what stands out behind the sums of the trace, then what is missing in it.
    pub(crate) fn write(&self, out: &mut Page<'_>) -> anyhow::Result<()> {
        out.write_sentence(0, &self.sums(notes::summary))?;
        render::write(&self.explanation, &self.source, out)?;
        let notes = self.notes(notes::of_allocations);
        if self.has_allocations || self.has_cpu || !notes.is_empty() {
            writeln!(out)?;
        }
        self.write_completeness(&notes, out)
    }

    /// Writes what stands out and the lines that cost most, each in one line; as many of these as there is room for, or `rows`.
    pub(crate) fn write_short(&self, rows: Option<usize>, out: &mut Page<'_>) -> anyhow::Result<()> {
        let trace = format!("martini: {}", self.source.path.display());
        let sums = out
            .behind(&trace, &format!("({}): {}", bytes(self.whole.allocations.bytes), self.sums(notes::short_summary)));
        writeln!(out, "{} {}{sums}", "martini:".bold(), self.source.path.display())?;
        render::write_heads(&self.explanation, out)?;
        let findings = self.explanation.findings.len().max(1);
        let rows = row_limit(rows, run_summary::rows_beside(findings));
        let rows = if self.has_cpu && self.has_allocations { run_summary::half(rows) } else { rows };
        if self.has_cpu {
            run_summary::write_cpu(&self.whole.cpu.report, &self.cpu_names, rows, out)?;
        }
        if self.has_allocations {
            run_summary::write_lines(&self.whole.allocations.report, &self.names, rows, out)?;
        } else if self.explanation.has_waits && !self.has_cpu {
            run_summary::write_waits(&self.whole.locks.report, rows, out)?;
        }
        self.write_completeness(&self.notes(notes::of_allocations_in_short), out)?;
        let trace = shell_word(self.source.path);
        let mut commands = vec![format!("martini explain {trace}")];
        commands.extend(self.commands().into_iter().map(|command| format!("martini {command} {trace}")));
        commands.extend(self.source.dump.as_deref().map(|dump| format!("martini heap {}", shell_word(dump))));
        let line = format!("More: {}", commands.join(", "));
        let is_short = line.chars().count() <= out.width().0;
        writeln!(out, "{}", if is_short { line } else { format!("More: {}", commands.join(",\n    ")) })?;
        Ok(())
    }

    /// The commands that show what the trace holds.
    fn commands(&self) -> Vec<&'static str> {
        let facts = self.whole.allocations.report.facts();
        let has_safepoints =
            self.explanation.to_safepoint.is_some() || notes::recorded::safepoints(facts) == Some(true);
        let shown = [
            (self.has_allocations || self.has_cpu, "stats"),
            (self.has_allocations && self.has_cpu, "stats --cpu"),
            (facts.wall_samples > 0 || notes::recorded::wall(facts) == Some(true), "stats --wall"),
            (self.explanation.has_waits || notes::recorded::locks(facts) == Some(true), "locks"),
            (has_safepoints, "safepoints"),
            (self.explanation.has_start || notes::recorded::warm_up(facts) == Some(true), "warmup"),
            (self.explanation.has_requests, "requests"),
            (self.has_calls, "stats --calls"),
        ];
        let shown: Vec<&str> =
            shown.into_iter().filter(|(is_there, _)| *is_there).map(|(_, command)| command).collect();
        if shown.is_empty() { vec!["locks"] } else { shown }
    }

    /// Whether the trace has safepoints, and nothing else to sum up.
    fn has_safepoints_alone(&self) -> bool {
        !self.has_others() && self.explanation.to_safepoint.is_some()
    }

    /// Whether it has samples by the clock, and nothing else but safepoints to sum up.
    fn has_wall_alone(&self) -> bool {
        !self.has_others() && self.explanation.wall_samples > 0
    }

    /// Whether it has something of the JVM's start, and nothing else to sum up.
    fn has_start_alone(&self) -> bool {
        !self.has_others() && self.explanation.has_start
    }

    /// Whether it has requests, and nothing else to sum up.
    fn has_requests_alone(&self) -> bool {
        !self.has_others() && self.explanation.has_requests
    }

    fn has_others(&self) -> bool {
        self.has_allocations || self.has_cpu || self.has_calls || self.explanation.has_waits
    }

    /// What the trace holds, in a sentence.
    fn sums(&self, of_allocations: fn(&ObjectTotals, &Facts) -> String) -> String {
        let report = &self.whole.allocations.report;
        match self.has_allocations {
            true => of_allocations(&report.sum(|_| true), report.facts()),
            false if self.has_cpu => notes::samples_summary(&self.whole.cpu.report),
            false if self.has_calls => notes::calls_summary(&self.whole.calls.report),
            false if self.has_wall_alone() => {
                counted(self.explanation.wall_samples, "wall clock sample", "wall clock samples")
            }
            false if self.has_safepoints_alone() => safepoints::sums(&self.whole.safepoints),
            false if self.has_requests_alone() => requests::sums(&self.whole.requests),
            false if self.has_start_alone() => {
                warm_up::sentences(&self.whole.warm_up).into_iter().next().unwrap_or_default()
            }
            false => lock_summary::sums(&self.whole.locks.report),
        }
    }

    /// What is missing or wrong in the trace.
    fn notes(&self, of_allocations: fn(&Reading) -> Vec<String>) -> Vec<String> {
        match self.has_allocations {
            true => of_allocations(&self.whole.allocations),
            false if self.has_cpu => notes::of_samples(&self.whole.cpu),
            false if self.has_calls => notes::of_calls(&self.whole.calls),
            false
                if self.has_safepoints_alone()
                    || self.has_wall_alone()
                    || self.has_start_alone()
                    || self.has_requests_alone() =>
            {
                notes::of_any(&self.whole.allocations)
            }
            false => notes::of_locks(&self.whole.locks),
        }
    }

    /// Writes notes, and how complete the trace is.
    fn write_completeness(&self, notes: &[String], out: &mut Page<'_>) -> anyhow::Result<()> {
        notes::write(notes, out)?;
        if self.has_allocations {
            coverage::write(&self.whole.allocations.coverage(), out)?;
        }
        if self.has_cpu {
            conservation::write(&self.whole.cpu.conservation(), out)?;
        }
        Ok(())
    }

    /// What a report begins with: what was recorded, what stands out, what is missing.
    pub(crate) fn overview(&self) -> Map<String, Value> {
        let allocations = &self.whole.allocations;
        let mut text = Vec::new();
        // It is written to memory.
        let _ =
            self.write_completeness(&self.notes(notes::of_allocations), &mut Page::new(&mut text, Width(usize::MAX)));
        let text = anstream::adapter::strip_bytes(&text).into_vec();
        let truth = String::from_utf8_lossy(&text);
        let facts = allocations.report.facts();
        let said = |of: fn(&Origin) -> &String| {
            let said = facts.origins.first().map(of).filter(|said| !said.is_empty());
            said.map(|said| printable(said))
        };
        Map::from_iter([
            ("path".to_owned(), json!(printable(&self.source.path.display().to_string()))),
            ("program".to_owned(), json!(said(|origin| &origin.command))),
            ("java".to_owned(), json!(said(|origin| &origin.java_version))),
            ("began".to_owned(), json!(facts.begin.filter(|begin| begin.0 > 0).map(|begin| begin.0 / 1_000_000))),
            ("is_attached".to_owned(), json!(allocations.coverage().is_late || self.source.program.running.is_some())),
            ("attach".to_owned(), json!(self.source.program.running.map(|pid| pid.to_string()))),
            ("origin".to_owned(), json!(printable(&notes::origin(allocations)))),
            ("options".to_owned(), json!(facts.origins.first().map(|origin| printable(&origin.parameters)))),
            ("sums".to_owned(), json!(self.sums(notes::summary))),
            ("complete".to_owned(), json!(notes::is_complete(allocations))),
            ("truth".to_owned(), truth.lines().collect()),
            ("findings".to_owned(), render::described(&self.explanation, &self.source)),
            ("wall_samples".to_owned(), json!(facts.wall_samples)),
            (
                "safepoints".to_owned(),
                json!(self.explanation.to_safepoint.map(|_| safepoints::sums(&self.whole.safepoints))),
            ),
        ])
    }

    fn to_json(&self) -> Value {
        let mut fields = render::json(&self.explanation, &self.source);
        fields.insert("path".to_owned(), json!(self.source.path.display().to_string()));
        fields.insert("complete".to_owned(), json!(notes::is_complete(&self.whole.allocations)));
        fields.insert("coverage".to_owned(), coverage::json(&self.whole.allocations.coverage()));
        fields.insert("conservation".to_owned(), conservation::json(&self.whole.cpu.conservation()));
        fields.into()
    }
}

/// Dumps beyond this take longer to read than a sentence is worth.
const LARGEST_DUMP: u64 = 1 << 30;

/// Who holds the objects that leak, of the program's own classes: what is held by the JDK's collections alone has many holders.
fn held(dump: &Path, explanation: &Explanation<'_>) -> Option<String> {
    let leak = explanation.findings.iter().find_map(|finding| match finding {
        Finding::Growth(growth) => Some(growth),
        _ => None,
    })?;
    let mut classes =
        leak.classes.iter().map(|class| class.class).filter(|class| class.contains('.') && !is_jdk(class));
    let is_small = std::fs::metadata(dump).is_ok_and(|metadata| metadata.len() <= LARGEST_DUMP);
    let first = classes.next().filter(|_| is_small)?;
    // A dump that cannot be read is shown by the command that reads dumps.
    heap_dump::held(dump, std::iter::once(first).chain(classes)).ok().flatten()
}

/// The last heap dump of a trace: a file that the same recording left beside it, as `app-1.hprof` of `app.trcxml`, or the trace itself.
fn last_dump(path: &Path, dumps: &[String]) -> Option<PathBuf> {
    let stem = path.file_stem()?.to_str()?;
    let last = dumps.iter().rev().map(|name| match name.strip_suffix(".hprof") {
        // Other recordings have left theirs, and a trace is moved to another name with its dumps.
        Some(name) => {
            let number: u32 = name.rsplit_once('-')?.1.parse().ok()?;
            Some(path.with_file_name(format!("{stem}-{number}.hprof")))
        }
        None => Some(path.to_owned()),
    });
    last.flatten().find(|dump| dump.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dumps_of_other_recordings_are_not_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("app.trcxml");
        for file in ["app.trcxml", "app-1.hprof", "app-2.hprof", "app-3.hprof", "other-1.hprof"] {
            std::fs::write(folder.path().join(file), "").expect("a file");
        }
        let last = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            let dump = last_dump(&path, &names)?;
            Some(dump.file_name().expect("a name").to_string_lossy().into_owned())
        };
        assert_eq!(last(&[]), None);
        assert_eq!(last(&["end /x/app-1.hprof", "gc:9 /x/app-2.hprof"]).as_deref(), Some("app-2.hprof"));
        assert_eq!(last(&["end /x/moved-3.hprof"]).as_deref(), Some("app-3.hprof"));
        assert_eq!(last(&["end /x/app-1.hprof", "end /x/app-9.hprof"]).as_deref(), Some("app-1.hprof"));
        assert_eq!(last(&["end"]).as_deref(), Some("app.trcxml"));
    }

    /// What `run` prints, as it is kept in `tests/pages`.
    #[test]
    fn a_summary_has_ten_lines() {
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let trace = Path::new("tests/traces/explain.trcxml");
        let whole = whole::whole(&project.join(trace)).expect("it is there");
        let mut text = Vec::new();
        let mut page = Page::new(&mut text, Width(80));
        Explained::new(trace, &whole, Vec::new()).write_short(None, &mut page).expect("there is room");
        let text = anstream::adapter::strip_bytes(&text).into_vec();
        let text = String::from_utf8(text).expect("it is text");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        // What goes on in the next line is one line more.
        assert!(text.lines().filter(|line| !line.starts_with("    ") || line.contains("%  ")).count() <= 10, "{text}");
        let page = project.join("tests/pages/summary.txt");
        if std::env::var_os("MARTINI_UPDATE").is_some_and(|value| value == "1") {
            std::fs::write(&page, &text).expect("the page can be written");
        }
        let kept = std::fs::read_to_string(&page).unwrap_or_default();
        assert_eq!(text, kept, "write it again: MARTINI_UPDATE=1 cargo test -p command summary");
    }
}
