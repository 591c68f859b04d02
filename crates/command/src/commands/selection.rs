//! What flags of several commands mean: `--filter`, `--in`, `--top`, and numbers.

use std::io;
use std::path::Path;

use analysis::allocations::Location;
use trace::filter::Pattern;
use trace::names;

use crate::render::page::{Page, Width};

/// Does a class match a filter?
pub(crate) fn selects_class(filter: &[Pattern], class: &str) -> bool {
    filter.is_empty() || filter.iter().any(|pattern| pattern.matches_class(class))
}

/// Does the code of a site match a filter: its class, class and method as in `com.acme.Main.run`, or all that tables show of it?
pub(crate) fn selects_site(filter: &[Pattern], at: &Location<'_>) -> bool {
    let method = format!("{}.{}", at.class, names::jvm_method_name(at.method));
    let row = at.to_string();
    filter.iter().any(|pattern| pattern.matches(at.class) || pattern.matches(&method) || pattern.matches(&row))
}

/// Notes on standard error each pattern of `--filter` that none of the classes matches.
pub(crate) fn note_unmatched<'a>(path: &Path, filter: &[Pattern], classes: impl Iterator<Item = &'a str> + Clone) {
    for pattern in filter {
        if !classes.clone().any(|class| pattern.matches_class(class)) {
            note(path, &format!("no class matches --filter '{pattern}'"));
        }
    }
}

/// Notes on standard error what a flag does not do with a file.
pub(crate) fn note(path: &Path, sentence: &str) {
    let label = format!("martini: {}:", path.display());
    let sentence = Page::new(&mut io::sink(), Width::usual()).behind(&label, sentence);
    anstream::eprintln!("{label}{sentence}");
}

/// A whole number on the command line.
pub(crate) fn whole_number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "give an integer of 0 or more, such as 20".to_owned())
}

/// A process id on the command line.
pub(crate) fn process_id(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "PID must be a number; see martini ps".to_owned())
}

/// How many rows `--top` lets be shown; 0 stands for all.
pub(crate) fn row_limit(top: Option<usize>, default: usize) -> usize {
    match top.unwrap_or(default) {
        0 => usize::MAX,
        top => top,
    }
}
