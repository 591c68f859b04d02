//! The hostile programs of `bci-tests/java/*/torture`. Each ends by itself within seconds, prints a checksum that does not depend on
//! the moment, and, where it can know it, how many objects of one class it made.

use bci_tests::jdk::Jdk;

/// A program and where it runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    /// Its name here.
    pub(super) name: &'static str,
    /// Its class, without the package, and its arguments beside the size of its work.
    pub(super) main: (&'static str, &'static [&'static str]),
    /// The first and the last Java that has what it needs.
    pub(super) releases: (u32, u32),
    /// Megabytes of heap.
    pub(super) heap: u32,
    /// The size of its work, in percent.
    pub(super) scale: u32,
    /// JVM options that it does not run without; `{redefiner}` is the jar of the second agent.
    pub(super) flags: &'static [&'static str],
    /// The JIT can remove none of the objects it counts.
    pub(super) all_escape: bool,
    /// It fills its heap until there is an `OutOfMemoryError`.
    pub(super) fills_heap: bool,
    /// It makes threads end with no stack left, or no memory, wherever they are: then the agent may lose events, and says so.
    pub(super) may_lose: bool,
    /// What the JVM accounts is seen: no thread allocates while the VM goes down, is a virtual one, whose stack nobody reports,
    /// or comes from native code, whose `Thread` nobody reports.
    pub(super) is_accounted: bool,
    /// It takes a minute.
    pub(super) is_long: bool,
}

const PROGRAM: Program = Program {
    name: "",
    main: ("", &[]),
    releases: (11, u32::MAX),
    heap: 96,
    scale: 100,
    flags: &[],
    all_escape: true,
    fills_heap: false,
    may_lose: false,
    is_accounted: true,
    is_long: false,
};

/// All of them.
pub(super) const PROGRAMS: &[Program] = &[
    Program { name: "deoptimise", main: ("Deoptimise", &[]), ..PROGRAM },
    Program { name: "unload", main: ("Unload", &[]), ..PROGRAM },
    Program { name: "redefine", main: ("Redefine", &[]), flags: &["-javaagent:{redefiner}"], ..PROGRAM },
    Program { name: "threads", main: ("Threads", &[]), ..PROGRAM },
    Program { name: "threads-100000", main: ("Threads", &[]), scale: 4_000, is_long: true, ..PROGRAM },
    Program { name: "deep", main: ("Deep", &[]), may_lose: true, is_accounted: false, ..PROGRAM },
    // Thread.suspend does nothing any more from JDK 20 on.
    Program { name: "suspend", main: ("Suspend", &[]), releases: (11, 19), ..PROGRAM },
    Program {
        name: "memory",
        main: ("Memory", &[]),
        heap: 24,
        fills_heap: true,
        may_lose: true,
        is_accounted: false,
        ..PROGRAM
    },
    Program { name: "exit", main: ("Exits", &["exit"]), is_accounted: false, ..PROGRAM },
    Program { name: "halt", main: ("Exits", &["halt"]), is_accounted: false, ..PROGRAM },
    Program { name: "return", main: ("Exits", &["return"]), is_accounted: false, ..PROGRAM },
    Program { name: "throw", main: ("Exits", &["throw"]), is_accounted: false, ..PROGRAM },
    Program { name: "parks", main: ("Parks", &[]), ..PROGRAM },
    Program { name: "monitors", main: ("Monitors", &[]), all_escape: false, ..PROGRAM },
    Program { name: "references", main: ("References", &[]), ..PROGRAM },
    Program { name: "arrays", main: ("Arrays", &[]), heap: 256, ..PROGRAM },
    Program { name: "lambdas", main: ("Lambdas", &[]), all_escape: false, ..PROGRAM },
    Program { name: "exceptions", main: ("Exceptions", &[]), all_escape: false, ..PROGRAM },
    Program { name: "removed", main: ("Removed", &[]), all_escape: false, ..PROGRAM },
    Program { name: "objects", main: ("Objects", &[]), ..PROGRAM },
    Program { name: "fork", main: ("Fork", &[]), ..PROGRAM },
    Program { name: "signals", main: ("Signals", &[]), ..PROGRAM },
    Program { name: "virtual", main: ("Virtual", &[]), is_accounted: false, releases: (21, u32::MAX), ..PROGRAM },
    Program {
        name: "natives",
        main: ("Natives", &[]),
        releases: (25, u32::MAX),
        flags: &["--enable-native-access=ALL-UNNAMED"],
        is_accounted: false,
        ..PROGRAM
    },
];

impl Program {
    /// Whether it runs there.
    pub(super) fn runs_on(&self, jdk: &Jdk) -> bool {
        (self.releases.0..=self.releases.1).contains(&jdk.feature)
    }
}
