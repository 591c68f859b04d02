//! What HotSpot keeps in memory about monitors and the threads that block on them.
//!
//! HotSpot notes in each thread which monitor it is about to block on, before it sends the event, and the monitor knows its
//! owner. HotSpot exports the places of both for debuggers (`gHotSpotVMStructs`), on every version. The monitor is not freed
//! while the current thread is about to enter it, so reading it needs no lock.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use jvmti::jni_sys::jobject;
use jvmti::{Field, Jni};

use super::doubtful;
use super::memory::{JavaThread, load};
use agent_base::message::message;

/// The address of an object's monitor; 0 where none is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MonitorAddress(pub usize);

/// The word in a monitor that identifies its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnerWord(pub usize);

/// So many owners are compared with what JVMTI says first.
const COMPARED: u32 = 8;
/// No lock stack has more entries.
const MAX_LOCKED: usize = 64;

/// Where HotSpot keeps what is needed: offsets in bytes.
#[derive(Debug)]
pub struct MonitorLayout {
    /// From a `JavaThread` to the JNI environment inside it.
    env: usize,
    pending_monitor: usize,
    owner: usize,
    /// The owner is a number of a thread.
    owner_is_number: bool,
    /// In a monitor: the address in the stack of an anonymous owner.
    stack_locker: Option<usize>,
    stack_base: usize,
    stack_size: usize,
    /// In a `JavaThread`: the end of its lock stack, as an offset from its own beginning, and the first entry.
    lock_stack: Option<(usize, usize)>,
    /// Owners that are compared with JVMTI's before memory alone is believed.
    uncompared: AtomicU32,
    is_comparing: AtomicBool,
    compared: AtomicU64,
    mismatches: AtomicU64,
}

impl MonitorLayout {
    /// The layout of this VM, if it exports one that holds for the current thread, whose `JavaThread` is given.
    pub(crate) fn find(jni: Jni, current: JavaThread) -> Option<MonitorLayout> {
        let thread = |name| Field::offset_of(c"JavaThread", name).or_else(|| Field::offset_of(c"Thread", name));
        let lock_stack = thread(c"_lock_stack").and_then(|lock_stack| {
            let top = Field::offset_of(c"LockStack", c"_top")?;
            Some((lock_stack + top, lock_stack + Field::offset_of(c"LockStack", c"_base[0]")?))
        });
        let layout = MonitorLayout {
            env: (jni.as_raw() as usize).checked_sub(current.0)?,
            pending_monitor: thread(c"_current_pending_monitor")?,
            owner: Field::offset_of(c"ObjectMonitor", c"_owner")?,
            owner_is_number: thread(c"_monitor_owner_id").or_else(|| thread(c"_lock_id")).is_some(),
            stack_locker: Field::offset_of(c"ObjectMonitor", c"_stack_locker"),
            stack_base: thread(c"_stack_base")?,
            stack_size: thread(c"_stack_size")?,
            lock_stack,
            uncompared: AtomicU32::new(COMPARED),
            is_comparing: AtomicBool::new(false),
            compared: AtomicU64::new(0),
            mismatches: AtomicU64::new(0),
        };
        let (low, high) = layout.stack(current)?;
        // If the layout is wrong, the current stack is not where it says.
        let here = (&raw const layout) as usize;
        (low < here && here < high && high - low < 1 << 40).then_some(layout)
    }

    /// The `JavaThread` of the current thread.
    pub fn current(&self, jni: Jni) -> JavaThread {
        JavaThread(jni.as_raw() as usize - self.env)
    }

    /// The lowest address of a thread's stack, and the first above it.
    pub fn stack(&self, thread: JavaThread) -> Option<(usize, usize)> {
        let base = doubtful::word(thread.0 + self.stack_base)?;
        Some((base.saturating_sub(doubtful::word(thread.0 + self.stack_size)?), base))
    }

    /// Whether memory alone is not believed yet.
    fn is_in_doubt(&self) -> bool {
        self.uncompared.load(Ordering::Relaxed) > 0
    }

    /// Whether the owner that was just found is to be compared with JVMTI's: one thread at a time does that, and ends it.
    pub fn begin_comparison(&self) -> bool {
        self.is_in_doubt() && !self.is_comparing.swap(true, Ordering::Relaxed)
    }

    /// Ends a comparison, which may have shown nothing. From the first difference on no owner is read from memory.
    pub fn end_comparison(&self, is_same: Option<bool>) {
        self.is_comparing.store(false, Ordering::Relaxed);
        let Some(is_same) = is_same else { return };
        let _ = self.uncompared.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        self.compared.fetch_add(1, Ordering::Relaxed);
        if !is_same && self.mismatches.fetch_add(1, Ordering::Relaxed) == 0 {
            message("a monitor's owner in the JVM's memory differs from JVMTI's; from now on owners come from JVMTI");
        }
    }

    /// Owners that were compared, and those of them that differed.
    pub fn comparisons(&self) -> (u64, u64) {
        (self.compared.load(Ordering::Relaxed), self.mismatches.load(Ordering::Relaxed))
    }

    /// Whether the object at that address is on the thread's lock stack.
    ///
    /// # Safety
    /// The thread lives.
    pub unsafe fn has_locked(&self, thread: JavaThread, oop: usize) -> bool {
        let Some((top, first)) = self.lock_stack else { return false };
        // SAFETY: by the caller's promise; the end is an offset of 32 bits, and is checked below.
        let end = unsafe { load(thread.0 + top) } as u32 as usize;
        let room = first + MAX_LOCKED * size_of::<usize>();
        end <= room
            && (first..end).step_by(size_of::<usize>()).any(|entry| {
                // SAFETY: by the caller's promise; the entry lies within the lock stack.
                unsafe { load(thread.0 + entry) == oop }
            })
    }

    /// The word of the owner in the monitor that the current thread is about to block on; `None` if there is none.
    pub fn pending_owner(&self, current: JavaThread) -> Option<OwnerWord> {
        let MonitorAddress(monitor) = self.pending_monitor(current);
        if monitor == 0 {
            return None;
        }
        // As long as nothing has shown that the layout is right.
        if self.is_in_doubt() {
            return doubtful::word(monitor + self.owner).map(OwnerWord);
        }
        // SAFETY: the monitor that the current thread is about to enter is not freed meanwhile.
        Some(OwnerWord(unsafe { load(monitor + self.owner) }))
    }

    /// The monitor that the current thread is about to block on.
    pub fn pending_monitor(&self, current: JavaThread) -> MonitorAddress {
        // SAFETY: the current thread lives.
        MonitorAddress(unsafe { load(current.0 + self.pending_monitor) })
    }

    /// In the monitor that the current thread is about to block on: the address in the stack of an anonymous owner, if the VM
    /// keeps one.
    pub fn pending_stack_locker(&self, current: JavaThread) -> Option<usize> {
        let locker = self.stack_locker?;
        let MonitorAddress(monitor) = self.pending_monitor(current);
        // SAFETY: as in `pending_owner`.
        let address = if monitor == 0 { 0 } else { unsafe { load(monitor + locker) } };
        Some(address).filter(|&address| address != 0)
    }

    /// Whether the word of an owner is the number of a thread, and not an address.
    pub fn owner_is_number(&self) -> bool {
        self.owner_is_number
    }
}

/// The present address of the object of a local reference, which points to a word that the collector updates.
///
/// # Safety
/// `object` is a local reference of the current thread.
pub unsafe fn object_address(object: jobject) -> usize {
    // SAFETY: by the caller's promise.
    unsafe { load(object as usize) }
}
