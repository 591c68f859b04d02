//! Whether a walk over the heap is bearable with the stacks that threads have now.
//!
//! Before it walks, HotSpot gives back to the heap what C2 keeps in registers and stacks (`EscapeBarrier`, 16 and later). For each
//! such frame it begins again at the top of the stack: that is the square of the depth, minutes for a recursion without end.

use jvmti::Jni;

use super::Jvm;
use crate::agent::message::message;

/// The first release that does so.
const FIRST: u32 = 16;
/// Sum of the squares of depths: some four seconds.
const MOST: u64 = 1_000_000_000;

/// Whether the walk takes no more than some seconds longer for the stacks. If not, a message says so.
pub(crate) fn are_bearable(jvm: &Jvm, jni: Jni) -> bool {
    if jvm.java < FIRST {
        return true;
    }
    let Ok(threads) = jvm.env.get_all_threads() else { return true };
    jni.expect_local_refs(threads.len());
    let mut depths = Vec::with_capacity(threads.len());
    for &thread in threads.iter() {
        // SAFETY: a live local reference, deleted when it is done with.
        unsafe {
            depths.extend(jvm.env.get_frame_count(thread).ok().and_then(|count| u64::try_from(count).ok()));
            jni.delete_local_ref(thread);
        }
    }
    let are_bearable = sum_of_squares(&depths) <= MOST;
    if !are_bearable {
        let deepest = depths.iter().max().copied().unwrap_or(0);
        message(&format!(
            "the heap is not walked: a stack has {deepest} frames, with which the JVM would stand still for minutes"
        ));
    }
    are_bearable
}

fn sum_of_squares(depths: &[u64]) -> u64 {
    depths.iter().fold(0, |sum, &depth| sum.saturating_add(depth.saturating_mul(depth)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_deep_stack_is_too_much_and_many_usual_ones_are_not() {
        assert!(sum_of_squares(&[200; 10_000]) <= MOST);
        assert!(sum_of_squares(&[15_000, 50]) <= MOST);
        assert!(sum_of_squares(&[200_000]) > MOST);
        assert_eq!(sum_of_squares(&[u64::MAX, 1]), u64::MAX);
    }
}
