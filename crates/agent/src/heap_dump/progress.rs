//! Whether a dump comes on: steps of the thread that makes it, the time that its processor gives it, and bytes in its files.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use agent_base::clock::nanos_of;
use agent_base::mutex::Mutex;

/// What the thread that dumps shows of itself.
#[derive(Default)]
pub(super) struct Progress {
    steps: AtomicU64,
    clock: OnceLock<libc::clockid_t>,
    /// Where the VM writes its dump, while it does.
    folder: Mutex<Option<PathBuf>>,
}

/// Steps of the thread, and the time that its processor has given it.
pub(super) type ThreadSteps = (u64, Option<u64>);

/// Something that is different after progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DumpProgress {
    steps: u64,
    time: Option<u64>,
    bytes: u64,
}

impl Progress {
    /// The current thread is the one that dumps.
    pub(super) fn is_of_this_thread(&self) {
        let mut clock = 0;
        // SAFETY: the current thread's own handle, and a place for the answer.
        if unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut clock) } == 0 {
            let _ = self.clock.set(clock);
        }
    }

    /// It has done something.
    pub(super) fn step(&self) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }

    /// The VM writes into this folder from now on, or nowhere.
    pub(super) fn watch(&self, folder: Option<PathBuf>) {
        *self.folder.lock() = folder;
        self.step();
    }

    /// How far the thread has come, whatever the file system does.
    pub(super) fn of_thread(&self) -> ThreadSteps {
        let time = self.clock.get().and_then(|&clock| nanos_of(clock));
        (self.steps.load(Ordering::Relaxed), time)
    }

    /// How far it has come.
    pub(super) fn now(&self) -> DumpProgress {
        let (steps, time) = self.of_thread();
        let folder = self.folder.lock().clone();
        let files = folder.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
        let bytes = files.filter_map(|file| file.metadata().ok()).map(|metadata| metadata.len()).sum();
        DumpProgress { steps, time, bytes }
    }
}
