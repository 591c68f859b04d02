//! Memory for samples on their way from signal handlers to the writer. Used in a signal handler: no lock, no allocation there.
//!
//! One region for all threads. Free slots are a stack, so that what was used last is used next and a program with few samples
//! touches little of it; filled ones are a list that the writer takes as a whole. So a handler that the system interrupts holds
//! up no other.

use std::cell::UnsafeCell;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Slots that may wait for the writer.
pub(super) const MOST: u32 = 2048;

/// A slot.
#[repr(C)]
struct Slot<T> {
    /// The next one of its list, counted from 1; 0 is the end.
    next: AtomicU32,
    value: UnsafeCell<T>,
}

/// The memory.
pub(super) struct Slots<T: 'static> {
    slots: NonNull<Slot<T>>,
    /// What a slot holds that was never used: copied from where it lies, since it is too large for the stack of a signal handler.
    empty: &'static T,
    /// Those that were ever used.
    fresh: AtomicU32,
    /// The first free one, counted from 1, below a number that changes each time: so a list that was changed and changed back
    /// meanwhile is not taken for the same.
    free: AtomicU64,
    /// The filled one that came last, counted from 1.
    filled: AtomicU32,
}

// SAFETY: a slot is used by whoever took it alone, and all else is atomic.
unsafe impl<T: Send> Send for Slots<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Slots<T> {}

/// A slot that is being filled, counted from 1.
pub(super) struct Taken(u32);

impl<T> Slots<T> {
    /// Room for samples; `None` if the system gives none. Pages that are not used take no memory.
    pub(super) fn new(empty: &'static T) -> Option<Slots<T>> {
        const { assert!(!std::mem::needs_drop::<T>(), "nothing in a slot is ever dropped") };
        let bytes = MOST as usize * size_of::<Slot<T>>();
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping, which stays as long as the process.
        let memory = unsafe { libc::mmap(null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        let slots = NonNull::new(memory.cast()).filter(|_| memory != libc::MAP_FAILED)?;
        let (fresh, free, filled) = (AtomicU32::new(0), AtomicU64::new(0), AtomicU32::new(0));
        Some(Slots { slots, empty, fresh, free, filled })
    }

    /// The slot of that number, which is from 1 to `MOST`.
    fn slot(&self, number: u32) -> &Slot<T> {
        // SAFETY: only numbers that `take` has made are in the lists, and those lie in the mapping.
        unsafe { &*self.slots.as_ptr().add(number as usize - 1) }
    }

    /// A free slot, if there is one. Called by the signal handler.
    pub(super) fn take(&self) -> Option<Taken> {
        let mut free = self.free.load(Ordering::Acquire);
        while let number @ 1.. = free as u32 {
            let next = self.slot(number).next.load(Ordering::Relaxed);
            let changed = (free >> 32).wrapping_add(1) << 32 | u64::from(next);
            match self.free.compare_exchange_weak(free, changed, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return Some(Taken(number)),
                Err(now) => free = now,
            }
        }
        let take = |fresh: u32| (fresh < MOST).then_some(fresh + 1);
        let number = self.fresh.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()? + 1;
        // SAFETY: nobody else has this slot, whose memory has no value yet.
        unsafe { self.slot(number).value.get().copy_from_nonoverlapping(self.empty, 1) };
        Some(Taken(number))
    }

    /// What the slot holds, and is to hold. Called by the signal handler.
    pub(super) fn value<'t>(&self, taken: &'t mut Taken) -> &'t mut T {
        // SAFETY: whoever has taken it has it alone, and `take` has given it a value.
        unsafe { &mut *self.slot(taken.0).value.get() }
    }

    /// Hands a filled slot to the writer. Called by the signal handler.
    pub(super) fn publish(&self, Taken(number): Taken) {
        let mut first = self.filled.load(Ordering::Relaxed);
        loop {
            self.slot(number).next.store(first, Ordering::Relaxed);
            match self.filled.compare_exchange_weak(first, number, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => first = now,
            }
        }
    }

    /// Calls `visit` with what was handed over since the last call, in that order, and frees it.
    pub(super) fn drain(&self, mut visit: impl FnMut(&T)) {
        let mut last = self.filled.swap(0, Ordering::Acquire);
        let mut in_order = 0;
        while last != 0 {
            let before = self.slot(last).next.swap(in_order, Ordering::Relaxed);
            (in_order, last) = (last, before);
        }
        while in_order != 0 {
            let next = self.slot(in_order).next.load(Ordering::Relaxed);
            // SAFETY: it is in no list, and the handler that filled it does not use it any more.
            visit(unsafe { &*self.slot(in_order).value.get() });
            self.release(in_order);
            in_order = next;
        }
    }

    fn release(&self, number: u32) {
        let mut free = self.free.load(Ordering::Relaxed);
        loop {
            self.slot(number).next.store(free as u32, Ordering::Relaxed);
            let changed = (free >> 32).wrapping_add(1) << 32 | u64::from(number);
            match self.free.compare_exchange_weak(free, changed, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => free = now,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static EMPTY: u64 = 0;

    fn put(slots: &Slots<u64>, number: u64) -> bool {
        let Some(mut taken) = slots.take() else { return false };
        *slots.value(&mut taken) = number;
        slots.publish(taken);
        true
    }

    #[test]
    fn what_is_handed_over_comes_in_order_and_room_comes_back() {
        let slots = Slots::new(&EMPTY).unwrap();
        for round in 0..3 {
            let kept = (0..10_000).take_while(|&number| put(&slots, round + number)).count();
            assert_eq!(kept, MOST as usize);
            let mut expected = round;
            slots.drain(|&number| {
                assert_eq!(number, expected);
                expected += 1;
            });
            assert_eq!(expected - round, u64::from(MOST));
        }
    }

    #[test]
    fn one_that_is_being_filled_holds_up_no_other() {
        let slots = Slots::new(&EMPTY).unwrap();
        let mut slow = slots.take().unwrap();
        assert!(put(&slots, 2));
        let mut found = Vec::new();
        slots.drain(|&number| found.push(number));
        *slots.value(&mut slow) = 1;
        slots.publish(slow);
        slots.drain(|&number| found.push(number));
        assert_eq!(found, [2, 1]);
        // What was used is used again.
        assert!(put(&slots, 3));
        assert_eq!(slots.fresh.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn many_threads_lose_nothing() {
        const EACH: u64 = 50_000;
        let slots = Slots::new(&EMPTY).unwrap();
        let (mut sum, mut count) = (0, 0);
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..4)
                .map(|worker| {
                    let slots = &slots;
                    scope.spawn(move || {
                        for number in 0..EACH {
                            while !put(slots, worker * EACH + number) {
                                std::thread::yield_now();
                            }
                        }
                    })
                })
                .collect();
            while count < 4 * EACH {
                slots.drain(|&number| (sum, count) = (sum + number, count + 1));
            }
            workers.into_iter().for_each(|worker| worker.join().unwrap());
        });
        assert_eq!((sum, count), ((0..4 * EACH).sum(), 4 * EACH));
    }
}
