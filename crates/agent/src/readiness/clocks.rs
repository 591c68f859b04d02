//! What the threads of this JVM have used of the processors, by the system's clocks of them.

use std::fs;
use std::time::Duration;

use rustc_hash::FxHashMap;
use warmth::{ThreadKind, Used};

use crate::cpu::CpuClock;
use agent_base::clock::Ticks;

/// The threads are listed so often, in nanoseconds.
const LIST: u64 = 2_000_000_000;

/// A thread, and what it had used when it was looked at last.
struct Thread {
    kind: ThreadKind,
    used: u64,
}

/// The clocks. Those of the program's threads are not read: the process has one for all together.
#[derive(Default)]
pub(super) struct Clocks {
    threads: FxHashMap<libc::pid_t, Thread>,
    listed: Option<Ticks>,
    c1: u64,
    c2: u64,
    vm: u64,
}

impl Clocks {
    /// What was used since the process began. What threads of the VM used between the last look and their end counts as the program's.
    pub(super) fn look(&mut self, now: Ticks) -> Used {
        if self.listed.is_none_or(|listed| now.0.saturating_sub(listed.0) >= LIST) {
            self.listed = Some(now);
            self.list();
        }
        for (&tid, thread) in &mut self.threads {
            let sum = match thread.kind {
                ThreadKind::C1 => &mut self.c1,
                ThreadKind::C2 => &mut self.c2,
                ThreadKind::Vm => &mut self.vm,
                ThreadKind::Program => continue,
            };
            let Some(used) = CpuClock::of(tid).nanos() else { continue };
            // The number of one that has ended may be another's by now.
            *sum += used.saturating_sub(thread.used);
            thread.used = used;
        }
        let all = CpuClock::PROCESS.nanos().unwrap_or(0);
        let program = all.saturating_sub(self.c1 + self.c2 + self.vm);
        let time = Duration::from_nanos;
        Used { c1: time(self.c1), c2: time(self.c2), program: time(program), ..Used::default() }
    }

    fn list(&mut self) {
        let Ok(tasks) = fs::read_dir("/proc/self/task") else { return };
        let tids = tasks.flatten().filter_map(|task| task.file_name().to_str()?.parse().ok());
        let mut before = std::mem::take(&mut self.threads);
        self.threads = tids
            .map(|tid: libc::pid_t| {
                let new = || Thread { kind: kind(tid), used: 0 };
                (tid, before.remove(&tid).unwrap_or_else(new))
            })
            .collect();
    }

    /// Whether there is an optimising compiler.
    pub(super) fn has_c2(&self) -> bool {
        self.threads.values().any(|thread| thread.kind == ThreadKind::C2)
    }
}

fn kind(tid: libc::pid_t) -> ThreadKind {
    ThreadKind::of_name(&fs::read(format!("/proc/self/task/{tid}/comm")).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_process_uses_is_the_programs() {
        let mut clocks = Clocks::default();
        let before = clocks.look(Ticks::now());
        let mut now = before;
        while now.since(&before).program < Duration::from_millis(5) {
            now = clocks.look(Ticks::now());
        }
        assert_eq!((now.c1, now.c2, clocks.has_c2()), (Duration::ZERO, Duration::ZERO, false));
    }
}
