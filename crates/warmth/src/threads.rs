//! Who the threads of a JVM are, by their names.

/// Who a thread is, as far as that matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadKind {
    /// The fast compiler.
    C1,
    /// C2, or another optimising compiler.
    C2,
    /// Collectors, and what else keeps the JVM's house.
    Vm,
    /// Threads of the program.
    Program,
}

/// How the names of the JVM's own threads begin, as the system has them; what matches none is the program's.
const NAMES: [(&str, ThreadKind); 12] = [
    ("C1 CompilerThre", ThreadKind::C1),
    ("C2 CompilerThre", ThreadKind::C2),
    ("JVMCI", ThreadKind::C2),
    ("GC Thread", ThreadKind::Vm),
    ("G1 ", ThreadKind::Vm),
    ("ZWorker", ThreadKind::Vm),
    ("ZDriver", ThreadKind::Vm),
    ("Shenandoah", ThreadKind::Vm),
    ("VM ", ThreadKind::Vm),
    ("Sweeper", ThreadKind::Vm),
    ("Signal Dispatch", ThreadKind::Vm),
    ("martini", ThreadKind::Vm),
];

impl ThreadKind {
    /// By the name of a thread as `/proc/PID/task/TID/comm` has it.
    pub fn of_name(name: &[u8]) -> ThreadKind {
        let begins = |(begin, _): &&(&str, ThreadKind)| name.starts_with(begin.as_bytes());
        NAMES.iter().find(begins).map_or(ThreadKind::Program, |(_, kind)| *kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_threads_say_what_they_are() {
        assert_eq!(ThreadKind::of_name(b"C2 CompilerThre\n"), ThreadKind::C2);
        assert_eq!(ThreadKind::of_name(b"C1 CompilerThre\n"), ThreadKind::C1);
        assert_eq!(ThreadKind::of_name(b"G1 Main Marker\n"), ThreadKind::Vm);
        assert_eq!(ThreadKind::of_name(b"http-nio-8080-e\n"), ThreadKind::Program);
    }
}
