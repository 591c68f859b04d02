//! `martini validate`: checks a trace against the rules of its format.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::bail;
use owo_colors::OwoColorize;
use trace::reader::TraceReader;
use trace::validate::{DEFAULT_LIMIT, Profile, Report, Validator, validate};

use crate::cli::exit;
use crate::cli::input::{progress, reading};
use crate::cli::render::human::{count, counted};

/// Checks whether a trace follows the rules of its format
///
/// The rules are those that a schema cannot express: ids are defined before they are used and not used after they ended, objects die
/// once and inside a collection, collections and monitor events come in pairs, times do not decrease, the trace has its beginning
/// and its end. The schemas themselves are in schemas/ (`xmllint --schema`).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  martini validate app.trcxml
  martini validate --lenient old-tptp-trace.trcxml

Exit status:
  0  every trace is valid
  1  a trace breaks a rule
  2  a trace cannot be read at all, or the command line is wrong")]
pub(crate) struct Arguments {
    /// Traces to check, each for itself; - is standard input
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// Check all rules that Martini's own traces follow (the default)
    #[arg(long, conflicts_with = "lenient")]
    strict: bool,
    /// Allow what old profilers wrote: traces that are cut off, times that decrease
    #[arg(long)]
    lenient: bool,
    /// Describe at most this many violations of a trace; all are counted
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LIMIT)]
    top: usize,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let mut out = anstream::stdout().lock();
    let mut status = exit::OK;
    for path in &arguments.traces {
        let report = check(path, arguments)?;
        print(path, &report, &mut out)?;
        if !report.is_valid() {
            status = exit::INVALID;
        }
    }
    Ok(status)
}

fn check(path: &Path, arguments: &Arguments) -> anyhow::Result<Report> {
    if path.as_os_str() == "-" {
        let reader = TraceReader::new(std::io::stdin().lock()).map_err(|error| reading::named(path, error))?;
        return validated(path, arguments, reader);
    }
    validated(path, arguments, TraceReader::open(path).map_err(|error| reading::named(path, error))?)
}

fn validated<R: Read>(path: &Path, arguments: &Arguments, mut reader: TraceReader<R>) -> anyhow::Result<Report> {
    let profile = if arguments.lenient { Profile::Lenient } else { Profile::Strict };
    let mut bar = progress::bar(reader.total(), &format!("checking {}", path.display()));
    let validator = Validator::new(profile, arguments.top);
    let report = validate(&mut reader, validator, |reader| bar.set_position(reader.consumed()));
    drop(bar);
    if report.documents == 0 {
        let why = report.violations.first().map_or("it has no document", |violation| &violation.text);
        bail!("cannot read {}: {why}", path.display());
    }
    Ok(report)
}

fn print(path: &Path, report: &Report, out: &mut impl Write) -> std::io::Result<()> {
    let elements = counted(report.elements.values().sum(), "element", "elements");
    let documents = counted(report.documents, "document", "documents");
    let path = path.display();
    if report.is_valid() {
        let cut = if report.truncated > 0 { format!(", {} cut off", count(report.truncated)) } else { String::new() };
        return writeln!(out, "{path}: {} ({elements}, {documents}{cut})", "valid".green().bold());
    }
    let total = report.total();
    let violations = counted(total, "violation", "violations");
    writeln!(out, "{path}: {} ({violations} in {elements}, {documents})", "not valid".red().bold())?;
    for violation in &report.violations {
        writeln!(out, "  {violation}")?;
    }
    let left = total - report.violations.len() as u64;
    if left > 0 {
        let rules: Vec<String> =
            report.broken.iter().map(|(rule, times)| format!("{rule} {}", count(*times))).collect();
        writeln!(out, "  ... and {} more; by rule: {}", count(left), rules.join(", "))?;
    }
    Ok(())
}
