//! What the VM's compilers compile, and how long each compilation took.
//!
//! The VM logs that a compilation begins, and not that it ends. It has ended when the same thread begins the next one, or when that
//! thread sleeps, which is looked at each millisecond. A compiler may sleep in between, as when the VM stops all threads, so it counts as
//! over only once its thread has slept for a while.

use std::fs::File;
use std::os::unix::fs::FileExt;

use rustc_hash::FxHashMap;
use trace::time::Nanos;

use super::report::{Code, Report};
use agent_base::clock::Ticks;

/// A compiler that has slept for so long has nothing to do.
const OVER: Nanos = Nanos(20_000_000);

#[derive(Default)]
struct Compiler {
    /// What the system says of the thread.
    stat: Option<File>,
    current: Option<Current>,
}

impl Compiler {
    fn lives(&self) -> bool {
        self.stat.as_ref().is_some_and(|stat| state(stat).is_some())
    }
}

struct Current {
    code: Code,
    begun: Ticks,
    /// Since when its thread sleeps.
    asleep: Option<Ticks>,
}

impl Current {
    fn ended(self, end: Ticks) -> Report {
        let took = Nanos(self.asleep.unwrap_or(end).0.saturating_sub(self.begun.0));
        Report::Compilation(self.code, self.begun, took)
    }
}

/// The threads of the VM that compile.
#[derive(Default)]
pub(super) struct Compilers(FxHashMap<libc::pid_t, Compiler>);

impl Compilers {
    /// A thread begins to compile; what it compiled before, if that is known only now.
    pub(super) fn begins(&mut self, tid: libc::pid_t, code: Code, begun: Ticks) -> Option<Report> {
        if self.0.get(&tid).is_none_or(|known| !known.lives()) {
            // A thread that has ended says nothing more; its number may be another's.
            self.0.retain(|&known, compiler| known == tid || compiler.current.is_some() || compiler.lives());
            self.0.entry(tid).or_default().stat = File::open(format!("/proc/self/task/{tid}/stat")).ok();
        }
        let compiler = self.0.entry(tid).or_default();
        compiler.current.replace(Current { code, begun, asleep: None }).map(|before| before.ended(begun))
    }

    /// Whether none compiles.
    pub(super) fn are_idle(&self) -> bool {
        self.0.values().all(|compiler| compiler.current.is_none())
    }

    /// Looks which still compile, and hands over what has been compiled.
    pub(super) fn look(&mut self, now: Ticks, mut ended: impl FnMut(Report)) {
        for compiler in self.0.values_mut() {
            let Some(current) = &mut compiler.current else { continue };
            let is_asleep = compiler.stat.as_ref().is_none_or(sleeps);
            let since = is_asleep.then(|| *current.asleep.get_or_insert(now));
            current.asleep = since;
            if since.is_some_and(|since| now.0.saturating_sub(since.0) >= OVER.0) {
                compiler.current.take().map(|current| current.ended(now)).into_iter().for_each(&mut ended);
            }
        }
    }

    /// Hands over what is being compiled at the end of the recording, as far as it has come.
    pub(super) fn end(&mut self, now: Ticks, mut ended: impl FnMut(Report)) {
        let left = std::mem::take(&mut self.0).into_values().filter_map(|compiler| compiler.current);
        left.for_each(|current| ended(current.ended(now)));
    }
}

/// Whether the thread sleeps, or is no more.
fn sleeps(stat: &File) -> bool {
    !matches!(state(stat), Some(b'R' | b'D'))
}

/// What a thread does, as `/proc/PID/task/TID/stat` has it behind its name.
fn state(stat: &File) -> Option<u8> {
    let mut bytes = [0; 128];
    let length = stat.read_at(&mut bytes, 0).ok()?;
    let bytes = &bytes[..length];
    let behind = bytes.iter().rposition(|&byte| byte == b')')?;
    bytes.get(behind + 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::model::CodeTier;

    fn code(id: u32) -> Code {
        Code { id, method: "a.B::c".into(), tier: CodeTier::C2, is_osr: false, bytes: Some(9) }
    }

    #[test]
    fn the_next_compilation_of_a_thread_ends_the_one_before() {
        // SAFETY: no argument.
        let own = unsafe { libc::gettid() };
        let mut compilers = Compilers::default();
        assert!(compilers.begins(own, code(1), Ticks(1_000)).is_none());
        assert!(!compilers.are_idle());
        // This thread runs, so nothing has ended.
        compilers.look(Ticks(2_000), |report| panic!("{report:?}"));
        let before = compilers.begins(own, code(2), Ticks(5_000));
        assert!(
            matches!(before, Some(Report::Compilation(Code { id: 1, .. }, Ticks(1_000), Nanos(4_000)))),
            "{before:?}"
        );
        let mut left = Vec::new();
        compilers.end(Ticks(9_000), |report| left.push(report));
        assert!(matches!(left[..], [Report::Compilation(Code { id: 2, .. }, Ticks(5_000), Nanos(4_000))]), "{left:?}");
        assert!(compilers.are_idle());
    }

    #[test]
    fn a_compiler_that_sleeps_has_compiled() {
        let (wake, sleeps) = std::sync::mpsc::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let sleeper = std::thread::spawn(move || {
            // SAFETY: no argument.
            tell.send(unsafe { libc::gettid() }).expect("heard");
            let _ = sleeps.recv();
        });
        let tid = told.recv().expect("said");
        let mut compilers = Compilers::default();
        compilers.begins(tid, code(1), Ticks(1_000));
        let (mut now, mut ended) = (Ticks(2_000), Vec::new());
        while ended.is_empty() {
            now.0 += 1_000_000;
            compilers.look(now, |report| ended.push(report));
            std::thread::yield_now();
        }
        assert!(matches!(ended[..], [Report::Compilation(Code { id: 1, .. }, Ticks(1_000), _)]), "{ended:?}");
        drop(wake);
        sleeper.join().expect("ends");
    }
}
