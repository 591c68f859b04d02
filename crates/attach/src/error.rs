//! Why a JVM cannot be attached to: each a sentence that says what to do.

use std::io;
use std::time::Duration;

use thiserror::Error;

use crate::ids::Pid;

/// What is in the way.
#[derive(Debug, Error)]
pub enum AttachError {
    /// There is no such process.
    #[error("no process {0}; `martini ps` lists the JVMs on this machine")]
    NoProcess(Pid),
    /// It ended meanwhile.
    #[error("process {0} has exited")]
    Gone(Pid),
    /// It belongs to somebody else.
    #[error("no permission to inspect process {pid} of user {uid}; run martini as that user and group, or as root")]
    NotPermitted {
        /// The process.
        pid: Pid,
        /// Its user.
        uid: u32,
    },
    /// It belongs to us, or we are root, and the system says no.
    #[error(
        "process {0} cannot be inspected, not even by its user or root: the system forbids it; a container needs \
         SYS_PTRACE for that; `martini ps` lists the JVMs on this machine"
    )]
    Forbidden(Pid),
    /// No JVM, or another one than HotSpot.
    #[error("process {0} is not a HotSpot JVM: it has no libjvm.so; `martini ps` lists the JVMs on this machine")]
    NotAJvm(Pid),
    /// Its listener could only be started by a signal that would end it.
    #[error(
        "JVM {0} does not handle SIGQUIT, which attaching needs and which would kill it: if it is just starting, try \
         again in a moment; otherwise its handler was removed, and it can only be profiled from its start (`martini \
         run`)"
    )]
    Deaf(Pid),
    /// It was started with an option that forbids this.
    #[error(
        "JVM {0} was started with -XX:+DisableAttachMechanism; start it without that flag, or profile it from its \
         start (`martini run`)"
    )]
    Disabled(Pid),
    /// It loads no agents.
    #[error(
        "JVM {0} was started with -XX:-EnableDynamicAgentLoading; start it without that flag, or profile it from its \
         start (`martini run`)"
    )]
    NoAgents(Pid),
    /// It does not run.
    #[error("process {0} is stopped, by SIGSTOP or a debugger; resume it (`kill -CONT {0}`) and try again")]
    Stopped(Pid),
    /// Its sockets have no place.
    #[error("the JVM's user cannot create its socket in /tmp of process {pid} ({error}); make that folder writable")]
    NoTmp {
        /// The process.
        pid: Pid,
        /// What the system says.
        error: io::Error,
    },
    /// Something else has the name of its socket.
    #[error("{name} in /tmp of process {pid} is not a socket of the JVM's user; remove it and try again")]
    ForeignSocket {
        /// The process.
        pid: Pid,
        /// The name.
        name: String,
    },
    /// It does not listen in time.
    #[error(
        "JVM {pid} did not open its attach socket within {} s: it is in a long safepoint, short of CPU, or hangs; try \
         again",
        .limit.as_secs()
    )]
    NoSocket {
        /// The process.
        pid: Pid,
        /// How long it had.
        limit: Duration,
    },
    /// It does not answer in time.
    #[error(
        "JVM {pid} did not answer within {} s: it is in a long safepoint, short of CPU, or hangs; try again",
        .limit.as_secs()
    )]
    NoAnswer {
        /// The process.
        pid: Pid,
        /// How long it had.
        limit: Duration,
    },
    /// It closed the connection.
    #[error(
        "JVM {0} closed the connection without an answer: it accepts only its own user and group, or root; run martini \
         as one of these"
    )]
    Refused(Pid),
    /// More than the protocol has room for.
    #[error(
        "the options have {length} bytes, but a JVM accepts only {limit}; shorten them, or put filters into a file \
         (--filters)"
    )]
    TooLong {
        /// Bytes of the options.
        length: usize,
        /// Bytes that the protocol has room for.
        limit: usize,
    },
    /// The answer is none of the protocol's.
    #[error("JVM {pid} gave an unexpected answer: {text}")]
    Strange {
        /// The process.
        pid: Pid,
        /// What it said.
        text: String,
    },
    /// There is no heap dump.
    #[error("JVM {pid} did not dump its heap: {text}")]
    NotDumped {
        /// The process.
        pid: Pid,
        /// What it said.
        text: String,
    },
    /// It does not say what its threads do.
    #[error("JVM {pid} did not dump its threads: {text}")]
    NoThreads {
        /// The process.
        pid: Pid,
        /// What it said.
        text: String,
    },
    /// The agent is not in the JVM.
    #[error("JVM {pid} did not load the agent: {text}")]
    NotLoaded {
        /// The process.
        pid: Pid,
        /// What it said.
        text: String,
    },
    /// The agent serves somebody else, and has not come to an end in time.
    #[error("JVM {pid}: {sentence}")]
    Busy {
        /// The process.
        pid: Pid,
        /// What the agent says.
        sentence: String,
    },
    /// The agent refuses.
    #[error("JVM {pid}: {sentence}")]
    Agent {
        /// The process.
        pid: Pid,
        /// What the agent says.
        sentence: String,
    },
    /// Anything else.
    #[error("process {pid}: {what}: {error}")]
    Io {
        /// The process.
        pid: Pid,
        /// What was tried.
        what: &'static str,
        /// What the system says.
        error: io::Error,
    },
}
