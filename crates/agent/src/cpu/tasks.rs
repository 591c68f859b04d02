//! What the signal handler knows of each thread of the process. Read in a signal handler: no lock, no allocation there.
//!
//! A signal brings the place of its thread in this table, so that the handler needs no thread-local storage, and the generation
//! of that place: a signal that comes after its thread has left the table finds another one, and is dropped.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::who::Who;
use agent_base::ids::ThreadIndex;
use hotspot::memory::JavaThread;

/// Threads of a part of the table; parts are made as they are needed, and stay.
const PART: usize = 256;
/// So many threads can be sampled at a time.
pub(super) const MOST: usize = PART * 128;

/// A thread.
#[derive(Default)]
pub(super) struct Task {
    /// Odd while the place is taken.
    generation: AtomicU32,
    tid: AtomicI32,
    /// The address of its `JavaThread`; 0 if it has none, or is about to end.
    java_thread: AtomicUsize,
    /// Where the VM keeps what it waits for; 0 if that is not known.
    state: AtomicUsize,
    who: AtomicU32,
    /// The virtual thread that runs on it, counted from 1; 0 if there is none.
    mounted: AtomicU32,
    /// Intervals of CPU time that signals have brought.
    pub(super) intervals: AtomicU64,
    /// Those of them for which there was no memory.
    pub(super) unwritten: AtomicU64,
    /// When it was looked at last, whether it ran or not.
    pub(super) looked: AtomicU64,
}

/// A place in the table, as long as it is a thread's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TaskRef {
    pub(super) index: u16,
    pub(super) generation: u32,
}

impl Task {
    pub(super) fn java_thread(&self) -> Option<JavaThread> {
        Some(self.java_thread.load(Ordering::Relaxed)).filter(|&address| address != 0).map(JavaThread)
    }

    /// Where the VM keeps what the thread waits for.
    pub(super) fn state(&self) -> Option<usize> {
        Some(self.state.load(Ordering::Relaxed)).filter(|&address| address != 0)
    }

    pub(super) fn who(&self) -> Who {
        Who::unpack(self.who.load(Ordering::Relaxed))
    }

    /// The virtual thread that runs on it.
    pub(super) fn mounted(&self) -> Option<ThreadIndex> {
        self.mounted.load(Ordering::Relaxed).checked_sub(1).map(ThreadIndex)
    }

    pub(super) fn set_mounted(&self, thread: Option<ThreadIndex>) {
        self.mounted.store(thread.map_or(0, |thread| thread.0 + 1), Ordering::Relaxed);
    }

    /// From now on its memory in the VM is not read.
    pub(super) fn forget_vm(&self) {
        self.java_thread.store(0, Ordering::SeqCst);
        self.state.store(0, Ordering::SeqCst);
    }
}

/// What the VM has in memory for a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct VmThread {
    pub(super) java_thread: JavaThread,
    /// The address of the word that says what it waits for, if that is known.
    pub(super) state: Option<usize>,
}

/// What is known of a thread that is put into the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewTask {
    pub(super) tid: libc::pid_t,
    pub(super) who: Who,
    pub(super) vm: Option<VmThread>,
    pub(super) now: u64,
}

/// All threads.
pub(super) struct Tasks {
    parts: Box<[OnceLock<Box<[Task]>>]>,
    /// Places that were ever taken.
    used: AtomicU32,
}

impl Tasks {
    pub(super) fn new() -> Tasks {
        Tasks { parts: (0..MOST / PART).map(|_| OnceLock::new()).collect(), used: AtomicU32::new(0) }
    }

    fn at(&self, index: u16) -> Option<&Task> {
        let index = usize::from(index);
        self.parts.get(index / PART)?.get()?.get(index % PART)
    }

    /// The thread, if it has not left the table.
    pub(super) fn get(&self, place: TaskRef) -> Option<&Task> {
        self.at(place.index).filter(|task| task.generation.load(Ordering::Acquire) == place.generation)
    }

    /// The thread of that number. For the fallback, whose signals bring no place.
    pub(super) fn of_tid(&self, tid: libc::pid_t) -> Option<&Task> {
        let used = self.used.load(Ordering::Acquire) as u16;
        let is_it =
            |task: &&Task| task.tid.load(Ordering::Relaxed) == tid && task.generation.load(Ordering::Acquire) % 2 == 1;
        (0..used).filter_map(|index| self.at(index)).find(is_it)
    }

    /// Puts a thread into a free place. One thread at a time calls this and `release`.
    pub(super) fn take(&self, index: u16, new: NewTask) -> Option<TaskRef> {
        let part = self.parts.get(usize::from(index) / PART)?;
        part.get_or_init(|| (0..PART).map(|_| Task::default()).collect());
        let task = self.at(index)?;
        task.tid.store(new.tid, Ordering::Relaxed);
        task.java_thread.store(new.vm.map_or(0, |vm| vm.java_thread.0), Ordering::Relaxed);
        task.state.store(new.vm.and_then(|vm| vm.state).unwrap_or(0), Ordering::Relaxed);
        task.who.store(new.who.pack(), Ordering::Relaxed);
        task.mounted.store(0, Ordering::Relaxed);
        task.intervals.store(0, Ordering::Relaxed);
        task.unwritten.store(0, Ordering::Relaxed);
        task.looked.store(new.now, Ordering::Relaxed);
        let generation = task.generation.fetch_add(1, Ordering::Release) + 1;
        self.used.fetch_max(u32::from(index) + 1, Ordering::Release);
        Some(TaskRef { index, generation })
    }

    /// Frees the place of a thread: signals that still come for it are dropped.
    pub(super) fn release(&self, place: TaskRef) {
        if let Some(task) = self.get(place) {
            task.forget_vm();
            task.generation.fetch_add(1, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(tid: i32) -> NewTask {
        let vm = VmThread { java_thread: JavaThread(64), state: None };
        NewTask { tid, who: Who::Java(ThreadIndex(7)), vm: Some(vm), now: 0 }
    }

    #[test]
    fn a_signal_for_a_thread_that_has_left_finds_nothing() {
        let tasks = Tasks::new();
        let place = tasks.take(300, new(5)).unwrap();
        assert_eq!(tasks.get(place).unwrap().who(), Who::Java(ThreadIndex(7)));
        assert!(tasks.of_tid(5).is_some() && tasks.of_tid(6).is_none());
        tasks.release(place);
        assert!(tasks.get(place).is_none() && tasks.of_tid(5).is_none());
        let next = tasks.take(300, new(6)).unwrap();
        assert!(tasks.get(place).is_none() && tasks.get(next).is_some());
        assert!(tasks.take(MOST as u16, new(6)).is_none(), "the table has an end");
    }

    #[test]
    fn the_virtual_thread_comes_and_goes() {
        let tasks = Tasks::new();
        let task = tasks.get(tasks.take(0, new(5)).unwrap()).unwrap();
        assert_eq!(task.mounted(), None);
        task.set_mounted(Some(ThreadIndex(0)));
        assert_eq!(task.mounted(), Some(ThreadIndex(0)));
        task.set_mounted(None);
        assert_eq!((task.mounted(), task.java_thread()), (None, Some(JavaThread(64))));
        task.forget_vm();
        assert_eq!(task.java_thread(), None);
    }
}
