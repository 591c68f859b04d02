//! Methods that take much time, as findings of `martini explain`.

use analysis::explain::CostlyMethod;
use serde_json::{Value, json};

use crate::render::calls::method;
use crate::render::human::{self, counted, duration};
use crate::render::view::location;

/// More methods of a path than this do not fit a sentence.
const MOST_ON_PATH: usize = 6;

/// Which takes how much, in a sentence.
pub(super) fn head(found: &CostlyMethod<'_>) -> String {
    let share = human::share(found.share);
    format!("{} ({share} of all) in {}, without what it calls", duration(found.row.base), method(&found.at))
}

/// What that means.
pub(super) fn sentences(found: &CostlyMethod<'_>) -> Vec<String> {
    let calls = counted(found.row.calls, "call", "calls");
    let average = found
        .row
        .average
        .map_or_else(String::new, |average| format!(", {} each on average with what they call", duration(average)));
    let left_out = found.path.len().saturating_sub(MOST_ON_PATH);
    let path: Vec<String> = found.path[left_out..].iter().map(method).collect();
    let more = if left_out > 0 { "... > " } else { "" };
    vec![
        format!("{calls}{average}"),
        format!("most on one path, {}: {more}{}", duration(found.on_path), path.join(" > ")),
    ]
}

/// The same with exact numbers.
pub(super) fn json(found: &CostlyMethod<'_>) -> Value {
    json!({
        "kind": "calls",
        "at": location(&found.at),
        "base_nanos": found.row.base.0,
        "cumulative_nanos": found.row.cumulative.0,
        "calls": found.row.calls,
        "share": found.share,
        "path": found.path.iter().map(location).collect::<Vec<_>>(),
        "path_base_nanos": found.on_path.0,
    })
}
