//! What stands out in a dump: deadlocks, threads that one owner holds up, and queues for what nobody is known to own.

use thread_dump::{DumpThread, Frame, Lock, ThreadDump, ThreadIndex, Waits};

use crate::location::Location;
use crate::own_code::OwnCode;

/// Threads that cannot go on, by what keeps them.
#[derive(Clone, Debug)]
pub struct BlockedThreads<'d> {
    /// Threads that wait for each other.
    pub deadlocks: Vec<DumpDeadlock<'d>>,
    /// Owners that keep others waiting; the one that keeps most first.
    pub held_up: Vec<HeldUpThreads<'d>>,
    /// Queues for what nobody is known to own, the longest first.
    pub queues: Vec<QueuedThreads<'d>>,
}

/// A thread that waits for a lock.
#[derive(Clone, Debug)]
pub struct WaitingThread<'d> {
    /// The thread.
    pub thread: &'d DumpThread,
    /// For what it waits.
    pub lock: Option<&'d Lock>,
    /// Where: its line of the user's own code, or the one that is nearest to that.
    pub at: Option<Location<'d>>,
    /// Its stack, innermost first.
    pub stack: Vec<&'d Frame>,
}

/// Threads each of which waits for the next, and the last for the first.
#[derive(Clone, Debug)]
pub struct DumpDeadlock<'d> {
    /// They.
    pub members: Vec<WaitingThread<'d>>,
    /// How many others wait for one of them.
    pub behind: usize,
}

/// Threads that wait for an owner of locks, or for somebody who waits for it.
#[derive(Clone, Debug)]
pub struct HeldUpThreads<'d> {
    /// The owner.
    pub owner: &'d DumpThread,
    /// Where it is: its line of the user's own code, or the one that is nearest to that.
    pub owner_at: Option<Location<'d>>,
    /// What it calls there.
    pub owner_calls: Option<Location<'d>>,
    /// Who waits.
    pub waiters: Vec<&'d DumpThread>,
    /// For what most of them wait.
    pub lock: Option<&'d Lock>,
    /// Where most of them wait.
    pub at: Option<Location<'d>>,
}

/// Threads that wait for the same lock or permit.
#[derive(Clone, Debug)]
pub struct QueuedThreads<'d> {
    /// For what.
    pub lock: Lock,
    /// Who waits.
    pub waiters: Vec<&'d DumpThread>,
    /// Where most of them wait.
    pub at: Option<Location<'d>>,
}

impl<'d> BlockedThreads<'d> {
    /// Those of a dump. Of waiters only those count that `counts`; members of deadlocks always do.
    pub fn of(dump: &'d ThreadDump, own: &OwnCode, counts: impl Fn(ThreadIndex) -> bool) -> Self {
        let places = Places { dump, own };
        let waits = Waits::of(dump);
        let deadlock = |circle: Vec<ThreadIndex>| DumpDeadlock {
            behind: waits.behind(&circle),
            members: circle.iter().map(|&index| places.waiting(index)).collect(),
        };
        let held_up = waits.held_up().into_iter().filter_map(|held| {
            let waiters: Vec<ThreadIndex> = held.waiters.into_iter().filter(|&index| counts(index)).collect();
            let owner = dump.thread(held.owner);
            let (owner_at, owner_calls) = places.line(owner);
            (!waiters.is_empty()).then(|| HeldUpThreads {
                owner,
                owner_at,
                owner_calls,
                lock: places.most(&waiters, |thread| Some(&thread.wait.as_ref()?.lock)),
                at: places.most(&waiters, |thread| places.line(thread).0),
                waiters: waiters.into_iter().map(|index| dump.thread(index)).collect(),
            })
        });
        let queues = waits.queues().into_iter().filter_map(|queue| {
            let waiters: Vec<ThreadIndex> = queue.waiters.into_iter().filter(|&index| counts(index)).collect();
            (!waiters.is_empty()).then(|| QueuedThreads {
                lock: queue.lock,
                at: places.most(&waiters, |thread| places.line(thread).0),
                waiters: waiters.into_iter().map(|index| dump.thread(index)).collect(),
            })
        });
        let mut found = BlockedThreads {
            deadlocks: waits.deadlocks().into_iter().map(deadlock).collect(),
            held_up: held_up.collect(),
            queues: queues.collect(),
        };
        found.held_up.sort_by_key(|held| std::cmp::Reverse(held.waiters.len()));
        found.queues.sort_by_key(|queue| std::cmp::Reverse(queue.waiters.len()));
        found
    }
}

/// Names places of threads.
struct Places<'d, 'o> {
    dump: &'d ThreadDump,
    own: &'o OwnCode,
}

impl<'d> Places<'d, '_> {
    /// The line of a thread that its reader can change, and what that calls.
    fn line(&self, thread: &'d DumpThread) -> (Option<Location<'d>>, Option<Location<'d>>) {
        let frames: Vec<&Frame> = self.dump.stack(thread).collect();
        let Some(own) = self.own.nearest(frames.iter().map(|frame| frame.class.as_str())) else { return (None, None) };
        let called = own.checked_sub(1).and_then(|inner| frames.get(inner));
        (frames.get(own).map(|frame| location(frame)), called.map(|frame| location(frame)))
    }

    fn waiting(&self, index: ThreadIndex) -> WaitingThread<'d> {
        let thread = self.dump.thread(index);
        let lock = thread.wait.as_ref().map(|wait| &wait.lock);
        WaitingThread { thread, lock, at: self.line(thread).0, stack: self.dump.stack(thread).collect() }
    }

    /// What most threads have; of several the first.
    fn most<T: PartialEq>(&self, threads: &[ThreadIndex], of: impl Fn(&'d DumpThread) -> Option<T>) -> Option<T> {
        let mut found: Vec<(T, usize)> = Vec::new();
        for value in threads.iter().filter_map(|&index| of(self.dump.thread(index))) {
            match found.iter_mut().find(|(one, _)| *one == value) {
                Some((_, threads)) => *threads += 1,
                None => found.push((value, 1)),
            }
        }
        found.into_iter().rev().max_by_key(|&(_, threads)| threads).map(|(value, _)| value)
    }
}

/// A frame of a dump as a line of code.
fn location(frame: &Frame) -> Location<'_> {
    Location { class: &frame.class, method: &frame.method, signature: "", source: &frame.source, line: frame.line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_threads_is_named_by_lines_of_their_own_code() {
        let dump = ThreadDump::parse(
            "\"owner\" #1\n\tat java.lang.Thread.sleep(Native Method)\n\tat a.B.query(B.java:3)\n\tat a.B.run(B.java:2)\n\
             \t- locked <0x1> (a a.Pool)\n\
             \"w-1\" #2\n\tat a.B.take(B.java:9)\n\t- waiting to lock <0x1> (a a.Pool)\n\
             \"w-2\" #3\n\tat a.B.give(B.java:7)\n\t- waiting to lock <0x1> (a a.Pool)\n\
             \"w-3\" #4\n\tat a.B.take(B.java:9)\n\t- waiting to lock <0x1> (a a.Pool)\n\
             \"s\" #5\n\tat a.B.acquire(B.java:8)\n\t- parking to wait for  <0x2> (a java.util.concurrent.Semaphore$FairSync)\n",
        );
        let own = OwnCode::default();
        let found = BlockedThreads::of(&dump, &own, |_| true);
        let shown = |at: Option<Location<'_>>| at.map(|at| at.to_string()).unwrap_or_default();
        let held = &found.held_up[0];
        assert_eq!((held.owner.name.as_str(), held.waiters.len()), ("owner", 3));
        assert_eq!(shown(held.owner_at), "a.B.query(B.java:3)");
        assert_eq!(shown(held.owner_calls), "java.lang.Thread.sleep");
        assert_eq!(shown(held.at), "a.B.take(B.java:9)");
        assert_eq!(held.lock.map(|lock| lock.class.as_str()), Some("a.Pool"));
        assert_eq!((found.queues.len(), shown(found.queues[0].at)), (1, "a.B.acquire(B.java:8)".to_owned()));
        let first = BlockedThreads::of(&dump, &own, |index| index.0 == 2);
        assert_eq!((first.held_up[0].waiters.len(), first.queues.len()), (1, 0));
    }
}
