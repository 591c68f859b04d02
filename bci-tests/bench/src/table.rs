//! Tables, for the terminal and in Markdown. The first column is text, the others are numbers.

/// Rows under headings.
pub(crate) struct Table {
    headings: Vec<String>,
    rows: Vec<Row>,
}

enum Row {
    Cells(Vec<String>),
    /// A name, and a sentence in place of the numbers.
    Said(String, String),
}

impl Table {
    /// An empty one.
    pub(crate) fn new(headings: &[impl AsRef<str>]) -> Self {
        Self { headings: headings.iter().map(|heading| heading.as_ref().to_owned()).collect(), rows: Vec::new() }
    }

    /// Adds a row; cells that are missing at its end are empty.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let mut cells: Vec<String> = cells.into_iter().collect();
        cells.resize(self.headings.len(), String::new());
        self.rows.push(Row::Cells(cells));
    }

    /// Adds a row that has a sentence in place of numbers.
    pub(crate) fn say(&mut self, name: &str, sentence: &str) {
        self.rows.push(Row::Said(name.to_owned(), sentence.to_owned()));
    }

    /// For the terminal: names to the left, numbers to the right.
    pub(crate) fn text(&self) -> String {
        let mut widths: Vec<usize> = self.headings.iter().map(|heading| heading.chars().count()).collect();
        for row in &self.rows {
            match row {
                Row::Cells(cells) => {
                    for (width, cell) in widths.iter_mut().zip(cells) {
                        *width = (*width).max(cell.chars().count());
                    }
                }
                Row::Said(name, _) => widths[0] = widths[0].max(name.chars().count()),
            }
        }
        let line = |cells: &[String]| {
            let mut line = String::new();
            for (column, (cell, width)) in cells.iter().zip(&widths).enumerate() {
                if column == 0 {
                    line.push_str(&format!("{cell:width$}"));
                } else {
                    line.push_str(&format!("  {cell:>width$}"));
                }
            }
            line.trim_end().to_owned() + "\n"
        };
        let mut text = line(&self.headings);
        for row in &self.rows {
            match row {
                Row::Cells(cells) => text.push_str(&line(cells)),
                Row::Said(name, sentence) => text.push_str(&format!("{name:width$}  {sentence}\n", width = widths[0])),
            }
        }
        text
    }

    /// For a document.
    pub(crate) fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let escape = |cell: &String| cell.replace('|', "\\|");
        let mut text = line(&self.headings);
        text.push_str(&format!("|---{}|\n", "|---:".repeat(self.headings.len() - 1)));
        for row in &self.rows {
            let mut cells = match row {
                Row::Cells(cells) => cells.iter().map(escape).collect(),
                Row::Said(name, sentence) => vec![escape(name), escape(sentence)],
            };
            cells.resize(self.headings.len(), String::new());
            text.push_str(&line(&cells));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Table {
        let mut table = Table::new(&["", "wall", "CPU"]);
        table.row(["no agent".to_owned(), "1.00".to_owned(), "1.00".to_owned()]);
        table.row(["a|b".to_owned(), "12.00".to_owned()]);
        table.say("broken", "failed in round 1 of 5: no such option");
        table
    }

    #[test]
    fn columns_stand_below_each_other() {
        assert_eq!(
            example().text(),
            "           wall   CPU\n\
             no agent   1.00  1.00\n\
             a|b       12.00\n\
             broken    failed in round 1 of 5: no such option\n"
        );
    }

    #[test]
    fn markdown_has_every_cell() {
        assert_eq!(
            example().markdown(),
            "|  | wall | CPU |\n\
             |---|---:|---:|\n\
             | no agent | 1.00 | 1.00 |\n\
             | a\\|b | 12.00 |  |\n\
             | broken | failed in round 1 of 5: no such option |  |\n"
        );
    }
}
