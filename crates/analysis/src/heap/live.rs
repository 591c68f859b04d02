//! The objects that are alive at the current point of a trace: the only part of the statistics that grows with the heap.

use rustc_hash::FxHashMap;
use trace::ids::ObjectId;
use trace::time::Time;

/// Index of the group (class, thread and site) that an object counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CellIndex(pub(super) u32);

/// What has to be known of a live object. Its time, not the number of collections so far, because the times of a trace may
/// run backwards and a collection written later may have ended earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LiveObject {
    pub(super) cell: CellIndex,
    pub(super) bytes: u64,
    pub(super) allocated: Time,
}

/// An object in 16 bytes. Arrays beyond 4 GiB are so rare that their size is kept aside.
#[derive(Clone, Copy, Debug)]
struct Packed {
    allocated: Time,
    cell: CellIndex,
    bytes: u32,
}

/// Stands for "the size is kept aside".
const LARGE: u32 = u32::MAX;

/// Live objects by id.
#[derive(Debug, Default)]
pub(super) struct LiveObjects {
    objects: FxHashMap<ObjectId, Packed>,
    large: FxHashMap<ObjectId, u64>,
}

impl LiveObjects {
    /// Adds an object; gives back the one that had the same id, if it was still alive.
    pub(super) fn insert(&mut self, id: ObjectId, object: LiveObject) -> Option<LiveObject> {
        let large_before = if self.large.is_empty() { None } else { self.large.remove(&id) };
        let bytes = u32::try_from(object.bytes).unwrap_or(LARGE);
        if bytes == LARGE {
            self.large.insert(id, object.bytes);
        }
        let packed = Packed { allocated: object.allocated, cell: object.cell, bytes };
        self.objects.insert(id, packed).map(|before| before.unpack(large_before))
    }

    /// Takes an object out; `None` if no live object has this id.
    pub(super) fn remove(&mut self, id: ObjectId) -> Option<LiveObject> {
        let packed = self.objects.remove(&id)?;
        let large = if packed.bytes == LARGE { self.large.remove(&id) } else { None };
        Some(packed.unpack(large))
    }

    /// Takes all objects out, in no particular order, and gives their memory back.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = LiveObject> + use<> {
        let mut large = std::mem::take(&mut self.large);
        std::mem::take(&mut self.objects).into_iter().map(move |(id, packed)| packed.unpack(large.remove(&id)))
    }
}

impl Packed {
    fn unpack(self, large: Option<u64>) -> LiveObject {
        LiveObject { cell: self.cell, bytes: large.unwrap_or(u64::from(self.bytes)), allocated: self.allocated }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(bytes: u64) -> LiveObject {
        LiveObject { cell: CellIndex(3), bytes, allocated: Time(7) }
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
