//! What a trace was recorded with: "there was nothing" and "nobody looked" are two answers.

use agent_options::{HeapMode, Options, RawOptions};
use analysis::allocations::{Facts, Origin};
use analysis::locks::{LockReport, State};

/// Whether a trace was recorded with an engine; `None` if it is another profiler's, which does not say.
fn was_on(facts: &Facts, engine: impl Fn(&Options) -> bool) -> Option<bool> {
    let are_on: Option<Vec<bool>> =
        facts.origins.iter().map(|origin| options(origin).map(|known| engine(&known))).collect();
    are_on.filter(|are_on| !are_on.is_empty()).map(|are_on| are_on.contains(&true))
}

/// The options of the agent that recorded a document; `None` if it was not Martini's.
fn options(origin: &Origin) -> Option<Options> {
    let parameters = Some(&origin.parameters).filter(|_| origin.is_martini() && origin.imported_from.is_none())?;
    parameters.parse::<RawOptions>().ok()?.resolve().ok()
}

/// Whether allocations were recorded, in whatever way.
pub(crate) fn allocations(facts: &Facts) -> Option<bool> {
    was_on(facts, |options| options.heap != HeapMode::Off || options.sampled_bytes.is_some())
}

/// Bytes between two samples of objects that were asked for.
pub(crate) fn sampled_interval(facts: &Facts) -> Option<u64> {
    let [origin] = &facts.origins[..] else { return None };
    options(origin)?.sampled_bytes.map(u64::from)
}

/// Whether waits for locks were recorded.
pub(crate) fn locks(facts: &Facts) -> Option<bool> {
    was_on(facts, |options| options.locks.is_some())
}

/// Whether waits for locks of java.util.concurrent, and other parks, were recorded.
pub(crate) fn juc(facts: &Facts) -> Option<bool> {
    was_on(facts, |options| options.locks.as_ref().is_some_and(|locks| locks.juc))
}

/// Which waits of threads a trace would have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordedWaits {
    /// Those of monitors, notifications and sleeps.
    pub(crate) any: bool,
    /// Those of java.util.concurrent.
    pub(crate) juc: bool,
}

impl RecordedWaits {
    /// Which waits a trace, or a lock log, would have.
    pub(crate) fn of(report: &LockReport) -> Self {
        let (facts, stalls) = (report.facts(), report.stalls());
        // A profiler of calls that recorded no wait did not look at waits.
        let is_of_calls = facts.calls > 0 && locks(facts) != Some(true);
        let is_recorded = !is_of_calls && locks(facts) != Some(false);
        RecordedWaits {
            any: report.is_log() || is_recorded || stalls.iter().any(|stalls| stalls.count > 0),
            juc: juc(facts) != Some(false) || stalls[State::Parked as usize].count > 0 && !report.has_looks(),
        }
    }

    /// The word for a state: who waits for what was not recorded seems to run.
    pub(crate) fn word(self, state: State) -> &'static str {
        match state {
            State::Running if !self.any => "not recorded",
            State::Running if !self.juc => "running or parked",
            state => state.as_str(),
        }
    }
}

/// Whether CPU time was sampled.
pub(crate) fn cpu(facts: &Facts) -> Option<bool> {
    was_on(facts, |options| options.samples.cpu.is_some())
}

/// Whether threads were sampled by the clock.
pub(crate) fn wall(facts: &Facts) -> Option<bool> {
    was_on(facts, |options| options.samples.wall.is_some())
}

/// Whether safepoints were recorded.
pub(crate) fn safepoints(facts: &Facts) -> Option<bool> {
    was_on(facts, |options| options.samples.ttsp)
}

/// Whether requests were recorded.
pub(crate) fn requests(facts: &Facts) -> Option<bool> {
    was_on(facts, |options| options.requests.any())
}

/// Whether the start was recorded.
pub(crate) fn warm_up(facts: &Facts) -> Option<bool> {
    was_on(facts, |options| options.warm_up)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_say_what_was_recorded() {
        let facts = |parameters: &[&str]| {
            let origin = |parameters: &&str| Origin {
                agent: "org.eclipse.tptp.jvmti".to_owned(),
                parameters: (*parameters).to_owned(),
                ..Origin::default()
            };
            Facts { origins: parameters.iter().map(origin).collect(), ..Facts::default() }
        };
        let all = |facts: &Facts| [allocations, locks, cpu, wall, safepoints].map(|engine| engine(facts));
        let [yes, no] = [Some(true), Some(false)];
        for (parameters, expected) in [
            (&["heap=counts,file=t"][..], [yes, no, no, no, no]),
            (&["heap=events"], [yes, no, no, no, no]),
            (&["sampled=64k,cpu=10ms"], [yes, no, yes, no, no]),
            (&["locks=on"], [no, yes, no, no, no]),
            (&["wall=10ms"], [no, no, no, yes, no]),
            (&["ttsp=on", "locks=on"], [no, yes, no, no, yes]),
            (&["server=standalone", "locks=on"], [None; 5]),
            (&["hepa=events"], [None; 5]),
            (&[], [None; 5]),
        ] {
            assert_eq!(all(&facts(parameters)), expected, "{parameters:?}");
        }
    }
}
