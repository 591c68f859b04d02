//! Plain text tables: numbers right-aligned, the name last, so that long names never push numbers out of line. What does not fit into a
//! line goes into one below: whole columns in all rows, and the name in the rows where it is too long.

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;

use owo_colors::OwoColorize;

use crate::render::human::count;
use crate::render::page::{Page, Width, shorten_packages};

/// How much lines below the first one of a row are indented.
const BELOW: usize = 6;
/// And lines that belong to the name.
const DEEPER: usize = 8;

/// A table whose last column is text and whose other columns are numbers.
pub(crate) struct Table {
    headings: Vec<Cow<'static, str>>,
    rows: Vec<Row>,
}

/// A line below a row: what is kept in any case, and a name behind it.
pub(crate) struct Below {
    pub(crate) label: String,
    pub(crate) name: String,
}

struct Row {
    cells: Vec<String>,
    /// Lines below them.
    below: Vec<Below>,
}

impl Table {
    /// An empty table; the last heading is the name's.
    pub(crate) fn new<H: Into<Cow<'static, str>>>(headings: Vec<H>) -> Self {
        Table { headings: headings.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row with one text per heading.
    pub(crate) fn push(&mut self, row: Vec<String>) {
        self.push_above(row, Vec::new());
    }

    /// Adds a row with lines below it.
    pub(crate) fn push_above(&mut self, cells: Vec<String>, below: Vec<Below>) {
        debug_assert_eq!(cells.len(), self.headings.len());
        self.rows.push(Row { cells, below });
    }

    /// Whether each row is one line, its name in full.
    pub(crate) fn fits(&self, width: Width) -> bool {
        self.widths().iter().map(|column| 2 + column).sum::<usize>() <= width.0
    }

    fn widths(&self) -> Vec<usize> {
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| row.cells[column].chars().count());
            cells.chain([self.headings[column].chars().count()]).max().unwrap_or(0)
        };
        (0..self.headings.len()).map(width).collect()
    }

    /// Writes the table, indented by two spaces. Colours are written too: `out` must strip them where they are not wanted.
    pub(crate) fn write(&self, out: &mut Page<'_>) -> io::Result<()> {
        let widths = self.widths();
        let lines = lines(&widths[..widths.len() - 1], out.width());
        let headings: Vec<String> = self.headings.iter().map(|heading| heading.to_string()).collect();
        let headings = text(&headings, &widths, &lines, out);
        writeln!(out, "{}", headings.bold())?;
        for row in &self.rows {
            let cells = text(&row.cells, &widths, &lines, out);
            writeln!(out, "{cells}")?;
            for Below { label, name } in &row.below {
                let name = out.fit_behind(DEEPER, label, name);
                writeln!(out, "{:DEEPER$}{name}", "")?;
            }
        }
        Ok(())
    }

    /// Writes a table that leaves out rows: how many, and an empty line behind it.
    pub(crate) fn write_top(&self, left_out: usize, out: &mut Page<'_>) -> io::Result<()> {
        self.write(out)?;
        write_left_out(left_out, out)?;
        writeln!(out)
    }
}

/// Writes how many rows a table leaves out.
pub(crate) fn write_left_out(rows: usize, out: &mut impl Write) -> io::Result<()> {
    match rows {
        0 => Ok(()),
        rows => writeln!(out, "  ... and {} more; --top 0 shows all", count(rows as u64)),
    }
}

/// Writes how many rows are not shown since too few samples say something of them.
pub(crate) fn write_too_few(rows: usize, out: &mut impl Write) -> io::Result<()> {
    match rows {
        0 => Ok(()),
        rows => writeln!(out, "  {} more, too few samples to say", count(rows as u64)),
    }
}

/// Which columns of numbers stand in each line of a row: as many as fit.
fn lines(widths: &[usize], width: Width) -> Vec<Range<usize>> {
    let mut lines: Vec<Range<usize>> = Vec::new();
    let mut taken = 0;
    for (column, cell) in widths.iter().enumerate() {
        if lines.is_empty() || width.beside(taken) < 2 + cell {
            taken = if lines.is_empty() { 0 } else { BELOW - 2 };
            lines.push(column..column);
        }
        taken += 2 + cell;
        if let Some(line) = lines.last_mut() {
            line.end = column + 1;
        }
    }
    lines
}

/// A row: its numbers, and behind them the name, if it fits there with its packages shortened; otherwise below them.
fn text(cells: &[String], widths: &[usize], lines: &[Range<usize>], page: &Page<'_>) -> String {
    let (mut text, mut taken) = (String::new(), 0);
    for (at, line) in lines.iter().enumerate() {
        if at > 0 {
            text.push_str(&format!("\n{:1$}", "", BELOW - 2));
        }
        taken = if at > 0 { BELOW - 2 } else { 0 };
        for column in line.clone() {
            text.push_str("  ");
            text.extend(std::iter::repeat_n(' ', widths[column] - cells[column].chars().count()));
            text.push_str(&cells[column]);
            taken += 2 + widths[column];
        }
    }
    let name = &cells[cells.len() - 1];
    if name.is_empty() {
        return text;
    }
    let room = page.width().beside(taken + 2);
    let short = shorten_packages(name, room);
    if short.chars().count() <= room {
        text.push_str("  ");
        text.push_str(&short);
    } else {
        text.push_str(&format!("\n{:BELOW$}{}", "", page.fit(BELOW, name)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_in_one_column_and_names_begin_in_one() {
        let mut table = Table::new(vec!["live", "size", "class"]);
        table.push(vec!["1".into(), "16 B".into(), "demo.Ä".into()]);
        table.push(vec!["1,000,000".into(), "8 B".into(), "x".into()]);
        let expected = "       live  size  class\n          1  16 B  demo.Ä\n  1,000,000   8 B  x\n";
        assert_eq!(written(&table, Width(80)), expected);
    }

    fn written(table: &Table, width: Width) -> String {
        let mut out = Vec::new();
        table.write(&mut Page::new(&mut anstream::StripStream::new(&mut out), width)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_does_not_fit_stands_below() {
        let mut table = Table::new(vec!["total", "mean", "over time", "where"]);
        let name = "com.acme.orders.OrderDesk.take(OrderDesk.java:34)";
        table.push(vec!["1".into(), "1.00 ms".into(), "..BBBBBBBBBBBBBBBBBBBBBB..".into(), "main".into()]);
        table.push(vec!["12".into(), "2.00 s".into(), "BBBBBBBBBBBBBBBBBBBBBBBBBB".into(), name.into()]);
        let expected = "  total     mean
                       over time  where
      1  1.00 ms
      ..BBBBBBBBBBBBBBBBBBBBBB..  main
     12   2.00 s
      BBBBBBBBBBBBBBBBBBBBBBBBBB
      …o.OrderDesk.take(OrderDesk.java:34)
";
        assert_eq!(written(&table, Width(42)), expected);
        let mut table = Table::new(vec!["size", "line"]);
        table.push_above(
            vec!["16 B".into(), "com.acme.Main.run".into()],
            vec![Below { label: "byte[] in ".into(), name: "java.util.Arrays.copyOf".into() }],
        );
        let expected = "  size  line\n  16 B  com.acme.Main.run\n        byte[] in j.util.Arrays.copyOf\n";
        assert_eq!(written(&table, Width(40)), expected);
    }

    #[test]
    fn there_is_room_on_a_wide_page() {
        let mut table = Table::new(vec!["total", "over time", "where"]);
        let name = "com.acme.orders.OrderDesk.take(OrderDesk.java:34)";
        table.push(vec!["12".into(), "BBBBBBBB".into(), name.into()]);
        assert!(written(&table, Width(usize::MAX)).contains(&format!("BB  {name}\n")));
    }
}
