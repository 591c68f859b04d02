//! How complete a trace is: the bytes that it reports, held against those that the JVM itself accounts to its threads.

use trace::model::MartiniCount;

/// Threads that allocated less are not compared: one unseen object is a large part of them.
pub const LARGE_THREAD_BYTES: u64 = 10_000_000;

/// What the VM itself allocates at most while it starts, and for each class: names for class loaders, arguments to link call sites and the like.
/// It is most of what is missing in short runs: 76 to 377 bytes for each class of Maven and of the JVMs of its tests.
const OF_START: u64 = 64 << 10;
const OF_CLASS: u64 = 512;

/// Threads without an account are ignored if they allocated less than this fraction (1 / 10,000) of the whole.
const NEGLIGIBLE_PART: u64 = 10_000;

/// A part of a whole in millionths, rounded down, so that what is not complete never looks complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Millionths(pub u64);

impl Millionths {
    /// `part` of `whole`; everything of nothing.
    pub fn of(part: u64, whole: u64) -> Self {
        match whole {
            0 => Self(1_000_000),
            whole => Self(u64::try_from(u128::from(part) * 1_000_000 / u128::from(whole)).unwrap_or(u64::MAX)),
        }
    }

    /// In percent.
    pub fn percent(self) -> f64 {
        self.0 as f64 / 10_000.0
    }
}

/// The large thread of which the largest part is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorstThread {
    /// Its name.
    pub thread: String,
    /// How much of what the JVM accounts to it is in the trace.
    pub seen: Millionths,
}

/// How samples of objects were scaled to what the JVM accounts to its threads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    /// How many samples there are.
    pub samples: u64,
    /// For how many bytes they stand, of threads that the JVM accounts.
    pub estimated: u64,
    /// What it accounts to these: to that they are scaled.
    pub accounted: u64,
    /// What it accounts to threads without a sample, where nothing can stand for them: there is no other thread of few samples.
    pub unsampled: u64,
    /// For how many bytes samples stand that were not scaled: of threads without an account, or of a part of the trace.
    pub uncalibrated: u64,
    /// The smallest and the largest factor, of threads with samples enough and of the others together.
    pub scales: Option<(f64, f64)>,
}

/// Why the numbers do not say how complete the trace is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyUnknown {
    /// Only a part of the trace counts, and accounts are of the whole.
    Window,
    /// Objects were sampled, and nothing counted.
    Sampled,
    /// The trace has no accounts: another profiler wrote it, or an older Martini.
    NoAccounts,
    /// The agent could not read what the JVM accounts, for this reason.
    Unavailable(String),
    /// The JVM was killed, or the trace is damaged.
    CutOff,
    /// The trace was ended at its limit, before the program ended.
    Limited,
    /// Events were left out, since the trace could not be written.
    Dropped,
    /// Filters leave classes out.
    Filtered,
    /// This many threads have no account of the JVM.
    UnknownThreads(u64),
}

/// What samples say of objects that nobody counted where sites are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncounted {
    /// Their bytes.
    pub bytes: u64,
    /// How far these may be off with a confidence of 95 %.
    pub error: u64,
    /// The class with most of them.
    pub class: String,
}

/// How much of what the JVM accounts to its threads is in the trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coverage {
    /// Allocation sites were counted. The JIT may have removed a part of the objects that they executed.
    pub is_counted: bool,
    /// The recording began while the program ran: a call that was under way goes on in the code that it began in.
    pub is_late: bool,
    /// Bytes reported of threads that the JVM accounts.
    pub reported: u64,
    /// Bytes that the JVM accounts to them.
    pub accounted: u64,
    /// What the trace lacks, summed over the threads: no thread's excess makes up for it.
    pub missing: u64,
    /// What the trace has beyond the JVM's accounts, summed over the threads.
    pub excess: u64,
    /// Threads that allocated and have no account of the JVM, such as those that it hides.
    pub unknown_threads: u64,
    /// Bytes reported of them.
    pub unknown_bytes: u64,
    /// The large thread of which the largest part is missing.
    pub worst: Option<WorstThread>,
    /// Why the numbers above do not say how complete the trace is; `None` if they do.
    pub why_unknown: Option<WhyUnknown>,
    /// How samples were scaled, if they are all that is known.
    pub calibration: Option<Calibration>,
    /// What samples know of what is missing, if sites are counted.
    pub uncounted: Option<Uncounted>,
    /// How many classes were loaded with code that counts, as the end of a trace says.
    pub classes: u64,
}

impl Coverage {
    /// How much of what the JVM accounts is in the trace; `None` if there is a why about it.
    pub fn seen(&self) -> Option<Millionths> {
        match self.why_unknown {
            None => Some(Millionths::of(self.accounted.saturating_sub(self.missing), self.accounted)),
            Some(_) => None,
        }
    }

    /// Bytes that the VM itself may have allocated: to miss these says nothing about a program.
    pub fn of_the_vm(&self) -> u64 {
        OF_START.saturating_add(self.classes.saturating_mul(OF_CLASS))
    }

    /// Whether so many percent are there of what is no allocation of the VM's own; `None` if that is not known.
    pub fn has(&self, percent: f64) -> Option<bool> {
        self.seen()?;
        // In hundred-millionths, so that 99.9 is what it looks like.
        let part = ((100.0 - percent) * 1e6).round() as u128;
        let allowed = u128::from(self.accounted) * part / 100_000_000;
        Some(u128::from(self.missing.saturating_sub(self.of_the_vm())) <= allowed)
    }

    /// Adds a thread's account.
    pub fn add(&mut self, thread: &str, reported: u64, accounted: Option<u64>) {
        let Some(accounted) = accounted else {
            self.unknown_threads += 1;
            self.unknown_bytes = self.unknown_bytes.saturating_add(reported);
            return;
        };
        let missing = accounted.saturating_sub(reported);
        self.reported = self.reported.saturating_add(reported);
        self.accounted = self.accounted.saturating_add(accounted);
        self.missing = self.missing.saturating_add(missing);
        self.excess = self.excess.saturating_add(reported.saturating_sub(accounted));
        if accounted >= LARGE_THREAD_BYTES {
            self.take_worst(thread, Millionths::of(accounted - missing, accounted));
        }
    }

    fn take_worst(&mut self, thread: &str, seen: Millionths) {
        if self.worst.as_ref().is_none_or(|worst| seen < worst.seen) {
            self.worst = Some(WorstThread { thread: thread.to_owned(), seen });
        }
    }

    /// Takes over one of the sums at the end of a trace; false if the count is about something else.
    pub fn note(&mut self, count: &MartiniCount<'_>) -> bool {
        let detail = count.detail.as_deref().unwrap_or_default();
        match &*count.key {
            "coverage.reported" => {
                self.is_counted |= detail == "counts";
                if detail == "sampled" {
                    self.mark_unknown(WhyUnknown::Sampled);
                }
                self.reported = self.reported.saturating_add(count.value);
            }
            "coverage.accounted" => self.accounted = self.accounted.saturating_add(count.value),
            "coverage.missing" => self.missing = self.missing.saturating_add(count.value),
            "coverage.excess" => self.excess = self.excess.saturating_add(count.value),
            "coverage.unknown" => self.unknown_threads = self.unknown_threads.saturating_add(count.value),
            "coverage.unknownBytes" => self.unknown_bytes = self.unknown_bytes.saturating_add(count.value),
            "coverage.worst" => self.take_worst(detail, Millionths(count.value)),
            "classes.rewritten" => {
                self.classes = self.classes.max(count.value);
                return false;
            }
            _ => return self.note_reason(&count.key, detail),
        }
        true
    }

    /// Takes over a count that says why the coverage is not known, or not whole; false if others look at it too.
    pub fn note_reason(&mut self, key: &str, detail: &str) -> bool {
        self.mark_unknown(match key {
            "coverage.unavailable" => WhyUnknown::Unavailable(detail.to_owned()),
            "coverage.filtered" => WhyUnknown::Filtered,
            "limit.reached" => WhyUnknown::Limited,
            "events.dropped" => WhyUnknown::Dropped,
            "before.threads" => {
                self.is_late = true;
                return false;
            }
            _ => return false,
        });
        true
    }

    /// Adds a why, unless there is a weightier one. In the order of weight: a window, samples, no accounts, none available, a cut, a limit,
    /// dropped events, filters, threads.
    pub fn mark_unknown(&mut self, why: WhyUnknown) {
        let weight = |why: &WhyUnknown| match why {
            WhyUnknown::Window => 9,
            WhyUnknown::Sampled => 8,
            WhyUnknown::NoAccounts => 7,
            WhyUnknown::Unavailable(_) => 6,
            WhyUnknown::CutOff => 5,
            WhyUnknown::Limited => 4,
            WhyUnknown::Dropped => 3,
            WhyUnknown::Filtered => 2,
            WhyUnknown::UnknownThreads(_) => 1,
        };
        if self.why_unknown.as_ref().is_none_or(|before| weight(before) < weight(&why)) {
            self.why_unknown = Some(why);
        }
    }

    /// Adds the why that threads without an account raise, unless they allocated next to nothing.
    pub fn finish(&mut self) {
        if self.unknown_bytes > self.accounted / NEGLIGIBLE_PART {
            self.mark_unknown(WhyUnknown::UnknownThreads(self.unknown_threads));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_complete_never_looks_complete() {
        assert_eq!(Millionths::of(1, 1), Millionths(1_000_000));
        assert_eq!(Millionths::of(0, 0), Millionths(1_000_000));
        assert_eq!(Millionths::of(u64::MAX - 1, u64::MAX), Millionths(999_999));
        assert_eq!(Millionths(999_000).percent(), 99.9);
    }

    #[test]
    fn one_threads_excess_does_not_hide_what_another_lacks() {
        let mut coverage = Coverage::default();
        coverage.add("main", 30_000_000, Some(20_000_000));
        coverage.add("worker", 9_000_000, Some(10_000_000));
        coverage.add("small", 0, Some(5));
        assert_eq!((coverage.reported, coverage.accounted), (39_000_000, 30_000_005));
        assert_eq!((coverage.missing, coverage.excess), (1_000_005, 10_000_000));
        assert_eq!(coverage.worst, Some(WorstThread { thread: "worker".to_owned(), seen: Millionths(900_000) }));
        assert_eq!(coverage.seen(), Some(Millionths(966_666)));
    }

    #[test]
    fn the_end_of_a_trace_says_the_same() {
        let mut coverage = Coverage::default();
        for (key, detail, value) in [
            ("coverage.reported", Some("counts"), 39),
            ("coverage.accounted", None, 30),
            ("coverage.missing", None, 1),
            ("coverage.excess", None, 10),
            ("coverage.unknown", None, 1),
            ("coverage.unknownBytes", None, 0),
            ("coverage.worst", Some("worker"), 900_000),
        ] {
            assert!(coverage.note(&MartiniCount { key: key.into(), detail: detail.map(Into::into), value }));
        }
        assert!(!coverage.note(&MartiniCount { key: "classes.rewritten".into(), detail: None, value: 7 }));
        coverage.finish();
        let worst = WorstThread { thread: "worker".to_owned(), seen: Millionths(900_000) };
        let expected = Coverage {
            is_counted: true,
            reported: 39,
            accounted: 30,
            missing: 1,
            excess: 10,
            unknown_threads: 1,
            worst: Some(worst),
            classes: 7,
            ..Coverage::default()
        };
        assert_eq!(coverage, expected);
    }

    #[test]
    fn what_the_vm_allocates_by_itself_is_no_shortfall() {
        let of = |accounted: u64, missing: u64, classes: u64| {
            let mut coverage = Coverage { classes, ..Coverage::default() };
            coverage.add("main", accounted - missing, Some(accounted));
            coverage
        };
        // `java -version`, the JVM of a test, Maven.
        for coverage in [of(4_392, 1_568, 252), of(81_376_552, 108_088, 1_419), of(172_038_008, 1_051_008, 2_788)] {
            assert_eq!(coverage.has(99.9), Some(true));
            assert_eq!(coverage.has(100.0), Some(true));
        }
        // As much again as the classes account for, and a thousandth.
        let own = of(0, 0, 1_000).of_the_vm();
        assert_eq!(of(100_000_000, own + 100_000, 1_000).has(99.9), Some(true));
        assert_eq!(of(100_000_000, own + 100_001, 1_000).has(99.9), Some(false));
        assert_eq!(of(100_000_000, own + 1, 1_000).has(100.0), Some(false));
        let mut unknown = of(1_000, 0, 0);
        unknown.mark_unknown(WhyUnknown::Filtered);
        assert_eq!(unknown.has(0.0), None);
    }

    #[test]
    fn unaccounted_threads_that_allocate_hardly_anything_do_not_matter() {
        let mut coverage = Coverage::default();
        coverage.add("main", 20_000, Some(20_000));
        coverage.add("hidden", 2, None);
        coverage.finish();
        assert_eq!(coverage.seen(), Some(Millionths(1_000_000)));
        coverage.add("hidden too", 1, None);
        coverage.finish();
        assert_eq!(coverage.why_unknown, Some(WhyUnknown::UnknownThreads(2)));
    }

    #[test]
    fn the_weightiest_reason_is_kept() {
        let mut coverage = Coverage { unknown_threads: 2, unknown_bytes: 1, accounted: 9_999, ..Coverage::default() };
        coverage.finish();
        assert_eq!((coverage.seen(), coverage.why_unknown.clone()), (None, Some(WhyUnknown::UnknownThreads(2))));
        assert!(coverage.note_reason("events.dropped", "objects"));
        assert_eq!(coverage.why_unknown, Some(WhyUnknown::Dropped));
        assert!(coverage.note_reason("limit.reached", ""));
        assert!(coverage.note_reason("coverage.filtered", ""));
        assert_eq!(coverage.why_unknown, Some(WhyUnknown::Limited));
    }
}
