//! The ids of objects, by their addresses when the heap was dumped.
//!
//! One bit for each eight bytes of the parts of the heap that hold such objects, and eight bytes for each object: the n-th bit
//! set stands for the n-th id. A look-up reads three words of memory.

use rustc_hash::FxHashMap;

/// Objects begin at multiples of this.
const ALIGNMENT: u64 = 8;
/// Bits of an address inside a block: 4 MiB.
const BLOCK_BITS: u32 = 22;
const WORDS: usize = 1 << (BLOCK_BITS - 3 - 6);

#[derive(Debug)]
struct Block {
    bits: Box<[u64; WORDS]>,
    /// Objects in front of each word, in the whole map.
    before: Box<[u32; WORDS]>,
}

/// Ids by address.
#[derive(Debug, Default)]
pub(crate) struct IdMap {
    blocks: FxHashMap<u64, Block>,
    ids: Vec<u64>,
}

fn locate(address: u64) -> (u64, usize, u32) {
    let slot = (address & ((1 << BLOCK_BITS) - 1)) / ALIGNMENT;
    (address >> BLOCK_BITS, (slot / 64) as usize, (slot % 64) as u32)
}

impl IdMap {
    /// Notes that there is an object at this address; before `number`.
    pub(crate) fn note(&mut self, address: u64) {
        let (block, word, bit) = locate(address);
        let block = self
            .blocks
            .entry(block)
            .or_insert_with(|| Block { bits: Box::new([0; WORDS]), before: Box::new([0; WORDS]) });
        block.bits[word] |= 1 << bit;
    }

    /// Makes room for the ids of all that was noted; each is 0 then.
    pub(crate) fn number(&mut self) {
        let mut blocks: Vec<_> = self.blocks.iter_mut().collect();
        blocks.sort_unstable_by_key(|(number, _)| **number);
        let mut count = 0u32;
        for (_, block) in blocks {
            for (bits, before) in block.bits.iter().zip(block.before.iter_mut()) {
                *before = count;
                count += bits.count_ones();
            }
        }
        self.ids = vec![0; count as usize];
    }

    fn index(&self, address: u64) -> Option<usize> {
        let (block, word, bit) = locate(address);
        let block = self.blocks.get(&block)?;
        let bits = block.bits[word];
        let is_there = address.is_multiple_of(ALIGNMENT) && bits & 1 << bit != 0;
        is_there.then(|| (block.before[word] + (bits & ((1 << bit) - 1)).count_ones()) as usize)
    }

    /// Sets the id of what was noted at this address.
    pub(crate) fn set(&mut self, address: u64, id: u64) {
        if let Some(index) = self.index(address) {
            self.ids[index] = id;
        }
    }

    /// The id of the object at this address.
    #[inline]
    pub(crate) fn get(&self, address: u64) -> Option<u64> {
        self.index(address).map(|index| self.ids[index])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// If an address occurs twice, the last id counts.
    fn map(objects: &[(u64, u64)]) -> IdMap {
        let mut map = IdMap::default();
        objects.iter().for_each(|&(address, _)| map.note(address));
        map.number();
        objects.iter().for_each(|&(address, id)| map.set(address, id));
        map
    }

    proptest! {
        #[test]
        fn it_is_a_map(
            objects in prop::collection::btree_map((0u64..1 << 24).prop_map(|n| 0x7_0000_0000 + n * 8), any::<u64>(), 0..300),
            asked in prop::collection::vec(0x7_0000_0000u64..0x7_0100_0000, 0..50),
        ) {
            let map = map(&objects.iter().map(|(&address, &id)| (address, id)).collect::<Vec<_>>());
            for address in objects.keys().copied().chain(asked) {
                prop_assert_eq!(map.get(address), objects.get(&address).copied());
            }
        }
    }

    #[test]
    fn the_last_id_counts() {
        let twice = map(&[(64, 1), (64, 2)]);
        assert_eq!((twice.get(64), twice.get(72), twice.get(65)), (Some(2), None, None));
        assert_eq!(map(&[]).get(8), None);
    }
}
