//! Options as somebody typed them: names and values.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use trace::file::IfTaken;

use super::error::OptionError;
use super::pairs::{format_pair, split};
use super::resolve::Resolver;
use super::resolved::Options;
use super::table::find;
use super::tptp;

/// What is done if there is a file with that name: one with `%p` was not chosen by anybody, as the default is not.
pub fn if_taken(path: &Path) -> IfTaken {
    if path.to_string_lossy().contains("%p") { IfTaken::Next } else { IfTaken::Replace }
}

/// Options as somebody typed them, in their order, which matters for filter patterns. Nothing is checked yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawOptions {
    pairs: Vec<(String, String)>,
    /// They are in TPTP's spelling.
    tptp: bool,
}

impl RawOptions {
    /// Appends an option.
    pub fn push(&mut self, name: &str, value: &str) {
        self.pairs.push((name.to_owned(), value.to_owned()));
    }

    /// The options in their order: name and value.
    pub fn pairs(&self) -> &[(String, String)] {
        &self.pairs
    }

    /// The value of the option with that name, if it is given; of several, the first.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Replaces each path that is not empty.
    ///
    /// # Errors
    /// The first error of `replace`.
    pub fn replace_paths<E>(&mut self, mut replace: impl FnMut(&str) -> Result<String, E>) -> Result<(), E> {
        for (name, value) in &mut self.pairs {
            if find(name).is_some_and(|spec| spec.is_path()) && !value.is_empty() {
                *value = replace(value)?;
            }
        }
        Ok(())
    }

    /// Checks the options and settles what they mean together.
    ///
    /// # Errors
    /// The first option that is not understood.
    pub fn resolve(&self) -> Result<Options, OptionError> {
        let mut resolver = Resolver::default();
        for (name, value) in &self.pairs {
            resolver.take(name, value)?;
        }
        let mut options = resolver.finish()?;
        options.file_if_taken = if_taken(&options.file);
        if self.tptp && self.value("file").is_none() {
            options.file = tptp::DEFAULT_FILE.into();
            options.file_if_taken = IfTaken::Next;
        }
        Ok(Options { given: self.to_string(), ..options })
    }

    /// A sentence for each of them that has no effect; `options` is what they mean together.
    pub fn without_effect(&self, options: &Options) -> Vec<String> {
        let unmet = |(name, _): &(String, String)| {
            let why = find(name)?.needs.unmet(options)?;
            Some(format!("option '{name}' has no effect {why}, or remove it"))
        };
        self.pairs.iter().filter_map(unmet).collect()
    }
}

impl<K: AsRef<str>, V: AsRef<str>> FromIterator<(K, V)> for RawOptions {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let mut options = RawOptions::default();
        pairs.into_iter().for_each(|(name, value)| options.push(name.as_ref(), value.as_ref()));
        options
    }
}

impl FromStr for RawOptions {
    type Err = OptionError;

    /// Reads an option string in either spelling.
    fn from_str(given: &str) -> Result<Self, OptionError> {
        let tptp = tptp::is_spelling_of(given);
        let pairs = if tptp { tptp::pairs(given)? } else { split(given)? };
        Ok(RawOptions { pairs, tptp })
    }
}

impl fmt::Display for RawOptions {
    /// The option string, which [`parse`](super::parse()) reads back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: Vec<String> = self.pairs.iter().map(|(name, value)| format_pair(name, value)).collect();
        f.write_str(&pairs.join(","))
    }
}
