//! What a recording could not report, and why. It is written at the end of the trace.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Numbers by reason.
#[derive(Default)]
pub(crate) struct Lost(Mutex<BTreeMap<String, u64>>);

impl Lost {
    /// Counts for a reason.
    pub(crate) fn count(&self, reason: &str, number: u64) {
        if number > 0 {
            let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            *counts.entry(reason.to_owned()).or_default() += number;
        }
    }

    /// All reasons so far.
    pub(crate) fn all(&self) -> BTreeMap<String, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
