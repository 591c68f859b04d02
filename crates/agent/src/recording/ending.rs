//! The steps at the end of a recording, each taken once: whoever ends the VM goes on where a request that can get no further stands.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Which steps have been begun.
#[derive(Debug, Default)]
pub(super) struct Ending {
    features: AtomicUsize,
    accounts: AtomicBool,
    rest: AtomicBool,
}

impl Ending {
    /// The number of the next feature to be stopped.
    pub(super) fn next_feature(&self) -> usize {
        self.features.fetch_add(1, Ordering::SeqCst)
    }

    /// Whether the accounts of the threads are to be read.
    pub(super) fn begins_accounts(&self) -> bool {
        !self.accounts.swap(true, Ordering::SeqCst)
    }

    /// Whether all that follows is to be done.
    pub(super) fn begins_rest(&self) -> bool {
        !self.rest.swap(true, Ordering::SeqCst)
    }
}
