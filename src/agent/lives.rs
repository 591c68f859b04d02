//! Which objects still live: a weak reference to each, made with its allocation and looked at after each collection.
//!
//! JVMTI's own way, a tag and `ObjectFree`, costs eight times as much (a search in a map with long chains, under a lock), and can
//! stop the VM for ever: while its service thread delivers frees and a safepoint begins, whoever else delivers waits without
//! minding safepoints (seen on 17 and 21), and at its end the VM itself does (`JvmtiExport::post_vm_death`).
//!
//! Each thread notes its objects in chunks that it alone fills; the agent's thread reads them, and keeps those that live on.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use jvmti::Jni;
use jvmti::jni_sys::{jobject, jweak};
use trace::ids::ObjectId;

use super::gc::GcQueue;

/// A thread's first chunk is small, since many threads allocate little.
const FIRST_CHUNK: usize = 64;
const LARGEST_CHUNK: usize = 4096;
/// Empty chunks that are kept for the next thread in need: 4 MiB.
const MOST_SPARE: usize = 64;
/// Objects looked at before their deaths are charged: those found in the midst of the next collection are charged to it.
const BATCH: usize = 4096;

/// An object and a weak reference to it.
struct Life {
    weak: jweak,
    object: ObjectId,
}

struct Chunk {
    weaks: Box<[AtomicUsize]>,
    objects: Box<[AtomicU64]>,
    len: AtomicU32,
}

impl Chunk {
    fn new(capacity: usize) -> Arc<Chunk> {
        Arc::new(Chunk {
            weaks: (0..capacity).map(|_| AtomicUsize::new(0)).collect(),
            objects: (0..capacity).map(|_| AtomicU64::new(0)).collect(),
            len: AtomicU32::new(0),
        })
    }

    fn len(&self) -> usize {
        self.len.load(Ordering::Acquire) as usize
    }

    fn get(&self, index: usize) -> Life {
        let weak = std::ptr::with_exposed_provenance_mut(self.weaks[index].load(Ordering::Relaxed));
        Life { weak, object: ObjectId(self.objects[index].load(Ordering::Relaxed)) }
    }
}

/// What the threads of the program hand to the agent's.
#[derive(Default)]
pub(crate) struct Lives {
    /// Chunks that a thread has begun to fill since the last look.
    fresh: Mutex<Vec<Arc<Chunk>>>,
    /// Full-sized chunks of which all has been read.
    spare: Mutex<Vec<Arc<Chunk>>>,
}

impl Lives {
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
    pub(crate) unsafe fn note(
        &mut self,
        lives: &Lives,
        jni: Jni,
        object: jobject,
        id: ObjectId,
    ) -> Result<(), NoMemory> {
        // SAFETY: by the caller's promise.
        let Ok(weak) = (unsafe { jni.new_weak_global_ref(object) }) else {
            jni.exception_clear();
            return Err(NoMemory);
        };
        self.push(lives, Life { weak, object: id });
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
        chunk.objects[self.filled].store(life.object.0, Ordering::Relaxed);
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
    /// Looks at all objects, and tells the queue which are dead.
    pub(crate) fn take(&mut self, lives: &Lives, jni: Jni, gc: &GcQueue) {
        // SAFETY: the reference is ours, and deleted once, when it is taken out of the list.
        self.take_with(lives, gc, |weak| unsafe {
            let is_dead = jni.is_same_object(weak, std::ptr::null_mut());
            if is_dead {
                jni.delete_weak_global_ref(weak);
            }
            is_dead
        });
    }

    /// `buries` tells whether an object is dead, and if so gives the reference up.
    fn take_with(&mut self, lives: &Lives, gc: &GcQueue, mut buries: impl FnMut(jweak) -> bool) {
        let mut dead = Batch { gc, objects: Vec::new(), looked_at: 0 };
        self.living.retain(|life| {
            let is_dead = buries(life.weak);
            dead.looked_at(is_dead.then_some(life.object));
            !is_dead
        });
        let fresh = std::mem::take(&mut *lives.fresh.lock().unwrap_or_else(PoisonError::into_inner));
        self.open.extend(fresh.into_iter().map(|chunk| (chunk, 0)));
        let living = &mut self.living;
        self.open.retain_mut(|(chunk, read)| {
            // Asked first: whoever holds it still may add to it after `len` was read.
            let is_ours_alone = Arc::get_mut(chunk).is_some();
            let len = chunk.len();
            for life in (*read..len).map(|index| chunk.get(index)) {
                let is_dead = buries(life.weak);
                dead.looked_at(is_dead.then_some(life.object));
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
    gc: &'a GcQueue,
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
        self.gc.free(std::mem::take(&mut self.objects));
        self.looked_at = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::clock::Ticks;

    fn life(number: usize) -> Life {
        Life { weak: std::ptr::without_provenance_mut(number), object: ObjectId(number as u64) }
    }

    fn freed(gc: &GcQueue) -> Vec<u64> {
        gc.take().freed.into_iter().flat_map(|(_, objects)| objects).map(|object| object.0).collect()
    }

    #[test]
    fn each_death_is_told_once() {
        let (lives, gc, mut census) = (Lives::default(), GcQueue::new(), Census::default());
        gc.start(Ticks(1));
        gc.finish(Ticks(2), None);
        let mut recorder = Recorder::default();
        (1..=20_000).for_each(|number| recorder.push(&lives, life(number)));
        census.take_with(&lives, &gc, |weak| weak.addr() % 2 == 0);
        assert_eq!(freed(&gc), (1..=10_000).map(|half| half * 2).collect::<Vec<_>>());
        (20_001..=20_010).for_each(|number| recorder.push(&lives, life(number)));
        census.take_with(&lives, &gc, |weak| weak.addr() % 5 == 0);
        let mut expected: Vec<u64> = (1..=20_000).filter(|n| n % 2 == 1 && n % 5 == 0).collect();
        expected.extend([20_005, 20_010]);
        assert_eq!(freed(&gc), expected);
        drop(recorder);
        census.take_with(&lives, &gc, |_| true);
        assert_eq!(freed(&gc).len(), 20_010 - 10_000 - expected.len());
        assert!(census.living.is_empty() && census.open.is_empty());
    }

    #[test]
    fn nothing_is_lost_while_a_thread_goes_on() {
        const LIVES: usize = 200_000;
        let (lives, gc, mut census) = (Lives::default(), GcQueue::new(), Census::default());
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut recorder = Recorder::default();
                (1..=LIVES).for_each(|number| recorder.push(&lives, life(number)));
            });
            while !writer.is_finished() {
                census.take_with(&lives, &gc, |_| true);
            }
        });
        census.take_with(&lives, &gc, |_| true);
        assert!(freed(&gc).into_iter().eq(1..=LIVES as u64));
    }

    #[test]
    fn chunks_come_back() {
        let (lives, gc, mut census) = (Lives::default(), GcQueue::new(), Census::default());
        for _ in 0..100 {
            let mut recorder = Recorder::default();
            (1..=20_000).for_each(|number| recorder.push(&lives, life(number)));
            census.take_with(&lives, &gc, |_| true);
        }
        assert!(!lives.spare.lock().unwrap().is_empty());
        assert!(lives.spare.lock().unwrap().iter().all(|chunk| chunk.len() == 0));
    }
}
