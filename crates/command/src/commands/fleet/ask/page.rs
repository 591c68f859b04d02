//! An answer as a page, with its trend.

use std::collections::HashMap;
use std::path::Path;

use anyhow::anyhow;
use fleet::answer::Answer;
use fleet::questions::{Place, Question, Trend};
use serde_json::Value;
use trace::file::{self, IfTaken};

use super::Arguments;
use crate::commands::report;
use crate::render::answer::text;
use crate::render::human::printable;
use crate::report::{Asked, Days, REPORT, write_fleet};

/// The last days that are shown: a bar for each has to be seen.
const MOST_DAYS: usize = 60;

/// Asks the question, also about each day, and writes the page.
pub(super) fn write(
    arguments: &Arguments,
    place: &Place,
    question: &Question<'_>,
    output: &Path,
) -> anyhow::Result<()> {
    // Before the engine is asked, which may take long.
    file::check(output, REPORT, IfTaken::Replace).map_err(|refusal| anyhow!("{refusal}; name another file"))?;
    let answer = arguments.ask(place, &question.sql(&arguments.param)?)?;
    let trend = match question.trend() {
        Some(trend) if !answer.rows.is_empty() => days(arguments, place, question, &trend, &answer)?,
        _ => None,
    };
    let asked = Asked {
        says: question.says().to_owned(),
        store: printable(&arguments.store.display().to_string()),
        given: arguments.param.clone(),
        answer,
        trend,
    };
    let size = report::create(output, "; name another file", |out| write_fleet(&asked, &mut &mut *out))?;
    report::say(output, size).map(drop)
}

/// What the rows of an answer were on each day. `None` if the answer lacks a column of the trend.
fn days(
    arguments: &Arguments,
    place: &Place,
    question: &Question<'_>,
    trend: &Trend<'_>,
    answer: &Answer,
) -> anyhow::Result<Option<Days>> {
    let keys: Option<Vec<usize>> =
        trend.keys.iter().map(|key| answer.columns.iter().position(|name| name == key)).collect();
    let Some(keys) = keys else { return Ok(None) };
    let rows: Vec<Vec<String>> =
        answer.rows.iter().map(|row| keys.iter().map(|&key| text(&row[key])).collect()).collect();
    let mut days: Vec<String> =
        arguments.ask(place, &question.days(&arguments.param)?)?.rows.iter().map(|row| text(&row[0])).collect();
    let left_out = days.len().saturating_sub(MOST_DAYS);
    days.drain(..left_out);
    let by_day = arguments.ask(place, &question.sql_by_day(trend, &arguments.param, &days, &rows)?)?;
    // A day, the keys, and the number.
    let mut numbers: HashMap<(String, Vec<String>), Value> = HashMap::new();
    for row in by_day.rows {
        let texts: Vec<String> = row.iter().map(text).collect();
        if let ([day, keys @ .., _], Some(number)) = (&*texts, row.last()) {
            numbers.insert((day.clone(), keys.to_vec()), number.clone());
        }
    }
    let of_row = |row: &Vec<String>| -> Vec<Value> {
        days.iter().map(|day| numbers.get(&(day.clone(), row.clone())).cloned().unwrap_or_default()).collect()
    };
    let rows = rows.iter().map(of_row).collect();
    Ok(Some(Days { measure: trend.measure.to_owned(), days, left_out, rows }))
}
