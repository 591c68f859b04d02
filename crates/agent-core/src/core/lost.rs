//! What a recording could not report, and why. It is written at the end of the trace.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use agent_base::mutex::Mutex;

/// Numbers by reason.
#[derive(Default)]
pub struct Lost(Mutex<BTreeMap<String, u64>>);

impl Lost {
    /// Counts for a reason.
    pub(crate) fn count(&self, reason: &str, number: u64) {
        if number > 0 {
            let mut counts = self.0.lock();
            *counts.entry(reason.to_owned()).or_default() += number;
        }
    }

    /// All reasons so far.
    pub fn all(&self) -> BTreeMap<String, u64> {
        self.0.lock().clone()
    }
}

/// What is left out while the trace takes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// An object that was allocated.
    Object,
    /// A wait of a thread, from its beginning to its end.
    Wait,
    /// The end of a thread, and with it what the JVM accounts to the thread.
    Thread,
    /// The answer to a data request.
    DataRequest,
    /// A collection; deaths that it found count for a later one.
    Collection,
}

impl Dropped {
    const ALL: [(Dropped, &'static str); 5] = [
        (Dropped::Object, "objects"),
        (Dropped::Wait, "waits"),
        (Dropped::Thread, "ends of threads"),
        (Dropped::DataRequest, "data requests"),
        (Dropped::Collection, "collections"),
    ];
}

/// How much was left out of each kind.
#[derive(Debug, Default)]
pub struct DroppedCounts([AtomicU64; Dropped::ALL.len()]);

impl DroppedCounts {
    /// Counts for a kind. One shared number: a program that gets here has stopped waiting for the writer.
    pub fn add(&self, what: Dropped, number: u64) {
        self.0[what as usize].fetch_add(number, Ordering::Relaxed);
    }

    /// The kinds of which anything was left out, and how much.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = Dropped::ALL.iter().map(|&(what, name)| (name, self.0[what as usize].load(Ordering::Relaxed)));
        counts.filter(|(_, number)| *number > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_number() {
        assert!(Dropped::ALL.iter().enumerate().all(|(place, &(what, _))| what as usize == place));
        let counts = DroppedCounts::default();
        counts.add(Dropped::Wait, 2);
        counts.add(Dropped::Wait, 3);
        assert!(counts.all().eq([("waits", 5)]));
    }
}
