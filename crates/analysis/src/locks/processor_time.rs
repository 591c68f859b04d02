//! What threads had of the processors.

use trace::model::ThreadCpu;
use trace::time::Nanos;

/// What a thread, or several, had of the processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessorTime {
    /// Time on a processor.
    pub cpu: Nanos,
    /// Time in which it could have run and no processor was free; `None` if the trace does not say.
    pub queued: Option<Nanos>,
    /// An estimate of the time in neither of both, nor in any recorded wait: waiting in the system or the JVM, as for input and
    /// output. Too low by what the thread had of the processors inside its waits.
    pub elsewhere: Option<Nanos>,
}

impl ProcessorTime {
    /// By what the trace says of a thread that had spent so much time in no recorded wait then.
    pub(super) fn new(found: &ThreadCpu, running: Nanos) -> Self {
        let taken = |queued: Nanos| found.cpu.0.saturating_add(queued.0);
        let elsewhere = found.queued.map(|queued| Nanos(running.0.saturating_sub(taken(queued))));
        ProcessorTime { cpu: found.cpu, queued: found.queued, elsewhere }
    }

    /// That of two rows together.
    pub(super) fn plus(self, other: Self) -> Self {
        let sum = |(one, other): (Nanos, Nanos)| Nanos(one.0.saturating_add(other.0));
        ProcessorTime {
            cpu: sum((self.cpu, other.cpu)),
            queued: self.queued.zip(other.queued).map(sum),
            elsewhere: self.elsewhere.zip(other.elsewhere).map(sum),
        }
    }
}

/// The processor times of the threads of a row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProcessorSum {
    sum: Option<ProcessorTime>,
    /// There is a thread of which the trace does not say.
    has_unknown: bool,
}

impl ProcessorSum {
    pub(super) fn add(&mut self, thread: Option<ProcessorTime>) {
        match (self.sum, thread) {
            (Some(sum), Some(thread)) => self.sum = Some(sum.plus(thread)),
            (None, Some(thread)) => self.sum = Some(thread),
            (_, None) => self.has_unknown = true,
        }
    }

    /// The sum, if the trace says it of every thread.
    pub(super) fn known(self) -> Option<ProcessorTime> {
        self.sum.filter(|_| !self.has_unknown)
    }
}
