//! `martini demo`: profiles a bundled program and explains its trace.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use analysis::allocations::{AllocationReport, By, Naming, ObjectTotals, Row, SiteNames, Subject};
use anyhow::{Context, bail};
use owo_colors::OwoColorize;
use trace::file::{IfTaken, Kind, create};

use crate::cli::exit;
use crate::cli::input::reading;
use crate::cli::launch::options::AgentOptions;
use crate::cli::launch::{injection, jdk, library, supervise};
use crate::cli::render::allocation_tables::{self, Column, TableKind};
use crate::cli::render::human::{self, bytes, count};
use crate::cli::render::page::{Page, Width};
use crate::cli::render::{coverage, notes};

mod bundle {
    include!(concat!(env!("OUT_DIR"), "/demo_classes.rs"));
}

/// The package of the demo's own classes.
const PACKAGE: &str = "demo.";
/// Of an earlier demo in the same folder.
const CLASS: Kind = Kind { name: "class", is_begun_by: |head| head.starts_with(b"\xca\xfe\xba\xbe") };
const MAIN_CLASS: &str = "demo.Main";
/// Room for all that the program allocates between its own collections, so that the story is the same on any machine.
const HEAP: [&str; 2] = ["-Xmx256m", "-Xmn128m"];
/// Frames to record: enough to get from inside the JDK back to the program.
const STACK: &str = "16";
/// Rows of each table.
const TOP: usize = 6;

/// Profiles a small bundled program and explains what its trace shows
///
/// The program is an order desk: ten business days, three hundred orders a day. It looks healthy, and leaks a little memory with
/// every order. The trace shows which class leaks, and which is allocated and dropped without need.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  martini demo
  martini demo --java /usr/lib/jvm/temurin-25-jdk-amd64 --out demo-out")]
pub(crate) struct Arguments {
    /// The JDK's folder, or its java [default: of JAVA_HOME, of the PATH, of /usr/lib/jvm]
    #[arg(long, value_name = "PATH")]
    java: Option<PathBuf>,
    /// The folder for the program's classes and the trace [default: a new one for temporary files]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let agent = library::find()?;
    let jdk = jdk::find(arguments.java.as_deref())?;
    let folder = folder(arguments.out.as_deref())?;
    let classes = folder.join("classes");
    unpack(&classes)?;
    let trace = folder.join("demo.trcxml");
    let Some(trace_name) = trace.to_str() else {
        bail!("the folder {} is not UTF-8; use another --out", folder.display())
    };
    let options = AgentOptions::of(&[("heap", "events"), ("file", trace_name), ("stack", STACK)]).resolve()?;

    let mut out = anstream::stdout();
    writeln!(out, "{}", "The program: an order desk, ten days of 300 orders, three clerks.".bold())?;
    writeln!(out, "It runs on {jdk}, under the agent, every object recorded.\n")?;
    out.flush()?;
    let heap = HEAP.iter().map(OsString::from);
    let java_arguments: Vec<OsString> = heap.chain(["-cp".into(), classes.into(), MAIN_CLASS.into()]).collect();
    let mut command = injection::command(jdk.java.as_os_str(), &java_arguments, &agent, &options.string);
    let status = supervise::run(&mut command)?;
    if status != exit::OK {
        bail!("the program ended with status {} instead of 0; its output above says why", status);
    }
    let reading = reading::allocations(&trace)?;
    let mut out = out.lock();
    let names = reading.report.site_names(&Naming::Own(vec![format!("{PACKAGE}*").parse()?]));
    explain(&reading, &names, &mut Page::new(&mut out, Width::usual()))?;
    writeln!(out, "\n{} {} ({})", "The trace:".bold(), trace.display(), bytes(reading.bytes))?;
    writeln!(out, "{}", "Look closer:".bold())?;
    let word = human::shell_word(&trace);
    writeln!(out, "  martini stats {word}")?;
    writeln!(out, "  martini stats {word} --by site --caller '{PACKAGE}*'")?;
    writeln!(out, "{}", "Your own program:".bold())?;
    writeln!(out, "  martini run java -jar your-app.jar                what allocates, at hardly any cost")?;
    writeln!(out, "  martini run --stack 16 java -jar your-app.jar     every object, as here")?;
    Ok(exit::OK)
}

fn folder(wanted: Option<&Path>) -> anyhow::Result<PathBuf> {
    match wanted {
        Some(folder) => {
            std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be created", folder.display()))?;
            Ok(std::path::absolute(folder)?)
        }
        // The user is going to look at the trace, so it stays.
        None => Ok(tempfile::Builder::new().prefix("martini-demo-").tempdir()?.keep()),
    }
}

fn unpack(classes: &Path) -> anyhow::Result<()> {
    for (name, contents) in bundle::DEMO_CLASSES {
        let file = classes.join(name);
        let folder = file.parent().unwrap_or(classes);
        let cannot = || format!("{} cannot be written", file.display());
        std::fs::create_dir_all(folder).with_context(cannot)?;
        let mut written = create(&file, CLASS, IfTaken::Replace)?.file;
        written.write_all(contents).with_context(cannot)?;
    }
    Ok(())
}

fn explain(reading: &reading::Reading, names: &SiteNames, out: &mut Page<'_>) -> anyhow::Result<()> {
    let report = &reading.report;
    writeln!(out, "\n{}", "What the trace shows".bold())?;
    let summary = out.sentence(0, &notes::summary(&report.sum(|_| true), report.facts()));
    writeln!(out, "{summary}\n")?;

    let own = |class: &str| class.starts_with(PACKAGE);
    let mut classes = report.rows(By::Class, own);
    allocation_tables::sort(&mut classes, Column::Generations);
    classes.truncate(TOP);
    writeln!(out, "The program's own classes, those of the most generations first:")?;
    allocation_tables::table(&classes, By::Class, TableKind::of(report)).write(out)?;
    if let Some(leak) = classes.first() {
        explain_leak(report, names, leak, out)?;
    }
    if let Some(healthy) =
        classes.iter().skip(1).filter(|row| row.totals.live() > 1).max_by_key(|row| row.totals.collected())
    {
        explain_healthy(healthy, out)?;
    }

    let mut churn = report.rows(By::Class, |_| true);
    allocation_tables::sort(&mut churn, Column::TotalSize);
    churn.truncate(TOP);
    writeln!(out, "\nAll classes, those of the largest total size first:")?;
    allocation_tables::table(&churn, By::Class, TableKind::of(report)).write(out)?;
    if let Some(first) = churn.first() {
        explain_churn(report, names, first, out)?;
    }
    writeln!(out)?;
    notes::write(&notes::of_allocations(reading), out)?;
    coverage::write(&reading.coverage(), out)?;
    Ok(())
}

fn explain_leak(report: &AllocationReport, names: &SiteNames, row: &Row<'_>, out: &mut Page<'_>) -> anyhow::Result<()> {
    let totals = &row.totals;
    writeln!(out, "\n{} {}", "The leak:".red().bold(), row.subject.bold())?;
    let text = format!(
        "{} of {} are alive, and they are of {} different ages: the program keeps allocating them and never releases them.{}",
        count(totals.live()),
        count(totals.total()),
        count(totals.generations()),
        allocated_at(report, names, &row.subject, Column::ActiveSize)
    );
    write_lines(&text, out)
}

fn explain_healthy(row: &Row<'_>, out: &mut Page<'_>) -> anyhow::Result<()> {
    let totals = &row.totals;
    writeln!(out, "{} {}", "For comparison:".bold(), row.subject)?;
    let (total, collected) = (count(totals.total()), count(totals.collected()));
    write_lines(&format!("{total} were allocated, but {collected} are collected: the rest are {}.", ages(totals)), out)
}

fn ages(totals: &ObjectTotals) -> String {
    match totals.generations() {
        1 => "the newest, all of one age".to_owned(),
        generations => format!("of {} ages", count(generations)),
    }
}

fn explain_churn(
    report: &AllocationReport,
    names: &SiteNames,
    row: &Row<'_>,
    out: &mut Page<'_>,
) -> anyhow::Result<()> {
    let totals = &row.totals;
    writeln!(out, "\n{} {}", "The churn:".yellow().bold(), row.subject.bold())?;
    let text = format!(
        "Of {} allocated, {} are garbage by now: no leak, but work for the collector.{}",
        bytes(totals.total_bytes()),
        bytes(totals.collected_bytes()),
        allocated_at(report, names, &row.subject, Column::TotalSize)
    );
    write_lines(&text, out)
}

fn write_lines(text: &str, out: &mut Page<'_>) -> anyhow::Result<()> {
    for line in text.lines() {
        let line = out.sentence(2, line);
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// A sentence that says which line allocates most objects of a class.
fn allocated_at(report: &AllocationReport, names: &SiteNames, subject: &Subject<'_>, column: Column) -> String {
    let Subject::Class(class) = subject else { return String::new() };
    let mut sites = report.rows_named(By::Site, names, |name| name == *class);
    allocation_tables::sort(&mut sites, column);
    match sites.first().map(|row| row.subject) {
        Some(Subject::Site { at: Some(at), .. }) => format!(" Most are allocated at\n{at}"),
        _ => String::new(),
    }
}
