//! The plain lock log: one line per contended lock, as lock profilers of 2011 wrote it.
//!
//! ```text
//! 2011/03/14 15:09:26.535
//! 1205331 TRY [worker 1] Ldemo/Queue;#take Ldemo/Worker;#run Ljava/lang/Thread;#run
//! 3205982 LCK [worker 1] Ldemo/Queue;#take Ldemo/Worker;#run Ljava/lang/Thread;#run
//! ```
//!
//! The first line is the wall-clock time of the start, without a zone. Then come events: nanoseconds since the first line, `TRY`
//! where a thread blocks and `LCK` where it has the lock, the thread's name, and its innermost frames, innermost first. The
//! lock itself and its owner are not recorded.
//!
//! The format has no escapes of its own. So that any name is read as it was written, what would break a line is spelled
//! `\uXXXX`, as in a trace: control characters everywhere, blanks in the names of classes, `]` in those of classes and
//! methods. Logs of other writers, which spell nothing, are read as well.

mod reader;
mod wall_clock;
mod writer;

use std::borrow::Cow;

use crate::time::Nanos;

pub use reader::{LineProblem, LockLogReader, LogError, LogItem, is_lock_log};
pub use wall_clock::{WallClock, begins};
pub use writer::{write_event, write_start};

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockEventKind {
    /// A thread blocks: `TRY`.
    Try,
    /// It has the lock: `LCK`.
    Locked,
}

impl LockEventKind {
    /// The word that a log uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Try => "TRY",
            Self::Locked => "LCK",
        }
    }
}

/// One frame of a call stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LogFrame<'a> {
    /// The class, named as in a trace: `p.A$1`, a hidden class `p.C/0x7f`.
    pub class: Cow<'a, str>,
    /// The method, named as in the JVM: `<init>`.
    pub method: Cow<'a, str>,
}

/// One line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockEvent<'a> {
    /// Nanoseconds since the start of the log.
    pub since_start: Nanos,
    /// What happened.
    pub kind: LockEventKind,
    /// Name of the thread, not unique.
    pub thread: Cow<'a, str>,
    /// Its innermost frames, innermost first; possibly none.
    pub frames: Vec<LogFrame<'a>>,
}
