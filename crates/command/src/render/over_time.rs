//! What happens when: a table of slices of time, and rows with a small picture of theirs. As JSON all slices, exactly.

use analysis::allocations::{Amount, By, OverTime, RowOverTime, Slice};
use serde_json::{Map, Value, json};
use trace::time::{Nanos, Time};

use crate::render::allocation_json;
use crate::render::allocation_tables::noun;
use crate::render::human::{bytes, count, duration, printable};
use crate::render::page::Width;
use crate::render::table::Table;

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
        let has = |known: fn(&Slice) -> bool| self.slices.iter().any(known);
        let has_live = has(|slice| slice.live.is_some());
        let has_used = has(|slice| slice.used_bytes.is_some());
        let has_collections = has(|slice| slice.collections.is_some());
        let mut headings = vec!["from"];
        headings.extend(has_objects.then_some("total"));
        headings.extend(["total size", "per second"]);
        headings.extend(has_live.then_some("active size"));
        headings.extend(has_used.then_some("heap used"));
        headings.extend(has_collections.then_some(["gcs", "pauses"]).into_iter().flatten());
        headings.push(if has_bar { "rate" } else { "" });
        let rates: Vec<Option<f64>> = self.slices.iter().map(|slice| rate(slice, slice.allocated)).collect();
        let most = rates.iter().flatten().copied().fold(0.0, f64::max);
        let unknown = || "-".to_owned();
        let mut table = Table::new(headings);
        for (slice, rate) in self.slices.iter().zip(rates) {
            let mut row = vec![self.seconds(slice.begin.since(beginning))];
            row.extend(has_objects.then(|| count(slice.allocated.objects)));
            row.push(bytes(slice.allocated.bytes));
            row.push(rate.map_or_else(unknown, |rate| format!("{}/s", bytes(rate as u64))));
            if has_live {
                row.push(slice.live.map_or_else(unknown, |live| bytes(live.bytes)));
            }
            if has_used {
                row.push(slice.used_bytes.map_or_else(unknown, bytes));
            }
            if has_collections {
                row.push(slice.collections.map_or_else(unknown, count));
                row.push(slice.pauses.map_or_else(unknown, duration));
            }
            row.push(if has_bar { bar(rate.unwrap_or(0.0), most) } else { String::new() });
            table.push(row);
        }
        table
    }

    /// A row for each row, with its picture.
    pub(crate) fn rows(&self, rows: &[RowOverTime<'_>], by: By) -> Table {
        let has_errors = rows.iter().any(|RowOverTime { row, .. }| row.error.is_some());
        let mut headings = vec!["total", "total size"];
        headings.extend(has_errors.then_some("error"));
        headings.extend(["over time", noun(by)]);
        let mut table = Table::new(headings);
        for RowOverTime { row, allocated, .. } in rows {
            let mut cells = vec![count(row.totals.total()), bytes(row.totals.total_bytes())];
            if has_errors {
                cells.push(row.error.map_or_else(String::new, |error| format!("± {}", bytes(error))));
            }
            cells.push(self.curve(allocated));
            cells.push(printable(&row.subject.to_string()));
            table.push(cells);
        }
        table
    }

    /// What a character of the pictures means.
    pub(crate) fn legend(&self) -> String {
        let first = self.slices.first().map_or(Nanos(0), |slice| slice.end.since(slice.begin));
        let slice = match self.in_steps {
            false => format!("a row of the first table, of {}", duration(first)),
            true if self.joined > 1 => {
                format!("a row of the first table: each {}th time the numbers were written", self.joined)
            }
            true => "a row of the first table: from one time at which the numbers were written to the next".to_owned(),
        };
        format!(
            "over time: a character is {slice}; its height is bytes per second, the highest of each row in full; . none"
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

/// All slices.
pub(crate) fn json(over_time: &OverTime) -> Map<String, Value> {
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
    let slices: Value = over_time.slices.iter().map(slice).collect();
    Map::from_iter([("slices".to_owned(), slices)])
}

/// Rows, in their order, with a number for each slice.
pub(crate) fn rows_json(rows: &[RowOverTime<'_>]) -> Value {
    let list = |amounts: &[Amount], number: fn(&Amount) -> u64| -> Value { amounts.iter().map(number).collect() };
    let row = |RowOverTime { row, allocated, live }: &RowOverTime<'_>| {
        let mut fields = allocation_json::subject(&row.subject);
        fields.extend([
            ("total".to_owned(), row.totals.total().into()),
            ("total_bytes".to_owned(), row.totals.total_bytes().into()),
            ("error_bytes".to_owned(), row.error.into()),
            ("objects".to_owned(), list(allocated, |amount| amount.objects)),
            ("bytes".to_owned(), list(allocated, |amount| amount.bytes)),
            ("live_bytes".to_owned(), live.as_ref().map_or(Value::Null, |live| list(live, |amount| amount.bytes))),
        ]);
        Value::Object(fields)
    };
    rows.iter().map(row).collect()
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
