//! Flags of commands that print a few tables of a trace, or JSON with the same rows.

use trace::filter::Pattern;

use crate::commands::selection::{row_limit, whole_number};
use crate::render::page::{PageArguments, Width};

/// Rows of a text table by default.
const DEFAULT_TOP: usize = 10;

/// Flags of commands that print a few tables of a trace.
#[derive(Debug, clap::Args)]
pub(crate) struct TableArguments {
    /// Classes of your own code: a name, with an optional * at its end or beginning (repeatable) [default: all but the JDK and known
    /// frameworks]
    #[arg(long, value_name = "PATTERN")]
    pub(crate) own: Vec<Pattern>,
    /// Rows per table, 0 for all [default: 10, with --json: 0]
    #[arg(long, value_name = "N", value_parser = whole_number)]
    top: Option<usize>,
    #[command(flatten)]
    page: PageArguments,
    /// Print JSON with exact numbers
    #[arg(long)]
    pub(crate) json: bool,
}

impl TableArguments {
    /// How wide a page is.
    pub(crate) fn width(&self) -> Width {
        self.page.width()
    }

    /// How many rows a table has at most.
    pub(crate) fn rows(&self) -> usize {
        row_limit(self.top, if self.json { 0 } else { DEFAULT_TOP })
    }

    /// The first rows, and how many are left out.
    pub(crate) fn cut<T>(&self, mut rows: Vec<T>) -> (Vec<T>, usize) {
        let left = rows.split_off(rows.len().min(self.rows())).len();
        (rows, left)
    }
}
