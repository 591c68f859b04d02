//! Rows of a table, kept as columns.

use std::cmp::Ordering;
use std::rc::Rc;

use rustc_hash::FxHashSet;
use trace::time::{Nanos, Time};

use crate::schema::{Kind, Table};

/// The value of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Not recorded, or does not apply.
    None,
    /// An integer, or a time in microseconds since 1970.
    Int(i64),
    /// A floating point number.
    Double(f64),
    /// A text.
    Text(Rc<str>),
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Int(value)
    }
}

/// Numbers that no signed integer holds stay at the largest.
impl From<u64> for Value {
    fn from(value: u64) -> Value {
        Value::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Int(i64::from(value))
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Double(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::Text(value.into())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::Text(value.into())
    }
}

impl From<Nanos> for Value {
    fn from(value: Nanos) -> Value {
        value.0.into()
    }
}

impl From<Time> for Value {
    fn from(value: Time) -> Value {
        (value.0 / 1_000).into()
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::None, Into::into)
    }
}

/// The cells of a column.
#[derive(Clone, Debug)]
pub enum Cells {
    /// Integers and times.
    Int(Vec<Option<i64>>),
    /// Floating point numbers.
    Double(Vec<Option<f64>>),
    /// Texts.
    Text(Vec<Option<Rc<str>>>),
}

impl Cells {
    fn of(kind: Kind) -> Cells {
        match kind {
            Kind::Int | Kind::Time => Cells::Int(Vec::new()),
            Kind::Double => Cells::Double(Vec::new()),
            Kind::Text => Cells::Text(Vec::new()),
        }
    }

    fn compare(&self, a: usize, b: usize) -> Ordering {
        match self {
            Cells::Int(cells) => cells[a].cmp(&cells[b]),
            Cells::Text(cells) => cells[a].cmp(&cells[b]),
            Cells::Double(cells) => match (cells[a], cells[b]) {
                (Some(a), Some(b)) => a.total_cmp(&b),
                (a, b) => a.is_some().cmp(&b.is_some()),
            },
        }
    }
}

/// Rows of a table.
#[derive(Clone, Debug)]
pub struct Rows {
    /// Which.
    pub table: &'static Table,
    columns: Vec<Cells>,
    len: usize,
    /// Each text once.
    texts: FxHashSet<Rc<str>>,
}

impl Rows {
    /// None yet.
    pub fn new(table: &'static Table) -> Rows {
        let columns = table.columns.iter().map(|column| Cells::of(column.kind)).collect();
        Rows { table, columns, len: 0, texts: FxHashSet::default() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Their columns, in the order of the table.
    pub fn columns(&self) -> &[Cells] {
        &self.columns
    }

    /// Adds a row: a value for each column, in their order.
    pub fn push(&mut self, row: impl IntoIterator<Item = Value>) {
        let mut row = row.into_iter();
        for cells in &mut self.columns {
            match (cells, row.next().unwrap_or(Value::None)) {
                (Cells::Int(cells), Value::Int(value)) => cells.push(Some(value)),
                (Cells::Double(cells), Value::Double(value)) => cells.push(Some(value)),
                (Cells::Text(cells), Value::Text(value)) => {
                    let known = match self.texts.get(&value) {
                        Some(known) => known.clone(),
                        None => {
                            self.texts.insert(value.clone());
                            value
                        }
                    };
                    cells.push(Some(known));
                }
                (Cells::Int(cells), none) => {
                    debug_assert_eq!(none, Value::None, "{}", self.table.name);
                    cells.push(None);
                }
                (Cells::Double(cells), none) => {
                    debug_assert_eq!(none, Value::None, "{}", self.table.name);
                    cells.push(None);
                }
                (Cells::Text(cells), none) => {
                    debug_assert_eq!(none, Value::None, "{}", self.table.name);
                    cells.push(None);
                }
            }
        }
        debug_assert!(row.next().is_none(), "{}", self.table.name);
        self.len += 1;
    }

    /// A row.
    pub fn row(&self, at: usize) -> impl Iterator<Item = Value> {
        self.columns.iter().map(move |cells| match cells {
            Cells::Int(cells) => cells[at].into(),
            Cells::Double(cells) => cells[at].into(),
            Cells::Text(cells) => cells[at].clone().map_or(Value::None, Value::Text),
        })
    }

    /// The cells of a column of integers; none if there is no such column.
    pub fn ints(&self, name: &str) -> &[Option<i64>] {
        match self.table.column(name).map(|at| &self.columns[at]) {
            Some(Cells::Int(cells)) => cells,
            _ => &[],
        }
    }

    /// The same rows, sorted by their columns.
    pub fn sorted(&self) -> Rows {
        let mut order: Vec<usize> = (0..self.len).collect();
        let compare = |a: &usize, b: &usize| {
            let mut by_column = self.columns.iter().map(|cells| cells.compare(*a, *b));
            by_column.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        order.sort_by(compare);
        let mut sorted = Rows::new(self.table);
        order.iter().for_each(|&at| sorted.push(self.row(at)));
        sorted
    }
}

/// The values of a row, one for each column.
macro_rules! row {
    ($($value:expr),* $(,)?) => { [$($crate::columns::Value::from($value)),*] };
}
pub(crate) use row;
