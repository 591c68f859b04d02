//! The flags of `threads` and `locks` that say which part of a trace counts.

use std::path::Path;

use analysis::locks::{LockReport, Selection};
use anyhow::bail;
use trace::filter::Pattern;
use trace::time::Nanos;

use crate::cli::commands::selection::note;

/// Which part of a trace counts.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct LockSelection {
    /// Count only threads of these names: a name, or one with a * at its end or beginning (repeatable)
    #[arg(long, value_name = "PATTERN")]
    pub(crate) thread: Vec<Pattern>,
    /// Count only what happened later than this after the beginning of the trace
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    from: Option<Nanos>,
    /// Count only what happened earlier than this after the beginning of the trace
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    to: Option<Nanos>,
    /// Take the innermost frame in these classes as the place of a wait, if the trace has stacks (repeatable)
    #[arg(long, value_name = "PATTERN")]
    caller: Vec<Pattern>,
    /// Show threads whose names differ only in numbers as one: pool-1-thread-7 belongs to pool-*-thread-*
    #[arg(long)]
    pub(crate) pools: bool,
}

impl LockSelection {
    /// What the analysis is to count, of locks of some classes.
    pub(crate) fn analysis_selection(&self, classes: &[Pattern]) -> Selection {
        Selection {
            classes: classes.to_vec(),
            threads: self.thread.clone(),
            callers: self.caller.clone(),
            from: self.from.unwrap_or_default(),
            to: self.to,
            idle: false,
        }
    }

    /// Checks the flags against the trace, and notes on standard error those that have no effect.
    ///
    /// # Errors
    /// `--from` is behind the end of the trace.
    pub(crate) fn check(&self, path: &Path, report: &LockReport) -> anyhow::Result<()> {
        let length = report.span().map(|(origin, end)| end.since(origin));
        if let (Some(from), Some(length)) = (self.from, length)
            && from > length
        {
            let seconds = |nanos: Nanos| nanos.0 as f64 / 1e9;
            bail!(
                "{}: --from {} lies behind the end of the trace, which is {:.3} s long; give a smaller number",
                path.display(),
                seconds(from),
                seconds(length)
            );
        }
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

fn seconds(text: &str) -> Result<Nanos, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..1e9).contains(&seconds) => Ok(Nanos((seconds * 1e9) as u64)),
        _ => Err("give a number of seconds from 0 on, such as 12.5".to_owned()),
    }
}
