//! Who waits for whom: deadlocks, threads held up by one owner, and queues for what nobody is known to own.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use crate::model::{Lock, ThreadDump, ThreadIndex, Wait, WaitKind};

/// Locks and permits of java.util.concurrent: who waits for one cannot go on. All else that threads park for may be their idleness.
const SCARCE: [&str; 4] = [
    "java.util.concurrent.Semaphore$",
    "java.util.concurrent.locks.ReentrantLock$",
    "java.util.concurrent.locks.ReentrantReadWriteLock$",
    "java.util.concurrent.locks.StampedLock",
];

/// Who waits for whom in a dump. A thread waits for at most one other.
#[derive(Clone, Debug)]
pub struct Waits<'d> {
    dump: &'d ThreadDump,
    /// By thread: the owner of what it waits for.
    owners: Vec<Option<ThreadIndex>>,
}

/// Threads that an owner of a lock keeps waiting, which itself waits for none of these locks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldUp {
    /// The owner.
    pub owner: ThreadIndex,
    /// Who waits for the owner, or for somebody who waits for it; in the order of the dump.
    pub waiters: Vec<ThreadIndex>,
}

/// Threads that wait for the same lock or permit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// For what.
    pub lock: Lock,
    /// They, in the order of the dump.
    pub waiters: Vec<ThreadIndex>,
}

impl<'d> Waits<'d> {
    /// Those of a dump.
    pub fn of(dump: &'d ThreadDump) -> Self {
        let mut holders: HashMap<u64, ThreadIndex> = HashMap::new();
        for (index, thread) in dump.threads.iter().enumerate() {
            let held = thread.holds.iter().filter_map(|lock| lock.address);
            holders.extend(held.map(|address| (address, ThreadIndex(index))));
        }
        let owner = |(index, wait): (usize, &Wait)| {
            let owner = holders.get(&wait.lock.address?).copied()?;
            (wait.kind != WaitKind::Notify && owner != ThreadIndex(index)).then_some(owner)
        };
        let threads = dump.threads.iter().enumerate();
        let owners = threads.map(|(index, thread)| owner((index, thread.wait.as_ref()?))).collect();
        Waits { dump, owners }
    }

    /// Who owns what a thread waits for, if somebody is known to.
    pub fn owner(&self, waiter: ThreadIndex) -> Option<ThreadIndex> {
        self.owners.get(waiter.0).copied().flatten()
    }

    /// Threads each of which waits for the next, and the last for the first; each circle begins with the thread that is first in the
    /// dump.
    pub fn deadlocks(&self) -> Vec<Vec<ThreadIndex>> {
        let mut circles = Vec::new();
        // The walk on which each was seen.
        let mut seen: Vec<Option<usize>> = vec![None; self.owners.len()];
        for start in 0..self.owners.len() {
            let mut path = Vec::new();
            let mut at = Some(ThreadIndex(start));
            while let Some(thread) = at.filter(|thread| seen[thread.0].is_none()) {
                seen[thread.0] = Some(start);
                path.push(thread);
                at = self.owner(thread);
            }
            if let Some(begin) = at.and_then(|at| path.iter().position(|&member| member == at)) {
                let mut circle = path.split_off(begin);
                let first = (0..circle.len()).min_by_key(|&place| circle[place]).unwrap_or(0);
                circle.rotate_left(first);
                circles.push(circle);
            }
        }
        circles
    }

    /// Owners that keep others waiting and could go on themselves, those that keep most waiting first.
    pub fn held_up(&self) -> Vec<HeldUp> {
        let roots = self.roots();
        let mut held: BTreeMap<ThreadIndex, Vec<ThreadIndex>> = BTreeMap::new();
        for (index, root) in roots.iter().enumerate() {
            if let Some(root) = root {
                held.entry(*root).or_default().push(ThreadIndex(index));
            }
        }
        let mut held: Vec<HeldUp> = held.into_iter().map(|(owner, waiters)| HeldUp { owner, waiters }).collect();
        held.sort_by_key(|held| Reverse(held.waiters.len()));
        held
    }

    /// Queues for locks and permits that nobody is known to own, the longest first: semaphores have no owners, and read locks do not
    /// name theirs.
    pub fn queues(&self) -> Vec<Queue> {
        let mut queues: BTreeMap<u64, Queue> = BTreeMap::new();
        for (index, thread) in self.dump.threads.iter().enumerate() {
            let Some(Wait { kind, lock }) = &thread.wait else { continue };
            let is_scarce = match kind {
                WaitKind::Enter => true,
                WaitKind::Park => SCARCE.iter().any(|class| lock.class.starts_with(class)),
                WaitKind::Notify => false,
            };
            if let Some(address) = lock.address.filter(|_| is_scarce && self.owners[index].is_none()) {
                let queue = queues.entry(address).or_insert_with(|| Queue { lock: lock.clone(), waiters: Vec::new() });
                queue.waiters.push(ThreadIndex(index));
            }
        }
        let mut queues: Vec<Queue> = queues.into_values().collect();
        queues.sort_by_key(|queue| Reverse(queue.waiters.len()));
        queues
    }

    /// How many threads wait for a member of a deadlock, without being one.
    pub fn behind(&self, deadlock: &[ThreadIndex]) -> usize {
        let leads_there = |start: usize| {
            let mut at = self.owner(ThreadIndex(start));
            let mut steps = 0;
            while let Some(thread) = at.filter(|thread| !deadlock.contains(thread) && steps < self.owners.len()) {
                at = self.owner(thread);
                steps += 1;
            }
            at.is_some_and(|at| deadlock.contains(&at))
        };
        (0..self.owners.len()).filter(|&start| !deadlock.contains(&ThreadIndex(start)) && leads_there(start)).count()
    }

    /// By thread: the last of those for whom it waits; `None` if it waits for nobody or for a deadlock.
    fn roots(&self) -> Vec<Option<ThreadIndex>> {
        /// What is known of a thread.
        #[derive(Clone, Copy, PartialEq, Eq)]
        enum Root {
            Unknown,
            /// It is on the path of the walk, or leads into a circle.
            None,
            Is(ThreadIndex),
        }
        let mut roots = vec![Root::Unknown; self.owners.len()];
        for start in 0..self.owners.len() {
            let mut path = Vec::new();
            let mut at = ThreadIndex(start);
            let root = loop {
                match (roots[at.0], self.owner(at)) {
                    (Root::Unknown, Some(owner)) => {
                        roots[at.0] = Root::None;
                        path.push(at);
                        at = owner;
                    }
                    (Root::Unknown, None) => break Root::Is(at),
                    (known, _) => break known,
                }
            };
            for thread in path {
                roots[thread.0] = root;
            }
        }
        roots
            .into_iter()
            .map(|root| match root {
                Root::Is(thread) => Some(thread),
                Root::Unknown | Root::None => None,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn dump(jdk: &str) -> ThreadDump {
        let path = format!("{}/tests/dumps/jdk{jdk}.txt", env!("CARGO_MANIFEST_DIR"));
        ThreadDump::parse(&std::fs::read_to_string(path).expect("it is there"))
    }

    fn names<'d>(dump: &'d ThreadDump, threads: &[ThreadIndex]) -> Vec<&'d str> {
        threads.iter().map(|&thread| dump.thread(thread).name.as_str()).collect()
    }

    #[test]
    fn deadlocks_owners_and_queues_of_each_jdk_are_found() {
        for jdk in ["11", "17", "21", "25"] {
            let dump = dump(jdk);
            let waits = Waits::of(&dump);
            let deadlocks: Vec<_> = waits.deadlocks().iter().map(|circle| names(&dump, circle)).collect();
            assert_eq!(deadlocks, [["dead A", "dead \"B\""], ["juc A", "juc B"]], "{jdk}");
            let held: Vec<_> = waits.held_up();
            assert_eq!(held.len(), 1, "{jdk}: {held:?}");
            assert_eq!(dump.thread(held[0].owner).name, "writer", "{jdk}");
            assert_eq!(names(&dump, &held[0].waiters), ["reader-0", "reader-1", "reader-2"], "{jdk}");
            let queues: Vec<_> = waits.queues();
            assert_eq!(names(&dump, &queues[0].waiters), ["sem-0", "sem-1"], "{jdk}");
            assert_eq!(queues.len(), 1, "{jdk}: {queues:?}");
        }
    }

    #[test]
    fn deadlocks_of_locks_are_found_without_their_owners_in_the_text() {
        let text = include_str!("../tests/dumps/jdk17.txt");
        let without = text.lines().filter(|line| !line.starts_with("\t- <")).collect::<Vec<_>>().join("\n");
        let dump = ThreadDump::parse(&without);
        assert_eq!(Waits::of(&dump).deadlocks().len(), 2);
        assert!(Waits::of(&dump).held_up().is_empty());
    }

    #[test]
    fn owners_can_be_added_by_number() {
        let mut dump = ThreadDump::parse(
            "\"a\" #1\n\t- parking to wait for  <0x10> (a java.util.concurrent.locks.ReentrantLock$FairSync)\n\"b\" #2\n",
        );
        assert_eq!(Waits::of(&dump).queues().len(), 1);
        dump.add_owner(1, 2);
        dump.add_owner(7, 2);
        let held = HeldUp { owner: ThreadIndex(1), waiters: vec![ThreadIndex(0)] };
        assert_eq!((Waits::of(&dump).held_up(), Waits::of(&dump).queues()), (vec![held], Vec::new()));
    }

    /// A dump in which thread `n` holds monitor `n` and waits for that of `to[n]`.
    fn waiting(to: &[Option<usize>]) -> ThreadDump {
        let mut text = String::new();
        for (at, to) in to.iter().enumerate() {
            text += &format!("\"{at}\" #{at}\n\t- locked <0x{at:x}> (a X)\n");
            text += &to.map_or(String::new(), |to| format!("\t- waiting to lock <0x{to:x}> (a X)\n"));
        }
        ThreadDump::parse(&text)
    }

    #[test]
    fn threads_behind_threads_wait_for_the_last() {
        let dump = waiting(&[Some(1), Some(2), None, Some(4), Some(3), Some(3)]);
        let waits = Waits::of(&dump);
        let held = HeldUp { owner: ThreadIndex(2), waiters: vec![ThreadIndex(0), ThreadIndex(1)] };
        // Each thread is its own root that waits for nobody.
        let held_up: Vec<HeldUp> = waits.held_up();
        assert_eq!(held_up, [held]);
        assert_eq!(waits.deadlocks(), [[ThreadIndex(3), ThreadIndex(4)]]);
        assert_eq!(waits.behind(&waits.deadlocks()[0]), 1);
    }

    proptest! {
        #[test]
        fn every_walk_ends(to in prop::collection::vec(prop::option::of(0_usize..12), 1..12)) {
            let count = to.len();
            let to: Vec<Option<usize>> = to.into_iter().map(|to| to.filter(|to| *to < count)).collect();
            let dump = waiting(&to);
            let waits = Waits::of(&dump);
            let circles = waits.deadlocks();
            for circle in &circles {
                prop_assert!(circle.len() > 1);
                for (place, &member) in circle.iter().enumerate() {
                    prop_assert_eq!(waits.owner(member), Some(circle[(place + 1) % circle.len()]));
                }
                let _ = waits.behind(circle);
            }
            for held in waits.held_up() {
                prop_assert!(waits.owner(held.owner).is_none() && !held.waiters.contains(&held.owner));
            }
        }
    }
}
