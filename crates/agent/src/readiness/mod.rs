//! Whether the JVM is warm (`ready=on`), in a file beside the trace and by an MXBean.
//!
//! ```text
//! clocks   what its compilers and its program have used of the processors
//! bean     what the MXBean asks for
//! ```
//!
//! A thread of the agent's own looks twice a second, and judges as `martini warmup PID` does (package `warmth`).

mod bean;
mod clocks;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::thread::{JoinHandle, available_parallelism};
use std::time::{Duration, Instant};

use agent_options::{Readiness as Kind, beside};
use jvmti::Jni;
use warmth::{History, State, Used};

use crate::notice::{Ender, Waiting, Woken};
use crate::requests::Requests;
use crate::warm_up::WarmUp;
use agent_base::clock::Ticks;
use agent_base::message::message;
use agent_base::mutex::Mutex;
use agent_base::native_thread;
use agent_core::core::Core;
use agent_core::core::current::Current;
use agent_core::core::feature::{End, Feature};
use clocks::Clocks;

pub use bean::{optimized_methods, reason, state};

/// What must be so long for a JVM to be warm.
const WINDOW: Duration = Duration::from_secs(5);
/// It is looked at so often, in nanoseconds.
const EACH: u64 = 500_000_000;
/// One that compiles as much as before is not given up earlier.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is known of the JVM.
#[derive(Clone, Debug)]
struct Said {
    state: State,
    reason: String,
}

/// The feature.
pub(crate) struct Readiness {
    core: &'static Core,
    kind: Kind,
    requests: Option<&'static Requests>,
    warm_up: Option<&'static WarmUp>,
    watcher: Mutex<Option<(Ender, JoinHandle<()>)>>,
    said: Mutex<Option<Said>>,
}

static CURRENT: Current<Readiness> = Current::none();

impl Readiness {
    /// For a recording with these features.
    pub(crate) fn new(
        core: &'static Core,
        kind: Kind,
        requests: Option<&'static Requests>,
        warm_up: Option<&'static WarmUp>,
    ) -> Readiness {
        Readiness { core, kind, requests, warm_up, watcher: Mutex::default(), said: Mutex::default() }
    }

    /// Methods that C2 has compiled since the recording began, if that is recorded.
    fn optimized(&self) -> Option<u64> {
        self.warm_up.map(WarmUp::optimized)
    }

    /// The file that says whether the JVM is warm.
    fn file(&self) -> PathBuf {
        beside(&self.core.trace_path, "ready")
    }

    /// Looks until the recording ends.
    fn watch(&self, waiting: &Waiting) {
        let (mut clocks, mut history, begun) = (Clocks::default(), History::default(), Instant::now());
        let mut fails = false;
        loop {
            let now = Ticks::now();
            let requests = self.requests.map(Requests::ended).unwrap_or_default();
            history.add(Instant::now(), Used { requests, ..clocks.look(now) }, WINDOW);
            let said = judge(&history, begun.elapsed(), clocks.has_c2());
            if let Err(error) = write(&self.file(), &self.text(&said))
                && !std::mem::replace(&mut fails, true)
            {
                message(&format!("cannot write whether the JVM is warm: {error}"));
            }
            *self.said.lock() = Some(said);
            if waiting.until(Ticks(now.0 + EACH), None) == Woken::End {
                return;
            }
        }
    }

    /// One line of JSON.
    fn text(&self, said: &Said) -> String {
        let Said { state, reason } = said;
        let word = state.word();
        let mut text = format!("{{\"state\":\"{word}\",\"warm\":{},\"reason\":{reason:?}", *state == State::Warm);
        // Writing to a string does not fail.
        if let Some(optimized) = self.optimized() {
            let _ = write!(text, ",\"optimized_methods\":{optimized}");
        }
        if let Ok(processors) = available_parallelism() {
            let _ = write!(text, ",\"processors\":{processors}");
        }
        let _ = writeln!(text, ",\"pid\":{}}}", std::process::id());
        text
    }
}

fn judge(history: &History, watched: Duration, has_c2: bool) -> Said {
    if !has_c2 {
        let reason = "not warm, and will not be: the JVM has no C2 (-Xint, -XX:TieredStopAtLevel)";
        return Said { state: State::Never, reason: reason.into() };
    }
    let Some(seen) = history.last(WINDOW) else {
        let reason = format!("not known yet: watched for {:.1} of {} s", watched.as_secs_f64(), WINDOW.as_secs());
        return Said { state: State::Compiling, reason };
    };
    let state = match seen.state() {
        State::Compiling if watched >= PATIENCE && history.does_not_fall(WINDOW) => State::Never,
        state => state,
    };
    Said { state, reason: seen.says(state) }
}

/// Replaces the file as a whole: who reads it never sees a part. Only its owner can read it.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let new = beside(path, "new");
    let opened =
        File::options().write(true).create(true).truncate(true).mode(0o600).custom_flags(libc::O_NOFOLLOW).open(&new);
    opened.and_then(|mut file| file.write_all(text.as_bytes())).and_then(|()| fs::rename(&new, path))
}

impl Feature for Readiness {
    fn install(&'static self) {
        CURRENT.set(self);
    }

    fn begin(&'static self, _: Jni) -> Result<(), String> {
        Ok(())
    }

    fn resume(&'static self, jni: Jni) {
        let started = Waiting::new().and_then(|(waiting, ender)| {
            let watcher = native_thread::start("martini-ready", move || self.watch(&waiting))?;
            Ok((ender, watcher))
        });
        match started {
            Ok(watcher) => *self.watcher.lock() = Some(watcher),
            Err(error) => message(&format!("whether the JVM is warm is not watched: {error}")),
        }
        if self.kind == Kind::FileAndBean
            && let Err(why) = bean::register(self.core, jni)
        {
            message(&format!("there is no MXBean martini:type=WarmUp: {why}"));
        }
    }

    fn stop(&'static self, _: Jni, _: End) {
        let Some((ender, watcher)) = self.watcher.lock().take() else { return };
        ender.end();
        let _ = watcher.join();
        *self.said.lock() = None;
        let _ = fs::remove_file(self.file());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jvm_without_c2_is_never_warm() {
        let said = judge(&History::default(), Duration::ZERO, false);
        assert_eq!(said.state, State::Never);
        let said = judge(&History::default(), Duration::from_secs(1), true);
        assert_eq!((said.state, &*said.reason), (State::Compiling, "not known yet: watched for 1.0 of 5 s"));
    }

    #[test]
    fn the_file_is_private_and_whole() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.xml.ready");
        for text in ["first\n", "second, which is longer\n", "x"] {
            write(&path, text).expect("written");
            assert_eq!(fs::read_to_string(&path).expect("there"), text);
        }
        assert_eq!(path.metadata().expect("there").permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }
}
