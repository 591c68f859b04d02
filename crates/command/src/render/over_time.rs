//! What happens when: a table of slices of time, and rows with a small picture of theirs. JSON has all slices, exactly.

use analysis::allocations::{Amount, By, OverTime, RowOverTime, Slice};
use serde_json::{Value, json};
use trace::time::{Nanos, Time};

use crate::render::allocations::{noun, subject};
use crate::render::human::{bytes, duration};
use crate::render::page::Width;
use crate::render::table::Table;
use crate::render::view::Cell::{Bytes, Count, Name};
use crate::render::view::View;

/// Slices of the text at most.
const MOST: usize = 24;

/// Characters of the longest bar.
const BAR: f64 = 6.0;

/// The slices of a text, each made of one or several of the trace.
pub(crate) struct Picture {
    slices: Vec<Slice>,
    /// How many of the trace's slices are one.
    joined: usize,
    in_steps: bool,
}

impl Picture {
    pub(crate) fn of(over_time: &OverTime) -> Picture {
        let joined = over_time.slices.len().div_ceil(MOST).max(1);
        let slices = over_time.slices.chunks(joined).map(|slices| slices[1..].iter().fold(slices[0], join));
        Picture { slices: slices.collect(), joined, in_steps: over_time.in_steps }
    }

    /// A row for each slice; numbers that no slice has are left out, and so that a row is a line, the bar, and the number of objects.
    /// Times count from the beginning of the trace.
    pub(crate) fn slices(&self, beginning: Time, width: Width) -> Table {
        let shapes = [(true, true), (false, true), (false, false)];
        let table = |(has_bar, has_objects)| self.slices_with(beginning, has_bar, has_objects);
        shapes.into_iter().map(table).find(|table| table.fits(width)).unwrap_or_else(|| table((false, false)))
    }

    fn slices_with(&self, beginning: Time, has_bar: bool, has_objects: bool) -> Table {
        let most = self.slices.iter().filter_map(|slice| rate(slice, slice.allocated)).fold(0.0, f64::max);
        let has = |heading: &'static str, known: fn(&Slice) -> bool| self.slices.iter().any(known).then_some(heading);
        View::new()
            .text("from", |slice: &Slice| self.seconds(slice.begin.since(beginning)))
            .text(has_objects.then_some("total"), |slice| Count(slice.allocated.objects))
            .text("total size", |slice| Bytes(slice.allocated.bytes))
            .text("per second", |slice| Some(format!("{}/s", bytes(rate(slice, slice.allocated)? as u64))))
            .text(has("active size", |slice| slice.live.is_some()), |slice| slice.live.map(|live| Bytes(live.bytes)))
            .text(has("heap used", |slice| slice.used_bytes.is_some()), |slice| slice.used_bytes.map(Bytes))
            .text(has("gcs", |slice| slice.collections.is_some()), |slice| slice.collections.map(Count))
            .text(has("pauses", |slice| slice.collections.is_some()), |slice| slice.pauses)
            .text(if has_bar { "rate" } else { "" }, move |slice| match has_bar {
                true => bar(rate(slice, slice.allocated).unwrap_or(0.0), most),
                false => String::new(),
            })
            .table(&self.slices)
    }

    /// Rows, each with its picture; as JSON with a number for each slice.
    pub(crate) fn rows<'a, 'r: 'a>(&'a self, rows: &[RowOverTime<'_>], by: By) -> View<'a, RowOverTime<'r>> {
        let list = |amounts: &[Amount], number: fn(&Amount) -> u64| amounts.iter().map(number).collect::<Vec<_>>();
        let has_errors = rows.iter().any(|RowOverTime { row, .. }| row.error.is_some());
        View::new()
            .both("total", "total", |of: &RowOverTime<'r>| Count(of.row.totals.total()))
            .both("total size", "total_bytes", |of| Bytes(of.row.totals.total_bytes()))
            .text(has_errors.then_some("error"), |of| match of.row.error {
                Some(error) => format!("± {}", bytes(error)),
                None => String::new(),
            })
            .text("over time", |of| self.curve(&of.allocated))
            .text(noun(by), |of| Name(of.row.subject.to_string()))
            .json(|of| subject(&of.row.subject))
            .json(move |of| {
                json!({
                    "error_bytes": of.row.error,
                    "objects": list(&of.allocated, |amount| amount.objects),
                    "bytes": list(&of.allocated, |amount| amount.bytes),
                    "live_bytes": of.live.as_ref().map(|live| list(live, |amount| amount.bytes)),
                })
            })
    }

    /// What a character of the pictures means.
    pub(crate) fn legend(&self) -> String {
        let first = self.slices.first().map_or(Nanos(0), |slice| slice.end.since(slice.begin));
        let slice = match self.in_steps {
            false => format!("one row of the first table ({})", duration(first)),
            true if self.joined > 1 => {
                format!("one row of the first table ({} snapshots)", self.joined)
            }
            true => "one row of the first table (one snapshot)".to_owned(),
        };
        format!(
            "over time: one character is {slice}; its height is bytes per second, relative to the row's maximum; . none"
        )
    }

    /// Bytes per second in each slice, the highest a full block.
    fn curve(&self, allocated: &[Amount]) -> String {
        const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let amounts = allocated
            .chunks(self.joined)
            .map(|amounts| amounts[1..].iter().fold(amounts[0], |sum, &more| add(sum, more)));
        // Without a length there is but one.
        let rates: Vec<f64> = self
            .slices
            .iter()
            .zip(amounts)
            .map(|(slice, amount)| rate(slice, amount).unwrap_or(amount.bytes as f64))
            .collect();
        let most = rates.iter().copied().fold(0.0, f64::max);
        let height = |&rate: &f64| match (rate / most * HEIGHTS.len() as f64).ceil() as usize {
            0 => '.',
            height => HEIGHTS[height.min(HEIGHTS.len()) - 1],
        };
        if most > 0.0 { rates.iter().map(height).collect() } else { ".".repeat(rates.len()) }
    }

    /// A time in seconds, with as many decimals as distinguish slices.
    fn seconds(&self, since: Nanos) -> String {
        let shortest = self.slices.iter().map(|slice| slice.end.since(slice.begin).0).min().unwrap_or(0);
        let decimals = match shortest {
            1_000_000_000.. => 1,
            100_000_000.. => 2,
            _ => 3,
        };
        format!("{:.decimals$} s", since.0 as f64 / 1e9)
    }
}

/// All slices in JSON, exactly.
pub(crate) fn slices_json(over_time: &OverTime) -> Value {
    let slice = |slice: &Slice| {
        json!({
            "begin_nanos": slice.begin.0,
            "end_nanos": slice.end.0,
            "objects": slice.allocated.objects,
            "bytes": slice.allocated.bytes,
            "live_objects": slice.live.map(|live| live.objects),
            "live_bytes": slice.live.map(|live| live.bytes),
            "used_bytes": slice.used_bytes,
            "collections": slice.collections,
            "pause_nanos": slice.pauses.map(|pauses| pauses.0),
        })
    };
    over_time.slices.iter().map(slice).collect()
}

/// A part of the most, as a bar.
fn bar(rate: f64, most: f64) -> String {
    match (rate / most.max(f64::MIN_POSITIVE) * BAR).ceil() as usize {
        0 => ".".to_owned(),
        length => "#".repeat(length),
    }
}

/// Bytes per second; `None` in no time.
fn rate(slice: &Slice, allocated: Amount) -> Option<f64> {
    let length = slice.end.since(slice.begin).0;
    (length > 0).then(|| allocated.bytes as f64 / (length as f64 / 1e9))
}

fn add(one: Amount, other: Amount) -> Amount {
    Amount { objects: one.objects.saturating_add(other.objects), bytes: one.bytes.saturating_add(other.bytes) }
}

/// Two slices of which the second follows the first.
fn join(first: Slice, second: &Slice) -> Slice {
    Slice {
        begin: first.begin,
        end: second.end,
        allocated: add(first.allocated, second.allocated),
        live: second.live.or(first.live),
        used_bytes: second.used_bytes.or(first.used_bytes),
        collections: first.collections.zip(second.collections).map(|(one, other)| one + other),
        pauses: first.pauses.zip(second.pauses).map(|(one, other)| Nanos(one.0.saturating_add(other.0))),
    }
}
