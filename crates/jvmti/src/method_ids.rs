//! Ids of methods, which VMs before JDK 23 make unsafely.
//!
//! Such a VM keeps the ids of a class in an array, which it replaces by a longer one when a method that was redefined, and still runs,
//! gets its id. `InstanceKlass::get_jmethod_id` reads the array's address before it takes the lock under which it reads the array, so
//! of two threads that ask for ids of one class at that time one reads memory that is freed, and gets an id that crashes the VM.
//! JDK-8313332 replaces the array where all threads stand still.

use std::sync::MutexGuard;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Turn;

/// The first feature release whose VM makes them safely.
const FIRST_SAFE: u32 = 23;

static TURN: Turn = Turn::free();
/// Threads ask in turn.
static IS_IN_TURN: AtomicBool = AtomicBool::new(false);

/// Classes will be redefined, or may have been: from now on the functions of this crate that make ids of methods do so for one thread at
/// a time, if the VM needs that. `java` is its feature release.
pub fn classes_are_redefined(java: u32) {
    if java < FIRST_SAFE {
        IS_IN_TURN.store(true, Ordering::Release);
    }
}

/// Waits until nobody else asks for ids of methods; `call` calls the VM, where this thread stops while all threads do. If the VM stops
/// whoever has the turn, as debuggers do, this one goes on without: what can happen then needs a class whose methods run since before
/// they were redefined.
#[inline]
pub(crate) fn turn(call: impl Fn()) -> Option<MutexGuard<'static, ()>> {
    if !IS_IN_TURN.load(Ordering::Acquire) {
        return None;
    }
    TURN.take(|| {
        call();
        false
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_ask_in_turn_once_the_vm_needs_it() {
        assert!(turn(|| ()).is_none());
        classes_are_redefined(FIRST_SAFE);
        assert!(turn(|| ()).is_none());
        classes_are_redefined(FIRST_SAFE - 1);
        let taken = turn(|| ());
        assert!(taken.is_some());
        let other = std::thread::spawn(|| turn(|| ()).is_none());
        assert!(other.join().expect("no panic"));
    }
}
