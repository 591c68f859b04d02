//! Threads that do not run Java: the VM's own, and those of native code.

use std::fs;

use rustc_hash::FxHashMap;
use trace::ids::ThreadId;
use trace::model::ThreadKind;

use super::who::OtherThread;
use agent_base::clock::Ticks;
use agent_base::ids::IdSource;

/// What is known of one.
#[derive(Clone, Debug)]
pub(crate) struct NonJavaThread {
    pub(crate) id: ThreadId,
    /// As far as the system has it: its first fifteen bytes.
    pub(crate) name: String,
    pub(crate) kind: ThreadKind,
    pub(crate) found: Ticks,
}

/// Those that are sampled, or have ended and are not written yet.
pub(super) struct NonJavaThreads {
    ids: &'static IdSource,
    next: u32,
    known: FxHashMap<u32, NonJavaThread>,
}

impl NonJavaThreads {
    pub(super) fn new(ids: &'static IdSource) -> NonJavaThreads {
        NonJavaThreads { ids, next: 0, known: FxHashMap::default() }
    }

    /// A thread is found.
    pub(super) fn add(&mut self, tid: libc::pid_t) -> OtherThread {
        let name = fs::read_to_string(format!("/proc/self/task/{tid}/comm")).unwrap_or_default();
        let kept = name.trim_end();
        let (name, kind) = match name_of_vm(kept) {
            Some(name) => (name, ThreadKind::Vm),
            None => (kept, ThreadKind::Native),
        };
        let number = self.next;
        self.next += 1;
        let id = ThreadId(self.ids.next());
        self.known.insert(number, NonJavaThread { id, name: name.to_owned(), kind, found: Ticks::now() });
        OtherThread(number)
    }

    pub(super) fn get(&self, number: OtherThread) -> Option<&NonJavaThread> {
        self.known.get(&number.0)
    }

    /// Nothing more is written of the thread.
    pub(super) fn forget(&mut self, number: OtherThread) {
        self.known.remove(&number.0);
    }
}

/// How HotSpot's own threads are named, JDK 11 to 25, or how those names begin: collectors, compilers, and what keeps the house.
const OF_VM: [&str; 27] = [
    "VM Thread",
    "VM Periodic Task Thread",
    "C1 CompilerThread",
    "C2 CompilerThread",
    "JVMCI",
    "GC Thread",
    "G1 Young RemSet Sampling",
    "G1 ",
    "Gang worker",
    "ParGC",
    "Concurrent ",
    "ZDriver",
    "ZWorker",
    "ZDirector",
    "ZStat",
    "ZUnmapper",
    "ZUncommitter",
    "ZCollector",
    "RuntimeWorker",
    "Shenandoah",
    "Service Thread",
    "Sweeper thread",
    "Monitor Deflation Thread",
    "Notification Thread",
    "StringDedup",
    "JFR ",
    "AsyncLog",
];

/// Bytes of a name that the system keeps.
const KEPT: usize = 15;

/// The name of a thread of the VM, which may be longer than what the system keeps of it; `None` if it is none of the VM's.
fn name_of_vm(kept: &str) -> Option<&str> {
    OF_VM.into_iter().find_map(|known| {
        if kept.starts_with(known) {
            Some(kept)
        } else {
            (kept.len() == KEPT && known.starts_with(kept)).then_some(known)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_the_vm_are_known_by_their_names() {
        for name in ["G1 Conc#0", "GC Thread#3", "VM Thread", "ZWorker#0", "ZDriverMinor"] {
            assert_eq!(name_of_vm(name), Some(name));
        }
        for name in ["java", "Zebra", "worker", "", "Z", "C2"] {
            assert_eq!(name_of_vm(name), None, "{name}");
        }
        assert_eq!(name_of_vm("C2 CompilerThre"), Some("C2 CompilerThread"));
    }
}
