//! Views: the columns of some rows, each declared once. Text takes its tables from them, and JSON the same numbers, exactly.

use analysis::allocations::Location;
use serde_json::{Map, Value, json};
use trace::names;
use trace::time::Nanos;

use crate::render::human::{bytes, count, duration, printable};
use crate::render::table::{Below, Table};

/// What a row has in a column.
pub(crate) enum Cell {
    /// `-`, and null in JSON.
    Unknown,
    Count(u64),
    Bytes(u64),
    Time(Nanos),
    /// A number with one decimal.
    Decimal(f64),
    /// A name of the program's.
    Name(String),
    /// Text that is made up here.
    Text(String),
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(cell: Option<T>) -> Self {
        cell.map_or(Cell::Unknown, Into::into)
    }
}

impl From<Nanos> for Cell {
    fn from(time: Nanos) -> Self {
        Cell::Time(time)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell::Text(text)
    }
}

impl Cell {
    fn text(self) -> String {
        match self {
            Cell::Unknown => "-".to_owned(),
            Cell::Count(number) => count(number),
            Cell::Bytes(size) => bytes(size),
            Cell::Time(time) => duration(time),
            Cell::Decimal(number) => format!("{number:.1}"),
            Cell::Name(name) => printable(&name),
            Cell::Text(text) => text,
        }
    }

    fn json(self) -> Value {
        match self {
            Cell::Unknown => Value::Null,
            Cell::Count(number) | Cell::Bytes(number) | Cell::Time(Nanos(number)) => number.into(),
            Cell::Decimal(number) => number.into(),
            Cell::Name(text) | Cell::Text(text) => text.into(),
        }
    }
}

/// What is made of a row.
type Of<'a, R, T> = Box<dyn Fn(&R) -> T + 'a>;

/// Columns of rows of one type, in the order of the text; a column without a heading is only in JSON, one without a key only in text.
pub(crate) struct View<'a, R> {
    columns: Vec<Column<'a, R>>,
    /// What stands below a row.
    below: Of<'a, R, Vec<Below>>,
    /// More fields of a row in JSON.
    fields: Vec<Of<'a, R, Map<String, Value>>>,
}

struct Column<'a, R> {
    heading: Option<&'static str>,
    key: Option<&'static str>,
    cell: Of<'a, R, Cell>,
}

impl<'a, R: 'a> View<'a, R> {
    /// A view without columns.
    pub(crate) fn new() -> Self {
        View { columns: Vec::new(), below: Box::new(|_| Vec::new()), fields: Vec::new() }
    }

    /// A column of the text, if it has a heading, and the same as a field of the JSON.
    pub(crate) fn both<C: Into<Cell>>(
        self,
        heading: impl Into<Option<&'static str>>,
        key: &'static str,
        cell: impl Fn(&R) -> C + 'a,
    ) -> Self {
        self.with(heading.into(), Some(key), cell)
    }

    /// A column of the text alone, if it has a heading.
    pub(crate) fn text<C: Into<Cell>>(
        self,
        heading: impl Into<Option<&'static str>>,
        cell: impl Fn(&R) -> C + 'a,
    ) -> Self {
        self.with(heading.into(), None, cell)
    }

    fn with<C: Into<Cell>>(
        mut self,
        heading: Option<&'static str>,
        key: Option<&'static str>,
        cell: impl Fn(&R) -> C + 'a,
    ) -> Self {
        if heading.is_some() || key.is_some() {
            self.columns.push(Column { heading, key, cell: Box::new(move |row| cell(row).into()) });
        }
        self
    }

    /// Fields of the JSON alone, as an object has them.
    pub(crate) fn json(mut self, of: impl Fn(&R) -> Value + 'a) -> Self {
        self.fields.push(Box::new(move |row| fields(of(row))));
        self
    }

    /// Lines of the text below a row.
    pub(crate) fn below(mut self, below: impl Fn(&R) -> Vec<Below> + 'a) -> Self {
        self.below = Box::new(below);
        self
    }

    /// The same of rows of which these are a part.
    pub(crate) fn of<S: 'a>(self, part: fn(&S) -> &R) -> View<'a, S> {
        let column = |Column { heading, key, cell }: Column<'a, R>| Column::<'a, S> {
            heading,
            key,
            cell: Box::new(move |row| cell(part(row))),
        };
        let field = |fields: Of<'a, R, _>| -> Of<'a, S, _> { Box::new(move |row| fields(part(row))) };
        let below = self.below;
        View {
            columns: self.columns.into_iter().map(column).collect(),
            below: Box::new(move |row| below(part(row))),
            fields: self.fields.into_iter().map(field).collect(),
        }
    }

    /// The columns of the text that have these headings, in their order.
    pub(crate) fn select(mut self, headings: &[&'static str]) -> Self {
        let place = |column: &Column<'a, R>| headings.iter().position(|&heading| Some(heading) == column.heading);
        self.columns.iter_mut().filter(|column| place(column).is_none()).for_each(|column| column.heading = None);
        self.columns.sort_by_key(place);
        self
    }

    /// Rows as a table, in their order.
    pub(crate) fn table<'r>(&self, rows: impl IntoIterator<Item = &'r R>) -> Table
    where
        R: 'r,
    {
        let shown = || self.columns.iter().filter_map(|column| Some((column.heading?, &column.cell)));
        let mut table = Table::new(shown().map(|(heading, _)| heading).collect::<Vec<_>>());
        for row in rows {
            table.push_above(shown().map(|(_, cell)| cell(row).text()).collect(), (self.below)(row));
        }
        table
    }

    /// A row in JSON.
    pub(crate) fn object(&self, row: &R) -> Map<String, Value> {
        let columns = self.columns.iter().filter_map(|column| Some((column.key?, &column.cell)));
        let mut object: Map<String, Value> = columns.map(|(key, cell)| (key.to_owned(), cell(row).json())).collect();
        self.fields.iter().for_each(|fields| object.extend(fields(row)));
        object
    }

    /// Rows in JSON, in their order.
    pub(crate) fn array<'r>(&self, rows: impl IntoIterator<Item = &'r R>) -> Value
    where
        R: 'r,
    {
        rows.into_iter().map(|row| Value::Object(self.object(row))).collect()
    }
}

/// A line of a method in JSON.
pub(crate) fn location(at: &Location<'_>) -> Value {
    json!({
        "class": at.class,
        "method": names::jvm_method_name(at.method),
        "signature": at.signature,
        "source": at.source,
        "line": at.line,
    })
}

/// A call stack in JSON.
pub(crate) fn stack(frames: &[Location<'_>]) -> Value {
    frames.iter().map(location).collect()
}

/// The fields of an object.
pub(crate) fn fields(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::page::{Page, Width};

    #[test]
    fn text_and_json_have_the_same_numbers() {
        let view = View::new()
            .both("size", "bytes", |row: &(u64, Option<u64>)| Cell::Bytes(row.0))
            .both("time", "nanos", |row| row.1.map(Nanos))
            .both(None, "twice", |row| Cell::Count(row.0 * 2))
            .text("name", |row| format!("row {}", row.0))
            .json(|row| json!({ "is_large": row.0 > 1024 }));
        let rows = [(2048, None), (1, Some(1_500_000))];
        let expected = json!([
            { "bytes": 2048, "nanos": null, "twice": 4096, "is_large": true },
            { "bytes": 1, "nanos": 1_500_000, "twice": 2, "is_large": false },
        ]);
        assert_eq!(view.array(&rows), expected);
        let text = |view: &View<'_, _>| {
            let mut out = Vec::new();
            let mut out_of_colours = anstream::StripStream::new(&mut out);
            view.table(&rows).write(&mut Page::new(&mut out_of_colours, Width(80))).expect("memory takes it");
            String::from_utf8(out).expect("it is text")
        };
        assert_eq!(text(&view), "     size     time  name\n  2.0 KiB        -  row 2048\n      1 B  1.50 ms  row 1\n");
        assert_eq!(text(&view.select(&["time", "name"])), "     time  name\n        -  row 2048\n  1.50 ms  row 1\n");
    }
}
