//! A set of ids in little memory.

use rustc_hash::FxHashMap;

/// Ids that are live at a time. They come from one counter, so neighbours share a block of bits:
/// an id costs a fifth of a byte where all live, and 40 bytes where hardly any does.
#[derive(Debug, Default)]
pub(crate) struct IdSet {
    blocks: FxHashMap<u64, [u64; 4]>,
}

impl IdSet {
    /// Adds an id; `false` if it was there already.
    pub(crate) fn insert(&mut self, id: u64) -> bool {
        let (block, word, bit) = place(id);
        let word = &mut self.blocks.entry(block).or_default()[word];
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Takes an id out; `false` if it was not there.
    pub(crate) fn remove(&mut self, id: u64) -> bool {
        let (block, word, bit) = place(id);
        let Some(words) = self.blocks.get_mut(&block) else {
            return false;
        };
        let was_there = words[word] & bit != 0;
        words[word] &= !bit;
        if *words == [0; 4] {
            self.blocks.remove(&block);
        }
        was_there
    }

    pub(crate) fn contains(&self, id: u64) -> bool {
        let (block, word, bit) = place(id);
        self.blocks.get(&block).is_some_and(|words| words[word] & bit != 0)
    }
}

/// Block, word in the block, bit in the word.
fn place(id: u64) -> (u64, usize, u64) {
    (id / 256, (id / 64 % 4) as usize, 1 << (id % 64))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn is_a_set(steps in prop::collection::vec((any::<bool>(), 0u64..600), 0..400)) {
            let mut ids = IdSet::default();
            let mut model = HashSet::new();
            for (insert, id) in steps {
                if insert {
                    prop_assert_eq!(ids.insert(id), model.insert(id));
                } else {
                    prop_assert_eq!(ids.remove(id), model.remove(&id));
                }
                prop_assert_eq!(ids.contains(id), model.contains(&id));
            }
            for id in model {
                ids.remove(id);
            }
            prop_assert!(ids.blocks.is_empty(), "blocks without ids are kept");
        }
    }
}
