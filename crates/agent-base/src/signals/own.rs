//! Signals by which the agent interrupts threads.

use std::ffi::c_int;
use std::io;
use std::mem::zeroed;
use std::ops::RangeInclusive;
use std::ptr::null_mut;

use libc::{c_void, siginfo_t};

use super::action;

/// A signal handler that gets the signal's data and the registers.
pub(crate) type Handler = unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void);

/// The last real-time signals are the JDK's own: it interrupts blocked reads by one of them.
const OF_THE_JDK: c_int = 3;

/// Real-time signals that neither the C library nor the JDK uses.
pub fn real_time_signals() -> RangeInclusive<c_int> {
    libc::SIGRTMIN() + 1..=libc::SIGRTMAX() - OF_THE_JDK
}

/// A signal that a part of the agent handles. Its handler stays: a signal that is still on its way would end the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnSignal(c_int);

impl OwnSignal {
    /// Sets the handler of the first of these signals that nobody handles, or that has this handler already.
    ///
    /// # Errors
    /// There is none: a clause.
    pub fn claim(signals: impl IntoIterator<Item = c_int>, handler: Handler) -> Result<OwnSignal, String> {
        let mut signals = signals.into_iter().map(OwnSignal);
        let free = signals.find(|signal| signal.is_handled_by(handler) || signal.handler() == Some(libc::SIG_DFL));
        let signal = free.ok_or("the program uses every signal that could interrupt threads")?;
        if signal.is_handled_by(handler) {
            return Ok(signal);
        }
        // SAFETY: all-zero is a valid sigaction, with an empty mask: loads of a walker fault on purpose. The handler takes what
        // SA_SIGINFO passes.
        let result = unsafe {
            let mut action: libc::sigaction = zeroed();
            action.sa_sigaction = handler as libc::sighandler_t;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
            libc::sigaction(signal.0, &action, null_mut())
        };
        match result {
            0 => Ok(signal),
            _ => Err(format!("cannot install a signal handler: {}", io::Error::last_os_error())),
        }
    }

    /// The number of the signal.
    pub fn number(self) -> c_int {
        self.0
    }

    fn handler(self) -> Option<libc::sighandler_t> {
        action(self.0).map(|action| action.sa_sigaction)
    }

    /// Whether that is its handler.
    pub fn is_handled_by(self, handler: Handler) -> bool {
        self.handler() == Some(handler as libc::sighandler_t)
    }

    /// Its name, for messages.
    pub fn name(self) -> String {
        match self.0 {
            libc::SIGPROF => "SIGPROF".into(),
            number => format!("SIGRTMIN+{}", number - libc::SIGRTMIN()),
        }
    }
}
