//! What flags of several commands mean: `--filter`, `--in`, `--top`, and numbers.

use std::io;
use std::path::Path;
use std::slice;

use analysis::allocations::Location;
use trace::filter::Pattern;
use trace::names;

use crate::render::page::{Page, Width};

/// Does a class match a filter? As in TPTP's filter lists, a pattern for a class is one for its arrays, too.
pub(crate) fn selects_class(filter: &[Pattern], class: &str) -> bool {
    let element = names::element_name(class);
    filter.is_empty() || filter.iter().any(|pattern| pattern.matches(class) || pattern.matches(element))
}

/// Does the code of a site match a filter: its class, or class and method as in `com.acme.Main.run`?
pub(crate) fn selects_site(filter: &[Pattern], at: &Location<'_>) -> bool {
    let method = format!("{}.{}", at.class, names::jvm_method_name(at.method));
    filter.iter().any(|pattern| pattern.matches(at.class) || pattern.matches(&method))
}

/// Notes on standard error each pattern of `--filter` that none of the classes matches.
pub(crate) fn note_unmatched<'a>(path: &Path, filter: &[Pattern], classes: impl Iterator<Item = &'a str> + Clone) {
    for pattern in filter {
        if !classes.clone().any(|class| selects_class(slice::from_ref(pattern), class)) {
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

/// How many rows `--top` lets be shown; 0 stands for all.
pub(crate) fn row_limit(top: Option<usize>, default: usize) -> usize {
    match top.unwrap_or(default) {
        0 => usize::MAX,
        top => top,
    }
}
