//! Which objects still live: a weak reference to each, made at its allocation and tested after each collection.
//!
//! JVMTI's own means, a tag and `ObjectFree`, cost eight times as much (a search in a map with long chains, under a lock), and
//! can stop the VM for ever: if a safepoint begins while its service thread delivers frees, another thread that delivers them
//! waits without reaching the safepoint (seen on 17 and 21); at its end the VM itself is such a thread
//! (`JvmtiExport::post_vm_death`).
//!
//! Each thread puts its objects into chunks that it alone fills; the agent's own thread reads them, and keeps those that
//! survive.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, MutexGuard};

use jvmti::Jni;
use jvmti::jni_sys::{jobject, jweak};
use trace::ids::ObjectId;

use super::collections::Collections;
use crate::ids::StackIndex;
use crate::mutex::Mutex;

/// A thread's first chunk is small, since many threads allocate little.
const FIRST_CHUNK: usize = 64;
const LARGEST_CHUNK: usize = 4096;
/// Empty chunks that are kept for other threads: 4 MiB.
const MAX_SPARE: usize = 64;
/// Objects tested before the dead among them are delivered: a collection that ends between two batches gets the later one.
const BATCH: usize = 4096;

/// What a heap dump shows of a tracked object: its id, and the stack of its allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectTag(pub u64);

/// Bits of a tag that are the object's id; the others are the number of its stack.
const ID_BITS: u32 = 44;
/// Marks a tag without a stack: the rest is the id.
const ID_ONLY: u64 = 1 << 63;

impl ObjectTag {
    /// The stack is left out if the two do not fit into one word.
    #[inline]
    pub fn new(id: ObjectId, stack: StackIndex) -> ObjectTag {
        if id.0 >> ID_BITS == 0 && stack.0 >> (63 - ID_BITS) == 0 {
            ObjectTag(id.0 | u64::from(stack.0) << ID_BITS)
        } else {
            ObjectTag(id.0 | ID_ONLY)
        }
    }

    /// The object.
    #[inline]
    pub fn id(self) -> ObjectId {
        let mask = if self.0 & ID_ONLY == 0 { (1 << ID_BITS) - 1 } else { !ID_ONLY };
        ObjectId(self.0 & mask)
    }

    /// The stack that allocated it; number 0 if the tag has no room for it.
    #[inline]
    pub fn stack(self) -> StackIndex {
        StackIndex(if self.0 & ID_ONLY == 0 { (self.0 >> ID_BITS) as u32 } else { 0 })
    }
}

/// An object and a weak reference to it.
struct TrackedObject {
    weak: jweak,
    tag: ObjectTag,
}

// SAFETY: JNI lets every thread use a weak global reference.
unsafe impl Send for TrackedObject {}

struct Chunk {
    weaks: Box<[AtomicUsize]>,
    tags: Box<[AtomicU64]>,
    len: AtomicU32,
}

impl Chunk {
    fn new(capacity: usize) -> Arc<Chunk> {
        Arc::new(Chunk {
            weaks: (0..capacity).map(|_| AtomicUsize::new(0)).collect(),
            tags: (0..capacity).map(|_| AtomicU64::new(0)).collect(),
            len: AtomicU32::new(0),
        })
    }

    fn len(&self) -> usize {
        self.len.load(Ordering::Acquire) as usize
    }

    fn get(&self, index: usize) -> TrackedObject {
        let weak = std::ptr::with_exposed_provenance_mut(self.weaks[index].load(Ordering::Relaxed));
        TrackedObject { weak, tag: ObjectTag(self.tags[index].load(Ordering::Relaxed)) }
    }
}

/// Weak references to all tracked objects, which the program's threads make and the agent's own thread tests.
#[derive(Default)]
pub struct WeakRefs {
    /// Chunks that a thread has begun to fill since the last test.
    fresh: Mutex<Vec<Arc<Chunk>>>,
    /// Full-sized chunks of which all has been read.
    spare: Mutex<Vec<Arc<Chunk>>>,
    tracked: Mutex<TrackedObjects>,
    /// The recording has ended.
    is_over: AtomicBool,
}

impl WeakRefs {
    /// The objects that are not known to be dead. While the guard is held no weak reference is deleted.
    pub fn tracked(&self) -> MutexGuard<'_, TrackedObjects> {
        self.tracked.lock()
    }

    /// A chunk to fill, twice as large as the last.
    #[cold]
    fn next_chunk(&self, last: usize) -> Arc<Chunk> {
        let capacity = (last * 2).clamp(FIRST_CHUNK, LARGEST_CHUNK);
        let spare = if capacity == LARGEST_CHUNK { self.spare.lock().pop() } else { None };
        let chunk = spare.unwrap_or_else(|| Chunk::new(capacity));
        self.fresh.lock().push(Arc::clone(&chunk));
        chunk
    }

    /// The recording has ended: deletes the references, and has none made.
    pub fn end(&self, jni: Jni) {
        self.is_over.store(true, Ordering::Relaxed);
        self.tracked().clear(self, jni);
    }

    /// After that: deletes the references that were made meanwhile, and frees what is kept for other threads.
    /// The chunk that a thread fills goes when the thread ends, or enters another recording.
    pub fn release(&self, jni: Jni) {
        let mut tracked = self.tracked();
        tracked.clear(self, jni);
        tracked.forget(self);
    }

    /// Keeps a chunk that no thread fills and of which all has been read.
    fn give_back(&self, chunk: &Arc<Chunk>) {
        let mut spare = self.spare.lock();
        if chunk.weaks.len() == LARGEST_CHUNK && spare.len() < MAX_SPARE {
            chunk.len.store(0, Ordering::Relaxed);
            spare.push(Arc::clone(chunk));
        }
    }
}

/// Where one thread puts the objects that it allocates.
#[derive(Default)]
pub struct WeakRefRecorder {
    chunk: Option<Arc<Chunk>>,
    filled: usize,
}

impl WeakRefRecorder {
    /// Makes a weak reference to an object, unless the recording has ended.
    ///
    /// # Errors
    /// The VM has no memory for a weak reference; an exception is cleared.
    ///
    /// # Safety
    /// `object` is a live reference, and `jni` belongs to the current thread.
    #[inline]
    pub unsafe fn note(
        &mut self,
        weak_refs: &WeakRefs,
        jni: Jni,
        object: jobject,
        tag: ObjectTag,
    ) -> Result<(), NoMemory> {
        // SAFETY: by the caller's promise.
        let Ok(weak) = (unsafe { jni.new_weak_global_ref(object) }) else {
            jni.exception_clear();
            return Err(NoMemory);
        };
        // The VM may have stopped the thread there until the recording was over.
        if weak_refs.is_over.load(Ordering::Relaxed) {
            // SAFETY: nobody else knows the reference.
            unsafe { jni.delete_weak_global_ref(weak) };
            return Ok(());
        }
        self.push(weak_refs, TrackedObject { weak, tag });
        Ok(())
    }

    #[inline]
    fn push(&mut self, weak_refs: &WeakRefs, object: TrackedObject) {
        let chunk = match &self.chunk {
            Some(chunk) if self.filled < chunk.weaks.len() => chunk,
            last => {
                let capacity = last.as_ref().map_or(0, |chunk| chunk.weaks.len());
                self.filled = 0;
                self.chunk.insert(weak_refs.next_chunk(capacity))
            }
        };
        chunk.weaks[self.filled].store(object.weak.expose_provenance(), Ordering::Relaxed);
        chunk.tags[self.filled].store(object.tag.0, Ordering::Relaxed);
        self.filled += 1;
        chunk.len.store(self.filled as u32, Ordering::Release);
    }
}

/// The VM could not make a weak reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMemory;

/// How far somebody has gone over the tracked objects.
#[derive(Default)]
pub struct SeenObjects {
    alive: bool,
    open: Vec<usize>,
}

/// The tracked objects, as the agent's own thread knows them.
#[derive(Default)]
pub struct TrackedObjects {
    /// Chunks that are being filled, and how far they have been read.
    open: Vec<(Arc<Chunk>, usize)>,
    /// Objects of full chunks that were alive at the last test.
    alive: Vec<TrackedObject>,
}

impl TrackedObjects {
    /// Tests all objects that `may_be_dead`, and delivers the dead ones to the queue, if one is given.
    pub fn find_dead(
        &mut self,
        weak_refs: &WeakRefs,
        jni: Jni,
        gc: Option<&Collections>,
        may_be_dead: impl Fn(jweak) -> bool,
    ) {
        // SAFETY: the reference is ours, and deleted once, when it is removed from the list.
        self.remove_dead(weak_refs, gc, |weak| unsafe {
            let is_dead = may_be_dead(weak) && jni.is_same_object(weak, std::ptr::null_mut());
            if is_dead {
                jni.delete_weak_global_ref(weak);
            }
            is_dead
        });
    }

    /// Deletes all weak references: the recording has ended.
    fn clear(&mut self, weak_refs: &WeakRefs, jni: Jni) {
        self.remove_dead(weak_refs, None, |weak| {
            // SAFETY: the reference is ours, and deleted once, when it is removed from the list.
            unsafe { jni.delete_weak_global_ref(weak) };
            true
        });
    }

    /// Frees all room, also that of objects.
    fn forget(&mut self, weak_refs: &WeakRefs) {
        *self = TrackedObjects::default();
        *weak_refs.spare.lock() = Vec::new();
    }

    /// All objects up to now that are not known to be dead.
    pub fn present(&mut self, weak_refs: &WeakRefs) -> SeenObjects {
        self.open_fresh(weak_refs);
        SeenObjects { alive: true, open: self.open.iter().map(|(chunk, _)| chunk.len()).collect() }
    }

    /// Calls `visit` for each of them. As long as the guard is held no object goes meanwhile.
    pub fn each_of(&self, present: &SeenObjects, mut visit: impl FnMut(jweak, ObjectTag)) {
        self.alive.iter().for_each(|object| visit(object.weak, object.tag));
        for ((chunk, read), &len) in self.open.iter().zip(&present.open) {
            (*read..len).map(|index| chunk.get(index)).for_each(|object| visit(object.weak, object.tag));
        }
    }

    /// Calls `visit` for each of them that was not seen before. As long as the guard is held no object goes meanwhile.
    pub fn each_new(&mut self, weak_refs: &WeakRefs, seen: &mut SeenObjects, mut visit: impl FnMut(jweak, ObjectTag)) {
        self.open_fresh(weak_refs);
        if !std::mem::replace(&mut seen.alive, true) {
            self.alive.iter().for_each(|object| visit(object.weak, object.tag));
        }
        seen.open.extend(self.open.iter().skip(seen.open.len()).map(|(_, read)| *read));
        for ((chunk, _), seen) in self.open.iter().zip(&mut seen.open) {
            let len = chunk.len();
            (*seen..len).map(|index| chunk.get(index)).for_each(|object| visit(object.weak, object.tag));
            *seen = len;
        }
    }

    fn open_fresh(&mut self, weak_refs: &WeakRefs) {
        let fresh = std::mem::take(&mut *weak_refs.fresh.lock());
        self.open.extend(fresh.into_iter().map(|chunk| (chunk, 0)));
    }

    /// Removes the objects for which `delete_if_dead` returns true, and delivers them.
    fn remove_dead(
        &mut self,
        weak_refs: &WeakRefs,
        gc: Option<&Collections>,
        mut delete_if_dead: impl FnMut(jweak) -> bool,
    ) {
        let mut dead = DeadBatch { gc, objects: Vec::new(), tested: 0 };
        // The death of another one waits for the next collection, to which it is attributed.
        let first_after = gc.map_or(ObjectId(u64::MAX), Collections::first_after_last);
        let mut delete_if_dead = |object: &TrackedObject| object.tag.id() < first_after && delete_if_dead(object.weak);
        self.alive.retain(|object| {
            let is_dead = delete_if_dead(object);
            dead.add_tested(is_dead.then_some(object.tag.id()));
            !is_dead
        });
        self.open_fresh(weak_refs);
        let alive = &mut self.alive;
        self.open.retain_mut(|(chunk, read)| {
            // Read before `len`: a thread that still holds the chunk may add to it afterwards.
            let is_ours_alone = Arc::get_mut(chunk).is_some();
            let len = chunk.len();
            for object in (*read..len).map(|index| chunk.get(index)) {
                let is_dead = delete_if_dead(&object);
                dead.add_tested(is_dead.then_some(object.tag.id()));
                if !is_dead {
                    alive.push(object);
                }
            }
            *read = len;
            if is_ours_alone {
                weak_refs.give_back(chunk);
            }
            !is_ours_alone && len < chunk.weaks.len()
        });
        dead.deliver();
    }
}

/// Dead objects on their way to the queue.
struct DeadBatch<'a> {
    gc: Option<&'a Collections>,
    objects: Vec<ObjectId>,
    tested: usize,
}

impl DeadBatch<'_> {
    fn add_tested(&mut self, dead: Option<ObjectId>) {
        self.objects.extend(dead);
        self.tested += 1;
        if self.tested == BATCH {
            self.deliver();
        }
    }

    fn deliver(&mut self) {
        let objects = std::mem::take(&mut self.objects);
        if let Some(gc) = self.gc {
            gc.free(objects);
        }
        self.tested = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;

    use super::*;
    use crate::clock::Ticks;

    fn object(number: usize) -> TrackedObject {
        TrackedObject { weak: std::ptr::without_provenance_mut(number), tag: ObjectTag(number as u64) }
    }

    fn freed(gc: &Collections) -> Vec<u64> {
        gc.take().freed.into_iter().flat_map(|(_, objects)| objects).map(|object| object.0).collect()
    }

    fn collection(gc: &Collections, next: u64) {
        gc.start(Ticks(1));
        gc.finish(Ticks(2), ObjectId(next));
    }

    #[test]
    fn a_death_without_a_collection_waits_for_the_next() {
        let (weak_refs, gc, mut tracked) = (WeakRefs::default(), Collections::new(false), TrackedObjects::default());
        let mut recorder = WeakRefRecorder::default();
        (1..=20).for_each(|number| recorder.push(&weak_refs, object(number)));
        tracked.remove_dead(&weak_refs, Some(&gc), |_| true);
        assert!(freed(&gc).is_empty());
        collection(&gc, 11);
        tracked.remove_dead(&weak_refs, Some(&gc), |_| true);
        assert!(freed(&gc).into_iter().eq(1..=10));
        collection(&gc, 21);
        tracked.remove_dead(&weak_refs, Some(&gc), |_| true);
        assert!(freed(&gc).into_iter().eq(11..=20));
    }

    #[test]
    fn a_death_in_a_collection_that_was_not_seen_waits_for_the_next() {
        let (weak_refs, gc, mut tracked) = (WeakRefs::default(), Collections::new(false), TrackedObjects::default());
        let mut recorder = WeakRefRecorder::default();
        (1..=9).for_each(|number| recorder.push(&weak_refs, object(number)));
        collection(&gc, 10);
        gc.note_unseen();
        tracked.remove_dead(&weak_refs, Some(&gc), |_| true);
        assert!(freed(&gc).is_empty());
        collection(&gc, 10);
        tracked.remove_dead(&weak_refs, Some(&gc), |_| true);
        assert!(freed(&gc).into_iter().eq(1..=9));
    }

    #[test]
    fn each_death_is_delivered_once() {
        let (weak_refs, gc, mut tracked) = (WeakRefs::default(), Collections::new(false), TrackedObjects::default());
        collection(&gc, u64::MAX);
        let mut recorder = WeakRefRecorder::default();
        (1..=20_000).for_each(|number| recorder.push(&weak_refs, object(number)));
        tracked.remove_dead(&weak_refs, Some(&gc), |weak| weak.addr() % 2 == 0);
        assert_eq!(freed(&gc), (1..=10_000).map(|half| half * 2).collect::<Vec<_>>());
        (20_001..=20_010).for_each(|number| recorder.push(&weak_refs, object(number)));
        tracked.remove_dead(&weak_refs, Some(&gc), |weak| weak.addr() % 5 == 0);
        let mut expected: Vec<u64> = (1..=20_000).filter(|n| n % 2 == 1 && n % 5 == 0).collect();
        expected.extend([20_005, 20_010]);
        assert_eq!(freed(&gc), expected);
        drop(recorder);
        tracked.remove_dead(&weak_refs, Some(&gc), |_| true);
        assert_eq!(freed(&gc).len(), 20_010 - 10_000 - expected.len());
        assert!(tracked.alive.is_empty() && tracked.open.is_empty());
    }

    #[test]
    fn a_stack_that_does_not_fit_is_left_out() {
        let whole = ObjectTag::new(ObjectId((1 << 44) - 1), StackIndex((1 << 19) - 1));
        assert_eq!((whole.id(), whole.stack()), (ObjectId((1 << 44) - 1), StackIndex((1 << 19) - 1)));
        for (id, stack) in [(1 << 44, 5), (7, 1 << 19)] {
            let tag = ObjectTag::new(ObjectId(id), StackIndex(stack));
            assert_eq!((tag.id(), tag.stack()), (ObjectId(id), StackIndex(0)));
        }
    }

    #[test]
    fn all_that_live_are_seen() {
        let (weak_refs, mut tracked) = (WeakRefs::default(), TrackedObjects::default());
        let mut recorder = WeakRefRecorder::default();
        let seen = |tracked: &mut TrackedObjects| {
            let mut tags = Vec::new();
            let present = tracked.present(&weak_refs);
            tracked.each_of(&present, |_, tag| tags.push(tag.0));
            tags.sort_unstable();
            tags
        };
        (1..=1000).for_each(|number| recorder.push(&weak_refs, object(number)));
        assert!(seen(&mut tracked).into_iter().eq(1..=1000));
        tracked.remove_dead(&weak_refs, None, |weak| weak.addr() <= 500);
        (1001..=1010).for_each(|number| recorder.push(&weak_refs, object(number)));
        assert!(seen(&mut tracked).into_iter().eq(501..=1010));
    }

    #[test]
    fn what_was_seen_is_not_seen_again() {
        let (weak_refs, mut tracked) = (WeakRefs::default(), TrackedObjects::default());
        let (mut one, mut other) = (WeakRefRecorder::default(), WeakRefRecorder::default());
        let mut seen = SeenObjects::default();
        let mut new = |tracked: &mut TrackedObjects| {
            let mut tags = Vec::new();
            tracked.each_new(&weak_refs, &mut seen, |_, tag| tags.push(tag.0));
            tags.sort_unstable();
            tags
        };
        (1..=1000).for_each(|number| one.push(&weak_refs, object(number)));
        tracked.remove_dead(&weak_refs, None, |_| false);
        (1001..=1010).for_each(|number| one.push(&weak_refs, object(number)));
        assert!(new(&mut tracked).into_iter().eq(1..=1010));
        (1011..=1500).for_each(|number| one.push(&weak_refs, object(number)));
        (1501..=1700).for_each(|number| other.push(&weak_refs, object(number)));
        assert!(new(&mut tracked).into_iter().eq(1011..=1700));
        assert!(new(&mut tracked).is_empty());
    }

    #[test]
    fn nothing_is_lost_while_a_thread_allocates() {
        const OBJECTS: usize = 200_000;
        let (weak_refs, gc, mut tracked) = (WeakRefs::default(), Collections::new(false), TrackedObjects::default());
        collection(&gc, u64::MAX);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut recorder = WeakRefRecorder::default();
                (1..=OBJECTS).for_each(|number| recorder.push(&weak_refs, object(number)));
            });
            while !writer.is_finished() {
                tracked.remove_dead(&weak_refs, Some(&gc), |_| true);
            }
        });
        tracked.remove_dead(&weak_refs, Some(&gc), |_| true);
        assert!(freed(&gc).into_iter().eq(1..=OBJECTS as u64));
    }

    #[test]
    fn at_the_end_only_the_chunk_that_a_thread_fills_stays() {
        let (weak_refs, mut tracked) = (WeakRefs::default(), TrackedObjects::default());
        let (mut living, mut ended) = (WeakRefRecorder::default(), WeakRefRecorder::default());
        let mut chunks = Vec::new();
        for number in 1..=30_000 {
            for recorder in [&mut living, &mut ended] {
                recorder.push(&weak_refs, object(number));
                chunks.extend(recorder.chunk.as_ref().filter(|_| recorder.filled == 1).map(Arc::downgrade));
            }
            // Some survive, and some chunks are used again.
            if number == 20_000 {
                tracked.remove_dead(&weak_refs, None, |weak| weak.addr() % 2 == 0);
            }
        }
        drop(ended);
        tracked.remove_dead(&weak_refs, None, |_| true);
        tracked.forget(&weak_refs);
        assert_eq!((tracked.alive.capacity(), tracked.open.capacity()), (0, 0));
        let left: Vec<_> = chunks.iter().filter_map(Weak::upgrade).collect();
        let last = living.chunk.as_ref().expect("it fills one");
        assert!(chunks.len() > 10 && !left.is_empty() && left.iter().all(|chunk| Arc::ptr_eq(chunk, last)));
        drop((left, living));
        assert!(chunks.iter().all(|chunk| chunk.upgrade().is_none()));
    }

    #[test]
    fn chunks_come_back() {
        let (weak_refs, gc, mut tracked) = (WeakRefs::default(), Collections::new(false), TrackedObjects::default());
        collection(&gc, u64::MAX);
        for _ in 0..100 {
            let mut recorder = WeakRefRecorder::default();
            (1..=20_000).for_each(|number| recorder.push(&weak_refs, object(number)));
            tracked.remove_dead(&weak_refs, Some(&gc), |_| true);
        }
        assert!(!weak_refs.spare.lock().is_empty());
        assert!(weak_refs.spare.lock().iter().all(|chunk| chunk.len() == 0));
    }
}
