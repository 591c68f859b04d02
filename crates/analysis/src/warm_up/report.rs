//! What a trace says about the start.

use trace::model::CodeTier;
use trace::time::Nanos;

use super::code::CodeShares;
use super::compilations::{CompiledMethod, TierSums};
use super::{Span, WarmUpStats};
use crate::facts::Facts;

/// What the JVM spends time on as it starts. Of classes each is without the others, so that they add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// Class loaders of the program, and defining what they find.
    Load,
    /// Linking classes.
    Link,
    /// Verifying their bytecode.
    Verify,
    /// Running static initialisers.
    Initialise,
    /// Compiling, on threads of the JVM's own.
    Compile,
    /// Collecting garbage.
    Collect,
    /// All threads were stopped, also for collections.
    Stop,
}

impl Cause {
    /// All of them, in the order of what happens to a class.
    pub const ALL: [Cause; 7] =
        [Cause::Load, Cause::Link, Cause::Verify, Cause::Initialise, Cause::Compile, Cause::Collect, Cause::Stop];

    /// The JVM's counters that add up to it, in nanoseconds.
    pub fn counters(self) -> &'static [&'static str] {
        match self {
            Cause::Load => {
                &["sun.cls.appClassLoadTime.self", "sun.cls.defineAppClassTime.self", "sun.cls.parseClassTime.self"]
            }
            Cause::Link => &["sun.cls.classLinkedTime.self"],
            Cause::Verify => &["sun.cls.classVerifyTime.self"],
            Cause::Initialise => &["sun.cls.classInitTime.self"],
            Cause::Compile => &["java.ci.totalTime"],
            Cause::Collect => &[
                "sun.gc.collector.0.time",
                "sun.gc.collector.1.time",
                "sun.gc.collector.2.time",
                "sun.gc.collector.3.time",
            ],
            Cause::Stop => &["sun.rt.safepointTime"],
        }
    }
}

/// Classes that were loaded, from no archive and from one.
pub(super) const CLASSES: [&str; 2] = ["java.cls.loadedClasses", "java.cls.sharedLoadedClasses"];

/// Where parts of the time end: at 1, 2 and 5 times each power of ten from a tenth of a second on.
fn edges() -> impl Iterator<Item = Nanos> {
    const FIRST: u64 = 100_000_000;
    // The last one is behind all.
    let powers = (0..).map_while(|power| 10_u64.checked_pow(power)?.checked_mul(5 * FIRST)).map(|five| five / 5);
    powers.flat_map(|ten| [1, 2, 5].map(|times| Nanos(ten * times))).chain([Nanos(u64::MAX)])
}

/// Time by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Causes([Nanos; Cause::ALL.len()]);

impl Causes {
    /// What one of them took.
    pub fn of(&self, cause: Cause) -> Nanos {
        self.0[cause as usize]
    }
}

/// A part of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// When it begins, after the beginning of the recording; `None` for what was before that.
    pub from: Option<Nanos>,
    /// When it ends.
    pub until: Nanos,
    /// Classes that were loaded in it.
    pub classes: u64,
    /// What the JVM's counters say of it.
    pub causes: Causes,
    /// How the program's code ran in it.
    pub code: CodeShares,
}

/// What a trace says about the start.
#[derive(Debug)]
pub struct WarmUpReport {
    stats: WarmUpStats,
}

impl WarmUpReport {
    pub(super) fn new(stats: WarmUpStats) -> WarmUpReport {
        WarmUpReport { stats }
    }

    pub(super) fn stats(&self) -> &WarmUpStats {
        &self.stats
    }

    /// What is known of any trace.
    pub fn facts(&self) -> &Facts {
        &self.stats.facts
    }

    /// Whether the trace says anything of it.
    pub fn is_empty(&self) -> bool {
        self.stats.initialisers.is_empty() && self.tiers().all(|(_, sums)| sums.count == 0) && !self.has_counters()
    }

    /// Whether the JVM's own counters are in the trace.
    pub fn has_counters(&self) -> bool {
        self.stats.counters.all().next().is_some()
    }

    /// How long the recording lasted.
    pub fn length(&self) -> Nanos {
        self.stats.clock.length()
    }

    /// A counter of the JVM's, since its start; `None` if the JVM has no such counter or it never was anything but 0.
    pub fn counter(&self, name: &str) -> Option<u64> {
        self.stats.counters.last(name)
    }

    /// All counters.
    pub fn counters(&self) -> impl Iterator<Item = (&str, u64)> {
        self.stats.counters.all()
    }

    /// What the JVM spent since its start, by cause.
    pub fn causes(&self) -> Causes {
        self.causes_until(Nanos(u64::MAX))
    }

    /// Classes that were loaded since the JVM's start; not those once more that the agent had the JVM load once more.
    pub fn loaded_classes(&self) -> u64 {
        let loaded: u64 = CLASSES.iter().filter_map(|name| self.counter(name)).sum();
        loaded.saturating_sub(self.redefined())
    }

    /// Classes that came out of an archive since the JVM's start.
    pub fn archived_classes(&self) -> u64 {
        self.counter(CLASSES[1]).unwrap_or(0)
    }

    /// Classes that the JVM counts as loaded because the agent rewrote them later.
    fn redefined(&self) -> u64 {
        let counts = self.stats.facts.counts.iter().filter(|count| count.key == "classes.redefined");
        counts.map(|count| count.value).sum()
    }

    /// How the program's code ran during the recording.
    pub fn code(&self) -> CodeShares {
        self.stats.code.within(Span { from: Nanos(0), until: Nanos(u64::MAX) })
    }

    pub(super) fn causes_until(&self, time: Nanos) -> Causes {
        let sum = |cause: Cause| cause.counters().iter().map(|name| self.stats.counters.at(name, time)).sum();
        Causes(Cause::ALL.map(|cause| Nanos(sum(cause))))
    }

    /// The time on an axis: what was before the recording, and parts that get longer, up to the last time at which a class was loaded or
    /// initialised, or code compiled.
    pub fn intervals(&self) -> Vec<Interval> {
        let names = || {
            CLASSES.iter().copied().chain(Cause::ALL.iter().take(5).flat_map(|cause| cause.counters().iter().copied()))
        };
        let Some((first, last)) = self.stats.counters.span(names()) else { return Vec::new() };
        // Classes are rewritten as the recording begins.
        let mut before = (Causes::default(), self.redefined());
        let mut interval = |from: Option<Nanos>, until: Nanos| {
            let causes = self.causes_until(until);
            let loaded = CLASSES.iter().map(|name| self.stats.counters.at(name, until)).sum();
            let (causes_before, loaded_before) = std::mem::replace(&mut before, (causes, loaded));
            let rest = |cause: Cause| Nanos(causes.of(cause).0.saturating_sub(causes_before.of(cause).0));
            Interval {
                from,
                until,
                classes: loaded.saturating_sub(loaded_before),
                causes: Causes(Cause::ALL.map(rest)),
                code: from.map_or(CodeShares::default(), |from| self.stats.code.within(Span { from, until })),
            }
        };
        let mut rows = vec![interval(None, first)];
        let mut from = first;
        for edge in edges().skip_while(|&edge| edge <= first) {
            let until = edge.min(last);
            if from < until {
                rows.push(interval(Some(from), until));
            }
            from = until;
        }
        rows
    }

    /// Sums of each compiler.
    pub fn tiers(&self) -> impl Iterator<Item = (CodeTier, TierSums)> {
        CodeTier::ALL.iter().copied().zip(self.stats.compilations.tiers)
    }

    /// When the last compilation of C2 ended, after the beginning of the recording.
    pub fn last_of_c2(&self) -> Option<Nanos> {
        self.stats.compilations.last_c2
    }

    /// What was compiled of each method, the longest first.
    pub fn methods(&self) -> Vec<(&str, &CompiledMethod)> {
        let mut all: Vec<_> = self.stats.compilations.methods.iter().map(|(name, method)| (&**name, method)).collect();
        all.sort_by(|a, b| b.1.time.cmp(&a.1.time).then_with(|| a.0.cmp(b.0)));
        all
    }

    /// Methods whose good code was discarded, the most often first.
    pub fn compiled_again(&self) -> Vec<(&str, &CompiledMethod)> {
        let mut all = self.methods();
        all.retain(|(_, method)| method.discarded > 0);
        all.sort_by(|a, b| (b.1.discarded, b.1.time).cmp(&(a.1.discarded, a.1.time)).then_with(|| a.0.cmp(b.0)));
        all
    }

    /// Why code was discarded, the most frequent reason first.
    pub fn reasons(&self) -> Vec<(&str, u64)> {
        let mut all: Vec<_> = self.stats.compilations.reasons.iter().map(|(why, &count)| (&**why, count)).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        all
    }
}
