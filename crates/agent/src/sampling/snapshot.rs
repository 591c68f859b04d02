//! What was sampled so far, while the program runs, in case it is killed. The agent's control thread collects what needs JNI; the
//! writer writes it.

use std::time::Instant;

use jvmti::Jni;

use super::Sampler;
use super::live::LiveLook;
use super::samples::Sampled;
use agent_base::clock::Ticks;
use agent_base::ids::ThreadIndex;
use agent_core::core::accounting;

/// What the writer cannot read by itself.
pub(crate) struct SamplesSnapshot {
    pub(crate) time: Ticks,
    /// What was sampled of each living thread, and what the JVM accounts to it, if it says. Empty if counters say more.
    pub(crate) threads: Vec<(ThreadIndex, Sampled, Option<u64>)>,
    /// What lives, with `sampled`.
    pub(crate) live: Option<LiveLook>,
}

impl Sampler {
    /// The last snapshot that the writer has not taken yet.
    pub(crate) fn take_snapshot(&self) -> Option<SamplesSnapshot> {
        self.snapshot.lock().take()
    }

    /// What lived when the recording ended.
    pub(crate) fn take_last_look(&self) -> Option<LiveLook> {
        self.last_look.lock().take()
    }

    pub(super) fn make_snapshot_if_due(&self, jni: Jni) {
        let mut schedule = self.schedule.lock();
        let Some(schedule) = schedule.as_mut().filter(|_| self.following.is_some()) else { return };
        if schedule.is_due(Instant::now()) {
            schedule.make(|| self.make_snapshot(jni));
        }
    }

    pub(super) fn make_snapshot(&self, jni: Jni) {
        let threads = if self.accounts() { self.living_accounts(jni) } else { Vec::new() };
        let live = self.following.as_ref().map(|following| following.look(self.core, jni));
        *self.snapshot.lock() = Some(SamplesSnapshot { time: Ticks::now(), threads, live });
    }

    fn living_accounts(&self, jni: Jni) -> Vec<(ThreadIndex, Sampled, Option<u64>)> {
        let mut found = Vec::new();
        accounting::each_account(self.core, jni, |index, bytes| {
            if let Some(record) = self.core.jvm.threads.get(index) {
                found.push((index, self.samples.lock().of_thread(index), record.accounted(bytes)));
            }
        });
        found
    }
}
