//! `martini doctor`: what is in the way of attaching to a JVM.

use serde_json::{Value, json};

use crate::attach::checks::{self, Verdict};
use crate::commands::per_file::print_json;
use crate::commands::selection::process_id;
use crate::exit;
use crate::render::human::printable;
use crate::render::page::{Page, PageArguments};

/// Diagnose why attaching to a JVM fails
///
/// Prints one line per check: "yes" if it passes, "no" with the fix if it blocks attaching, "note" if it is good to know. With a PID, the last
/// check asks the JVM for its version, as `jcmd` does. Nothing is loaded into the JVM without `--load`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  martini doctor
  martini doctor 4711
  martini doctor 4711 --load
  martini doctor 4711 --json | jq '.checks[] | select(.verdict == \"no\")'

Exit status:
  0 if nothing blocks attaching, 1 if something does")]
pub(crate) struct Arguments {
    /// Process id of the JVM [default: checks that need no process]
    #[arg(value_name = "PID", value_parser = process_id)]
    pid: Option<u32>,
    /// Load the agent, as attach does, and check the JVM's capabilities and memory layouts
    #[arg(long, requires = "pid")]
    load: bool,
    #[command(flatten)]
    page: PageArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let mut found = checks::of_machine();
    found.extend(arguments.pid.into_iter().flat_map(|pid| checks::of_process(pid, arguments.load)));
    let mut out = anstream::stdout().lock();
    if arguments.json {
        let checks =
            found.iter().map(|check| json!({ "name": check.name, "verdict": check.verdict.word(), "why": check.why }));
        print_json("doctor", &json!({ "checks": checks.collect::<Vec<Value>>() }), &mut out)?;
    } else {
        let mut page = Page::new(&mut out, arguments.page.width());
        for check in &found {
            page.write_sentence(0, &format!("{:4}  {}: {}", check.verdict.word(), check.name, printable(&check.why)))?;
        }
    }
    let is_free = found.iter().all(|check| check.verdict != Verdict::No);
    Ok(if is_free { exit::OK } else { exit::INVALID })
}
