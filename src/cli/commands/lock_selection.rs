//! The flags of `threads` and `locks` that say which part of a trace counts.

use analysis::locks::Selection;
use trace::filter::Pattern;
use trace::time::Nanos;

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
        }
    }

    /// Whether a thread is shown.
    pub(crate) fn selects(&self, name: &str) -> bool {
        self.thread.is_empty() || self.thread.iter().any(|pattern| pattern.matches(name))
    }
}

fn seconds(text: &str) -> Result<Nanos, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..1e9).contains(&seconds) => Ok(Nanos((seconds * 1e9) as u64)),
        _ => Err("give a number of seconds, such as 12.5".to_owned()),
    }
}
