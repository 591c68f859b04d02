//! The flags that say which time of a trace counts.

use std::path::Path;

use anyhow::bail;
use trace::time::Nanos;

/// Which time of a trace counts.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct TimeWindow {
    /// Count only what happened later than this after the beginning of the trace
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    from: Option<Nanos>,
    /// Count only what happened earlier than this after the beginning of the trace
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    to: Option<Nanos>,
}

impl TimeWindow {
    /// Where counting begins.
    pub(crate) fn from(self) -> Nanos {
        self.from.unwrap_or_default()
    }

    /// Where it ends; `None` if at the end of the trace.
    pub(crate) fn to(self) -> Option<Nanos> {
        self.to
    }

    /// Whether only a part of the trace counts.
    pub(crate) fn is_given(self) -> bool {
        self.from.is_some() || self.to.is_some()
    }

    /// Checks the flags against a trace of some length, if that is known.
    ///
    /// # Errors
    /// `--from` is behind the end of the trace, or not before `--to`.
    pub(crate) fn check(self, path: &Path, length: Option<Nanos>) -> anyhow::Result<()> {
        let seconds = |nanos: Nanos| nanos.0 as f64 / 1e9;
        if let Some(to) = self.to.filter(|to| *to <= self.from()) {
            bail!("--from {} is not earlier than --to {}; exchange them", seconds(self.from()), seconds(to));
        }
        if let (Some(from), Some(length)) = (self.from, length)
            && from > length
        {
            bail!(
                "{}: --from {} lies behind the end of the trace, which is {:.3} s long; give a smaller number",
                path.display(),
                seconds(from),
                seconds(length)
            );
        }
        Ok(())
    }
}

fn seconds(text: &str) -> Result<Nanos, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..1e9).contains(&seconds) => Ok(Nanos((seconds * 1e9) as u64)),
        _ => Err("give a number of seconds from 0 on, such as 12.5".to_owned()),
    }
}
