//! The flags of `threads` and `locks` that say which part of a trace counts.

use std::path::Path;

use analysis::locks::{LockHolders, LockReport, Selection};
use trace::filter::Pattern;

use crate::commands::selection::note;
use crate::commands::time_window::{TimeFlags, TimeWindow};

/// Which part of a trace counts.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct LockSelection {
    /// Only threads with these names: a name, with an optional * at its end or beginning (repeatable)
    #[arg(long, value_name = "PATTERN")]
    pub(crate) thread: Vec<Pattern>,
    #[command(flatten)]
    pub(crate) window: TimeFlags,
    /// Show each wait at its innermost frame in these classes, if the trace has call stacks (repeatable)
    #[arg(long, value_name = "PATTERN")]
    caller: Vec<Pattern>,
    /// Merge the threads of a pool, whose names differ only in the last number: pool-1-thread-7 becomes pool-1-thread-*
    #[arg(long)]
    pub(crate) pools: bool,
}

impl LockSelection {
    /// What the analysis is to count, of locks of some classes.
    pub(crate) fn analysis_selection(&self, window: TimeWindow, classes: &[Pattern]) -> Selection {
        Selection {
            classes: classes.to_vec(),
            names: LockHolders::default(),
            threads: self.thread.clone(),
            callers: self.caller.clone(),
            from: window.from(),
            to: window.to(),
            idle: false,
        }
    }

    /// Checks the flags against the trace, and notes on standard error those that have no effect.
    ///
    /// # Errors
    /// `--from` is behind the end of the trace, or not before `--to`.
    pub(crate) fn check(&self, path: &Path, window: TimeWindow, report: &LockReport) -> anyhow::Result<()> {
        window.check(path, report.span().map(|(origin, end)| end.since(origin)))?;
        if !self.caller.is_empty() && !report.is_log() && report.facts().stacks == 0 {
            note(path, "--caller has no effect without call stacks; record them with martini run --lockstack 8");
        }
        Ok(())
    }

    /// Whether a thread is shown.
    pub(crate) fn selects(&self, name: &str) -> bool {
        self.thread.is_empty() || self.thread.iter().any(|pattern| pattern.matches(name))
    }
}
