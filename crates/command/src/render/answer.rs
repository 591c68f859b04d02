//! The rows of an answer as table, JSON, CSV or Markdown.

use clap::ValueEnum;
use fleet::answer::Answer;
use serde_json::Value;

use crate::render::human::printable;

/// How an answer is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Table,
    Json,
    Csv,
    Markdown,
}

impl Format {
    /// An answer in this form.
    pub(crate) fn text(self, answer: &Answer) -> String {
        match self {
            Format::Table => table(answer),
            Format::Json => json(answer),
            Format::Csv => csv(answer),
            Format::Markdown => markdown(answer),
        }
    }
}

/// A list of objects, one per line.
fn json(answer: &Answer) -> String {
    let object = |row: &Vec<Value>| {
        let pair = |(column, value): (&String, &Value)| format!("{}:{value}", Value::from(column.as_str()));
        format!("{{{}}}", answer.columns.iter().zip(row).map(pair).collect::<Vec<_>>().join(","))
    };
    format!("[{}]\n", answer.rows.iter().map(object).collect::<Vec<_>>().join(",\n"))
}

/// As RFC 4180 has it, with lines that end as on Unix. What is null is empty, an empty text is in quotes.
fn csv(answer: &Answer) -> String {
    let cell = |value: &Value| match value {
        Value::String(text) if text.is_empty() || text.contains([',', '"', '\n', '\r']) => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
        value => text(value),
    };
    let line = |cells: Vec<String>| cells.join(",") + "\n";
    let head = line(answer.columns.iter().map(|column| cell(&Value::from(column.as_str()))).collect());
    head + &answer.rows.iter().map(|row| line(row.iter().map(cell).collect())).collect::<String>()
}

fn table(answer: &Answer) -> String {
    let columns = columns(answer, printable);
    let rule = |left: &str, between: &str, right: &str| {
        let lines: Vec<String> = columns.iter().map(|column| "─".repeat(column.width + 2)).collect();
        format!("{left}{}{right}\n", lines.join(between))
    };
    let mut lines = lines(&columns, '│');
    lines.insert(1, rule("├", "┼", "┤"));
    rule("┌", "┬", "┐") + &lines.concat() + &rule("└", "┴", "┘")
}

fn markdown(answer: &Answer) -> String {
    let columns = columns(answer, |text| printable(text).replace('\\', "\\\\").replace('|', "\\|"));
    let rule = |column: &Column| match column.is_number {
        true => format!("{}:|", "-".repeat(column.width + 1)),
        false => format!("{}|", "-".repeat(column.width + 2)),
    };
    let mut lines = lines(&columns, '|');
    lines.insert(1, format!("|{}\n", columns.iter().map(rule).collect::<String>()));
    lines.concat()
}

/// A column of a table: its heading and a cell per row.
struct Column {
    cells: Vec<String>,
    width: usize,
    is_number: bool,
}

fn columns(answer: &Answer, escaped: impl Fn(&str) -> String) -> Vec<Column> {
    let column = |(at, heading): (usize, &String)| {
        let values = || answer.rows.iter().map(|row| &row[at]);
        let heading = escaped(heading);
        let cells: Vec<String> = std::iter::once(heading).chain(values().map(|value| escaped(&shown(value)))).collect();
        Column {
            width: cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0),
            is_number: values().all(|value| value.is_number() || value.is_null()),
            cells,
        }
    };
    answer.columns.iter().enumerate().map(column).collect()
}

/// The heading and the rows, numbers at the right.
fn lines(columns: &[Column], bar: char) -> Vec<String> {
    let rows = columns.first().map_or(0, |column| column.cells.len());
    let cell = |column: &Column, row: usize| {
        let (cell, width) = (&column.cells[row], column.width);
        match column.is_number {
            true => format!(" {cell:>width$} {bar}"),
            false => format!(" {cell:<width$} {bar}"),
        }
    };
    (0..rows)
        .map(|row| format!("{bar}{}\n", columns.iter().map(|column| cell(column, row)).collect::<String>()))
        .collect()
}

/// A value in a cell.
fn shown(value: &Value) -> String {
    if value.is_null() { "NULL".to_owned() } else { text(value) }
}

/// A value as a text, as the engines' `cast(... as string)` has it; what is null is empty.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer() -> Answer {
        Answer {
            columns: vec!["place".to_owned(), "bytes".to_owned()],
            rows: vec![
                vec![json!("a|b, \"ü\"\n"), json!(9007199254740993_i64)],
                vec![Value::Null, json!(-1.5)],
                vec![json!(""), Value::Null],
            ],
        }
    }

    #[test]
    fn programs_get_what_is_there() {
        let json = r#"[{"place":"a|b, \"ü\"\n","bytes":9007199254740993},
{"place":null,"bytes":-1.5},
{"place":"","bytes":null}]
"#;
        assert_eq!(Format::Json.text(&answer()), json);
        assert_eq!(Format::Csv.text(&answer()), "place,bytes\n\"a|b, \"\"ü\"\"\n\",9007199254740993\n,-1.5\n\"\",\n");
    }

    #[test]
    fn people_get_a_line_per_row() {
        let table = "\
┌────────────┬──────────────────┐
│ place      │            bytes │
├────────────┼──────────────────┤
│ a|b, \"ü\"\\n │ 9007199254740993 │
│ NULL       │             -1.5 │
│            │             NULL │
└────────────┴──────────────────┘
";
        assert_eq!(Format::Table.text(&answer()), table);
        let markdown = Format::Markdown.text(&answer());
        assert!(markdown.contains("|\n|--------------|-----------------:|\n| a\\|b, "), "{markdown}");
    }

    #[test]
    fn no_rows_are_a_heading() {
        let none = Answer { rows: Vec::new(), ..answer() };
        assert_eq!(Format::Json.text(&none), "[]\n");
        assert_eq!(Format::Csv.text(&none), "place,bytes\n");
        assert_eq!(Format::Table.text(&none).lines().count(), 4);
    }
}
