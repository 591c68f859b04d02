//! The walk over the heap: which objects refer to those that are looked for.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

use jvmti::jni_sys::{jint, jlong};
use jvmti::sys::{
    JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT, JVMTI_HEAP_REFERENCE_FIELD, JVMTI_HEAP_REFERENCE_STATIC_FIELD,
    JVMTI_VISIT_ABORT, JVMTI_VISIT_OBJECTS, jvmtiHeapCallbacks, jvmtiHeapReferenceInfo, jvmtiHeapReferenceKind,
};
use jvmti::{Env, Jni};

use agent_base::clock::thread_cpu_nanos;
use agent_core::core::{Jvm, deep_stacks};

/// Objects that refer to one object: more are not noted.
const MOST_PARENTS: usize = 8;
/// All objects: more are not noted.
const MOST_NODES: usize = 2_000;
/// After so many references the time is looked at.
const LOOK: u32 = 1 << 12;

/// Number of an object in the graph; the tag is the number and one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeIndex(pub(super) usize);

impl NodeIndex {
    pub(super) fn tag(self) -> jlong {
        self.0 as jlong + 1
    }

    pub(super) fn of_tag(tag: jlong) -> Option<NodeIndex> {
        usize::try_from(tag).ok()?.checked_sub(1).map(NodeIndex)
    }
}

#[derive(Clone, Copy, Default)]
struct Node {
    is_wanted: bool,
    parents: [usize; MOST_PARENTS],
    number: usize,
}

/// Objects, and who refers to them.
pub(super) struct Graph {
    /// As many as there may be have room, so that the walk allocates nothing.
    nodes: Vec<Node>,
    work_left: Duration,
    end: Instant,
    seen: u32,
    /// The processor time of the thread that walks, when that was last looked at; `None` at the beginning of a walk.
    spent: Option<Duration>,
    /// The time was over.
    pub(super) is_cut: bool,
}

impl Graph {
    /// An empty one, with walks that take so much processor time in all, and end at that time.
    pub(super) fn new(work_left: Duration, end: Instant) -> Graph {
        Graph { nodes: Vec::with_capacity(MOST_NODES), work_left, end, seen: 0, spent: None, is_cut: false }
    }

    /// One more object.
    pub(super) fn add(&mut self) -> NodeIndex {
        self.nodes.push(Node::default());
        NodeIndex(self.nodes.len() - 1)
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeIndex> + use<> {
        (0..self.nodes.len()).map(NodeIndex)
    }

    /// The next walk notes who refers to these.
    pub(super) fn look_for(&mut self, wanted: impl Iterator<Item = NodeIndex>) {
        self.nodes.iter_mut().for_each(|node| node.is_wanted = false);
        wanted.for_each(|node| self.nodes[node.0].is_wanted = true);
    }

    /// Who refers to an object.
    pub(super) fn parents(&self, node: NodeIndex) -> Vec<NodeIndex> {
        let node = &self.nodes[node.0];
        node.parents[..node.number].iter().copied().map(NodeIndex).collect()
    }

    /// Walks. The program stands still meanwhile.
    ///
    /// # Errors
    /// What the VM refuses.
    pub(super) fn walk(&mut self, jvm: &Jvm, jni: Jni, env: Env) -> jvmti::Result<()> {
        if !deep_stacks::are_bearable(jvm, jni) {
            return Err(jvmti::Error::NOT_AVAILABLE);
        }
        self.spent = None;
        let callbacks = jvmtiHeapCallbacks { heap_reference_callback: Some(note), ..jvmtiHeapCallbacks::default() };
        let graph = (&raw mut *self).cast::<c_void>().cast_const();
        // SAFETY: the callback does not unwind and calls nothing; the graph lives until the walk is over.
        unsafe { env.follow_references(0, null_mut(), null_mut(), &callbacks, graph) }
    }

    /// Notes that the object with the one tag is referred to by that with the other, which may get its tag here.
    fn note(&mut self, tag: jlong, referrer: &mut jlong) {
        let Some(object) = NodeIndex::of_tag(tag) else { return };
        let (length, is_full) = (self.nodes.len(), self.nodes.len() == self.nodes.capacity());
        let Some(node) = self.nodes.get_mut(object.0).filter(|node| node.is_wanted) else { return };
        if node.number == MOST_PARENTS {
            return;
        }
        let parent = match NodeIndex::of_tag(*referrer) {
            Some(known) if known == object || node.parents[..node.number].contains(&known.0) => return,
            Some(known) => known.0,
            None if is_full => return,
            None => length,
        };
        node.parents[node.number] = parent;
        node.number += 1;
        if parent == length {
            *referrer = self.add().tag();
        }
    }

    /// Whether the walk has to end; looked at now and then.
    fn is_over(&mut self) -> bool {
        self.seen = self.seen.wrapping_add(1);
        if self.seen.is_multiple_of(LOOK) {
            let now = Duration::from_nanos(thread_cpu_nanos());
            let work = now.saturating_sub(self.spent.unwrap_or(now));
            self.spent = Some(now);
            self.work_left = self.work_left.saturating_sub(work);
            self.is_cut = self.work_left.is_zero() || Instant::now() > self.end;
        }
        self.is_cut
    }
}

/// # Safety
/// Called by the VM with the pointer that `walk` gave.
unsafe extern "system" fn note(
    kind: jvmtiHeapReferenceKind,
    _: *const jvmtiHeapReferenceInfo,
    _: jlong,
    _: jlong,
    _: jlong,
    tag: *mut jlong,
    referrer: *mut jlong,
    _: jint,
    graph: *mut c_void,
) -> jint {
    // SAFETY: by the caller's promise; the walk calls back on one thread, while `walk` waits.
    let graph = unsafe { &mut *graph.cast::<Graph>() };
    if graph.is_over() {
        return JVMTI_VISIT_ABORT as jint;
    }
    // SAFETY: the VM passes the object's tag, and that of the referrer where there is one.
    let (tag, referrer) = unsafe { (*tag, referrer.as_mut()) };
    let is_held = matches!(
        kind,
        JVMTI_HEAP_REFERENCE_FIELD | JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT | JVMTI_HEAP_REFERENCE_STATIC_FIELD
    );
    if tag != 0
        && is_held
        && let Some(referrer) = referrer
    {
        graph.note(tag, referrer);
    }
    JVMTI_VISIT_OBJECTS as jint
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_refers_to_what_is_looked_for_is_noted_once() {
        let mut graph = Graph::new(Duration::MAX, Instant::now());
        let (lock, other) = (graph.add(), graph.add());
        graph.look_for([lock].into_iter());
        let mut holder = 0;
        graph.note(lock.tag(), &mut holder);
        graph.note(lock.tag(), &mut holder);
        graph.note(lock.tag(), &mut { lock.tag() });
        graph.note(other.tag(), &mut { holder });
        assert_eq!(graph.parents(lock).into_iter().map(NodeIndex::tag).collect::<Vec<_>>(), [holder]);
        assert_eq!(graph.parents(other), []);
        for _ in 0..2 * MOST_PARENTS {
            graph.note(lock.tag(), &mut 0);
        }
        assert_eq!(graph.parents(lock).len(), MOST_PARENTS);
    }

    #[test]
    fn there_are_not_more_objects_than_have_room() {
        let mut graph = Graph::new(Duration::MAX, Instant::now());
        let nodes: Vec<NodeIndex> = (0..MOST_NODES).map(|_| graph.add()).collect();
        graph.look_for(nodes.iter().copied());
        let mut holder = 0;
        graph.note(nodes[0].tag(), &mut holder);
        assert_eq!((holder, graph.nodes().count()), (0, MOST_NODES));
        graph.note(nodes[0].tag(), &mut { nodes[1].tag() });
        assert_eq!(graph.parents(nodes[0]), [nodes[1]]);
    }
}
