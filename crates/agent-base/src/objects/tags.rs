//! The environments of the VM in which objects are tagged with their ids.
//!
//! Where hooks report objects, the tag shows which were reported already; where threads wait on objects, it identifies them.
//! HotSpot keeps one map of tags per environment, under one lock, with long chains: with a single environment, threads would
//! wait for each other at every object. So there are several, and each thread uses one of them. The numbers of classes are tags
//! too, in environments of their own, one for each processor.
//!
//! Tags stay when a recording ends. Ids only grow, so a tag below the first id of a recording belongs to an earlier one.

use jvmti::jni_sys::{jclass, jlong, jobject};
use jvmti::{Env, Jni};
use trace::ids::ObjectId;

use crate::ids::{ClassIndex, ThreadIndex};

/// The tag of an object that was dropped, and so has no id.
const DROPPED: ObjectId = ObjectId(jlong::MAX as u64);

/// An environment for objects.
#[derive(Clone, Copy, Debug)]
pub struct ObjectShard {
    env: Env,
    first: ObjectId,
}

impl ObjectShard {
    /// # Safety
    /// `object` is a live reference.
    #[inline]
    unsafe fn tag(self, object: jobject) -> Option<ObjectId> {
        // SAFETY: by the caller's promise.
        let tag = unsafe { self.env.get_tag(object) }.ok()?;
        Some(ObjectId(tag as u64)).filter(|&id| id >= self.first)
    }

    /// The id that the object has here.
    ///
    /// # Safety
    /// `object` is a live reference.
    #[inline]
    pub(crate) unsafe fn find(self, object: jobject) -> Option<ObjectId> {
        // SAFETY: by the caller's promise.
        unsafe { self.tag(object) }.filter(|&id| id != DROPPED)
    }

    /// Whether the object has an id here, or was dropped.
    ///
    /// # Safety
    /// `object` is a live reference.
    #[inline]
    pub unsafe fn is_marked(self, object: jobject) -> bool {
        // SAFETY: by the caller's promise.
        unsafe { self.tag(object) }.is_some()
    }

    /// Tags an object that is not reported.
    ///
    /// # Errors
    /// A JVMTI call fails.
    ///
    /// # Safety
    /// `object` is a live reference.
    pub unsafe fn mark_dropped(self, object: jobject) -> jvmti::Result<()> {
        // SAFETY: by the caller's promise.
        unsafe { self.set(object, DROPPED) }
    }

    /// Tags the object with its id.
    ///
    /// # Errors
    /// A JVMTI call fails.
    ///
    /// # Safety
    /// `object` is a live reference.
    #[inline]
    pub unsafe fn set(self, object: jobject, id: ObjectId) -> jvmti::Result<()> {
        // SAFETY: by the caller's promise.
        unsafe { self.env.set_tag(object, id.0 as jlong) }
    }
}

/// An environment for classes.
#[derive(Clone, Copy, Debug)]
pub struct ClassShard(Env);

impl ClassShard {
    /// The number noted with a class, if there is one.
    ///
    /// # Errors
    /// A JVMTI call fails.
    ///
    /// # Safety
    /// `class` is a live reference to a class.
    pub unsafe fn class(self, class: jclass) -> jvmti::Result<Option<ClassIndex>> {
        // SAFETY: by the caller's promise.
        let tag = unsafe { self.0.get_tag(class) }?;
        Ok((tag > 0).then(|| ClassIndex((tag - 1) as u32)))
    }

    /// Notes the number of a class.
    ///
    /// # Errors
    /// A JVMTI call fails.
    ///
    /// # Safety
    /// `class` is a live reference to a class.
    pub unsafe fn note_class(self, class: jclass, index: ClassIndex) -> jvmti::Result<()> {
        // SAFETY: by the caller's promise.
        unsafe { self.0.set_tag(class, jlong::from(index.0) + 1) }
    }
}

/// How many environments are for objects; at least one.
fn object_shards(identifies: bool) -> usize {
    if identifies { OBJECT_SHARDS } else { 1 }
}

/// Shards for objects. Each makes every event of the VM and every thread a little more expensive.
const OBJECT_SHARDS: usize = 16;
/// More shards for classes than this gain nothing.
const MAX_CLASS_SHARDS: usize = 8;

/// All shards of a recording.
pub struct Tags {
    /// Those for objects come first.
    envs: Box<[Env]>,
    objects: usize,
    /// The first id of this recording.
    first: ObjectId,
}

impl Tags {
    /// How many environments `new` wants: more if objects get tags as soon as they are reported (`identifies`), and for classes
    /// if objects are tracked one by one.
    pub fn wanted(tracks_objects: bool, identifies: bool) -> usize {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let classes = if tracks_objects { processors.next_power_of_two().min(MAX_CLASS_SHARDS) } else { 1 };
        object_shards(identifies) + classes
    }

    /// Of as many environments as are wanted, in the order in which they were made, for ids from `first` on.
    pub fn new(envs: Box<[Env]>, identifies: bool, first: ObjectId) -> Tags {
        let objects = object_shards(identifies).min(envs.len() - 1);
        Tags { envs, objects, first }
    }

    /// The environments, in the order in which they were made.
    pub fn envs(&self) -> &[Env] {
        &self.envs
    }

    /// Has the VM sample an object per so many bytes on average; the first environment gets the events. A thread takes the interval over
    /// at its next sample.
    ///
    /// # Errors
    /// A JVMTI call fails.
    pub fn set_sampling_interval(&self, bytes: u32) -> jvmti::Result<()> {
        self.envs[0].set_heap_sampling_interval(i32::try_from(bytes).unwrap_or(i32::MAX))
    }

    /// The shard in which a thread tags objects.
    pub fn for_objects(&self, thread: ThreadIndex) -> ObjectShard {
        // Threads that begin together are half of all shards apart.
        let shard = (thread.0 as usize).wrapping_mul(self.objects / 2 + 1);
        self.object_shard(shard % self.objects)
    }

    fn object_shard(&self, shard: usize) -> ObjectShard {
        ObjectShard { env: self.envs[shard], first: self.first }
    }

    /// The shard for objects that get their id because threads wait on them.
    pub fn for_monitors(&self) -> ObjectShard {
        self.object_shard(0)
    }

    /// The id of an object that has one.
    ///
    /// # Safety
    /// `object` is a live reference.
    pub unsafe fn find(&self, object: jobject) -> Option<ObjectId> {
        // SAFETY: by the caller's promise.
        (0..self.objects).find_map(|shard| unsafe { self.object_shard(shard).find(object) })
    }

    /// The objects that have these ids, as new local references: those that live and got theirs because threads wait on them.
    ///
    /// # Errors
    /// What the VM refuses.
    pub fn of_monitors(&self, jni: Jni, ids: &[ObjectId]) -> jvmti::Result<Vec<(jobject, ObjectId)>> {
        let tags: Vec<jlong> = ids.iter().map(|id| id.0 as jlong).collect();
        jni.expect_local_refs(tags.len());
        let (objects, tags) = self.for_monitors().env.get_objects_with_tags(&tags)?;
        Ok(objects.iter().zip(tags.iter()).map(|(&object, &tag)| (object, ObjectId(tag as u64))).collect())
    }

    /// Whether an object has an id, or was dropped.
    ///
    /// # Safety
    /// `object` is a live reference.
    pub unsafe fn is_marked(&self, object: jobject) -> bool {
        // SAFETY: by the caller's promise.
        (0..self.objects).any(|shard| unsafe { self.object_shard(shard).is_marked(object) })
    }

    /// The shard in which a thread looks classes up.
    pub fn for_classes(&self, thread: ThreadIndex) -> ClassShard {
        let classes = &self.envs[self.objects..];
        ClassShard(classes[thread.0 as usize % classes.len()])
    }
}
