//! The environments of the VM in which objects are tagged.
//!
//! Where hooks tell of objects they must know what has been told already, and where threads wait on objects these must be told
//! apart: the tag says so. HotSpot keeps one map of tags
//! per environment, under one lock, with long chains. Were there but one, threads would wait for each other at every object. So
//! there are several, and each thread keeps to one. The numbers of classes are tags too, in environments that hold nothing
//! else, one for each processor.

use jvmti::Env;
use jvmti::jni_sys::{jclass, jlong, jobject};
use trace::ids::ObjectId;

use super::classes::ClassIndex;
use super::engine::Engine;
use super::threads::ThreadIndex;

/// One environment of the VM.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shard(Env);

impl Shard {
    /// The object's tag, 0 if it has none here.
    ///
    /// # Safety
    /// `object` is a live reference.
    pub(crate) unsafe fn tag(self, object: jobject) -> jvmti::Result<jlong> {
        // SAFETY: by the caller's promise.
        unsafe { self.0.get_tag(object) }
    }

    /// Sets the object's tag.
    ///
    /// # Safety
    /// `object` is a live reference.
    pub(crate) unsafe fn set_tag(self, object: jobject, tag: jlong) -> jvmti::Result<()> {
        // SAFETY: by the caller's promise.
        unsafe { self.0.set_tag(object, tag) }
    }

    /// The number noted with a class, if there is one.
    ///
    /// # Safety
    /// `class` is a live reference to a class.
    pub(crate) unsafe fn class(self, class: jclass) -> jvmti::Result<Option<ClassIndex>> {
        // SAFETY: by the caller's promise.
        let tag = unsafe { self.0.get_tag(class) }?;
        Ok((tag > 0).then(|| ClassIndex((tag - 1) as u32)))
    }

    /// Notes the number of a class.
    ///
    /// # Safety
    /// `class` is a live reference to a class.
    pub(crate) unsafe fn note_class(self, class: jclass, index: ClassIndex) -> jvmti::Result<()> {
        // SAFETY: by the caller's promise.
        unsafe { self.0.set_tag(class, jlong::from(index.0) + 1) }
    }
}

/// How many environments are for objects; the first is there in any case.
fn object_shards(identifies: bool) -> usize {
    if identifies { OBJECT_SHARDS } else { 1 }
}

/// Shards for objects. Each costs every event of the VM and every thread a little.
const OBJECT_SHARDS: usize = 16;
/// More shards for classes than this gain nothing.
const MOST_CLASS_SHARDS: usize = 8;

/// All shards.
pub(crate) struct Tags {
    /// Those for objects come first.
    envs: Box<[Env]>,
    objects: usize,
}

impl Tags {
    /// How many environments `new` wants; more if objects get tags as soon as they are reported.
    pub(crate) fn wanted(engine: Engine, identifies: bool) -> usize {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let classes = if engine.follows() { processors.next_power_of_two().min(MOST_CLASS_SHARDS) } else { 1 };
        object_shards(identifies) + classes
    }

    /// Of as many environments as are wanted, in the order in which they were made.
    pub(crate) fn new(envs: Box<[Env]>, identifies: bool) -> Tags {
        let objects = object_shards(identifies).min(envs.len() - 1);
        Tags { envs, objects }
    }

    /// The environments, in the order in which they were made.
    pub(crate) fn envs(&self) -> &[Env] {
        &self.envs
    }

    /// Where a thread tags objects.
    pub(crate) fn for_objects(&self, thread: ThreadIndex) -> Shard {
        // Threads that begin together are half of all shards apart.
        let shard = (thread.0 as usize).wrapping_mul(self.objects / 2 + 1);
        Shard(self.envs[shard % self.objects])
    }

    /// The shard for objects that get their id because threads wait on them.
    pub(crate) fn for_monitors(&self) -> Shard {
        Shard(self.envs[0])
    }

    /// The id of an object that has one.
    ///
    /// # Safety
    /// `object` is a live reference.
    pub(crate) unsafe fn find(&self, object: jobject) -> Option<ObjectId> {
        // SAFETY: by the caller's promise.
        let tag = |env: &Env| unsafe { env.get_tag(object) }.ok().filter(|&tag| tag != 0);
        self.envs[..self.objects].iter().find_map(tag).map(|tag| ObjectId(tag as u64))
    }

    /// Where a thread looks classes up.
    pub(crate) fn for_classes(&self, thread: ThreadIndex) -> Shard {
        let classes = &self.envs[self.objects..];
        Shard(classes[thread.0 as usize % classes.len()])
    }

    /// Whether the object has a tag in any shard.
    ///
    /// # Safety
    /// `object` is a live reference.
    pub(crate) unsafe fn anywhere(&self, object: jobject) -> bool {
        // SAFETY: by the caller's promise.
        unsafe { self.find(object) }.is_some()
    }
}
