//! What waits for the writer and is no event: few, so one lock does for all threads.

use agent_base::mutex::Mutex;

/// So many wait.
const MOST: usize = 64 << 10;

/// Those that the writer has not taken yet.
#[derive(Debug)]
pub(crate) struct Reports<T>(Mutex<Vec<T>>);

impl<T> Default for Reports<T> {
    fn default() -> Reports<T> {
        Reports(Mutex::default())
    }
}

impl<T> Reports<T> {
    /// Adds one; false if there is no room.
    pub(crate) fn add(&self, report: T) -> bool {
        let mut reports = self.0.lock();
        let has_room = reports.len() < MOST;
        if has_room {
            reports.push(report);
        }
        has_room
    }

    pub(crate) fn take(&self) -> Vec<T> {
        std::mem::take(&mut self.0.lock())
    }
}
