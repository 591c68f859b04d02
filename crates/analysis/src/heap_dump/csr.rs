//! Lists of objects, one list for each object, in two flat arrays.

use super::ObjectIndex;

/// One list of objects for each object.
#[derive(Debug, Default)]
pub struct Lists {
    /// Where the list of each object begins; one entry more than there are objects.
    begins: Vec<u32>,
    items: Vec<ObjectIndex>,
}

/// There are more references than 32 bits can count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the heap has more than 4,294,967,295 objects or references, which is more than can be analysed")]
pub struct TooMany;

impl Lists {
    /// No lists yet; they are added in the order of the objects.
    pub(super) fn with_capacity(objects: usize) -> Self {
        let mut begins = Vec::with_capacity(objects + 1);
        begins.push(0);
        Lists { begins, items: Vec::new() }
    }

    /// Adds an object to the list that is being made.
    pub(super) fn push(&mut self, item: ObjectIndex) {
        self.items.push(item);
    }

    /// Ends the list that is being made.
    pub(super) fn end_list(&mut self) -> Result<(), TooMany> {
        self.begins.push(u32::try_from(self.items.len()).map_err(|_| TooMany)?);
        Ok(())
    }

    /// The lists made of pairs of owner and item, for this many objects. Each list has its items in the order of the pairs.
    pub(super) fn of_pairs<I>(objects: usize, pairs: impl Fn() -> I) -> Result<Self, TooMany>
    where
        I: Iterator<Item = (ObjectIndex, ObjectIndex)>,
    {
        let mut begins = vec![0_u32; objects + 1];
        let mut total = 0_usize;
        for (owner, _) in pairs() {
            begins[owner.at() + 1] += 1;
            total += 1;
            if total > u32::MAX as usize {
                return Err(TooMany);
            }
        }
        for index in 1..begins.len() {
            begins[index] += begins[index - 1];
        }
        // While lists are filled, each entry is the place of its list's next item; in the end it is where the next list begins.
        let mut items = vec![ObjectIndex::NONE; total];
        for (owner, item) in pairs() {
            let next = &mut begins[owner.at()];
            items[*next as usize] = item;
            *next += 1;
        }
        begins.rotate_right(1);
        begins[0] = 0;
        Ok(Lists { begins, items })
    }

    /// The lists the other way round: for each object, those whose lists have it.
    pub(super) fn reversed(&self) -> Result<Self, TooMany> {
        Self::of_pairs(self.len(), || self.pairs().map(|(owner, item)| (item, owner)))
    }

    /// The list of an object.
    #[inline]
    pub fn of(&self, object: ObjectIndex) -> &[ObjectIndex] {
        &self.items[self.range(object)]
    }

    /// Where in all items the list of an object is.
    #[inline]
    pub(super) fn range(&self, object: ObjectIndex) -> std::ops::Range<usize> {
        self.begins[object.at()] as usize..self.begins[object.at() + 1] as usize
    }

    /// How many lists there are.
    pub(super) fn len(&self) -> usize {
        self.begins.len() - 1
    }

    /// How many items there are in all lists.
    pub fn items(&self) -> usize {
        self.items.len()
    }

    /// Each item with its owner, in the order of the owners.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (ObjectIndex, ObjectIndex)> {
        let owners = self.begins.windows(2).enumerate();
        owners.flat_map(|(owner, ends)| {
            let list = &self.items[ends[0] as usize..ends[1] as usize];
            list.iter().map(move |&item| (ObjectIndex(owner as u32), item))
        })
    }

    /// Gives back memory that was taken in advance.
    pub(super) fn shrink(&mut self) {
        self.items.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_the_order_of_their_pairs() {
        let pairs = [(2, 0), (0, 1), (2, 1), (0, 0), (2, 2)].map(|(a, b)| (ObjectIndex(a), ObjectIndex(b)));
        let lists = Lists::of_pairs(4, || pairs.into_iter()).unwrap();
        let of = |object: u32| lists.of(ObjectIndex(object)).iter().map(|item| item.0).collect::<Vec<_>>();
        assert_eq!((of(0), of(1), of(2), of(3)), (vec![1, 0], vec![], vec![0, 1, 2], vec![]));
        let back = lists.reversed().unwrap();
        let of = |object: u32| back.of(ObjectIndex(object)).iter().map(|item| item.0).collect::<Vec<_>>();
        assert_eq!((of(0), of(1), of(2), of(3)), (vec![0, 2], vec![0, 2], vec![2], vec![]));
        assert_eq!(back.pairs().count(), 5);
    }
}
