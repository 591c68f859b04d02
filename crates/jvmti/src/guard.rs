//! Keeps panics inside the agent: unwinding into the VM would end the process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

static CAUGHT_PANICS: AtomicU64 = AtomicU64::new(0);

/// Runs the body of a callback from the VM. A panic in it is counted, and the default value returned instead.
pub fn guard<T: Default>(body: impl FnOnce() -> T) -> T {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(value) => value,
        Err(payload) => {
            // Dropping a payload may panic in its turn.
            std::mem::forget(payload);
            CAUGHT_PANICS.fetch_add(1, Ordering::Relaxed);
            T::default()
        }
    }
}

/// How many panics [`guard`] has caught since the library was loaded.
pub fn caught_panics() -> u64 {
    CAUGHT_PANICS.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct PanicsWhenDropped;

    impl Drop for PanicsWhenDropped {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }

    #[test]
    fn a_panic_becomes_the_default_and_is_counted() {
        let before = caught_panics();
        assert_eq!(guard(|| 7), 7);
        assert_eq!(caught_panics(), before);
        assert_eq!(guard(|| -> i32 { panic!("for the test") }), 0);
        guard(|| -> () { std::panic::panic_any(PanicsWhenDropped) });
        assert_eq!(caught_panics(), before + 2);
    }
}
