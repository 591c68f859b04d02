//! Finds the owners of monitors, and their stacks, within what that may cost.

use std::ops::ControlFlow;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use agent_options::{LockOptions, Owners};
use jvmti::Jni;
use jvmti::jni_sys::jobject;

use super::owner::{Owner, owner_of};
use super::state::LockThread;
use super::thread_references::ThreadReferences;
use super::time_budget::TimeBudget;
use super::usage::{OwnerQuestion, owner_by_vm, visit_owned, visit_owned_by};
use agent_base::clock::Ticks;
use agent_base::ids::{StackIndex, ThreadIndex};
use agent_core::core::Core;
use agent_core::vm::environments::FIRST_BY_THREADS;
use hotspot::Hotspot;
use hotspot::memory::JavaThread;
use hotspot::monitors::MonitorLayout;

/// A stack of another thread costs three times the time that the asking thread waits: that thread is stopped, and its processor
/// is interrupted (`bci-tests/bench-runs/2026-11-21-locks.md`).
const STACK_PRICE: u64 = 3;
/// If JVMTI contradicts what memory says, the owner may have released the monitor before the answer and owned it again after it. That is
/// looked at so many times.
const COMPARISONS: usize = 4;

/// What a recording knows of owners.
pub(super) struct OwnerFinder {
    core: &'static Core,
    wanted: Owners,
    /// If owners are asked for their stacks, or for what they own.
    references: Option<ThreadReferences>,
    /// How JVMTI is asked for an owner.
    question: OnceLock<OwnerQuestion>,
    /// For asking it.
    budget: TimeBudget,
    /// For the stacks of owners.
    stack_budget: TimeBudget,
    /// Stacks that were taken after the owner had released the lock.
    stale_stacks: AtomicU64,
    unknown: AtomicU64,
    asked: AtomicU64,
}

impl OwnerFinder {
    /// For a recording with these options.
    pub(super) fn new(core: &'static Core, options: &LockOptions) -> OwnerFinder {
        let asks_threads = core.jvm.java >= FIRST_BY_THREADS;
        let takes_stacks = options.owners != Owners::WithoutStacks && options.stack_depth > 0;
        OwnerFinder {
            core,
            wanted: options.owners,
            references: (takes_stacks || asks_threads).then(ThreadReferences::default),
            question: OnceLock::new(),
            budget: TimeBudget::new(core.start, 1),
            stack_budget: TimeBudget::new(core.start, STACK_PRICE),
            stale_stacks: AtomicU64::new(0),
            unknown: AtomicU64::new(0),
            asked: AtomicU64::new(0),
        }
    }

    /// Finds out how owners are found, from VMInit on.
    pub(super) fn begin(&self, jni: Jni) {
        let env = self.core.jvm.env;
        self.reads_memory().inspect(|hotspot| hotspot.find_monitors(env, jni));
        let _ = self.question.set(OwnerQuestion::of(env, self.core.jvm.java, jni));
    }

    /// References to living threads, if they are kept.
    pub(super) fn references(&self) -> Option<&ThreadReferences> {
        self.references.as_ref()
    }

    /// A new local reference to a thread that lives; null if there is none.
    pub(super) fn reference(&self, jni: Jni, index: ThreadIndex) -> jobject {
        self.references.as_ref().map_or(null_mut(), |references| references.get(jni, index))
    }

    fn reads_memory(&self) -> Option<&'static Hotspot> {
        self.core.hotspot.filter(|_| self.wanted != Owners::ByJvmti)
    }

    /// The layout of monitors, if owners are to be read from memory.
    pub(super) fn layout(&self) -> Option<&'static MonitorLayout> {
        let layout = self.reads_memory()?.monitors()?;
        (layout.comparisons().1 == 0).then_some(layout)
    }

    /// How the owner of a monitor is asked for.
    pub(super) fn question(&self) -> OwnerQuestion {
        self.question.get().copied().unwrap_or(OwnerQuestion::None)
    }

    /// An owner was not found.
    pub(super) fn count_unknown(&self) {
        self.unknown.fetch_add(1, Ordering::Relaxed);
    }

    /// Asks JVMTI for the owner, unless that has cost too much lately. If nobody owns the monitor any more it is not known either.
    ///
    /// # Safety
    /// `object` is a live reference.
    pub(super) unsafe fn ask(&self, jni: Jni, object: jobject, now: Ticks) -> Owner {
        if self.question() == OwnerQuestion::None {
            return Owner::Unknown;
        }
        // SAFETY: by the caller's promise.
        let Some(owner) = self.budget.spend(now, || unsafe { self.present(jni, object, now) }) else {
            return Owner::Unknown;
        };
        self.asked.fetch_add(1, Ordering::Relaxed);
        owner.filter(|&owner| owner != Owner::Free).unwrap_or(Owner::Unknown)
    }

    /// The present owner of a monitor; `None` if it is not known.
    ///
    /// # Safety
    /// `object` is a live reference.
    unsafe fn present(&self, jni: Jni, object: jobject, now: Ticks) -> Option<Owner> {
        match self.question() {
            // SAFETY: by the caller's promise.
            OwnerQuestion::Monitor => unsafe { owner_by_vm(self.core, jni, object, now) },
            OwnerQuestion::Threads => {
                let mut owner = None;
                // SAFETY: live local references.
                visit_owned(self.core, jni, |thread, monitor| unsafe {
                    if !jni.is_same_object(monitor, object) {
                        return ControlFlow::Continue(());
                    }
                    owner = Some(Owner::Thread(self.core.jvm.threads.resolve(jni, thread, now)));
                    ControlFlow::Break(())
                });
                owner
            }
            OwnerQuestion::None => None,
        }
    }

    /// Whether a thread owns a monitor at present; `None` if nobody says so, or asking has cost too much lately: what the VM itself holds
    /// for a thread, as at the end of one, is in no thread's list.
    ///
    /// # Safety
    /// `object` is a live reference.
    pub(super) unsafe fn owns(&self, jni: Jni, owner: ThreadIndex, object: jobject) -> Option<bool> {
        let now = Ticks::now();
        let ask = || {
            // SAFETY: by the caller's promise.
            if self.question() == OwnerQuestion::Threads && unsafe { self.lists(jni, owner, object) } {
                return Some(true);
            }
            // SAFETY: by the caller's promise.
            match unsafe { self.present(jni, object, now) }? {
                Owner::Thread(found) => Some(found == owner),
                Owner::Free | Owner::Unknown => None,
            }
        };
        self.budget.spend(now, ask).flatten()
    }

    /// Whether a monitor is among those that a thread owns.
    ///
    /// # Safety
    /// `object` is a live reference.
    unsafe fn lists(&self, jni: Jni, owner: ThreadIndex, object: jobject) -> bool {
        let thread = self.reference(jni, owner);
        let mut lists = false;
        // SAFETY: live local references, each deleted when it is done with.
        unsafe {
            if !thread.is_null() {
                visit_owned_by(self.core, jni, thread, |monitor| {
                    lists |= jni.is_same_object(monitor, object);
                    ControlFlow::Continue(())
                });
                jni.delete_local_ref(thread);
            }
        }
        lists
    }

    /// Whether JVMTI says that who owns the monitor by memory owns it; `None` if that cannot be said. The current thread is about to block
    /// on it.
    ///
    /// # Safety
    /// `object` is a local reference of the current thread.
    pub(super) unsafe fn compare(
        &self,
        jni: Jni,
        layout: &MonitorLayout,
        current: JavaThread,
        object: jobject,
    ) -> Option<bool> {
        for _ in 0..COMPARISONS {
            let word = layout.pending_owner(current)?;
            // SAFETY: by the caller's promise.
            let Owner::Thread(read) = (unsafe { owner_of(self.core, layout, word, current, object) }) else {
                return None;
            };
            // SAFETY: by the caller's promise.
            if unsafe { self.owns(jni, read, object) }? {
                return Some(true);
            }
            // If the word has changed the question came too late.
            if layout.pending_owner(current) != Some(word) {
                return None;
            }
        }
        // Once, the monitor may have been another thread's for a moment and come back.
        Some(false)
    }

    /// The stack of an owner, unless stacks have cost too much lately or it has released the lock meanwhile.
    ///
    /// # Safety
    /// `owner` gives a new local reference to a thread, or null if that has ended.
    pub(super) unsafe fn stack(
        &self,
        jni: Jni,
        state: &mut LockThread,
        now: Ticks,
        owner: impl FnOnce() -> jobject,
        still_owns: impl FnOnce() -> bool,
    ) -> StackIndex {
        let wanted = self.wanted != Owners::WithoutStacks;
        let Some(walker) = state.owner_walker.as_mut().filter(|_| wanted) else {
            return StackIndex::default();
        };
        let walked = self.stack_budget.spend(now, || {
            let owner = owner();
            if owner.is_null() {
                return None;
            }
            // SAFETY: by the caller's promise; the reference is deleted when it is done with.
            unsafe {
                // The VM returns an error if the thread has just ended, or a class of its frames is unloaded: it is no owner
                // any more.
                let stack = walker.walk_other(owner, &self.core.tables(jni)).ok();
                jni.delete_local_ref(owner);
                stack.filter(|_| still_owns())
            }
        });
        match walked {
            Some(Some(stack)) => stack,
            Some(None) => {
                self.stale_stacks.fetch_add(1, Ordering::Relaxed);
                StackIndex::default()
            }
            None => StackIndex::default(),
        }
    }

    /// What is not known: key and number.
    pub(super) fn counts(&self) -> [(&'static str, u64); 7] {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let monitors = self.core.hotspot.and_then(Hotspot::monitors);
        let (compared, mismatches) = monitors.map_or((0, 0), MonitorLayout::comparisons);
        [
            ("owners.compared", compared),
            ("owners.mismatches", mismatches),
            ("owners.unknown", load(&self.unknown)),
            ("owners.asked", load(&self.asked)),
            ("owners.notAsked", self.budget.skipped()),
            ("ownerStacks.skipped", self.stack_budget.skipped()),
            ("ownerStacks.stale", load(&self.stale_stacks)),
        ]
    }
}
