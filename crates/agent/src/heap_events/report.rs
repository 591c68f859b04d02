//! Makes the event of an object that was allocated.

use jvmti::Jni;
use jvmti::jni_sys::jobject;

use super::state::HeapEventsThread;
use agent_base::clock::Ticks;
use agent_base::events::event::{AllocationSize, Event};
use agent_base::ids::{ClassIndex, StackIndex};
use agent_base::objects::weak_refs::ObjectTag;
use agent_core::core::context::ThreadContext;
use agent_core::core::lost::Dropped;
use agent_core::stacks::walker::FramesToSkip;

/// An object that the current thread has just made.
#[derive(Clone, Copy)]
pub(super) struct Allocation {
    /// A live reference.
    pub(super) object: jobject,
    pub(super) class: ClassIndex,
    pub(super) size: AllocationSize,
    /// Which frames at the top of its stack are not shown.
    pub(super) skip: FramesToSkip,
    pub(super) time: Ticks,
}

/// Whether an object that the current thread has just allocated has been reported or dropped already, which its tag shows.
///
/// # Safety
/// `object` is a live reference.
pub(super) unsafe fn is_reported(thread: &ThreadContext, object: jobject) -> bool {
    // SAFETY: by the caller's promise.
    unsafe {
        // A virtual thread may have changed its carrier between the allocation and now.
        thread.object_tags.is_marked(object) || thread.is_virtual && thread.core.tags.is_marked(object)
    }
}

/// Reports an object, and keeps a weak reference to it if its death is to be reported too.
///
/// # Safety
/// The object is a live reference to an object of that class, and `jni` belongs to the current thread.
#[inline]
pub(super) unsafe fn report(
    jni: Jni,
    thread: &mut ThreadContext,
    state: &mut HeapEventsThread,
    allocation: Allocation,
) {
    let core = thread.core;
    let Allocation { object, class, mut size, skip, time } = allocation;
    if skip == FramesToSkip::Constructors && state.unconstructed.expected() {
        // SAFETY: by the caller's promise.
        if unsafe { is_reported(thread, object) } {
            return state.unconstructed.constructed();
        }
    }
    if !thread.admit(1, Dropped::Object) {
        if core.source.has_hooks() {
            // A hook may hand it over once more.
            // SAFETY: by the caller's promise.
            let marked = unsafe { thread.object_tags.mark_dropped(object) };
            marked.unwrap_or_else(|error| core.count_failure("tag", error));
        }
        return;
    }
    let id = thread.new_object(time);
    let stack = match &mut state.walker {
        Some(walker) => walker.walk(skip, &core.tables(jni)).unwrap_or_else(|error| {
            core.count_failure("stack", error);
            StackIndex::default()
        }),
        None => StackIndex::default(),
    };
    if core.tags_objects() {
        // SAFETY: by the caller's promise.
        if let Err(error) = unsafe { thread.object_tags.set(object, id) } {
            return core.count_failure("tag", error);
        }
    }
    if matches!(size, AllocationSize::Array(_)) {
        let array = core.jvm.classes.get(class).map(|record| record.array);
        if array.and_then(|array| core.layout(array)).is_none() {
            // SAFETY: by the caller's promise.
            let bytes = unsafe { core.jvm.env.get_object_size(object) }.unwrap_or(0);
            size = AllocationSize::Words((bytes / 8) as u32);
        }
    }
    // Before the weak reference, by which a dump finds the object and names it.
    thread.push(Event::Alloc { object: id, class, size, stack }, time);
    let tag = ObjectTag::new(id, stack);
    // SAFETY: by the caller's promise.
    if core.keeps_weak_refs() && unsafe { thread.weak_refs.note(&core.weak_refs, jni, object, tag) }.is_err() {
        core.count_lost("no memory for a weak reference", 1);
    }
}
