//! Call stacks, each kept once, and the frame of each that names it.

use rustc_hash::FxHashMap;
use trace::filter::Pattern;
use trace::ids::StackId;

use super::idle::is_idle;
use crate::own_code::is_jdk;
use crate::symbols::{SiteIndex, Symbols};

/// Number of a call stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StackIndex(u32);

/// Classes of the JDK that do nothing but wait.
const WAITERS: [&str; 6] = [
    "java.lang.Object",
    "java.lang.System$",
    "java.lang.VirtualThread",
    "java.util.concurrent.locks.",
    "jdk.internal.",
    "sun.misc.Unsafe",
];

#[derive(Clone, Debug)]
struct Stack {
    frames: Box<[SiteIndex]>,
    site: Option<SiteIndex>,
    is_idle: bool,
}

/// All call stacks, and what the ids of the current document stand for.
#[derive(Clone, Debug, Default)]
pub(super) struct Stacks {
    /// Classes whose innermost frame names a stack.
    callers: Vec<Pattern>,
    stacks: Vec<Stack>,
    index: FxHashMap<Box<[SiteIndex]>, StackIndex>,
    ids: FxHashMap<StackId, StackIndex>,
}

impl Stacks {
    pub(super) fn new(callers: Vec<Pattern>) -> Self {
        Stacks { callers, ..Stacks::default() }
    }

    /// Names a stack; frames are innermost first.
    pub(super) fn define(&mut self, id: StackId, frames: Vec<SiteIndex>, symbols: &Symbols) {
        let stack = self.intern(frames, symbols);
        self.ids.insert(id, stack);
    }

    /// The stack of these frames.
    pub(super) fn intern(&mut self, frames: Vec<SiteIndex>, symbols: &Symbols) -> StackIndex {
        let frames = frames.into_boxed_slice();
        if let Some(&known) = self.index.get(&frames) {
            return known;
        }
        let class = |site: &SiteIndex| symbols.location(*site).class;
        let of = |is: &dyn Fn(&str) -> bool| frames.iter().find(|&site| is(class(site)));
        let site = of(&|class| self.callers.iter().any(|pattern| pattern.matches(class)))
            .or_else(|| of(&|class| !is_jdk(class)))
            .or_else(|| of(&|class| !waits(class)))
            .or(frames.first())
            .copied();
        let is_idle = is_idle(frames.iter().map(|&site| symbols.location(site)), waits);
        let new = StackIndex(self.stacks.len() as u32);
        self.index.insert(frames.clone(), new);
        self.stacks.push(Stack { frames, site, is_idle });
        new
    }

    /// The stack behind an id.
    pub(super) fn get(&self, id: StackId) -> Option<StackIndex> {
        self.ids.get(&id).copied()
    }

    /// The frame that names a stack.
    pub(super) fn site(&self, stack: StackIndex) -> Option<SiteIndex> {
        self.stacks[stack.0 as usize].site
    }

    /// Whether a thread with this stack waits for work.
    pub(super) fn is_idle(&self, stack: StackIndex) -> bool {
        self.stacks[stack.0 as usize].is_idle
    }

    /// The frames of a stack, innermost first.
    pub(super) fn frames(&self, stack: StackIndex) -> &[SiteIndex] {
        &self.stacks[stack.0 as usize].frames
    }

    /// Forgets the ids: the next document has its own.
    pub(super) fn end_document(&mut self) {
        self.ids.clear();
    }
}

fn waits(class: &str) -> bool {
    WAITERS.iter().any(|&waiter| match waiter.ends_with(['.', '$']) {
        true => class.starts_with(waiter),
        false => class == waiter,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_that_acts_names_a_stack() {
        let mut symbols = Symbols::default();
        let mut stack = |callers: &[&str], frames: &[(&str, &str)]| {
            let callers = callers.iter().map(|text| text.parse().unwrap()).collect();
            let mut stacks = Stacks::new(callers);
            let frames = frames.iter().map(|(class, method)| symbols.site_named(class, method)).collect();
            let stack = stacks.intern(frames, &symbols);
            stacks.site(stack).map(|site| symbols.location(site).method.to_owned())
        };
        let parked = [
            ("jdk.internal.misc.Unsafe", "park"),
            ("java.util.concurrent.locks.LockSupport", "park"),
            ("java.util.concurrent.Semaphore", "acquire"),
            ("demo.Cache", "get"),
            ("demo.Main", "main"),
        ];
        assert_eq!(stack(&[], &parked).as_deref(), Some("get"));
        assert_eq!(stack(&["*Main"], &parked).as_deref(), Some("main"));
        assert_eq!(stack(&["nobody.*"], &parked).as_deref(), Some("get"));
        assert_eq!(stack(&[], &parked[..3]).as_deref(), Some("acquire"));
        assert_eq!(stack(&[], &parked[..2]).as_deref(), Some("park"));
        assert_eq!(stack(&[], &[]), None);
    }
}
