//! The options of the JVM that are drawn: collectors, and what changes layouts, compilers and locks.

use bci_tests::jdk::{Collector, Jdk};

/// A collector, or a way it works.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gc {
    /// Its name in the table.
    pub(crate) name: &'static str,
    /// The JVM options that choose it.
    pub(crate) flags: &'static [&'static str],
    /// The collector that has to be in the JVM; none for one that is in all of them.
    needs: Option<Collector>,
    /// The Java releases that have it.
    releases: (u32, u32),
    /// It does not collect: for a large heap only.
    pub(crate) never_collects: bool,
}

const UNLOCK: &str = "-XX:+UnlockExperimentalVMOptions";
const DIAGNOSTIC: &str = "-XX:+UnlockDiagnosticVMOptions";
const NEWEST: u32 = u32::MAX;

const fn gc(name: &'static str, flags: &'static [&'static str], needs: Collector, releases: (u32, u32)) -> Gc {
    Gc { name, flags, needs: Some(needs), releases, never_collects: false }
}

/// All of them.
const COLLECTORS: &[Gc] = &[
    gc("serial", &["-XX:+UseSerialGC"], Collector::Serial, (11, NEWEST)),
    gc("parallel", &["-XX:+UseParallelGC"], Collector::Parallel, (11, NEWEST)),
    gc("g1", &["-XX:+UseG1GC"], Collector::G1, (11, NEWEST)),
    gc("zgc", &[UNLOCK, "-XX:+UseZGC"], Collector::Z, (11, 22)),
    gc("zgc-gen", &[UNLOCK, "-XX:+UseZGC", "-XX:+ZGenerational"], Collector::Z, (21, 22)),
    gc("zgc-gen", &["-XX:+UseZGC"], Collector::Z, (23, NEWEST)),
    gc("shenandoah", &["-XX:+UseShenandoahGC"], Collector::Shenandoah, (11, NEWEST)),
    gc(
        "shenandoah-gen",
        &[UNLOCK, "-XX:+UseShenandoahGC", "-XX:ShenandoahGCMode=generational"],
        Collector::Shenandoah,
        (24, NEWEST),
    ),
    Gc {
        name: "epsilon",
        flags: &[UNLOCK, "-XX:+UseEpsilonGC"],
        needs: None,
        releases: (11, NEWEST),
        never_collects: true,
    },
];

/// The collectors of this JDK.
pub(crate) fn collectors(jdk: &Jdk) -> Vec<Gc> {
    let has = |gc: &&Gc| {
        (gc.releases.0..=gc.releases.1).contains(&jdk.feature) && gc.needs.is_none_or(|needs| jdk.supports(needs))
    };
    COLLECTORS.iter().filter(has).copied().collect()
}

/// JVM options that belong together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flag {
    /// Of one group no two are drawn together.
    pub(super) group: &'static str,
    /// The options; the last one names it.
    pub(super) flags: &'static [&'static str],
    /// The Java releases that know them.
    releases: (u32, u32),
    /// Code runs many times slower.
    pub(super) is_slow: bool,
}

const fn flag(group: &'static str, flags: &'static [&'static str], releases: (u32, u32)) -> Flag {
    Flag { group, flags, releases, is_slow: false }
}

const fn slow(group: &'static str, flags: &'static [&'static str], releases: (u32, u32)) -> Flag {
    Flag { is_slow: true, ..flag(group, flags, releases) }
}

const ALL: (u32, u32) = (11, NEWEST);

const FLAGS: &[Flag] = &[
    // Where things lie.
    flag("headers", &["-XX:-UseCompressedOops"], ALL),
    flag("headers", &["-XX:-UseCompressedClassPointers"], ALL),
    flag("headers", &["-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers"], ALL),
    flag("headers", &["-XX:+UseCompactObjectHeaders"], (25, NEWEST)),
    flag("headers", &["-XX:+UseCompactObjectHeaders", "-XX:-UseCompressedOops"], (25, NEWEST)),
    flag("alignment", &["-XX:ObjectAlignmentInBytes=16"], ALL),
    flag("alignment", &["-XX:ObjectAlignmentInBytes=32"], ALL),
    // Locks.
    flag("locking", &[UNLOCK, "-XX:LockingMode=0"], (21, NEWEST)),
    flag("locking", &[UNLOCK, "-XX:LockingMode=1"], (21, NEWEST)),
    flag("locking", &[UNLOCK, "-XX:LockingMode=2"], (21, NEWEST)),
    flag("locking", &["-XX:+UseHeavyMonitors"], (11, 17)),
    flag("locking", &["-XX:-UseBiasedLocking"], (11, 17)),
    flag("locking", &["-XX:BiasedLockingStartupDelay=0", "-XX:+UseBiasedLocking"], (11, 17)),
    // Compilers.
    slow("compiler", &["-Xint"], ALL),
    slow("compiler", &["-Xcomp"], ALL),
    flag("compiler", &["-XX:TieredStopAtLevel=1"], ALL),
    flag("compiler", &["-XX:TieredStopAtLevel=3"], ALL),
    flag("compiler", &["-XX:-TieredCompilation"], ALL),
    flag("compiler", &["-Xbatch"], ALL),
    flag("osr", &["-XX:-UseOnStackReplacement"], ALL),
    flag("escape", &["-XX:-DoEscapeAnalysis"], ALL),
    flag("inlining", &["-XX:-Inline"], ALL),
    // Compiled code.
    flag("code", &["-XX:-SegmentedCodeCache"], ALL),
    flag("code", &["-XX:-SegmentedCodeCache", "-XX:+UseCodeCacheFlushing", "-XX:ReservedCodeCacheSize=5m"], ALL),
    flag("frames", &["-XX:+PreserveFramePointer"], ALL),
    flag("frames", &[DIAGNOSTIC, "-XX:+DebugNonSafepoints"], ALL),
    // Stacks.
    flag("stacks", &["-Xss280k"], ALL),
    flag("stacks", &["-Xss8m"], ALL),
    flag("traces", &["-XX:-StackTraceInThrowable"], ALL),
    flag("traces", &["-XX:-OmitStackTraceInFastThrow"], ALL),
    flag("traces", &[DIAGNOSTIC, "-XX:+ShowHiddenFrames"], ALL),
    // Heap and classes.
    slow("tlab", &["-XX:-UseTLAB"], ALL),
    flag("tlab", &["-XX:-ResizeTLAB", "-XX:TLABSize=2k"], ALL),
    flag("heap", &["-Xmn3m"], ALL),
    flag("heap", &["-XX:+UseStringDeduplication"], ALL),
    flag("heap", &["-XX:SoftRefLRUPolicyMSPerMB=0"], ALL),
    // JDK 17 crashes in its own heap dumper.
    flag("heap", &["-XX:-ClassUnloading"], (11, 16)),
    flag("heap", &["-XX:-ClassUnloading"], (21, NEWEST)),
    slow("heap", &[DIAGNOSTIC, "-XX:+VerifyAfterGC", "-XX:+VerifyBeforeGC"], ALL),
    flag("archive", &["-Xshare:off"], ALL),
    flag("archive", &["-Xshare:auto", "-XX:-UsePerfData"], ALL),
    // Checks, and moments at which everything stops.
    flag("checks", &["-Xcheck:jni"], ALL),
    flag("checks", &["-ea", "-esa"], ALL),
    flag("safepoints", &[DIAGNOSTIC, "-XX:GuaranteedSafepointInterval=2", "-XX:+SafepointALot"], ALL),
    flag("safepoints", &[UNLOCK, "-XX:+UseSystemMemoryBarrier"], (20, NEWEST)),
];

impl Flag {
    /// Whether the JVM can be judged with it beside the others. JDK 21's Shenandoah verifies JNI weak references whose objects are
    /// dead, and aborts: any native code that makes one does that. With `-Xcomp` a small code cache is full before `main`, and then
    /// it is a matter of chance what finds no room.
    pub(super) fn is_fair(&self, jdk: &Jdk, gc: Gc, others: &[Flag]) -> bool {
        let has = |flag: &Flag, name: &str| flag.flags.contains(&name);
        let both = |one: &str, two: &str| {
            has(self, one) && others.iter().any(|other| has(other, two))
                || has(self, two) && others.iter().any(|other| has(other, one))
        };
        let verifies_dead =
            jdk.feature == 21 && gc.needs == Some(Collector::Shenandoah) && has(self, "-XX:+VerifyAfterGC");
        !verifies_dead && !both("-Xcomp", "-XX:ReservedCodeCacheSize=5m")
    }

    /// Its name in the table.
    pub(super) fn name(&self) -> &'static str {
        self.flags.last().expect("none is empty")
    }
}

/// The options that this JDK knows.
pub(super) fn flags(jdk: &Jdk) -> Vec<Flag> {
    FLAGS.iter().filter(|flag| (flag.releases.0..=flag.releases.1).contains(&jdk.feature)).copied().collect()
}
