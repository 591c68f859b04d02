//! The answer to a question about many traces as a page, with what it was on each day.

use std::io::{self, Write};

use fleet::answer::Answer;
use serde_json::{Value, json};

use super::page;

/// What a page shows of a question.
#[derive(Debug)]
pub(crate) struct Asked {
    /// The question in words.
    pub(crate) says: String,
    /// The folder of the store.
    pub(crate) store: String,
    /// Parameters that were given.
    pub(crate) given: Vec<(String, String)>,
    pub(crate) answer: Answer,
    /// How the answer changed; `None` if the question has no trend.
    pub(crate) trend: Option<Days>,
}

/// A column of the answer for each of some days.
#[derive(Debug)]
pub(crate) struct Days {
    pub(crate) measure: String,
    /// Oldest first.
    pub(crate) days: Vec<String>,
    /// Days before them, which are not shown.
    pub(crate) left_out: usize,
    /// A number for each day, per row of the answer; null where the row was not there.
    pub(crate) rows: Vec<Vec<Value>>,
}

/// Writes the page.
pub(crate) fn write(asked: &Asked, out: &mut impl Write) -> io::Result<()> {
    let Asked { says, store, given, answer, trend } = asked;
    let trend = trend.as_ref().map(|Days { measure, days, left_out, rows }| {
        json!({ "measure": measure, "days": days, "left_out": left_out, "rows": rows })
    });
    let fleet = json!({
        "says": says,
        "given": given.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>(),
        "columns": answer.columns,
        "rows": answer.rows,
        "trend": trend,
    });
    page::write(&json!({ "path": store, "fleet": fleet }), out)
}
