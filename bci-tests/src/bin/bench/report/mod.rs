//! What `martini report` takes for a trace of 1 GB with a million different stacks, and how quick its page is in a browser.

mod big_trace;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use bci_tests::martini::workspace;
use serde_json::json;

use crate::built;
use crate::figures::Spread;
use crate::machine::Machine;
use crate::request::{Form, Request};
use crate::run::{Run, run as run_command};
use crate::table::Table;

/// How often a report is written, unless asked otherwise.
const ROUNDS: usize = 3;
/// Objects of the trace, unless asked otherwise: with them it has 1 GB.
const OBJECTS: usize = 4_000_000;
/// Different stacks, if there are as many objects.
const STACKS: usize = 1_000_000;

const MIB: f64 = (1 << 20) as f64;

/// Runs the benchmark and prints its tables.
pub(crate) fn run(request: &Request) -> Result<(), String> {
    let built = built::build()?;
    let machine = Machine::now();
    let rounds = request.rounds.unwrap_or(ROUNDS);
    let objects = request.objects.unwrap_or(OBJECTS);
    let stacks = objects.min(STACKS);
    let place = tempfile::tempdir_in(&built.traces).map_err(|e| format!("no folder for the trace: {e}"))?;
    let trace = place.path().join("generated.trcxml");
    let size = big_trace::write(&trace, objects, stacks).map_err(|e| format!("the trace cannot be written: {e}"))?;
    let martini = built.martini.with_file_name("martini");
    let repeated = |arguments: &[&str], output: &str| {
        let runs = (0..rounds).map(|_| {
            let mut command = Command::new(&martini);
            command.args(arguments).arg(&trace).arg("-o").arg(place.path().join(output));
            run_command(&mut command, request.limit)
        });
        runs.collect::<Result<Vec<_>, _>>()
    };
    let page = place.path().join("report.html");
    let reports = repeated(&["report"], "report.html")?;
    let page_size = fs::metadata(&page).map_err(|e| format!("the report is missing: {e}"))?.len();
    let exports = repeated(&["export", "--to", "jfr"], "export.jfr")?;
    let seen = in_browser(&page, request.limit);

    let figures = [("martini report", &reports), ("martini export --to jfr", &exports)];
    if request.form() == Form::Json {
        let runs = |runs: &[Run]| {
            let run = |run: &Run| {
                json!({
                    "wall_s": run.wall.as_secs_f64(),
                    "cpu_s": run.cpu.as_secs_f64(),
                    "max_rss_bytes": run.rss_bytes,
                })
            };
            runs.iter().map(run).collect::<Vec<_>>()
        };
        let browser = match &seen {
            Ok(seen) => json!({ "first_view_ms": seen.first, "flame_graph_ms": seen.flame, "zoom_ms": seen.zoom }),
            Err(reason) => json!({ "missing": reason }),
        };
        println!(
            "{:#}",
            json!({
                "machine": machine.json(),
                "trace_bytes": size,
                "stacks": stacks,
                "page_bytes": page_size,
                "report": runs(&reports),
                "export": runs(&exports),
                "browser": browser,
            })
        );
        return Ok(());
    }
    println!(
        "{}\ntrace: {:.0} MB, {objects} objects, {stacks} stacks; rounds: {rounds}; median (least .. most)\n",
        machine.line(),
        size as f64 / 1e6
    );
    let mut commands = Table::new(&["command", "s", "CPU s", "max RSS in MiB"]);
    for (name, runs) in figures {
        let of = |figure: fn(&Run) -> f64| Spread::of(runs.iter().map(figure));
        commands.row([
            name.to_owned(),
            format!("{:.1}", of(|run| run.wall.as_secs_f64())),
            format!("{:.1}", of(|run| run.cpu.as_secs_f64())),
            format!("{:.0}", of(|run| run.rss_bytes as f64 / MIB)),
        ]);
    }
    let mut pages = Table::new(&["the page", "MB", "overview painted, ms", "flame graph painted, ms", "zoom, ms"]);
    match seen {
        Ok(seen) => pages.row([
            "in Chromium".to_owned(),
            format!("{:.1}", page_size as f64 / 1e6),
            format!("{:.0}", seen.first),
            format!("{:.0}", seen.flame),
            format!("{:.0}", seen.zoom),
        ]),
        Err(reason) => pages.say(&format!("{:.1} MB", page_size as f64 / 1e6), &reason),
    }
    for table in [commands, pages] {
        println!("{}", if request.form() == Form::Markdown { table.markdown() } else { table.text() });
    }
    Ok(())
}

/// What a reader of the page waits for, in milliseconds.
struct Seen {
    /// From the page's address to the overview.
    first: f64,
    /// From the address of the flame graph to it.
    flame: f64,
    /// From a key to the picture, the median.
    zoom: f64,
}

/// Opens a page as the tests of the page do.
fn in_browser(page: &Path, limit: Duration) -> Result<Seen, String> {
    let folder = workspace().join("tests/report");
    if !folder.join("node_modules/playwright-core").is_dir() {
        return Err(
            "not opened in a browser: run `npm ci --prefix tests/report` first, and have chromium and node".into()
        );
    }
    let run = run_command(Command::new("node").arg("measure.js").arg(page).current_dir(folder), limit)?;
    let millis = |key: &str| Ok::<_, String>(run.value(key)? as f64 / 1e3);
    Ok(Seen { first: millis("first_micros")?, flame: millis("flame_micros")?, zoom: millis("zoom_micros")? })
}
