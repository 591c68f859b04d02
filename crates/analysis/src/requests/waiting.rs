//! Waits that have not ended.

use rustc_hash::FxHashMap;
use trace::ids::ObjectId;
use trace::time::{Nanos, Time};

use super::overlap::Span;
use super::recent::{Deed, What};
use super::split::PartKind;
use crate::stacks::StackIndex;
use crate::symbols::{ClassIndex, ThreadIndex};

/// A thread waits for so much at most at one time; the oldest has lost its end.
const MOST_NESTED: usize = 16;

/// A wait that has not ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenWait {
    pub(super) since: Time,
    /// One of [`PartKind::WAITS`].
    pub(super) kind: PartKind,
    pub(super) object: Option<ObjectId>,
    pub(super) class: Option<ClassIndex>,
    pub(super) stack: Option<StackIndex>,
    pub(super) owner: Option<(ThreadIndex, Option<StackIndex>)>,
    /// Between two looks, if it was seen by looks; otherwise 0.
    pub(super) seen_each: Nanos,
}

/// Those of all threads.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting(FxHashMap<ThreadIndex, Vec<OpenWait>>);

impl Waiting {
    pub(super) fn begin(&mut self, thread: ThreadIndex, wait: OpenWait) {
        let open = self.0.entry(thread).or_default();
        if open.len() >= MOST_NESTED {
            open.remove(0);
        }
        open.push(wait);
    }

    /// A wait for an object has ended, of one of these kinds.
    pub(super) fn end(
        &mut self,
        thread: ThreadIndex,
        kinds: &[PartKind],
        object: Option<ObjectId>,
        now: Time,
    ) -> Option<Deed> {
        let open = self.0.get_mut(&thread)?;
        let at = open.iter().rposition(|wait| wait.object == object && kinds.contains(&wait.kind))?;
        let OpenWait { since, kind, class, stack, owner, seen_each, .. } = open.remove(at);
        if open.is_empty() {
            self.0.remove(&thread);
        }
        let what = What::Wait { kind, class, owner, seen_each };
        Some(Deed { span: Span { since, until: now.max(since) }, stack, what })
    }

    /// What a thread waits for.
    pub(super) fn of(&mut self, thread: ThreadIndex, object: ObjectId) -> Option<&mut OpenWait> {
        self.0.get_mut(&thread)?.iter_mut().rev().find(|wait| wait.object == Some(object))
    }

    pub(super) fn end_thread(&mut self, thread: ThreadIndex) {
        self.0.remove(&thread);
    }
}
