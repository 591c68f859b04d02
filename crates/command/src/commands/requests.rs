//! `martini requests`: how long requests took, and where the time of the first and the slowest went.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use analysis::allocations::Scope;
use analysis::requests::{Choice, EntryRow, RequestReport, RequestRow};
use anyhow::bail;
use owo_colors::OwoColorize;
use serde_json::{Value, json};
use trace::filter::Pattern;

use crate::commands::per_file::{Files, each};
use crate::commands::table_arguments::TableArguments;
use crate::commands::time_window::TimeFlags;
use crate::input::reading::{self, Reading};
use crate::render::human::printable;
use crate::render::page::Page;
use crate::render::requests::{self as render, Recorded};
use crate::render::view::fields;
use crate::render::{head, notes};

/// Show how long requests took, and why the first and the slowest were slow
///
/// A request is a call of an entry point, such as a servlet: record with --requests, or name methods with --request METHOD (martini run, martini
/// attach). The time of the 1st, 10th, 100th and 1,000th request and of the slowest is divided into parts that add up to it. What was not
/// recorded (--warmup, --locks, --cpu) is in other parts.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Columns of entry points:
  failed       requests that an exception ended
  p50 ... max  how long so many percent of them took at most, to a sixteenth
  CPU, bytes   CPU time and allocated bytes of a request on average, exact

Parts of a request:
  ~            estimated from samples; --request shows the error
  #10          the tenth request of the entry point

Examples:
  martini run --requests java -jar app.jar
  martini requests app.trcxml
  martini requests app.trcxml --request 1
  martini requests app.trcxml --request com.acme.Orders.handle:57
  martini requests app.trcxml --entry 'com.acme.*' --slowest 5 --from 30
  martini requests app.trcxml --json | jq '.traces[0].entries[0].divided'")]
pub(crate) struct Arguments {
    /// Traces to read, each for itself; - is standard input
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// Show one request whole, by its number: of each entry point, or of one (METHOD:NUMBER)
    #[arg(long, value_name = "[METHOD:]NUMBER")]
    request: Option<Wanted>,
    /// Number of slowest requests to divide, of each entry point
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(0..=100))]
    slowest: u16,
    /// Only entry points with these names, with an optional * at the end or beginning (repeatable)
    #[arg(long, value_name = "METHOD")]
    entry: Vec<Pattern>,
    #[command(flatten)]
    time: TimeFlags,
    #[command(flatten)]
    table: TableArguments,
}

/// A request, as `--request` names it.
#[derive(Clone, Debug, PartialEq)]
struct Wanted {
    entry: Option<Pattern>,
    number: u64,
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Wanted, String> {
        const FORM: &str = "give the number of a request, such as 1 or com.acme.Orders.handle:1";
        let (entry, number) = match text.rsplit_once(':') {
            Some((entry, number)) => (Some(entry.parse::<Pattern>().map_err(|error| error.to_string())?), number),
            None => (None, text),
        };
        match number.parse() {
            Ok(number) if number > 0 => Ok(Wanted { entry, number }),
            _ => Err(FORM.to_owned()),
        }
    }
}

impl Arguments {
    fn choice(&self) -> Choice {
        let entry = self.request.as_ref().and_then(|wanted| wanted.entry.clone());
        Choice {
            slowest: self.slowest.into(),
            number: self.request.as_ref().map(|wanted| wanted.number),
            entries: self.entry.iter().cloned().chain(entry).collect(),
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    each(
        &arguments.traces,
        arguments.table.json.then_some(Files { command: "requests", list: "traces" }),
        arguments.table.width(),
        |path, out| {
            let window = arguments.time.of(path)?;
            let scope = Scope { from: window.from(), to: window.to(), ..Scope::default() };
            let reading = reading::requests(path, arguments.choice(), &scope)?;
            window.check(path, Some(reading.report.length()))?;
            if let Some(wanted) = &arguments.request
                && !reading.report.is_empty()
                && arguments.divided(&reading.report).is_empty()
            {
                bail!(
                    "{}: request {} is not in the trace, which has the first thousand of each entry point and slow ones",
                    path.display(),
                    wanted.number
                );
            }
            if arguments.table.json {
                return Ok(to_json(arguments, path, &reading));
            }
            print(arguments, path, &reading, out)?;
            Ok(Value::Null)
        },
    )
}

impl Arguments {
    /// All requests whose time is divided.
    fn divided<'a>(&self, report: &'a RequestReport) -> Vec<RequestRow<'a>> {
        report.entries().iter().flat_map(|entry| report.requests(entry.method, &self.table.own)).collect()
    }
}

fn print(
    arguments: &Arguments,
    path: &Path,
    reading: &Reading<RequestReport>,
    out: &mut Page<'_>,
) -> anyhow::Result<()> {
    let report = &reading.report;
    let recorded = Recorded::of(report.facts());
    head::write(path, reading, out)?;
    writeln!(out)?;
    let (entries, left) = arguments.table.cut(report.entries());
    let mut shown = Vec::new();
    if !entries.is_empty() {
        render::entries().table(&entries).write_top(left, out)?;
    }
    for entry in &entries {
        let rows = report.requests(entry.method, &arguments.table.own);
        match arguments.request {
            Some(_) => {
                rows.iter().try_for_each(|row| render::write_whole(row, recorded, arguments.table.rows(), out))?
            }
            None => print_entry(path, entry, &rows, recorded, out)?,
        }
        shown.extend(rows);
    }
    let notes = notes::of_requests(reading, &shown);
    notes::write_last(&notes, out)?;
    Ok(())
}

/// Writes the requests of an entry point side by side, and why the first and the slowest were slow.
fn print_entry(
    path: &Path,
    entry: &EntryRow<'_>,
    rows: &[RequestRow<'_>],
    recorded: Recorded,
    out: &mut Page<'_>,
) -> anyhow::Result<()> {
    let milestones: Vec<_> = rows.iter().filter(|row| Choice::is_milestone(row.number)).collect();
    let mut slowest: Vec<_> = rows.iter().filter(|row| row.place.is_some()).collect();
    slowest.sort_by_key(|row| row.place);
    let name = printable(entry.method);
    let is_new = slowest.iter().any(|row| !Choice::is_milestone(row.number));
    let tables = [(&milestones, "its first, tenth ... request", true), (&slowest, "its slowest", is_new)];
    for (rows, which, is_shown) in tables {
        if is_shown && !rows.is_empty() {
            let title = out.sentence(0, &format!("{name}: {which}"));
            writeln!(out, "{}", title.bold())?;
            render::table(rows, recorded).write(out)?;
            writeln!(out)?;
        }
    }
    let first = rows.iter().find(|row| row.number == 1);
    let slowest = slowest.first().copied().filter(|row| row.number != 1);
    for row in [first, slowest].into_iter().flatten() {
        out.write_sentence(0, &printable(&format!("{}: {}", render::called(row), render::why(row))))?;
        let command = out.command("  next:", &render::next(path, row));
        writeln!(out, "  {}{command}", "next:".bold())?;
    }
    writeln!(out)?;
    Ok(())
}

fn to_json(arguments: &Arguments, path: &Path, reading: &Reading<RequestReport>) -> Value {
    let report = &reading.report;
    let recorded = Recorded::of(report.facts());
    let view = render::entries();
    let mut shown = Vec::new();
    let (entries, _) = arguments.table.cut(report.entries());
    let entries: Vec<Value> = entries
        .iter()
        .map(|entry| {
            let rows = report.requests(entry.method, &arguments.table.own);
            let mut object = view.object(entry);
            let divided: Vec<Value> = rows.iter().map(|row| render::request_json(row, recorded)).collect();
            object.insert("divided".to_owned(), divided.into());
            shown.extend(rows);
            Value::Object(object)
        })
        .collect();
    let mut document = fields(json!({
        "path": path.display().to_string(),
        "complete": notes::is_complete(reading),
        "entries": entries,
    }));
    document.insert("notes".to_owned(), json!(notes::of_requests(reading, &shown)));
    document.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_a_number_and_may_have_an_entry_point() {
        let wanted = |text: &str| text.parse::<Wanted>();
        assert_eq!(wanted("12"), Ok(Wanted { entry: None, number: 12 }));
        let entry = Some("com.acme.Orders.handle".parse().unwrap());
        assert_eq!(wanted("com.acme.Orders.handle:1"), Ok(Wanted { entry, number: 1 }));
        assert!(wanted("0").is_err() && wanted("handle").is_err() && wanted("a.B.c:").is_err());
    }
}
