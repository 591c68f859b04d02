//! Reads what the VM logs about a safepoint (`-Xlog:safepoint`), in the ways of JDK 11 and of later ones; and that one is about to
//! begin (`-Xlog:vmthread=debug`; up to JDK 16 also `Application time`), which the VM logs before it stops anybody.
//!
//! ```text
//! [1371010ns] Evaluating  safepoint VM operation: G1CollectFull
//! [1374123ns] Safepoint "G1CollectFull", Time since last: 813527444 ns, Reaching safepoint: 102952 ns, ..., Total: 4714761 ns
//!
//! [1373349ns] Application time: 0.0269729 seconds
//! [1373350ns] Entering safepoint region: G1CollectForAllocation
//! [1373351ns] Total time for which application threads were stopped: 0.0013099 seconds, Stopping threads took: 0.0000820 seconds
//! ```

use trace::time::Nanos;

use agent_base::clock::Ticks;

/// A time at which all threads were stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stop {
    /// What the VM stopped them for, as it names its operations.
    pub(crate) operation: String,
    /// When it began to stop them.
    pub(crate) begin: Ticks,
    /// How long it took until all had stopped.
    pub(crate) sync: Nanos,
    /// How long it took until all might continue.
    pub(crate) total: Nanos,
}

/// Puts the lines of the log together.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// JDK 11: the operation of the safepoint that has begun.
    entered: Option<String>,
    /// When the stop began whose end has not been logged yet.
    begun: Option<Ticks>,
}

impl Lines {
    /// When the stop began, about, whose end has not been logged yet.
    pub(super) fn begun(&self) -> Option<Ticks> {
        self.begun
    }

    /// The stop that ends with that line, if one does.
    pub(super) fn next(&mut self, line: &str) -> Option<Stop> {
        let (time, text) = line.strip_prefix('[')?.split_once("ns] ")?;
        let end: u64 = time.trim_start().parse().ok()?;
        let (operation, sync, total) = if let Some(text) = text.strip_prefix("Safepoint \"") {
            let (operation, times) = text.split_once('"')?;
            let nanos = |name: &str| {
                let (_, value) = times.split_once(name)?;
                value.split_once(" ns")?.0.trim().parse().ok()
            };
            (operation.to_owned(), nanos(", Reaching safepoint: ")?, nanos(", Total: ")?)
        } else if let Some(operation) = text.strip_prefix("Entering safepoint region: ") {
            self.entered = Some(operation.to_owned());
            return None;
        } else if is_beginning(text) {
            self.begun = Some(Ticks(end));
            return None;
        } else {
            let times = text.strip_prefix("Total time for which application threads were stopped: ")?;
            let (total, sync) = times.split_once(" seconds, Stopping threads took: ")?;
            let operation = self.entered.take()?;
            (operation, nanos_of_seconds(sync.strip_suffix(" seconds")?)?, nanos_of_seconds(total)?)
        };
        self.begun = None;
        let begin = Ticks(end.saturating_sub(total));
        Some(Stop { operation, begin, sync: Nanos(sync), total: Nanos(total) })
    }
}

/// Whether the VM begins to stop all threads behind this line. Handshakes are `non-safepoint` operations.
fn is_beginning(text: &str) -> bool {
    let of_operation = text.split_once(" VM operation: ").is_some_and(|(before, _)| before.ends_with(" safepoint"));
    of_operation || text.starts_with("Application time: ")
}

/// A number of seconds with up to nine digits behind its point.
fn nanos_of_seconds(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.trim().split_once('.')?;
    let digits = u32::try_from(fraction.len()).ok().filter(|digits| (1..=9).contains(digits))?;
    let (seconds, fraction): (u64, u64) = (seconds.parse().ok()?, fraction.parse().ok()?);
    seconds.checked_mul(1_000_000_000)?.checked_add(fraction * 10_u64.pow(9 - digits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stops(log: &str) -> Vec<Stop> {
        let mut lines = Lines::default();
        log.lines().filter_map(|line| lines.next(line)).collect()
    }

    fn stop(operation: &str, begin: u64, sync: u64, total: u64) -> Stop {
        Stop { operation: operation.into(), begin: Ticks(begin), sync: Nanos(sync), total: Nanos(total) }
    }

    #[test]
    fn each_jdk_has_its_own_way() {
        let jdk11 = "[10000000ns] Application time: 0.2039498 seconds\n\
            [10001000ns] Entering safepoint region: G1CollectForAllocation\n\
            [12000000ns] Leaving safepoint region\n\
            [12309900ns] Total time for which application threads were stopped: 0.0013099 seconds, \
            Stopping threads took: 0.0000820 seconds\n";
        assert_eq!(stops(jdk11), [stop("G1CollectForAllocation", 11_000_000, 82_000, 1_309_900)]);
        let jdk17 = "[9000000ns] Safepoint \"G1CollectFull\", Time since last: 608028545 ns, \
            Reaching safepoint: 93809 ns, Cleanup: 7511 ns, At safepoint: 1990157 ns, Total: 2091477 ns";
        assert_eq!(stops(jdk17), [stop("G1CollectFull", 6_908_523, 93_809, 2_091_477)]);
        let jdk25 = "[9000000ns] Safepoint \"HandshakeAllThreads\", Time since last: 1 ns, Reaching safepoint: 5 ns, \
            At safepoint: 4 ns, Leaving safepoint: 1 ns, Total: 10 ns, Threads: 1 runnable, 12 total";
        assert_eq!(stops(jdk25), [stop("HandshakeAllThreads", 8_999_990, 5, 10)]);
    }

    #[test]
    fn it_is_known_what_goes_on() {
        let mut lines = Lines::default();
        let mut begun = |line: &str| {
            lines.next(line);
            lines.begun().map(|ticks| ticks.0)
        };
        assert_eq!(begun("[1ns] Adding VM operation: G1CollectFull"), None);
        assert_eq!(begun("[2ns] Evaluating  non-safepoint VM operation: HandshakeAllThreads"), None);
        assert_eq!(begun("[3ns] Evaluating  safepoint VM operation: G1CollectFull"), Some(3));
        assert_eq!(begun("[4ns] Adding VM operation: Cleanup"), Some(3));
        assert_eq!(begun("[9ns] Safepoint \"G1CollectFull\", Reaching safepoint: 1 ns, Total: 5 ns"), None);
        assert_eq!(begun("[10ns] Executing safepoint VM operation: G1CollectFull (System.gc())"), Some(10));
        assert_eq!(begun("[11ns] Evaluating safepoint VM operation: RevokeBias"), Some(11));
        assert_eq!(begun("[12ns] Application time: 0.0269729 seconds"), Some(12));
        assert_eq!(begun("[13ns] Entering safepoint region: RevokeBias"), Some(12));
        assert_eq!(begun("[14ns] Leaving safepoint region"), Some(12));
        let end =
            "Total time for which application threads were stopped: 0.1 seconds, Stopping threads took: 0.1 seconds";
        assert_eq!(begun(&format!("[15ns] {end}")), None);
    }

    #[test]
    fn an_end_whose_beginning_is_not_in_the_log_is_no_stop() {
        let end = "[5ns] Total time for which application threads were stopped: 0.0013099 seconds, \
            Stopping threads took: 0.0000820 seconds";
        assert_eq!(stops(end), []);
    }

    #[test]
    fn seconds_are_exact() {
        assert_eq!(nanos_of_seconds("12.0000001"), Some(12_000_000_100));
        assert_eq!(nanos_of_seconds("0.5"), Some(500_000_000));
        assert_eq!(
            (nanos_of_seconds("1"), nanos_of_seconds("1.0123456789"), nanos_of_seconds("x.1")),
            (None, None, None)
        );
        assert_eq!(nanos_of_seconds("99999999999999999999.0"), None);
    }

    proptest! {
        #[test]
        fn no_text_stops_the_agent(text in "[\\[a-zA-Z0-9 :,.\"]{0,200}") {
            let _ = Lines::default().next(&text);
            let _ = Lines::default().next(&format!("[1ns] Safepoint \"{text}"));
        }
    }
}
