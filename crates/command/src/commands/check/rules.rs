//! A file with budgets.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use analysis::budgets::{Baseline, Budget, Words};
use anyhow::{Context, bail};
use serde::Deserialize;
use toml::Spanned;

/// Budgets, and where their baseline is.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(super) budgets: Vec<Budget>,
    pub(super) baseline_path: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    baseline: Option<PathBuf>,
    #[serde(default)]
    budget: Vec<Spanned<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Option<String>,
    measure: String,
    at: Option<String>,
    of: Option<String>,
    thread: Option<String>,
    each: Option<String>,
    start: Option<String>,
    at_most: AtMost,
}

/// A text with a unit, or a number.
#[derive(Deserialize)]
#[serde(untagged)]
enum AtMost {
    Number(u64),
    Text(String),
}

/// The file, and the line of a byte in it.
fn place(path: &Path, text: &str, offset: usize) -> String {
    let line = text.get(..offset).map_or(1, |before| before.matches('\n').count() + 1);
    format!("{}:{line}", path.display())
}

impl Rules {
    /// Budgets of the command line.
    pub(super) fn of(budgets: Vec<Budget>) -> Rules {
        Rules { budgets, baseline_path: None }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or a line of it is wrong.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Rules> {
        let text = fs::read_to_string(path).with_context(|| format!("the rules {} cannot be read", path.display()))?;
        let at = |offset: usize| place(path, &text, offset);
        let file: File = match toml::from_str(&text) {
            Ok(file) => file,
            Err(error) => {
                let message = error.message().lines().collect::<Vec<_>>().join(" ");
                bail!("{}: {message}", at(error.span().map_or(0, |span| span.start)))
            }
        };
        if file.budget.is_empty() {
            bail!("{}: there is no [[budget]]", path.display());
        }
        let budget = |entry: &Spanned<Entry>| {
            let place = at(entry.span().start);
            let entry = entry.get_ref();
            let at_most = match &entry.at_most {
                AtMost::Number(number) => number.to_string(),
                AtMost::Text(text) => text.clone(),
            };
            Budget::of_words(&Words {
                name: entry.name.as_deref(),
                measure: &entry.measure,
                at: entry.at.as_deref(),
                of: entry.of.as_deref(),
                thread: entry.thread.as_deref(),
                each: entry.each.as_deref(),
                start: entry.start.as_deref(),
                at_most: &at_most,
            })
            .map_err(|error| anyhow::anyhow!("{place}: {error}"))
        };
        let budgets: Vec<Budget> = file.budget.iter().map(budget).collect::<anyhow::Result<_>>()?;
        for (number, one) in budgets.iter().enumerate() {
            if budgets[..number].iter().any(|other| other.name == one.name) {
                bail!(
                    "{}: two budgets are called '{}'; give them names",
                    at(file.budget[number].span().start),
                    one.name
                );
            }
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let baseline = file
            .baseline
            .unwrap_or_else(|| Path::new(path.file_stem().unwrap_or_default()).with_extension("baseline.toml"));
        Ok(Rules { budgets, baseline_path: Some(folder.join(baseline)) })
    }

    /// Whether any budget is of a thread.
    pub(super) fn uses_threads(&self) -> bool {
        self.budgets.iter().any(|budget| budget.thread.is_some())
    }

    /// The baseline; an empty one where no budget needs it.
    pub(super) fn baseline(&self) -> anyhow::Result<Baseline> {
        if !self.budgets.iter().any(|budget| budget.limit.needs_baseline()) {
            return Ok(Baseline::new());
        }
        let Some(path) = &self.baseline_path else {
            bail!("a limit is relative to a baseline; name it with --baseline FILE");
        };
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                bail!("there is no baseline {} yet; write it with --update", path.display())
            }
            Err(error) => return Err(error).with_context(|| format!("the baseline {} cannot be read", path.display())),
        };
        toml::from_str(&text).map_err(|error: toml::de::Error| {
            let at = place(path, &text, error.span().map_or(0, |span| span.start));
            anyhow::anyhow!("{at}: {}", error.message())
        })
    }
}
