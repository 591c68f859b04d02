//! Plain text tables: numbers right-aligned, the name last, so that long names never push numbers out of line.

use std::io::{self, Write};

use owo_colors::OwoColorize;

use crate::cli::render::human::count;

/// A table whose last column is text and whose other columns are numbers.
pub(crate) struct Table {
    headings: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table; the last heading is the name's.
    pub(crate) fn new(headings: Vec<&'static str>) -> Self {
        Table { headings, rows: Vec::new() }
    }

    /// Adds a row with one text per heading.
    pub(crate) fn push(&mut self, row: Vec<String>) {
        debug_assert_eq!(row.len(), self.headings.len());
        self.rows.push(row);
    }

    /// Writes the table, indented by two spaces. Colours are written too: `out` must strip them where they are not wanted.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let widths: Vec<usize> = (0..self.headings.len())
            .map(|column| {
                let cells = self.rows.iter().map(|row| row[column].chars().count());
                cells.chain([self.headings[column].len()]).max().unwrap_or(0)
            })
            .collect();
        let headings: Vec<String> = self.headings.iter().map(|&heading| heading.to_owned()).collect();
        writeln!(out, "{}", line(&headings, &widths).bold())?;
        for row in &self.rows {
            writeln!(out, "{}", line(row, &widths))?;
        }
        Ok(())
    }

    /// Writes a table that leaves out rows: how many, and an empty line behind it.
    pub(crate) fn write_top(&self, left_out: usize, out: &mut impl Write) -> io::Result<()> {
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

fn line(cells: &[String], widths: &[usize]) -> String {
    let mut text = String::new();
    let last = cells.len() - 1;
    for (cell, &width) in cells.iter().zip(widths).take(last) {
        text.push_str("  ");
        text.extend(std::iter::repeat_n(' ', width - cell.chars().count()));
        text.push_str(cell);
    }
    text.push_str("  ");
    text.push_str(&cells[last]);
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
        let mut out = Vec::new();
        table.write(&mut anstream::StripStream::new(&mut out)).unwrap();
        let expected = "       live  size  class\n          1  16 B  demo.Ä\n  1,000,000   8 B  x\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
