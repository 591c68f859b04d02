//! Threads that do not run Java: the VM's own, and those of native code.

use std::fs;

use rustc_hash::FxHashMap;
use trace::ids::ThreadId;
use trace::model::ThreadKind;

use super::who::OtherThread;
use crate::agent::clock::Ticks;
use crate::agent::ids::IdSource;

/// What is known of one.
#[derive(Clone, Debug)]
pub(crate) struct Other {
    pub(crate) id: ThreadId,
    /// As the system has it: its first fifteen bytes.
    pub(crate) name: String,
    pub(crate) kind: ThreadKind,
    pub(crate) found: Ticks,
}

/// Those that are sampled, or have ended and are not written yet.
pub(super) struct Others {
    ids: &'static IdSource,
    next: u32,
    known: FxHashMap<u32, Other>,
}

impl Others {
    pub(super) fn new(ids: &'static IdSource) -> Others {
        Others { ids, next: 0, known: FxHashMap::default() }
    }

    /// A thread is found.
    pub(super) fn add(&mut self, tid: libc::pid_t) -> OtherThread {
        let name = fs::read_to_string(format!("/proc/self/task/{tid}/comm")).unwrap_or_default();
        let name = name.trim_end().to_owned();
        let kind = if is_of_vm(&name) { ThreadKind::Vm } else { ThreadKind::Native };
        let number = self.next;
        self.next += 1;
        self.known.insert(number, Other { id: ThreadId(self.ids.next()), name, kind, found: Ticks::now() });
        OtherThread(number)
    }

    pub(super) fn get(&self, number: OtherThread) -> Option<&Other> {
        self.known.get(&number.0)
    }

    /// Nothing more is written of the thread.
    pub(super) fn forget(&mut self, number: OtherThread) {
        self.known.remove(&number.0);
    }
}

/// How HotSpot's own threads are named, JDK 11 to 25: collectors, compilers, and what keeps the house.
const OF_VM: [&str; 22] = [
    "VM Thread",
    "VM Periodic",
    "C1 ",
    "C2 ",
    "JVMCI",
    "GC Thread",
    "G1 ",
    "Gang worker",
    "ParGC",
    "Concurrent ",
    "Z",
    "RuntimeWorker",
    "Shenandoah",
    "Service Thread",
    "Sweeper",
    "Monitor Deflat",
    "Notification T",
    "StringDedup",
    "Signal Dispatch",
    "Common-Cleaner",
    "JFR ",
    "AsyncLog",
];

fn is_of_vm(name: &str) -> bool {
    // Z's are called ZDriver, ZWorker#0, ZMarker: no blank.
    let matches = |known: &&str| match *known {
        "Z" => name.starts_with('Z') && name[1..].starts_with(|next: char| next.is_ascii_uppercase()),
        known => name.starts_with(known),
    };
    OF_VM.iter().any(|known| matches(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_the_vm_are_known_by_their_names() {
        for name in ["G1 Conc#0", "GC Thread#3", "C2 CompilerThre", "VM Thread", "ZWorker#0", "ZDriverMinor"] {
            assert!(is_of_vm(name), "{name}");
        }
        for name in ["java", "Zebra", "worker", "", "Z"] {
            assert!(!is_of_vm(name), "{name}");
        }
    }
}
