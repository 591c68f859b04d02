//! One run of a program whose threads wait for each other, and what it prints beside what its trace has.

use bci_tests::profiled::{Profiled, Ran, is_safe_mode};
use bci_tests::waits::{Kind, Wait, Waits};

/// The class of the monitors that the program waits for.
pub(crate) const MONITOR: &str = "waits.Main$Monitor";

/// What must not happen in any of these runs.
const NONE_OF: [&str; 4] = ["events.lost", "waits.withoutBegin", "waits.withoutEnd", "agent.panics"];

/// What the program itself prints of one of its waits.
#[derive(Debug)]
pub(crate) struct Printed {
    pub(crate) kind: String,
    pub(crate) thread: String,
    /// The owner, or what ended the wait.
    pub(crate) what: String,
    pub(crate) nanos: u64,
}

/// One run, and what was recorded of it.
pub(crate) struct LocksRan {
    pub(crate) ran: Ran<Waits>,
    pub(crate) printed: Vec<Printed>,
}

/// Runs the program, which has nothing to say on its standard error.
#[track_caller]
pub(crate) fn run(profiled: Profiled<'_>, args: &[&str]) -> LocksRan {
    let ran = profiled.main("waits.Main").args(args).run_and_read::<Waits>();
    assert_eq!(ran.err(), "");
    nothing_is_lost(&ran.trace);
    let line = |line: &str| {
        let mut fields = line.split(' ').map(str::to_owned);
        let mut field = || fields.next().unwrap_or_else(|| panic!("a line is cut: {line}"));
        Printed { kind: field(), thread: field(), what: field(), nanos: field().parse().expect("nanoseconds") }
    };
    let printed = ran.out().lines().map(line).collect();
    LocksRan { ran, printed }
}

/// The trace says of itself that it has all.
#[track_caller]
pub(crate) fn nothing_is_lost(trace: &Waits) {
    for key in NONE_OF {
        assert_eq!(trace.count(key), 0, "{key}");
    }
}

/// Every wait that the program prints is in the trace, in that order, once, with that owner or end; what it measured is no
/// shorter than what the trace has, and mostly hardly longer.
#[track_caller]
pub(crate) fn compare(ran: &LocksRan, kind: Kind, words: &[&str]) {
    let counts = |wait: &&Printed| words.contains(&wait.kind.as_str());
    let mut printed: Vec<&Printed> = ran.printed.iter().filter(counts).collect();
    // The JVM has monitors of its own, and a pool a lock.
    let is_parked = ["lock", "park"].iter().any(|word| words.contains(word));
    let ours = |wait: &&Wait| wait.kind == kind && wait.parked == is_parked && (is_parked || wait.class == MONITOR);
    let mut found: Vec<&Wait> =
        ran.ran.trace.counted().filter(ours).filter(|wait| printed.iter().any(|s| s.thread == wait.thread)).collect();
    assert_eq!(found.len(), printed.len(), "{found:#?}\n{printed:#?}");
    // The program prints a wait when it is over.
    printed.sort_by(|a, b| a.thread.cmp(&b.thread));
    found.sort_by(|a, b| a.thread.cmp(&b.thread));
    let mut beyond = Vec::new();
    let mut without_owner = 0;
    for (printed, found) in printed.iter().zip(&found) {
        assert_eq!(printed.thread, found.thread);
        match kind {
            Kind::Blocked => {
                let owner = Some(printed.what.as_str()).filter(|&owner| owner != "nobody");
                // In safe mode JVMTI's answer may come too late: the owner is not known then, and counted, or where several
                // want the monitor it is the next one.
                let is_next = found.owner.is_some() && !found.thread.starts_with("t-enter-");
                let may_differ = is_safe_mode() && (found.owner.is_none() || is_next);
                assert!(may_differ || found.owner.as_deref() == owner, "{found:?} owned by {owner:?}");
                without_owner += u64::from(found.owner.is_none() && owner.is_some());
            }
            Kind::Waited => {
                assert_eq!(found.reason.expect("it is over").as_str(), printed.what, "{found:?}");
                assert_eq!(found.waited_millis, found.nanos.expect("it is over") / 1_000_000, "{found:?}");
            }
        }
        let nanos = found.nanos.unwrap_or_else(|| panic!("{found:?} has no end"));
        assert!(nanos <= printed.nanos, "{found:?} took {nanos} ns, but the program measured {}", printed.nanos);
        beyond.push(printed.nanos - nanos);
    }
    // Parks and monitors are counted together.
    let unknown = ran.ran.trace.count("owners.unknown") + ran.ran.trace.count("owners.terminated");
    assert!(without_owner <= unknown, "{without_owner} without owner, {unknown} counted");
    // On a busy machine some thread is put aside for longer, in between.
    beyond.sort_unstable();
    let usual = beyond[beyond.len() / 4];
    assert!(usual < 1_000_000, "the program measured {usual} ns more: {beyond:?}");
}
