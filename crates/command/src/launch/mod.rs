//! Running a program under the agent: finding the JDK and the library, starting, supervising, and what is left behind.

pub(crate) mod archives;
pub(crate) mod carried;
pub(crate) mod elf;
pub(crate) mod glibc;
pub(crate) mod injection;
pub(crate) mod jdk;
pub(crate) mod library;
pub(crate) mod options;
pub(crate) mod outputs;
pub(crate) mod program;
pub(crate) mod supervise;
