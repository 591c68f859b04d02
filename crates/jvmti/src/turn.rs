//! A lock that is held while the VM is called. The VM may stop whoever holds it there for as long as a debugger wants, so nobody waits for
//! it longer than a moment.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

/// So long one round of waiting takes.
const ROUND: Duration = Duration::from_millis(20);
/// So many rounds whoever has the turn may take. Between two rounds the VM is called: where it stops all threads it stops this one too,
/// so its pauses do not count.
const ROUNDS: u32 = 25;

/// Whose turn it is.
pub struct Turn {
    lock: Mutex<()>,
    /// Somebody waited in vain, and nobody has had the turn since.
    is_stuck: AtomicBool,
}

impl Turn {
    /// One that nobody has.
    pub const fn free() -> Turn {
        Turn { lock: Mutex::new(()), is_stuck: AtomicBool::new(false) }
    }

    /// Waits for the turn, and keeps it as long as the result lives; `None` if it does not come, or need not. `is_done` calls the VM to
    /// find out whether another thread has done meanwhile what this one wants to do.
    pub fn take(&self, mut is_done: impl FnMut() -> bool) -> Option<MutexGuard<'_, ()>> {
        let rounds = if self.is_stuck.load(Ordering::Relaxed) { 1 } else { ROUNDS };
        for _ in 0..rounds {
            if let Some(turn) = self.wait(if rounds == 1 { Duration::ZERO } else { ROUND }) {
                self.is_stuck.store(false, Ordering::Relaxed);
                return Some(turn);
            }
            if is_done() {
                return None;
            }
        }
        self.is_stuck.store(true, Ordering::Relaxed);
        None
    }

    fn wait(&self, longest: Duration) -> Option<MutexGuard<'_, ()>> {
        let begun = Instant::now();
        loop {
            match self.lock.try_lock() {
                Ok(turn) => return Some(turn),
                Err(TryLockError::Poisoned(turn)) => return Some(turn.into_inner()),
                Err(TryLockError::WouldBlock) => {}
            }
            let waited = begun.elapsed();
            if waited >= longest {
                return None;
            }
            if waited < ROUND / 100 { std::thread::yield_now() } else { std::thread::sleep(ROUND / 100) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_ever() {
        let turn = Turn::free();
        let held = turn.take(|| false);
        assert!(held.is_some());
        let mut asked = 0;
        let mut count = || {
            asked += 1;
            false
        };
        assert!(turn.take(&mut count).is_none());
        // The next one does not wait again.
        assert!(turn.take(&mut count).is_none());
        assert_eq!(asked, ROUNDS + 1);
        assert!(turn.take(|| true).is_none());
        drop(held);
        assert!(turn.take(|| false).is_some());
        assert!(!turn.is_stuck.load(Ordering::Relaxed));
    }
}
