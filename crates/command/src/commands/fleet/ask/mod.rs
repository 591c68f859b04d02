//! `martini fleet ask`: has an engine answer a question about a store.

mod page;

use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, bail};
use fleet::Store;
use fleet::answer::Answer;
use fleet::questions::{Place, QUESTIONS, Question, listing, views};

use crate::commands::fleet::engine::{EngineArguments, EngineName};
use crate::exit;
use crate::render::answer::Format;

/// Have DuckDB or Spark answer a question about a store, or print it as SQL
///
/// `martini fleet questions` lists the questions. Numbers are those of the traces; a column `..._error` says how far the one before it may be off
/// (95 %).
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Name of a question, or a file with your own
    question: String,
    /// Folder of the store, or a URL such as s3://bucket/store that the engine reads
    store: PathBuf,
    /// Value of a parameter (repeatable)
    #[arg(long, value_name = "NAME=VALUE", value_parser = parameter)]
    param: Vec<(String, String)>,
    /// How rows are printed
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Write a page of HTML instead, with what the answer was on each day
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    page: Option<PathBuf>,
    /// Print the SQL for this engine instead of asking
    #[arg(long, value_enum, value_name = "ENGINE", conflicts_with = "page")]
    sql: Option<EngineName>,
    #[command(flatten)]
    engine: EngineArguments,
}

fn parameter(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    pair.ok_or_else(|| "it is NAME=VALUE, such as top=50".to_owned())
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
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
    let sql = question.sql(&arguments.param)?;
    let place = arguments.place()?;
    let mut out = anstream::stdout();
    if let Some(engine) = arguments.sql {
        let sql = views(engine.into(), &place) + sql.trim_end().trim_end_matches(';');
        writeln!(out, "{sql};")?;
    } else if let Some(page) = &arguments.page {
        page::write(arguments, &place, &question, page)?;
    } else {
        let answer = arguments.ask(&place, &sql)?;
        write!(out, "{}", arguments.format.text(&answer))?;
    }
    Ok(exit::OK)
}

impl Arguments {
    /// Has the engine answer a question.
    fn ask(&self, place: &Place, sql: &str) -> anyhow::Result<Answer> {
        const TRIES: usize = 3;
        let ask = || self.engine.ask(&views(self.engine.engine(), place), sql);
        let Place::Folder(folder) = place else { return ask() };
        // An engine looks for the files of one table after the other. If runs came or went meanwhile, it may have seen a part
        // of their rows, or missed a file.
        let store = Store::open(folder)?;
        for _ in 0..TRIES {
            let before = store.runs()?;
            let answer = ask();
            if store.runs()? == before {
                return answer;
            }
        }
        bail!("{} changed each time that it was asked; ask again when nothing is added", folder.display())
    }

    /// Where the store is. The engine that answers also lists what is behind a URL; the SQL for others is that of a folder.
    fn place(&self) -> anyhow::Result<Place> {
        let url = self.store.to_str().filter(|text| text.contains("://") && self.sql.is_none());
        let Some(url) = url.map(|url| url.trim_end_matches('/')) else {
            Store::open(&self.store)?;
            return Ok(Place::Folder(self.store.clone()));
        };
        let (before, question) = listing(self.engine.engine(), url);
        let listed = self.engine.ask(&before, &question)?;
        let tables: Vec<String> =
            listed.rows.iter().filter_map(|row| row.first()?.as_str().map(str::to_owned)).collect();
        if !tables.iter().any(|table| table == "run") {
            bail!("there is no store at {url}");
        }
        Ok(Place::Url { url: url.to_owned(), tables })
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
