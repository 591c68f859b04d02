//! What `compare` compares, one entry each. To add a mode of Martini or another profiler, add an entry.

use super::programs::Length;
use crate::variant::{Agent, Settings, Variant};

/// A variant with what the benchmark has to know of it.
pub(crate) struct Entry {
    /// How `--variant` names it.
    pub(crate) id: &'static str,
    pub(crate) variant: Variant,
    /// Its allocations cost hundreds of nanoseconds, so that the program made to allocate is given less to do.
    pub(crate) dear: bool,
    /// Whether it runs when no variant is named.
    pub(crate) usual: bool,
    /// The variant of that id is the same but for one thing, whose cost is shown if both run.
    pub(crate) beside: Option<&'static str>,
}

const fn usual(id: &'static str, name: &'static str, agent: Agent) -> Entry {
    Entry { id, variant: Variant::new(name, agent), dear: false, usual: true, beside: None }
}

impl Entry {
    /// How much a program is given to do that is timed.
    pub(crate) fn length(&self) -> Length {
        if self.dear { Length::Dear } else { Length::Timed }
    }

    const fn dear(self) -> Self {
        Self { dear: true, ..self }
    }

    const fn beside(self, id: &'static str) -> Self {
        Self { beside: Some(id), ..self }
    }

    const fn on_demand(self) -> Self {
        Self { usual: false, ..self }
    }
}

/// What says most of a server.
const TOGETHER: &str = "heap=counts,callers=16k,sampled=512k,cpu=10ms,locks=on,juc=on";

/// The base of all ratios; always run.
pub(crate) const BASE: Entry = usual("none", "no agent", Agent::None);

/// All others.
pub(crate) const ENTRIES: &[Entry] = &[
    // Its ratio would be 1 on a machine that nobody else uses: it shows how much of the others is noise.
    usual("again", "no agent, once more", Agent::None),
    usual("counts", "martini heap=counts", Agent::MartiniToDisk("heap=counts")),
    // As martini run has it.
    usual("callers", "martini heap=counts, callers", Agent::MartiniToDisk("heap=counts,callers=16k")).beside("counts"),
    usual("callers-512k", "martini heap=counts, callers=512k", Agent::MartiniToDisk("heap=counts,callers=512k"))
        .beside("counts")
        .on_demand(),
    usual("vm", "martini heap=vm", Agent::MartiniToDisk("heap=vm")).dear(),
    usual("events", "martini heap=events", Agent::MartiniToDisk("heap=events")).dear(),
    usual("events-sites", "martini heap=events, sites", Agent::MartiniToDisk("heap=events,allocsites=true"))
        .dear()
        .on_demand(),
    usual("events-stack", "martini heap=events, stacks of 8", Agent::MartiniToDisk("heap=events,stack=8"))
        .dear()
        .on_demand(),
    usual("sampled", "Martini sampled=512k", Agent::MartiniToDisk("sampled=512k")).on_demand(),
    usual("cpu", "Martini cpu=10ms", Agent::MartiniToDisk("cpu=10ms")).on_demand(),
    usual("left-on", "Martini sampled, cpu, ttsp", Agent::MartiniToDisk("sampled=512k,cpu=10ms,ttsp=on")).on_demand(),
    usual("together", "Martini counts, callers, sampled, cpu, locks", Agent::MartiniToDisk(TOGETHER)).on_demand(),
    usual("instrumenter", "allocation-instrumenter 3.3.4", Agent::Instrumenter),
    usual("async", "async-profiler 4.3, alloc", Agent::AsyncProfiler("alloc")),
    usual("async-all", "async-profiler 4.3, alloc=1", Agent::AsyncProfiler("alloc=1")).dear().on_demand(),
    usual("async-cpu", "async-profiler 4.3, ctimer", Agent::AsyncProfiler("event=ctimer,interval=10ms")).on_demand(),
    usual("jfr", "JFR, settings=profile", Agent::FlightRecorder(Settings::OfTheJdk("profile"))),
    usual("jfr-tlab", "JFR, all TLAB events", Agent::FlightRecorder(Settings::Own("allocations.jfc"))).on_demand(),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn variants_can_be_told_apart() {
        let ids: HashSet<&str> = ENTRIES.iter().map(|entry| entry.id).collect();
        let names: HashSet<&str> = ENTRIES.iter().map(|entry| entry.variant.name).collect();
        assert_eq!((ids.len(), names.len()), (ENTRIES.len(), ENTRIES.len()));
        assert!(!ids.contains("all"));
        assert!(ENTRIES.iter().filter_map(|entry| entry.beside).all(|other| ids.contains(other)));
    }
}
