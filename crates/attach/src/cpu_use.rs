//! What a JVM's own threads use of the processors, seen from outside: the system's clocks of its threads.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use crate::error::AttachError;
use crate::process::Process;
use warmth::{ThreadKind, Used};

/// Watches a JVM. A thread that ends takes at most what it used since the last look with it.
#[derive(Debug)]
pub struct CpuWatch<'p> {
    process: &'p Process,
    threads: HashMap<u32, (ThreadKind, Duration)>,
    sum: Used,
}

impl<'p> CpuWatch<'p> {
    /// Begins to watch.
    pub fn new(process: &'p Process) -> CpuWatch<'p> {
        CpuWatch { process, threads: HashMap::new(), sum: Used::default() }
    }

    /// What was used in all, that before the first look included.
    ///
    /// # Errors
    /// The JVM has ended, or may not be looked at.
    pub fn look(&mut self) -> Result<Used, AttachError> {
        let tasks = fs::read_dir(self.process.folder().join("task"));
        let tasks = tasks.map_err(|error| self.process.io("cannot read its threads", error))?;
        let mut threads = HashMap::with_capacity(self.threads.len());
        for task in tasks.flatten() {
            let Some(tid) = task.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let Some(now) = fs::read(task.path().join("schedstat")).ok().and_then(|text| on_processor(&text)) else {
                continue;
            };
            let before: Option<(ThreadKind, Duration)> = self.threads.get(&tid).copied();
            let kind = before.map_or_else(
                || ThreadKind::of_name(&fs::read(task.path().join("comm")).unwrap_or_default()),
                |(kind, _)| kind,
            );
            let more = now.saturating_sub(before.map_or(Duration::ZERO, |(_, time)| time));
            match kind {
                ThreadKind::C1 => self.sum.c1 += more,
                ThreadKind::C2 => self.sum.c2 += more,
                ThreadKind::Program => self.sum.program += more,
                ThreadKind::Vm => {}
            }
            threads.insert(tid, (kind, now));
        }
        self.threads = threads;
        Ok(self.sum)
    }

    /// Whether threads of C2 were seen: `-Xint`, `-client` and the like have none.
    pub fn has_c2(&self) -> bool {
        self.threads.values().any(|(kind, _)| *kind == ThreadKind::C2)
    }
}

/// The first number of `schedstat`: nanoseconds on a processor.
fn on_processor(text: &[u8]) -> Option<Duration> {
    let first = text.split(|&byte| byte == b' ').next()?;
    std::str::from_utf8(first).ok()?.trim().parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Pid;

    #[test]
    fn the_first_number_is_the_time_on_processors() {
        assert_eq!(on_processor(b"12345 678 9\n"), Some(Duration::from_nanos(12345)));
        assert_eq!(on_processor(b""), None);
    }

    #[test]
    fn what_this_process_uses_is_the_programs() {
        let process = Process::find(Pid(std::process::id())).expect("this process");
        let mut watch = CpuWatch::new(&process);
        let before = watch.look().expect("its threads");
        // Until the system's clock shows it.
        let mut now = before;
        while now.since(&before).program < Duration::from_millis(5) {
            now = watch.look().expect("its threads");
        }
        assert_eq!((now.c1, now.c2, watch.has_c2()), (Duration::ZERO, Duration::ZERO, false));
    }
}
