//! What is known of threads besides their samples.

use rustc_hash::FxHashMap;
use trace::model::ThreadKind;
use trace::time::Nanos;

use crate::symbols::{Symbols, ThreadIndex};

/// What threads of the VM's are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VmWork {
    /// They collect garbage.
    Collect,
    /// They compile.
    Compile,
    /// Anything else.
    Other,
}

/// What the names of threads that collect garbage begin with: those of the collectors of HotSpot.
const COLLECTORS: [&str; 9] =
    ["GC Thread", "G1 ", "ParGC", "Gang worker", "Concurrent Mark", "Shenandoah", "ZWorker", "XWorker", "ZDriver"];

impl VmWork {
    /// What a thread of this name is for. The kernel keeps only the beginning of a name.
    pub(super) fn of(name: &str) -> VmWork {
        match name {
            name if name.contains("CompilerThre") => VmWork::Compile,
            name if COLLECTORS.iter().any(|collector| name.starts_with(collector)) => VmWork::Collect,
            _ => VmWork::Other,
        }
    }
}

/// Kinds of threads, and their CPU clocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Threads {
    /// Of those that do not run Java.
    kinds: FxHashMap<ThreadIndex, ThreadKind>,
    clocks: FxHashMap<ThreadIndex, Nanos>,
    /// What their names have in common with those like them.
    pools: FxHashMap<ThreadIndex, String>,
}

impl Threads {
    pub(super) fn is_of_kind(&mut self, thread: ThreadIndex, kind: ThreadKind) {
        self.kinds.insert(thread, kind);
    }

    /// The thread has run for so long by now.
    pub(super) fn has_run(&mut self, thread: ThreadIndex, cpu: Nanos) {
        let known = self.clocks.entry(thread).or_default();
        *known = cpu.max(*known);
    }

    /// Finds what the names of threads that do not run Java have in common.
    pub(super) fn find_pools(&mut self, symbols: &Symbols) {
        let pool = |&thread: &ThreadIndex| (thread, pool_name(&symbols.thread_name(thread).name));
        self.pools = self.kinds.keys().map(pool).collect();
    }

    /// What a thread is; `None` if it runs Java.
    pub(super) fn kind(&self, thread: ThreadIndex) -> Option<ThreadKind> {
        self.kinds.get(&thread).copied()
    }

    /// What the name of a thread that does not run Java has in common with those like it.
    pub(super) fn pool(&self, thread: ThreadIndex) -> &str {
        self.pools.get(&thread).map_or("", String::as_str)
    }

    /// How long each thread has run, as far as it is known.
    pub(super) fn clocks(&self) -> impl Iterator<Item = (ThreadIndex, Nanos)> {
        self.clocks.iter().map(|(&thread, &cpu)| (thread, cpu))
    }

    /// How long a thread has run.
    pub(super) fn clock(&self, thread: ThreadIndex) -> Option<Nanos> {
        self.clocks.get(&thread).copied()
    }
}

/// A name with a `*` for the number at its end: `GC Thread#3` is one of `GC Thread#*`. Numbers inside mean something, as in `C2
/// CompilerThread0`.
fn pool_name(name: &str) -> String {
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if plain.is_empty() || plain == name { name.to_owned() } else { format!("{plain}*") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_the_vm_that_do_the_same_share_a_name() {
        let names = ["GC Thread#13", "C2 CompilerThread0", "VM Thread", "17", ""];
        assert_eq!(names.map(pool_name), ["GC Thread#*", "C2 CompilerThread*", "VM Thread", "17", ""]);
    }

    #[test]
    fn threads_of_the_vm_are_known_by_their_names() {
        for (name, work) in [
            ("GC Thread#3", VmWork::Collect),
            ("G1 Conc#0", VmWork::Collect),
            ("ZWorkerYoung#1", VmWork::Collect),
            ("Shenandoah GC T", VmWork::Collect),
            ("C2 CompilerThre", VmWork::Compile),
            ("C1 CompilerThread0", VmWork::Compile),
            ("VM Thread", VmWork::Other),
            ("Signal Dispatcher", VmWork::Other),
        ] {
            assert_eq!(VmWork::of(name), work, "{name}");
        }
    }
}
