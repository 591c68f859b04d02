//! `martini fleet ask`: asks DuckDB a question about a store.

use std::fmt::Write as _;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use clap::ValueEnum;
use fleet::Store;
use fleet::questions::{Engine, QUESTIONS, Question, views};

use crate::exit;

/// Ask DuckDB a question about a store, or print it as SQL for another engine
///
/// `martini fleet questions` lists the questions. Numbers are those of the traces; a column `..._error` says how far the one before it may be off
/// (95 %).
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Name of a question, or a file with your own
    question: String,
    /// Folder of the store
    store: PathBuf,
    /// Value of a parameter (repeatable)
    #[arg(long, value_name = "NAME=VALUE", value_parser = parameter)]
    param: Vec<(String, String)>,
    /// How rows are printed
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Print the SQL for this engine instead of asking
    #[arg(long, value_enum, value_name = "ENGINE")]
    sql: Option<EngineName>,
    /// The command of DuckDB
    #[arg(long, value_name = "PATH", default_value = "duckdb")]
    duckdb: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Json,
    Csv,
    Markdown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EngineName {
    Duckdb,
    Spark,
}

fn parameter(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    pair.ok_or_else(|| "it is NAME=VALUE, such as top=50".to_owned())
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    Store::open(&arguments.store)?;
    let own;
    let question = match QUESTIONS.iter().find(|(name, _)| *name == arguments.question) {
        Some((_, question)) => question.clone(),
        None => {
            own = fs::read_to_string(&arguments.question).with_context(|| {
                format!("'{}' is neither a question (martini fleet questions) nor a file", arguments.question)
            })?;
            Question::of(&own)
        }
    };
    let engine = match arguments.sql {
        Some(EngineName::Spark) => Engine::Spark,
        Some(EngineName::Duckdb) | None => Engine::Duckdb,
    };
    let sql = views(engine, &arguments.store) + question.sql(&arguments.param)?.trim_end();
    if arguments.sql.is_some() {
        writeln!(anstream::stdout(), "{};", sql.trim_end_matches(';'))?;
        return Ok(exit::OK);
    }
    ask(&arguments.duckdb, arguments.format, &sql)
}

/// Has DuckDB answer, and print that itself.
fn ask(duckdb: &Path, format: Format, sql: &str) -> anyhow::Result<u8> {
    let format = match format {
        Format::Table => "-box",
        Format::Json => "-json",
        Format::Csv => "-csv",
        Format::Markdown => "-markdown",
    };
    // The user's own settings could change what is printed.
    let status = Command::new(duckdb).args(["-init", "/dev/null", "-bail", format, "-c", sql]).status();
    match status {
        Ok(status) if status.success() => Ok(exit::OK),
        Ok(status) => bail!("{} did not answer ({status})", duckdb.display()),
        Err(error) if error.kind() == ErrorKind::NotFound => bail!(
            "there is no {}; install DuckDB (pip install duckdb-cli), name it with --duckdb, or print the SQL with --sql",
            duckdb.display()
        ),
        Err(error) => Err(error).with_context(|| format!("{} cannot be started", duckdb.display())),
    }
}

/// Lists the questions.
pub(super) fn list() -> anyhow::Result<u8> {
    let mut text = String::new();
    for (name, question) in QUESTIONS {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{name}: {}", question.says());
        for parameter in question.parameters() {
            let _ = writeln!(text, "  {}={}  {}", parameter.name, parameter.default.trim_matches('\''), parameter.says);
        }
    }
    write!(anstream::stdout(), "{text}")?;
    Ok(exit::OK)
}
