//! Arrays that were counted but did not fit into the heap.
//!
//! Hooks come before the instruction. If that fails the VM tells so (`ResourceExhausted`) before it throws the error, on the thread
//! that it fails for; what such a thread counted last is that very array, which is then taken back.

use std::ptr::null_mut;
use std::sync::atomic::Ordering;

use classfile::opcode;
use jvmti::Jni;
use jvmti::sys::jvmtiFrameInfo;

use super::Counts;
use super::slots::{COUNTER_BITS, CounterIndex, LAST_ARRAY};
use crate::agent::Agent;
use crate::agent::clock::Ticks;
use crate::agent::threads::with_context;

/// An array of so many bytes, and the counter that counted it, as MartiniCounts notes them.
pub(super) fn last(counter: CounterIndex, bytes: u64) -> u64 {
    bytes << COUNTER_BITS | u64::from(counter.0)
}

/// Something that the current thread tried to make does not fit into the heap.
pub(crate) fn array_failed(agent: &'static Agent, jni: Jni) {
    let Some(counts) = &agent.counts else { return };
    with_context(agent, jni, Ticks::now(), |context| {
        let own = counts.share(context);
        let last = own.block().map_or(&own.shared_last, |block| block.counter(LAST_ARRAY));
        let last = last.load(Ordering::Relaxed);
        let (counter, bytes) = (CounterIndex(last as u32 & ((1 << COUNTER_BITS) - 1)), last >> COUNTER_BITS);
        match counts.fails_at(agent, jni, counter) {
            Ok(true) => counts.take_back(own, counter, bytes),
            Ok(false) => {}
            Err(error) => agent.count_failure("array", error),
        }
    });
}

impl Counts {
    /// Whether the current thread is at the instruction that the counter counts arrays of: it may be at another whose object is
    /// counted behind it, or not at all.
    fn fails_at(&self, agent: &'static Agent, jni: Jni, counter: CounterIndex) -> jvmti::Result<bool> {
        let Some(site) = self.slots.get(counter).and_then(|slot| slot.site) else { return Ok(false) };
        let Some(code) = self.rewritings.get_code(site.code) else { return Ok(false) };
        let mut frames = [jvmtiFrameInfo::default(); 1];
        // SAFETY: null is the current thread, and methods on its stack are of living classes.
        let (method, location, bytecodes) = unsafe {
            let Some(frame) = agent.env.get_stack_trace(null_mut(), 0, &mut frames)?.first() else { return Ok(false) };
            if frame.location < 0 {
                return Ok(false);
            }
            let method = agent.methods.resolve(agent.env, jni, frame.method, &agent.classes, agent)?;
            (method, frame.location, agent.env.get_bytecodes(frame.method)?)
        };
        let Some(record) = agent.methods.get(method) else { return Ok(false) };
        // Arrays of arrays are counted when they are there.
        let makes_array = matches!(
            bytecodes.get(location as usize..),
            Some([opcode::NEWARRAY | opcode::ANEWARRAY, ..] | [opcode::MULTIANEWARRAY, _, _, 1, ..])
        );
        Ok(makes_array
            && record.line(location) == site.line
            && record.name == trace::modified_utf8::decode(&code.name)
            && record.signature == trace::modified_utf8::decode(&code.descriptor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_array_is_noted_as_java_does() {
        let source = include_str!("../../../java/MartiniCounts.java");
        assert!(source.contains(&format!("COUNTER_BITS = {COUNTER_BITS};")));
        assert!(source.contains("bytes << COUNTER_BITS | counter"));
        assert_eq!(last(CounterIndex(7), 24), 24 << 20 | 7);
    }
}
