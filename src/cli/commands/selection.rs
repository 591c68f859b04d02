//! What the flags `--filter` and `--top` of several commands mean.

use trace::filter::Pattern;
use trace::names;

/// Does a class match a filter? As in TPTP's filter lists, a pattern for a class is one for its arrays, too.
pub(crate) fn selects_class(filter: &[Pattern], class: &str) -> bool {
    let element = names::element_name(class);
    filter.is_empty() || filter.iter().any(|pattern| pattern.matches(class) || pattern.matches(element))
}

/// How many rows `--top` lets be shown; 0 stands for all.
pub(crate) fn row_limit(top: Option<usize>, default: usize) -> usize {
    match top.unwrap_or(default) {
        0 => usize::MAX,
        top => top,
    }
}
