//! `martini validate`: checks a trace against the rules of its format.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::bail;
use owo_colors::OwoColorize;
use serde_json::{Value, json};
use trace::reader::TraceReader;
use trace::validate::{DEFAULT_LIMIT, Imported, Profile, Report, Validator, Violation, validate};

use crate::commands::per_file::{Files, each};
use crate::commands::selection::whole_number;
use crate::exit;
use crate::input::{progress, reading};
use crate::render::human::{count, counted, printable};
use crate::render::page::Width;

/// Check a trace against the rules of its format
///
/// These are the rules a schema cannot express: ids are defined before use and not used after their end, objects die once and inside a
/// collection, collections and monitor events come in pairs, times do not decrease, the trace has a start and an end. Also says which elements an importer of TPTP's would skip. For the schemas in schemas/ use
/// `xmllint --schema`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  martini validate app.trcxml
  martini validate --lenient old-tptp-trace.trcxml
  martini validate --json app.trcxml | jq '.traces[0].violations[0]'

Exit status:
  0  every trace is valid
  1  a trace breaks a rule
  2  a trace cannot be read, or the command line is invalid")]
pub(crate) struct Arguments {
    /// Traces to check, one by one; - is standard input
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// Check all rules of Martini's own traces (the default)
    #[arg(long, conflicts_with = "lenient")]
    strict: bool,
    /// Allow what old profilers wrote: truncated traces, decreasing times
    #[arg(long)]
    lenient: bool,
    /// Violations to show per trace; all are counted
    #[arg(long, value_name = "N", value_parser = whole_number, default_value_t = DEFAULT_LIMIT)]
    top: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let mut is_valid = true;
    let status = each(
        &arguments.traces,
        arguments.json.then_some(Files { command: "validate", list: "traces" }),
        Width::usual(),
        |path, out| {
            let report = check(path, arguments)?;
            is_valid &= report.is_valid();
            if arguments.json {
                return Ok(to_json(path, &report));
            }
            print(path, &report, out)?;
            Ok(Value::Null)
        },
    )?;
    Ok(if status == exit::OK && !is_valid { exit::INVALID } else { status })
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
        let why = report.violations.first().map_or("it contains no document", |violation| &violation.text);
        bail!("cannot read {}: {why}", path.display());
    }
    Ok(report)
}

fn print(path: &Path, report: &Report, out: &mut impl Write) -> std::io::Result<()> {
    let elements = counted(report.elements.values().sum(), "element", "elements");
    let documents = counted(report.documents, "document", "documents");
    let path = path.display();
    if report.is_valid() {
        let cut = if report.truncated > 0 {
            format!(", {} without an end tag", count(report.truncated))
        } else {
            String::new()
        };
        writeln!(out, "{path}: {} ({elements}, {documents}{cut})", "valid".green().bold())?;
        return print_imported(&report.imported, out);
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
    print_imported(&report.imported, out)
}

/// Says what an importer of TPTP's would not understand.
fn print_imported(imported: &Imported, out: &mut impl Write) -> std::io::Result<()> {
    let Imported { skipped, unresolved } = imported;
    if skipped.is_empty() && unresolved.is_none() {
        return writeln!(out, "  an importer of TPTP's would understand all of it");
    }
    if !skipped.is_empty() {
        let all: u64 = skipped.values().map(|(number, _)| number).sum();
        writeln!(out, "  an importer of TPTP's would skip {}:", counted(all, "element", "elements"))?;
    }
    for (name, (number, at)) in skipped {
        writeln!(out, "    {} {}, first at byte {}", count(*number), printable(name), count(at.offset))?;
    }
    if let Some((number, at)) = unresolved {
        let references = counted(*number, "reference", "references");
        writeln!(out, "  it could not resolve {references} to ids, first at byte {}", count(at.offset))?;
    }
    Ok(())
}

fn to_json(path: &Path, report: &Report) -> Value {
    let violation = |violation: &Violation| {
        let Violation { rule, document, at, text } = violation;
        json!({ "rule": rule.as_str(), "document": document, "line": at.line, "byte": at.offset, "text": text })
    };
    let rules: serde_json::Map<_, _> =
        report.broken.iter().map(|(rule, &times)| (rule.as_str().to_owned(), times.into())).collect();
    let skipped: serde_json::Map<_, _> = report
        .imported
        .skipped
        .iter()
        .map(|(name, (number, at))| (name.clone(), json!({ "count": number, "line": at.line, "byte": at.offset })))
        .collect();
    let unresolved =
        report.imported.unresolved.map(|(number, at)| json!({ "count": number, "line": at.line, "byte": at.offset }));
    json!({
        "path": path.display().to_string(),
        "valid": report.is_valid(),
        "documents": report.documents,
        "without_end_tag": report.truncated,
        "elements": report.elements.values().sum::<u64>(),
        "violation_count": report.total(),
        "rules": rules,
        "imported": { "skipped": skipped, "unresolved": unresolved },
        "violations": report.violations.iter().map(violation).collect::<Vec<_>>(),
    })
}
