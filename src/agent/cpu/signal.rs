//! The signal by which threads are interrupted: which one, what it carries, and whether it is still ours.

use std::io;
use std::mem::zeroed;
use std::ptr::{null, null_mut};

use libc::{c_int, c_void};

use super::tasks::TaskRef;

/// Its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Signal(c_int);

/// The last real-time signals are the JDK's own: it interrupts blocked reads by one of them.
const OF_THE_JDK: c_int = 3;

/// A signal handler that gets the signal's data and the registers.
pub(super) type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

impl Signal {
    /// Sets the handler of a signal that nobody uses: `SIGPROF`, else a real-time signal.
    ///
    /// # Errors
    /// There is none: one sentence.
    pub(super) fn claim(handler: Handler) -> Result<Signal, String> {
        let real_time = libc::SIGRTMIN() + 1..=libc::SIGRTMAX() - OF_THE_JDK;
        let free = std::iter::once(libc::SIGPROF)
            .chain(real_time)
            .map(Signal)
            .find(|signal| signal.handler().is_some_and(|handler| handler == libc::SIG_DFL));
        let signal = free.ok_or("threads are not sampled: the program uses every signal that could interrupt them")?;
        // SAFETY: all-zero is a valid sigaction; the handler takes what SA_SIGINFO passes.
        let result = unsafe {
            let mut action: libc::sigaction = zeroed();
            action.sa_sigaction = handler as libc::sighandler_t;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
            // So that another thread's walker, which may fault on purpose, is never entered from within.
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(signal.0, &action, null_mut())
        };
        match result {
            0 => Ok(signal),
            _ => Err(format!("threads are not sampled: no signal handler can be set: {}", io::Error::last_os_error())),
        }
    }

    pub(super) fn number(self) -> c_int {
        self.0
    }

    /// Whether it is the one of the timer of the whole process.
    pub(super) fn is_prof(self) -> bool {
        self.0 == libc::SIGPROF
    }

    /// Its name, for messages.
    pub(super) fn name(self) -> String {
        if self.is_prof() { "SIGPROF".into() } else { format!("SIGRTMIN+{}", self.0 - libc::SIGRTMIN()) }
    }

    fn handler(self) -> Option<libc::sighandler_t> {
        // SAFETY: all-zero is a valid sigaction, which the call fills.
        unsafe {
            let mut action: libc::sigaction = zeroed();
            (libc::sigaction(self.0, null(), &mut action) == 0).then_some(action.sa_sigaction)
        }
    }

    /// Whether that is still its handler.
    pub(super) fn is_handled_by(self, handler: Handler) -> bool {
        self.handler() == Some(handler as libc::sighandler_t)
    }

    /// Sends it to a thread of this process; false if that does not take it.
    pub(super) fn send(self, tid: libc::pid_t, value: SignalValue) -> bool {
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
                number: self.0,
                error: 0,
                code: libc::SI_QUEUE,
                padding: 0,
                pid,
                uid: libc::getuid(),
                value: value.as_pointer(),
                rest: [0; 12],
            };
            libc::syscall(libc::SYS_rt_tgsigqueueinfo, pid, tid, self.0, &raw const data) == 0
        }
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
