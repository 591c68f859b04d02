//! A table with a row for each line and class, and all numbers that the trace has of it: as CSV, and as JSON.

use std::collections::BTreeMap;
use std::io::{self, Write};

use analysis::call_tree::Label;
use analysis::own_code::OwnCode;
use serde_json::{Map, Value};
use trace::file::Kind;

use crate::frame::Frame;
use crate::profiles::{Profiles, Subject};

/// The columns that say what a row is about.
const PLACE: [&str; 5] = ["code", "file", "line", "class", "own"];

/// The columns with numbers, in pairs of how many, and how much of it.
const NUMBERS: [(Subject, [&str; 2]); 7] = [
    (Subject::Allocated, ["allocated_objects", "allocated_bytes"]),
    (Subject::Live, ["live_objects", "live_bytes"]),
    (Subject::Cpu, ["cpu_samples", "cpu_nanos"]),
    (Subject::Wall, ["wall_samples", "wall_nanos"]),
    (Subject::Locks, ["lock_waits", "lock_wait_nanos"]),
    (Subject::Waits, ["other_waits", "other_wait_nanos"]),
    (Subject::Calls, ["calls", "call_base_nanos"]),
];

/// What a CSV file begins with.
const HEAD: &str = "code,file,line,class,own,allocated_objects,allocated_bytes";

/// What a JSON file begins with.
const BEGINNING: &str = "{\"exporter\":\"martini table ";

/// CSV files of ours.
pub const CSV: Kind = Kind { name: "table", is_begun_by: |head| head.starts_with(HEAD.as_bytes()) };

/// JSON files of ours.
pub const JSON: Kind = Kind { name: "table", is_begun_by: |head| head.starts_with(BEGINNING.as_bytes()) };

/// What a row is about: the innermost frame, the innermost one of the user's own code, and a class.
type RowKey<'a> = (Label<'a>, Option<Label<'a>>, Option<&'a str>);

type Numbers = [u64; 2 * NUMBERS.len()];

fn rows<'a>(profiles: &Profiles<'a>) -> BTreeMap<RowKey<'a>, Numbers> {
    let own = OwnCode::new(Vec::new());
    let mut rows: BTreeMap<RowKey<'a>, Numbers> = BTreeMap::new();
    for (at, (subject, _)) in NUMBERS.into_iter().enumerate() {
        for stack in profiles.stacks(subject) {
            let mine = stack.frames.iter().find(|label| label.is_java() && label.known_package(&own).is_none());
            let row = rows.entry((stack.frames[0], mine.copied(), stack.class)).or_default();
            for (sum, number) in row[2 * at..].iter_mut().zip([stack.count, stack.weight]) {
                *sum = sum.saturating_add(number);
            }
        }
    }
    rows
}

fn columns() -> impl Iterator<Item = &'static str> {
    NUMBERS.into_iter().flat_map(|(_, names)| names)
}

/// Writes the table as CSV, as RFC 4180 describes it.
///
/// # Errors
/// It cannot be written.
pub fn csv(profiles: &Profiles<'_>, out: &mut impl Write) -> io::Result<()> {
    let head: Vec<&str> = PLACE.into_iter().chain(columns()).collect();
    write!(out, "{}\r\n", head.join(","))?;
    for ((frame, own, class), numbers) in rows(profiles) {
        let at = Frame::of(&frame);
        let line = at.line.map_or_else(String::new, |line| line.to_string());
        let own = own.map_or_else(String::new, |own| own.to_string());
        let place = [at.name.as_str(), at.file, &line, class.unwrap_or_default(), &own].map(quoted);
        let numbers = numbers.map(|number| number.to_string());
        write!(out, "{},{}\r\n", place.join(","), numbers.join(","))?;
    }
    Ok(())
}

/// A field that cannot be taken for several.
fn quoted(text: &str) -> String {
    match text.contains(|c: char| matches!(c, ',' | '"') || c.is_control()) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

/// Writes the table as JSON.
///
/// # Errors
/// It cannot be written.
pub fn json(profiles: &Profiles<'_>, out: &mut impl Write) -> io::Result<()> {
    write!(out, "{BEGINNING}{}\",\"rows\":[", env!("CARGO_PKG_VERSION"))?;
    let mut separator = "\n";
    for ((frame, own, class), numbers) in rows(profiles) {
        let at = Frame::of(&frame);
        let place: [Value; PLACE.len()] = [
            at.name.into(),
            Some(at.file).filter(|file| !file.is_empty()).into(),
            at.line.into(),
            class.into(),
            own.map(|own| own.to_string()).into(),
        ];
        let fields = PLACE.into_iter().chain(columns()).zip(place.into_iter().chain(numbers.map(Value::from)));
        let row: Map<String, Value> = fields.map(|(name, value)| (name.to_owned(), value)).collect();
        write!(out, "{separator}{}", Value::Object(row))?;
        separator = ",\n";
    }
    out.write_all(b"\n]}\n")
}

#[cfg(test)]
mod tests {
    use analysis::allocations::Location;
    use analysis::weighted::WeightedStack;

    use super::*;

    fn example() -> Profiles<'static> {
        let at = |class| Location { class, method: "-init-", signature: "()V", source: "A.java", line: Some(7) };
        let stack = |class, count| WeightedStack {
            thread: Some("main"),
            class,
            frames: vec![Label::Line(at("java.util.A")), Label::Line(at("demo.\"B\",\n"))],
            count,
            weight: 8 * count,
        };
        Profiles {
            allocated: vec![stack(Some("X"), 1), stack(Some("X"), 2), stack(Some("Y"), 5)],
            live: vec![stack(Some("X"), 1)],
            cpu: vec![stack(None, 9)],
            ..Profiles::default()
        }
    }

    #[test]
    fn csv_has_a_row_for_each_line_and_class() {
        let mut out = Vec::new();
        csv(&example(), &mut out).unwrap();
        assert!((CSV.is_begun_by)(&out[..64]));
        let text = String::from_utf8(out).unwrap();
        let rows: Vec<&str> = text.split("\r\n").collect();
        let own = "\"demo.\"\"B\"\",\n.<init>(A.java:7)\"";
        assert_eq!(rows[1], format!("java.util.A.<init>,A.java,7,,{own},0,0,0,0,9,72,0,0,0,0,0,0,0,0"));
        assert_eq!(rows[2], format!("java.util.A.<init>,A.java,7,X,{own},3,24,1,8,0,0,0,0,0,0,0,0,0,0"));
        assert_eq!((rows.len(), rows[4]), (5, ""));
    }

    #[test]
    fn json_has_the_same_rows() {
        let mut out = Vec::new();
        json(&example(), &mut out).unwrap();
        assert!((JSON.is_begun_by)(&out[..64]));
        let table: Value = serde_json::from_slice(&out).unwrap();
        let rows = table["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 3);
        assert_eq!(
            (&rows[1]["class"], &rows[1]["allocated_bytes"], &rows[1]["live_objects"]),
            (&"X".into(), &24.into(), &1.into())
        );
        assert_eq!(rows[0]["class"], Value::Null);
    }
}
