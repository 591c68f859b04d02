//! `martini fleet`: many traces in one store of Parquet files, which engines for SQL read.

mod add;
mod ask;
mod engine;
mod prune;

use std::io::Write;
use std::path::PathBuf;

use fleet::Store;

use crate::exit;
use crate::render::human::counted;

/// Gather many traces in a store of Parquet files, for SQL
///
/// A store is a folder that any engine for SQL can read: DuckDB, Spark, Trino and others. It holds the numbers that `martini stats`, `locks`,
/// `requests` and `warmup` show, by minute where the traces say it. A trace is added once, however often that is asked for or killed.
#[derive(Debug, clap::Args)]
#[command(
    flatten_help = true,
    after_help = "\
Examples:
  martini fleet add store martini-*.trcxml --service shop --release 1.4
  martini fleet ask lines store --param service=shop
  martini fleet ask locks store --format json
  martini fleet compact store
  martini fleet prune store --older 90d"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Add(add::Arguments),
    Ask(ask::Arguments),
    /// List the questions that can be asked, with their parameters
    Questions,
    Compact(CompactArguments),
    Prune(prune::Arguments),
}

/// Merge the small files of a store: the same rows in fewer files
#[derive(Debug, clap::Args)]
struct CompactArguments {
    /// Folder of the store
    store: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    match &arguments.command {
        Command::Add(arguments) => add::run(arguments),
        Command::Ask(arguments) => ask::run(arguments),
        Command::Questions => ask::list(),
        Command::Compact(arguments) => compact(arguments),
        Command::Prune(arguments) => prune::run(arguments),
    }
}

fn compact(arguments: &CompactArguments) -> anyhow::Result<u8> {
    let compacted = Store::open(&arguments.store)?.compact()?;
    let files = |number| counted(number, "file", "files");
    writeln!(anstream::stdout(), "merged {} into {}", files(compacted.before), files(compacted.after))?;
    Ok(exit::OK)
}
