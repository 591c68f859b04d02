//! What a trace was recorded with: "there was nothing" and "nobody looked" are two answers.

use agent_options::{HeapMode, Options, RawOptions};
use analysis::allocations::{Facts, Origin};

/// Whether a trace was recorded with an engine; `None` if it is another profiler's, which does not say.
fn was_on(facts: &Facts, engine: impl Fn(&Options) -> bool) -> Option<bool> {
    let options = |origin: &Origin| {
        let parameters = Some(&origin.parameters).filter(|_| origin.is_martini() && origin.imported_from.is_none())?;
        parameters.parse::<RawOptions>().ok()?.resolve().ok()
    };
    let are_on: Option<Vec<bool>> =
        facts.origins.iter().map(|origin| options(origin).map(|known| engine(&known))).collect();
    are_on.filter(|are_on| !are_on.is_empty()).map(|are_on| are_on.contains(&true))
}

/// Whether allocations were recorded, in whatever way.
pub(crate) fn allocations(facts: &Facts) -> Option<bool> {
    was_on(facts, |options| options.heap != HeapMode::Off || options.sampled_bytes.is_some())
}

/// Whether waits for locks were recorded.
pub(crate) fn locks(facts: &Facts) -> Option<bool> {
    was_on(facts, |options| options.locks.is_some())
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
