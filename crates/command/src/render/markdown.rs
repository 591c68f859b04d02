//! Text of the program's in Markdown, where it must not end or begin anything; and what `martini explain` says, for a pull request or
//! for a program that reads text.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::render::human::printable;

/// Text as code, which nothing in it can end.
pub(crate) fn code(text: &str) -> String {
    let text = printable(text).replace('|', "\\|");
    // A run of backticks as long as the longest inside, and one more.
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let space = if longest > 0 { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// Text as it is.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in printable(text).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '|' | '#' | '~') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// What stands out in a trace, from what a report begins with.
pub(crate) fn explained(overview: &Map<String, Value>) -> String {
    let text = |key: &str| overview.get(key).and_then(Value::as_str).unwrap_or_default();
    let list = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut out = format!("### Martini: {}\n\n", code(text("path")));
    out.push_str(
        "How to read it: each finding has its numbers, the line of code, and the command that shows more. The costliest come \
         first. Numbers with ± are estimates, with an error that holds 95 times in 100; all others are exact. What is below the \
         thresholds of `martini explain --help` is no finding.\n\n",
    );
    _ = writeln!(out, "{} ({})\n", plain(text("sums")), plain(text("origin")));
    for finding in overview.get("findings").and_then(Value::as_array).into_iter().flatten() {
        let said = |key: &str| finding[key].as_str().unwrap_or_default();
        let head = plain(said("head"));
        match said("kind") {
            "nothing" => _ = writeln!(out, "- {head}"),
            kind => _ = writeln!(out, "- **{}**: {head}", plain(kind)),
        }
        for sentence in list(&finding["sentences"]) {
            _ = writeln!(out, "  {}", plain(&sentence));
        }
        if !said("next").is_empty() {
            _ = writeln!(out, "  Next: {}", code(said("next")));
        }
    }
    let truth = overview.get("truth").map(list).unwrap_or_default();
    if !truth.is_empty() {
        out.push_str("\nWhat is missing, and how complete it is:\n\n");
    }
    for line in truth.iter().filter(|line| !line.trim().is_empty()) {
        _ = writeln!(out, "- {}", plain(line.trim()));
    }
    out + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_program_begin_and_end_nothing() {
        assert_eq!(code("a|b"), "`a\\|b`");
        assert_eq!(code("a``b"), "``` a``b ```");
        assert_eq!(plain("a.B.<init> *x*\n# y"), "a.B.\\<init\\> \\*x\\*\\\\n\\# y");
    }
}
