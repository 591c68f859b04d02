//! The flags of commands that show calls of methods.

use analysis::execution::CallSelection;
use trace::filter::Pattern;

/// Which calls are shown.
#[derive(Debug, clap::Args)]
pub(crate) struct CallFlags {
    /// Show calls of methods (execution traces of the old TPTP profilers; default for a trace that has nothing else)
    #[arg(long, conflicts_with_all = ["cpu", "wall", "from", "to"])]
    calls: bool,
    /// Show calls of one document only: 1 is the first of the file
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with_all = ["cpu", "wall", "from", "to"])]
    document: Option<u64>,
}

impl CallFlags {
    /// Whether only calls are to be shown.
    pub(crate) fn are_asked_for(&self) -> bool {
        self.calls || self.document.is_some()
    }

    /// Which calls count: those of this code, and in tables those of these classes.
    pub(crate) fn selection(&self, code: &[Pattern], classes: &[Pattern]) -> CallSelection {
        CallSelection { document: self.document, code: code.to_vec(), classes: classes.to_vec() }
    }
}
