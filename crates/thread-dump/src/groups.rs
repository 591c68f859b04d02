//! Threads that are at the same place.

use std::cmp::Reverse;
use std::collections::HashMap;

use trace::model::ThreadState;

use crate::model::{FrameIndex, ThreadDump, ThreadIndex};

/// Threads with the same stack, in the same state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The threads, in the order of the dump.
    pub threads: Vec<ThreadIndex>,
}

impl ThreadDump {
    /// All threads by their stacks, the largest group first.
    pub fn groups(&self) -> Vec<Group> {
        type Key<'a> = (&'a [FrameIndex], Option<ThreadState>, bool);
        let mut places: HashMap<Key<'_>, usize> = HashMap::new();
        let mut groups: Vec<Group> = Vec::new();
        for (index, thread) in self.threads.iter().enumerate() {
            let key = (thread.stack.as_slice(), thread.state, thread.is_virtual);
            let place = *places.entry(key).or_insert_with(|| {
                groups.push(Group { threads: Vec::new() });
                groups.len() - 1
            });
            groups[place].threads.push(ThreadIndex(index));
        }
        groups.sort_by_key(|group| Reverse(group.threads.len()));
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stacks_are_one_group() {
        let text = "\"a\" #1\n\tat a.B.c(B.java:1)\n\"b\" #2\n\tat a.B.d(B.java:2)\n\"c\" #3\n\tat a.B.d(B.java:2)\n";
        let groups = ThreadDump::parse(text).groups();
        let threads = |group: &Group| group.threads.iter().map(|index| index.0).collect::<Vec<_>>();
        assert_eq!(groups.iter().map(threads).collect::<Vec<_>>(), [vec![1, 2], vec![0]]);
    }
}
