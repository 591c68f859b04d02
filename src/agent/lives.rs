//! Which objects still live: a weak reference to each, made with its allocation and looked at after each collection.
//!
//! JVMTI's own way, a tag and `ObjectFree`, costs eight times as much (a search in a map with long chains, under a lock), and can
//! stop the VM for ever: while its service thread delivers frees and a safepoint begins, whoever else delivers waits without
//! minding safepoints (seen on 17 and 21), and at its end the VM itself does (`JvmtiExport::post_vm_death`).
//!
//! Each thread notes its objects in chunks that it alone fills; the agent's thread reads them, and keeps those that live on.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jvmti::Jni;
use jvmti::jni_sys::{jobject, jweak};
use trace::ids::ObjectId;

use super::gc::GcQueue;
use super::stacks::StackIndex;

/// A thread's first chunk is small, since many threads allocate little.
const FIRST_CHUNK: usize = 64;
const LARGEST_CHUNK: usize = 4096;
/// Empty chunks that are kept for the next thread in need: 4 MiB.
const MOST_SPARE: usize = 64;
/// Objects looked at before their deaths are charged: those found in the midst of the next collection are charged to it.
const BATCH: usize = 4096;

/// What a heap dump wants to know of an object: its id, and the stack of its allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark(pub(crate) u64);

/// Bits of a mark that are the object's id, where others are its stack's number.
const ID_BITS: u32 = 44;
/// A mark that has no room for the stack: the rest is the id.
const ID_ONLY: u64 = 1 << 63;

impl Mark {
    /// Numbers too large for one word leave the stack out.
    #[inline]
    pub(crate) fn new(id: ObjectId, stack: StackIndex) -> Mark {
        if id.0 >> ID_BITS == 0 && stack.0 >> (63 - ID_BITS) == 0 {
            Mark(id.0 | u64::from(stack.0) << ID_BITS)
        } else {
            Mark(id.0 | ID_ONLY)
        }
    }

    #[inline]
    pub(crate) fn id(self) -> ObjectId {
        let mask = if self.0 & ID_ONLY == 0 { (1 << ID_BITS) - 1 } else { !ID_ONLY };
        ObjectId(self.0 & mask)
    }

    #[inline]
    pub(crate) fn stack(self) -> StackIndex {
        StackIndex(if self.0 & ID_ONLY == 0 { (self.0 >> ID_BITS) as u32 } else { 0 })
    }
}

/// An object and a weak reference to it.
struct Life {
    weak: jweak,
    mark: Mark,
}

// SAFETY: JNI lets every thread use a weak global reference.
unsafe impl Send for Life {}

struct Chunk {
    weaks: Box<[AtomicUsize]>,
    marks: Box<[AtomicU64]>,
    len: AtomicU32,
}

impl Chunk {
    fn new(capacity: usize) -> Arc<Chunk> {
        Arc::new(Chunk {
            weaks: (0..capacity).map(|_| AtomicUsize::new(0)).collect(),
            marks: (0..capacity).map(|_| AtomicU64::new(0)).collect(),
            len: AtomicU32::new(0),
        })
    }

    fn len(&self) -> usize {
        self.len.load(Ordering::Acquire) as usize
    }

    fn get(&self, index: usize) -> Life {
        let weak = std::ptr::with_exposed_provenance_mut(self.weaks[index].load(Ordering::Relaxed));
        Life { weak, mark: Mark(self.marks[index].load(Ordering::Relaxed)) }
    }
}

/// What the threads of the program hand to the agent's.
#[derive(Default)]
pub(crate) struct Lives {
    /// Chunks that a thread has begun to fill since the last look.
    fresh: Mutex<Vec<Arc<Chunk>>>,
    /// Full-sized chunks of which all has been read.
    spare: Mutex<Vec<Arc<Chunk>>>,
    census: Mutex<Census>,
}

impl Lives {
    /// Those that were alive at the last look. While it is held no weak reference is given up.
    pub(crate) fn census(&self) -> MutexGuard<'_, Census> {
        self.census.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A chunk to fill, twice as large as the last.
    #[cold]
    fn next_chunk(&self, last: usize) -> Arc<Chunk> {
        let capacity = (last * 2).clamp(FIRST_CHUNK, LARGEST_CHUNK);
        let lock = |list| Mutex::lock(list).unwrap_or_else(PoisonError::into_inner);
        let spare = if capacity == LARGEST_CHUNK { lock(&self.spare).pop() } else { None };
        let chunk = spare.unwrap_or_else(|| Chunk::new(capacity));
        lock(&self.fresh).push(Arc::clone(&chunk));
        chunk
    }

    /// Takes a chunk that nobody fills and of which all has been read.
    fn give_back(&self, chunk: &Arc<Chunk>) {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if chunk.weaks.len() == LARGEST_CHUNK && spare.len() < MOST_SPARE {
            chunk.len.store(0, Ordering::Relaxed);
            spare.push(Arc::clone(chunk));
        }
    }
}

/// One thread's pen.
#[derive(Default)]
pub(crate) struct Recorder {
    chunk: Option<Arc<Chunk>>,
    filled: usize,
}

impl Recorder {
    /// Notes that an object lives.
    ///
    /// # Errors
    /// The VM has no memory for a weak reference; an exception is cleared.
    ///
    /// # Safety
    /// `object` is a live reference, and `jni` belongs to the current thread.
    #[inline]
    pub(crate) unsafe fn note(&mut self, lives: &Lives, jni: Jni, object: jobject, mark: Mark) -> Result<(), NoMemory> {
        // SAFETY: by the caller's promise.
        let Ok(weak) = (unsafe { jni.new_weak_global_ref(object) }) else {
            jni.exception_clear();
            return Err(NoMemory);
        };
        self.push(lives, Life { weak, mark });
        Ok(())
    }

    #[inline]
    fn push(&mut self, lives: &Lives, life: Life) {
        let chunk = match &self.chunk {
            Some(chunk) if self.filled < chunk.weaks.len() => chunk,
            last => {
                let capacity = last.as_ref().map_or(0, |chunk| chunk.weaks.len());
                self.filled = 0;
                self.chunk.insert(lives.next_chunk(capacity))
            }
        };
        chunk.weaks[self.filled].store(life.weak.expose_provenance(), Ordering::Relaxed);
        chunk.marks[self.filled].store(life.mark.0, Ordering::Relaxed);
        self.filled += 1;
        chunk.len.store(self.filled as u32, Ordering::Release);
    }
}

/// The VM could not make a weak reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoMemory;

/// The agent's thread's view.
#[derive(Default)]
pub(crate) struct Census {
    /// Chunks that are being filled, and how far they have been read.
    open: Vec<(Arc<Chunk>, usize)>,
    /// What was alive at the last look.
    living: Vec<Life>,
}

impl Census {
    /// Looks at all objects, and tells the queue, if that wants to know, which are dead.
    pub(crate) fn take(&mut self, lives: &Lives, jni: Jni, gc: Option<&GcQueue>) {
        // SAFETY: the reference is ours, and deleted once, when it is taken out of the list.
        self.take_with(lives, gc, |weak| unsafe {
            let is_dead = jni.is_same_object(weak, std::ptr::null_mut());
            if is_dead {
                jni.delete_weak_global_ref(weak);
            }
            is_dead
        });
    }

    /// All objects of which it is not known that they are dead.
    pub(crate) fn each(&mut self, lives: &Lives, mut visit: impl FnMut(jweak, Mark)) {
        self.open_fresh(lives);
        self.living.iter().for_each(|life| visit(life.weak, life.mark));
        for (chunk, read) in &self.open {
            (*read..chunk.len()).map(|index| chunk.get(index)).for_each(|life| visit(life.weak, life.mark));
        }
    }

    fn open_fresh(&mut self, lives: &Lives) {
        let fresh = std::mem::take(&mut *lives.fresh.lock().unwrap_or_else(PoisonError::into_inner));
        self.open.extend(fresh.into_iter().map(|chunk| (chunk, 0)));
    }

    /// `buries` tells whether an object is dead, and if so gives the reference up.
    fn take_with(&mut self, lives: &Lives, gc: Option<&GcQueue>, mut buries: impl FnMut(jweak) -> bool) {
        let mut dead = Batch { gc, objects: Vec::new(), looked_at: 0 };
        // A younger one cannot die before the collection that it is charged to.
        let young = gc.map_or(ObjectId(u64::MAX), GcQueue::young);
        let mut buries = |life: &Life| life.mark.id() < young && buries(life.weak);
        self.living.retain(|life| {
            let is_dead = buries(life);
            dead.looked_at(is_dead.then_some(life.mark.id()));
            !is_dead
        });
        self.open_fresh(lives);
        let living = &mut self.living;
        self.open.retain_mut(|(chunk, read)| {
            // Asked first: whoever holds it still may add to it after `len` was read.
            let is_ours_alone = Arc::get_mut(chunk).is_some();
            let len = chunk.len();
            for life in (*read..len).map(|index| chunk.get(index)) {
                let is_dead = buries(&life);
                dead.looked_at(is_dead.then_some(life.mark.id()));
                if !is_dead {
                    living.push(life);
                }
            }
            *read = len;
            if is_ours_alone {
                lives.give_back(chunk);
            }
            !is_ours_alone && len < chunk.weaks.len()
        });
        dead.charge();
    }
}

/// Dead objects on their way to the queue.
struct Batch<'a> {
    gc: Option<&'a GcQueue>,
    objects: Vec<ObjectId>,
    looked_at: usize,
}

impl Batch<'_> {
    fn looked_at(&mut self, dead: Option<ObjectId>) {
        self.objects.extend(dead);
        self.looked_at += 1;
        if self.looked_at == BATCH {
            self.charge();
        }
    }

    fn charge(&mut self) {
        let objects = std::mem::take(&mut self.objects);
        if let Some(gc) = self.gc {
            gc.free(objects);
        }
        self.looked_at = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::clock::Ticks;

    fn life(number: usize) -> Life {
        Life { weak: std::ptr::without_provenance_mut(number), mark: Mark(number as u64) }
    }

    fn freed(gc: &GcQueue) -> Vec<u64> {
        gc.take().freed.into_iter().flat_map(|(_, objects)| objects).map(|object| object.0).collect()
    }

    fn collection(gc: &GcQueue, next: u64) {
        gc.start(Ticks(1));
        gc.finish(Ticks(2), ObjectId(next));
    }

    #[test]
    fn a_death_without_a_collection_waits_for_the_next() {
        let (lives, gc, mut census) = (Lives::default(), GcQueue::new(false), Census::default());
        let mut recorder = Recorder::default();
        (1..=20).for_each(|number| recorder.push(&lives, life(number)));
        census.take_with(&lives, Some(&gc), |_| true);
        assert_eq!(freed(&gc), []);
        collection(&gc, 11);
        census.take_with(&lives, Some(&gc), |_| true);
        assert!(freed(&gc).into_iter().eq(1..=10));
        collection(&gc, 21);
        census.take_with(&lives, Some(&gc), |_| true);
        assert!(freed(&gc).into_iter().eq(11..=20));
    }

    #[test]
    fn each_death_is_told_once() {
        let (lives, gc, mut census) = (Lives::default(), GcQueue::new(false), Census::default());
        collection(&gc, u64::MAX);
        let mut recorder = Recorder::default();
        (1..=20_000).for_each(|number| recorder.push(&lives, life(number)));
        census.take_with(&lives, Some(&gc), |weak| weak.addr() % 2 == 0);
        assert_eq!(freed(&gc), (1..=10_000).map(|half| half * 2).collect::<Vec<_>>());
        (20_001..=20_010).for_each(|number| recorder.push(&lives, life(number)));
        census.take_with(&lives, Some(&gc), |weak| weak.addr() % 5 == 0);
        let mut expected: Vec<u64> = (1..=20_000).filter(|n| n % 2 == 1 && n % 5 == 0).collect();
        expected.extend([20_005, 20_010]);
        assert_eq!(freed(&gc), expected);
        drop(recorder);
        census.take_with(&lives, Some(&gc), |_| true);
        assert_eq!(freed(&gc).len(), 20_010 - 10_000 - expected.len());
        assert!(census.living.is_empty() && census.open.is_empty());
    }

    #[test]
    fn marks_hold_what_fits() {
        let whole = Mark::new(ObjectId((1 << 44) - 1), StackIndex((1 << 19) - 1));
        assert_eq!((whole.id(), whole.stack()), (ObjectId((1 << 44) - 1), StackIndex((1 << 19) - 1)));
        for (id, stack) in [(1 << 44, 5), (7, 1 << 19)] {
            let mark = Mark::new(ObjectId(id), StackIndex(stack));
            assert_eq!((mark.id(), mark.stack()), (ObjectId(id), StackIndex(0)));
        }
    }

    #[test]
    fn all_that_live_are_seen() {
        let (lives, mut census) = (Lives::default(), Census::default());
        let mut recorder = Recorder::default();
        let seen = |census: &mut Census| {
            let mut marks = Vec::new();
            census.each(&lives, |_, mark| marks.push(mark.0));
            marks.sort_unstable();
            marks
        };
        (1..=1000).for_each(|number| recorder.push(&lives, life(number)));
        assert!(seen(&mut census).into_iter().eq(1..=1000));
        census.take_with(&lives, None, |weak| weak.addr() <= 500);
        (1001..=1010).for_each(|number| recorder.push(&lives, life(number)));
        assert!(seen(&mut census).into_iter().eq(501..=1010));
    }

    #[test]
    fn nothing_is_lost_while_a_thread_goes_on() {
        const LIVES: usize = 200_000;
        let (lives, gc, mut census) = (Lives::default(), GcQueue::new(false), Census::default());
        collection(&gc, u64::MAX);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut recorder = Recorder::default();
                (1..=LIVES).for_each(|number| recorder.push(&lives, life(number)));
            });
            while !writer.is_finished() {
                census.take_with(&lives, Some(&gc), |_| true);
            }
        });
        census.take_with(&lives, Some(&gc), |_| true);
        assert!(freed(&gc).into_iter().eq(1..=LIVES as u64));
    }

    #[test]
    fn chunks_come_back() {
        let (lives, gc, mut census) = (Lives::default(), GcQueue::new(false), Census::default());
        collection(&gc, u64::MAX);
        for _ in 0..100 {
            let mut recorder = Recorder::default();
            (1..=20_000).for_each(|number| recorder.push(&lives, life(number)));
            census.take_with(&lives, Some(&gc), |_| true);
        }
        assert!(!lives.spare.lock().unwrap().is_empty());
        assert!(lives.spare.lock().unwrap().iter().all(|chunk| chunk.len() == 0));
    }
}
