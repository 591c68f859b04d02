//! Writes the elements of threads that do not wait for each other: they sleep, or run.

use trace::model::{Record, ThreadCpu, ThreadSleep, ThreadSlept};
use trace::time::Nanos;

use super::writer::Writer;
use agent_base::clock::Ticks;
use agent_base::ids::{StackIndex, ThreadIndex};

impl Writer {
    pub(super) fn sleep(&mut self, ticks: Ticks, thread: ThreadIndex, stack: StackIndex) {
        self.locks.without_end += u64::from(self.close_sleep(ticks, thread));
        self.locks.sleeping.insert(thread.0);
        let element = ThreadSleep { thread: self.thread_id(thread), time: self.time(ticks), stack: self.stack(stack) };
        self.text.emit(|out| element.write(out));
    }

    /// Ends the sleep of a thread; false if it does not sleep. The end comes also for a sleep whose begin was not reported.
    pub(super) fn close_sleep(&mut self, ticks: Ticks, thread: ThreadIndex) -> bool {
        let is_open = self.locks.sleeping.remove(&thread.0);
        if is_open {
            let element = ThreadSlept { thread: self.thread_id(thread), time: self.time(ticks) };
            self.text.emit(|out| element.write(out));
        }
        is_open
    }

    /// What a thread has had of the processors until now; nothing if its end has been written meanwhile.
    pub(super) fn processor_time(&mut self, ticks: Ticks, thread: ThreadIndex, cpu: u64, queued: Option<u64>) {
        if self.defined.ended.contains(thread.0) {
            return;
        }
        // A thread's own report and that of the end of the recording may come in either order.
        let most = self.locks.processors.entry(thread.0).or_default();
        *most = (cpu.max(most.0), queued.max(most.1));
        let (cpu, queued) = (Nanos(most.0), most.1.map(Nanos));
        let element = ThreadCpu { thread: self.thread_id(thread), cpu, queued, time: self.time(ticks) };
        self.text.emit(|out| element.write(out));
    }
}
