//! Objects that are reported one by one: those that are alive at the current point of a trace are the only part of the statistics that
//! grows with the heap.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use rustc_hash::{FxHashMap, FxHashSet};
use trace::ids::ObjectId;
use trace::time::Time;

use super::cells::CellIndex;
use crate::window::{Clock, Position};

/// What has to be known of a live object. Its time, not the number of collections so far, because the times of a trace may
/// run backwards and a collection written later may have ended earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LiveObject {
    pub(super) cell: CellIndex,
    pub(super) bytes: u64,
    pub(super) allocated: Time,
}

/// The objects of a document, and what decides how old they are.
#[derive(Clone, Debug, Default)]
pub(super) struct Objects {
    live: LiveObjects,
    /// Objects that were announced because a thread waits for them, and that nobody allocated in the document.
    announced: FxHashSet<ObjectId>,
    /// When collections ended, in the part of the trace that counts.
    collections: Vec<Time>,
    /// Objects of that part that died behind it.
    survivors: Vec<LiveObject>,
}

/// What an id meant whose object died.
pub(super) enum Freed {
    Object(LiveObject),
    Announced,
    Unknown,
}

impl Objects {
    /// Adds an object; gives back the one that had the same id, if it was still alive.
    pub(super) fn allocated(&mut self, id: ObjectId, object: LiveObject) -> Option<LiveObject> {
        self.announced.remove(&id);
        self.live.insert(id, object)
    }

    /// Takes an object out that is in the trace only because a thread waits for it.
    pub(super) fn waited_for(&mut self, id: ObjectId, is_announced: impl Fn(CellIndex) -> bool) -> Option<LiveObject> {
        self.live.cell(id).filter(|&cell| is_announced(cell))?;
        self.announced.insert(id);
        self.live.remove(id)
    }

    /// Takes an object out.
    pub(super) fn freed(&mut self, id: ObjectId) -> Freed {
        if self.announced.remove(&id) {
            return Freed::Announced;
        }
        self.live.remove(id).map_or(Freed::Unknown, Freed::Object)
    }

    /// An object died at a time.
    pub(super) fn died(&mut self, object: LiveObject, time: Time, clock: &Clock) {
        if clock.position(time) == Position::After && clock.position(object.allocated) == Position::Inside {
            self.survivors.push(object);
        }
    }

    /// A collection ended that counts.
    pub(super) fn collected(&mut self, time: Time) {
        self.collections.push(time);
    }

    /// Takes out all objects that live at the end of the part that counts, each with its age.
    pub(super) fn end_document(&mut self, clock: &Clock) -> impl Iterator<Item = (LiveObject, u32)> {
        let Objects { mut live, mut collections, survivors, .. } = std::mem::take(self);
        collections.sort_unstable();
        let objects = live.drain().chain(survivors);
        let objects = objects.filter(|object| clock.position(object.allocated) == Position::Inside);
        objects.map(move |object| (object, age(&collections, object.allocated)))
    }
}

/// How many collections an object survived that was allocated at a time and is alive: those that ended strictly later, as TPTP's
/// views count. `collections` is sorted.
fn age(collections: &[Time], allocated: Time) -> u32 {
    let before = collections.partition_point(|&end| end <= allocated);
    u32::try_from(collections.len() - before).unwrap_or(u32::MAX)
}

/// An object in 16 bytes. Arrays beyond 4 GiB are so rare that their size is kept aside.
#[derive(Clone, Copy, Debug)]
struct PackedObject {
    allocated: Time,
    cell: CellIndex,
    bytes: u32,
}

/// Stands for "the size is kept aside".
const LARGE: u32 = u32::MAX;

/// Hashes ids so that eight in a row fall into one group of the table. Objects allocated one after the other have ids in a row, and
/// most die in the same collection: with neighbours together a large table costs a fraction of the cache misses.
#[derive(Default)]
struct NeighbourHasher(u64);

impl Hasher for NeighbourHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, id: u64) {
        const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
        // The table takes the group from the low bits, and distinguishes the members of a group by the seven highest.
        let group = (id >> 3).wrapping_mul(MIX).rotate_left(32) >> 7;
        let member = id.wrapping_mul(MIX) >> 57 << 57;
        self.0 = group | member;
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(self.0 << 8 ^ u64::from(byte));
        }
    }
}

/// Live objects by id.
#[derive(Clone, Debug, Default)]
struct LiveObjects {
    objects: HashMap<ObjectId, PackedObject, BuildHasherDefault<NeighbourHasher>>,
    large: FxHashMap<ObjectId, u64>,
}

impl LiveObjects {
    /// Adds an object; gives back the one that had the same id, if it was still alive.
    fn insert(&mut self, id: ObjectId, object: LiveObject) -> Option<LiveObject> {
        let large_before = if self.large.is_empty() { None } else { self.large.remove(&id) };
        let bytes = u32::try_from(object.bytes).unwrap_or(LARGE);
        if bytes == LARGE {
            self.large.insert(id, object.bytes);
        }
        let packed = PackedObject { allocated: object.allocated, cell: object.cell, bytes };
        self.objects.insert(id, packed).map(|before| before.unpack(large_before))
    }

    /// Takes an object out; `None` if no live object has this id.
    fn remove(&mut self, id: ObjectId) -> Option<LiveObject> {
        let packed = self.objects.remove(&id)?;
        let large = if packed.bytes == LARGE { self.large.remove(&id) } else { None };
        Some(packed.unpack(large))
    }

    /// The group that a live object counts for.
    fn cell(&self, id: ObjectId) -> Option<CellIndex> {
        self.objects.get(&id).map(|object| object.cell)
    }

    /// Takes all objects out, in no particular order, and gives their memory back.
    fn drain(&mut self) -> impl Iterator<Item = LiveObject> + use<> {
        let mut large = std::mem::take(&mut self.large);
        std::mem::take(&mut self.objects).into_iter().map(move |(id, packed)| packed.unpack(large.remove(&id)))
    }
}

impl PackedObject {
    fn unpack(self, large: Option<u64>) -> LiveObject {
        LiveObject { cell: self.cell, bytes: large.unwrap_or(u64::from(self.bytes)), allocated: self.allocated }
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;

    use super::*;

    #[test]
    fn equal_times_do_not_count_as_survived() {
        let collections = [Time(10), Time(20), Time(20), Time(30)];
        assert_eq!(age(&collections, Time(9)), 4);
        assert_eq!(age(&collections, Time(10)), 3);
        assert_eq!(age(&collections, Time(20)), 1);
        assert_eq!(age(&collections, Time(30)), 0);
    }

    fn object(bytes: u64) -> LiveObject {
        LiveObject { cell: CellIndex(3), bytes, allocated: Time(7) }
    }

    #[test]
    fn neighbours_share_a_group_and_differ_as_its_members() {
        let hash = |id: u64| BuildHasherDefault::<NeighbourHasher>::default().hash_one(ObjectId(id));
        // Unlike neighbours, blocks of neighbours have to spread: in a table of 1024 groups hardly any gets many.
        let mut blocks = [0_u32; 1024];
        for block in 0..1024_u64 {
            let hashes: Vec<u64> = (block * 8..block * 8 + 8).map(hash).collect();
            let mut members: Vec<u64> = hashes.iter().map(|hash| hash >> 57).collect();
            members.sort_unstable();
            members.dedup();
            assert_eq!(members.len(), 8);
            assert!(hashes.iter().all(|hash| hash << 7 == hashes[0] << 7));
            blocks[(hashes[0] & 1023) as usize] += 1;
        }
        assert!(*blocks.iter().max().unwrap() < 8, "{blocks:?}");
    }

    #[test]
    fn sizes_beyond_four_gib_survive() {
        let mut live = LiveObjects::default();
        let sizes = [0, 16, u64::from(u32::MAX) - 1, u64::from(u32::MAX), u64::from(u32::MAX) + 1, 1 << 40];
        for (id, size) in (1..).zip(sizes) {
            assert_eq!(live.insert(ObjectId(id), object(size)), None);
        }
        assert_eq!(live.remove(ObjectId(6)), Some(object(1 << 40)));
        assert_eq!(live.remove(ObjectId(6)), None);
        let mut left: Vec<u64> = live.drain().map(|object| object.bytes).collect();
        left.sort_unstable();
        assert_eq!(left, &sizes[..5]);
        assert_eq!(live.drain().count(), 0);
    }

    #[test]
    fn an_id_that_comes_back_gives_the_old_object_with_its_own_size() {
        let mut live = LiveObjects::default();
        live.insert(ObjectId(1), object(1 << 40));
        assert_eq!(live.insert(ObjectId(1), object(24)), Some(object(1 << 40)));
        assert_eq!(live.insert(ObjectId(1), object(1 << 41)), Some(object(24)));
        assert_eq!(live.remove(ObjectId(1)), Some(object(1 << 41)));
    }
}
