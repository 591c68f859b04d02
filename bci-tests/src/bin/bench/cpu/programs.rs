//! The programs of `bci-tests/java-bench/split`, with the options of the JVM that they need.

/// One of them.
pub(super) struct Program {
    pub(super) id: &'static str,
    /// Options of the JVM.
    pub(super) options: &'static [&'static str],
    /// The oldest Java that it runs on.
    pub(super) since: u32,
    /// Of all phases that are asked for: one in so many.
    pub(super) slower: usize,
}

const fn program(id: &'static str, options: &'static [&'static str]) -> Program {
    Program { id, options, since: 11, slower: 1 }
}

pub(super) const PROGRAMS: &[Program] = &[
    // With this collector compiled loops that count have no safepoint polls.
    program("loops", &["-XX:+UseSerialGC"]),
    program("inlined", &[]),
    Program { slower: 15, ..program("interpreted", &["-Xint"]) },
    program("recursion", &["-Xss8m"]),
    program("exceptions", &[]),
    program("native", &[]),
    // The collector's threads stay to the end, so that their clocks can be read there.
    program("collected", &["-Xmx256m", "-XX:+UseParallelGC", "-XX:-UseDynamicNumberOfGCThreads"]),
    program("strings", &[]),
    Program {
        since: 21,
        ..program(
            "virtual",
            &["-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1"],
        )
    },
];

/// For all, whatever else: the profilers differ in whether they set them, and should not differ by them.
pub(super) const OPTIONS: [&str; 2] = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"];
