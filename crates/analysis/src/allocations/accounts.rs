//! What was reported of each thread, and what the JVM accounts to it.

use rustc_hash::FxHashMap;
use trace::ids::ThreadId;
use trace::model::ThreadCount;

use crate::coverage::Coverage;
use crate::symbols::ThreadIndex;

/// A thread as it was announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadSubject<'a> {
    /// The thread's name; several threads may share one.
    pub name: &'a str,
    /// The name of its thread group; empty if unknown.
    pub group: &'a str,
    /// Its id in its document, which another thread may bear later.
    pub id: ThreadId,
    /// Its rank among all threads of the trace in the order of their definitions, from 0. Unlike the id, it is unique.
    pub rank: usize,
}

/// The account of one platform thread and of the virtual threads that it carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account<'a> {
    /// The thread.
    pub thread: ThreadSubject<'a>,
    /// Objects reported.
    pub instances: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes that the JVM accounts to the thread in the same span; `None` if it did not say.
    pub vm_bytes: Option<u64>,
}

/// The last account of each thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Accounts(FxHashMap<ThreadIndex, Numbers>);

/// The numbers of an [`Account`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub(super) instances: u64,
    pub(super) bytes: u64,
    pub(super) vm_bytes: Option<u64>,
}

impl Accounts {
    /// Takes in a thread's account, which replaces the one before.
    pub(super) fn insert(&mut self, thread: ThreadIndex, count: &ThreadCount) {
        let ThreadCount { instances, bytes, vm_bytes, .. } = *count;
        self.0.insert(thread, Numbers { instances, bytes, vm_bytes });
    }

    /// All threads, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ThreadIndex, Numbers)> {
        self.0.iter().map(|(&thread, &numbers)| (thread, numbers))
    }
}

/// The sums of accounts.
pub(super) fn coverage<'a>(accounts: impl Iterator<Item = Account<'a>>) -> Coverage {
    let mut coverage = Coverage::default();
    for account in accounts {
        coverage.add(account.thread.name, account.bytes, account.vm_bytes);
    }
    coverage
}
