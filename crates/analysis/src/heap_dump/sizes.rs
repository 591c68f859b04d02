//! The bytes of each object itself.

use rustc_hash::FxHashMap;

use super::ObjectIndex;

/// Bytes of objects: 32 bits each, and the few that are larger apart.
#[derive(Debug, Default)]
pub(crate) struct Sizes {
    small: Vec<u32>,
    large: FxHashMap<ObjectIndex, u64>,
}

impl Sizes {
    /// Stands for "kept apart".
    const LARGE: u32 = u32::MAX;

    pub(crate) fn push(&mut self, bytes: u64) {
        self.small.push(0);
        self.set(ObjectIndex(self.small.len() as u32 - 1), bytes);
    }

    pub(crate) fn set(&mut self, object: ObjectIndex, bytes: u64) {
        self.small[object.at()] = match u32::try_from(bytes) {
            Ok(small) if small != Self::LARGE => small,
            _ => {
                self.large.insert(object, bytes);
                Self::LARGE
            }
        };
    }

    #[inline]
    pub(crate) fn get(&self, object: ObjectIndex) -> u64 {
        match self.small[object.at()] {
            Self::LARGE => self.large[&object],
            small => small.into(),
        }
    }
}
