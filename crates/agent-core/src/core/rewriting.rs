//! What was rewritten, and what was left as it was. It is written at the end of the trace.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use classfile::Rewritten;

use super::lost::Lost;

/// Numbers of classes, and of what stayed as it was, by reason.
#[derive(Default)]
pub struct RewritingCounts {
    rewritten: AtomicU64,
    refused: Lost,
}

impl RewritingCounts {
    /// Counts something that is left as it was.
    pub fn refuse(&self, reason: &str) {
        self.refused.count(reason, 1);
    }

    /// Counts what the rewriter did, and returns the bytes that it made.
    pub fn note(&self, rewritten: Rewritten<'_>) -> Option<Vec<u8>> {
        self.note_further(rewritten, false)
    }

    /// The same for a class that may have been rewritten, and counted, before.
    pub fn note_further(&self, rewritten: Rewritten<'_>, is_counted: bool) -> Option<Vec<u8>> {
        for refused in &rewritten.refused {
            self.refuse(&format!("method: {}", refused.reason));
        }
        if rewritten.bytes.is_some() && !is_counted {
            self.rewritten.fetch_add(1, Ordering::Relaxed);
        }
        rewritten.bytes
    }

    /// Classes that were rewritten.
    pub fn rewritten(&self) -> u64 {
        self.rewritten.load(Ordering::Relaxed)
    }

    /// What was left as it was, by reason.
    pub fn refused(&self) -> BTreeMap<String, u64> {
        self.refused.all()
    }
}
