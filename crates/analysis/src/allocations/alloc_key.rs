//! What an `objAlloc` says about the group that its object belongs to.

use trace::model::ObjAlloc;

use super::line;

/// Class, thread and place in the ids of the document. Small, so that the ways to the cells of a large program stay in
/// the processor's cache; ids that do not fit are looked up one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct AllocKey {
    class: u32,
    thread: u32,
    method: u32,
    line: u32,
    stack: u32,
}

impl AllocKey {
    pub(super) fn of(alloc: &ObjAlloc) -> Option<Self> {
        /// Stands for "absent".
        const NONE: u64 = u32::MAX as u64;
        let pack = |value: Option<u64>| match value {
            None => Some(u32::MAX),
            Some(NONE) => None,
            Some(value) => u32::try_from(value).ok(),
        };
        Some(AllocKey {
            class: pack(Some(alloc.class.0))?,
            thread: pack(alloc.thread.map(|thread| thread.0))?,
            method: pack(alloc.method.map(|method| method.0))?,
            line: pack(alloc.line.and_then(line).map(u64::from))?,
            stack: pack(alloc.stack.map(|stack| stack.0))?,
        })
    }
}
