//! Whether a walk over the heap is bearable with the stacks that threads have now.
//!
//! Before it walks, HotSpot gives back to the heap what C2 keeps in registers and stacks (`EscapeBarrier`, 16 and later). For each
//! such frame it begins again at the top of the stack: that is the square of the depth, minutes for a recursion without end.

use jvmti::Jni;
use jvmti::jni_sys::jint;
use jvmti::sys::jvmtiFrameInfo;

use super::Jvm;
use agent_base::message::message;

/// The first release that does so.
const FIRST: u32 = 16;
/// Sum of the squares of depths: some four seconds.
const MOST: u64 = 1_000_000_000;
/// A stack that is no deeper counts as if it were as deep, since to find out takes longer.
const USUAL: jint = 128;
/// No stack is deeper.
const DEEPEST: jint = 1 << 30;

/// Whether the walk takes no more than some seconds longer for the stacks. If not, a message says so.
pub fn are_bearable(jvm: &Jvm, jni: Jni) -> bool {
    if jvm.java < FIRST {
        return true;
    }
    let Ok(threads) = jvm.env.get_all_threads() else { return true };
    jni.expect_local_refs(threads.len());
    let mut depths = Vec::with_capacity(threads.len());
    for &thread in threads.iter() {
        // SAFETY: a live local reference, deleted when it is done with.
        unsafe {
            depths.push(depth(|frames| {
                jvm.env.get_stack_trace(thread, frames, &mut [jvmtiFrameInfo::default()]).is_ok()
            }));
            jni.delete_local_ref(thread);
        }
    }
    let are_bearable = sum_of_squares(&depths) <= MOST;
    if !are_bearable {
        let deepest = depths.iter().max().copied().unwrap_or(0);
        message(&format!("skipped the heap walk: a stack has {deepest} frames, which would pause the JVM for minutes"));
    }
    are_bearable
}

/// The depth of a stack, of which can be asked whether it has a frame behind so many. It is not asked for the depth itself: the VM forgets
/// the thread's state if the thread ends meanwhile, and crashes (`GetFrameCount`, seen on 17).
fn depth(has_frame_behind: impl Fn(jint) -> bool) -> u64 {
    let mut most = USUAL;
    while most < DEEPEST && has_frame_behind(most) {
        most *= 2;
    }
    if most == USUAL {
        return USUAL as u64;
    }
    let mut least = most / 2;
    while most - least > 1 {
        let middle = least + (most - least) / 2;
        *if has_frame_behind(middle) { &mut least } else { &mut most } = middle;
    }
    most as u64
}

fn sum_of_squares(depths: &[u64]) -> u64 {
    depths.iter().fold(0, |sum, &depth| sum.saturating_add(depth.saturating_mul(depth)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_depth_is_found_by_frames_that_are_there() {
        for frames in [0, 1, 127, 128] {
            assert_eq!(depth(|behind| behind < frames), 128, "{frames}");
        }
        for frames in [129, 255, 256, 257, 1000, 4096, 1_000_001] {
            assert_eq!(depth(|behind| behind < frames), frames as u64);
        }
        assert_eq!(depth(|_| true), 1 << 30);
    }

    #[test]
    fn one_deep_stack_is_too_much_and_many_usual_ones_are_not() {
        assert!(sum_of_squares(&[200; 10_000]) <= MOST);
        assert!(sum_of_squares(&[15_000, 50]) <= MOST);
        assert!(sum_of_squares(&[200_000]) > MOST);
        assert_eq!(sum_of_squares(&[u64::MAX, 1]), u64::MAX);
    }
}
