//! From ids to objects and back.

use super::{DumpId, ObjectIndex};

/// The ids of all objects in the order of their numbers, with a table that leads near any id in one step.
#[derive(Debug, Default)]
pub(crate) struct IdMap {
    ids: Vec<u64>,
    /// Numbers sorted by id, where the ids are not sorted themselves.
    sorted: Option<Vec<u32>>,
    /// For each stretch of ids, how many objects have smaller ones.
    table: Vec<u32>,
    least: u64,
    shift: u32,
}

impl IdMap {
    /// The map of ids in the order of the objects' numbers; the other number counts ids that came twice. The first object with
    /// an id is the one that is found.
    pub(crate) fn new(ids: Vec<u64>) -> (Self, u64) {
        let sorted = (!ids.is_sorted()).then(|| {
            let mut sorted: Vec<u32> = (0..ids.len() as u32).collect();
            // Stable, and quick where the dump is made of a few sorted parts.
            sorted.sort_by_key(|&index| ids[index as usize]);
            sorted
        });
        let mut map = IdMap { ids, sorted, table: Vec::new(), least: 0, shift: 0 };
        let count = map.ids.len();
        if count == 0 {
            return (map, 0);
        }
        map.least = map.nth(0);
        let span = map.nth(count - 1) - map.least;
        while span >> map.shift > count as u64 {
            map.shift += 1;
        }
        map.table = vec![0; (span >> map.shift) as usize + 2];
        let mut repeated = 0;
        for at in 0..count {
            let stretch = ((map.nth(at) - map.least) >> map.shift) as usize;
            map.table[stretch + 1] += 1;
            repeated += u64::from(at > 0 && map.nth(at) == map.nth(at - 1));
        }
        for at in 1..map.table.len() {
            map.table[at] += map.table[at - 1];
        }
        (map, repeated)
    }

    /// How many ids there are.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The id of an object.
    pub(crate) fn id(&self, object: ObjectIndex) -> u64 {
        self.ids[object.at()]
    }

    /// The object with an id.
    #[inline]
    pub(crate) fn find(&self, id: u64) -> Option<ObjectIndex> {
        let stretch = (id.checked_sub(self.least)? >> self.shift) as usize;
        let (Some(&begin), Some(&end)) = (self.table.get(stretch), self.table.get(stretch + 1)) else { return None };
        let (mut low, mut high) = (begin as usize, end as usize);
        while low < high {
            let middle = (low + high) / 2;
            if self.nth(middle) < id { low = middle + 1 } else { high = middle }
        }
        (low < end as usize && self.nth(low) == id).then(|| self.object(low))
    }

    /// Objects in the order of their ids.
    pub(crate) fn by_id(&self) -> impl Iterator<Item = (DumpId, ObjectIndex)> {
        (0..self.ids.len()).map(|at| (DumpId(self.nth(at)), self.object(at)))
    }

    #[inline]
    fn object(&self, at: usize) -> ObjectIndex {
        ObjectIndex(self.sorted.as_ref().map_or(at as u32, |sorted| sorted[at]))
    }

    #[inline]
    fn nth(&self, at: usize) -> u64 {
        self.ids[self.object(at).at()]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_id_is_found_and_nothing_else(ids in prop::collection::vec(prop_oneof![0..100_u64, any::<u64>()], 0..200), probe: u64) {
            let (map, repeated) = IdMap::new(ids.clone());
            for (index, &id) in ids.iter().enumerate() {
                let first = ids.iter().position(|&other| other == id).unwrap();
                prop_assert_eq!(map.find(id), Some(ObjectIndex(first as u32)));
                prop_assert_eq!(map.id(ObjectIndex(index as u32)), id);
            }
            prop_assert_eq!(map.find(probe).is_some(), ids.contains(&probe));
            let mut distinct = ids.clone();
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert_eq!(repeated as usize, ids.len() - distinct.len());
            prop_assert!(map.by_id().map(|(id, _)| id.0).is_sorted());
        }
    }
}
