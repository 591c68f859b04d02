//! What the signal carries by which threads are interrupted.

use libc::{c_int, c_void};

use super::tasks::TaskRef;
use agent_base::signals::own::OwnSignal;

/// Sends a signal to a thread of this process; false if that does not take it.
pub(super) fn send(signal: OwnSignal, tid: libc::pid_t, value: SignalValue) -> bool {
    /// As Linux lays out the data of a queued signal on processors of 64 bits.
    #[repr(C)]
    struct Queued {
        number: c_int,
        error: c_int,
        code: c_int,
        padding: c_int,
        pid: libc::pid_t,
        uid: libc::uid_t,
        value: *mut c_void,
        rest: [u64; 12],
    }
    // SAFETY: the call reads the data.
    unsafe {
        let pid = libc::getpid();
        let data = Queued {
            number: signal.number(),
            error: 0,
            code: libc::SI_QUEUE,
            padding: 0,
            pid,
            uid: libc::getuid(),
            value: value.as_pointer(),
            rest: [0; 12],
        };
        libc::syscall(libc::SYS_rt_tgsigqueueinfo, pid, tid, signal.number(), &raw const data) == 0
    }
}

/// Why a thread is interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It has used an interval of CPU time.
    Cpu,
    /// It is its turn.
    Wall,
}

/// What a signal carries: one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SignalValue(usize);

impl SignalValue {
    pub(super) fn new(task: TaskRef, purpose: Purpose) -> SignalValue {
        let wall = usize::from(purpose == Purpose::Wall);
        SignalValue(usize::from(task.index) | (task.generation as usize) << 16 | wall << 48)
    }

    pub(super) fn of_pointer(pointer: *mut c_void) -> SignalValue {
        SignalValue(pointer.addr())
    }

    pub(super) fn as_pointer(self) -> *mut c_void {
        std::ptr::without_provenance_mut(self.0)
    }

    /// Whose signal it is, and why.
    pub(super) fn split(self) -> (TaskRef, Purpose) {
        let task = TaskRef { index: self.0 as u16, generation: (self.0 >> 16) as u32 };
        (task, if self.0 >> 48 == 0 { Purpose::Cpu } else { Purpose::Wall })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_carries_its_thread_and_purpose() {
        let task = TaskRef { index: 32_767, generation: u32::MAX };
        for purpose in [Purpose::Cpu, Purpose::Wall] {
            let value = SignalValue::of_pointer(SignalValue::new(task, purpose).as_pointer());
            assert_eq!(value.split(), (task, purpose));
        }
    }
}
