//! What can be asked of a recording that runs.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use agent_options::{OptionError, RawOptions};
use jvmti::Jni;

use super::Recording;
use super::request::{Answer, Lines};
use crate::sampling::Asker;
use agent_base::clock::Ticks;
use agent_core::core::asking::Wanted;
use agent_core::core::feature::End;

/// A snapshot is waited for so long.
const LONGEST_SNAPSHOT: Duration = Duration::from_secs(60);

/// Whether there is a recording, and which.
pub(super) fn lines(running: Option<&Recording>) -> Lines {
    let Some(recording) = running else { return Lines::default().with("recording", "no") };
    let core = recording.core;
    let bytes = fs::metadata(&core.trace_path).map_or(0, |metadata| metadata.len());
    let lost: u64 = core.lost.all().into_values().sum();
    let changed = recording.changed.lock();
    let mut lines = Lines::default()
        .with("recording", "yes")
        .with("trace", recording.trace().display())
        .with("options", &core.options.given);
    if !changed.pairs().is_empty() {
        lines = lines.with("changed", &*changed);
    }
    lines
        .with("seconds", Ticks::now().0.saturating_sub(core.start.0) / 1_000_000_000)
        .with("bytes", bytes)
        .with("lost", lost)
        .with("rewritten", core.rewriting.rewritten())
}

impl Recording {
    /// Where the trace is, from the root on.
    pub(super) fn trace(&self) -> PathBuf {
        let path = &self.core.trace_path;
        std::path::absolute(path).unwrap_or_else(|_| path.clone())
    }

    /// Has the numbers so far written.
    pub(super) fn snapshot(&self) -> Answer {
        match self.core.ask_snapshot(Wanted { live: true, at: None }, LONGEST_SNAPSHOT) {
            Some(true) => Ok(Lines::default().with("trace", self.trace().display())),
            Some(false) => Err("this recording writes every event at once, so there is nothing to flush".into()),
            None => Err(format!("no snapshot after {} seconds", LONGEST_SNAPSHOT.as_secs())),
        }
    }

    /// Has the heap dumped.
    pub(super) fn dump(&self, path: &str) -> Answer {
        let Some(dumps) = self.dumps else {
            return Err("this recording makes no heap dumps; start it with dump=request".into());
        };
        if !path.is_empty() {
            return Err("heap dumps are written beside the trace; leave the path out".into());
        }
        dumps.make_now()?;
        Ok(Lines::default().with("trace", self.trace().display()))
    }

    /// Changes how often allocations are sampled.
    pub(super) fn set(&self, given: &str) -> Answer {
        let raw: RawOptions = given.parse().map_err(|error: OptionError| error.to_string())?;
        // Beside counts each of them has a meaning.
        let beside: Result<RawOptions, OptionError> = format!("heap=counts,{given}").parse();
        let options = beside.and_then(|raw| raw.resolve()).map_err(|error| error.to_string())?;
        let running = &self.core.options;
        let changeable = [
            ("sampled", Asker::Sampled, running.sampled_bytes, options.sampled_bytes),
            ("callers", Asker::Callers, running.callers_bytes, options.callers_bytes),
        ];
        let is_changeable = |name: &str| changeable.iter().any(|(known, ..)| *known == name);
        if raw.pairs().is_empty() || !raw.pairs().iter().all(|(name, _)| is_changeable(name)) {
            return Err(
                "a running recording can change only sampled=SIZE and callers=SIZE; stop it and start another".into()
            );
        }
        let mut asked = Vec::new();
        for (name, asker, before, after) in changeable.iter().copied().filter(|(name, ..)| raw.value(name).is_some()) {
            match (self.sampler, before, after) {
                (Some(sampler), Some(_), Some(bytes)) => asked.push((sampler, asker, bytes)),
                (_, _, None) => {
                    return Err(format!("{name} needs a size here, such as {name}=64k"));
                }
                _ => return Err(format!("this recording was started without {name}")),
            }
        }
        asked.into_iter().for_each(|(sampler, asker, bytes)| sampler.ask(asker, bytes));
        let mut changed = self.changed.lock();
        let now = changeable.iter().filter_map(|&(name, ..)| Some((name, raw.value(name).or(changed.value(name))?)));
        let now: RawOptions = now.collect();
        *changed = now;
        Ok(Lines::default().with("trace", self.trace().display()))
    }

    /// Ends a recording that could not begin, or that nobody waits for, and removes its files: nobody is to take them for what was
    /// recorded.
    pub(super) fn give_up(&self, jni: Jni) {
        self.end(jni, End::Unwanted);
        self.files.iter().for_each(|file| drop(fs::remove_file(file)));
    }
}
