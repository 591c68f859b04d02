//! The source of allocation events: rewritten bytecode, or the VM.
//!
//! The VM's own event, `SampledObjectAlloc` with interval 0, comes for every object that it accounts to a thread, however it
//! was made, and its price is the same for all. Hooks in rewritten code report what bytecode makes, and cost next to nothing
//! for a class that is filtered out. So the VM reports when everything is wanted, and the hooks when little is.
//!
//! C2 removes objects that do not escape, boxes, and chains of `StringBuilder` calls. With `heap=events` the VM's own flags
//! prevent that. From JDK 17 on C2 still removes objects that are never used (`PhaseMacroExpand::expand_allocate_common`): so
//! rewritten code passes each object to a method that C2 does not look into. That is not worth the start-up for the classes
//! that are loaded before the rewriting, except for `Object`, whose constructor all others call. In a VM that runs already
//! `EliminateAllocations` stays as it is (`Hotspot::set_bool_flag`), so all classes are rewritten there.
//!
//! Before JDK 17 the VM's event has a hole: when an object does not fit into what is left of a thread's allocation buffer and
//! is allocated outside, no event comes for the rest of that buffer. So hooks report what has no tag yet.

use std::ffi::CStr;

use agent_options::{HeapMode, Options};

/// The feature release from which on the VM's event comes for every object.
const FIRST_WITHOUT_HOLE: u32 = 17;

/// The source of allocation events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationSource {
    /// Rewritten code hands over each object of a class that the filters let through.
    Hooks,
    /// The VM, and the hooks report what it missed.
    VmAndHooks,
    /// The VM; rewritten code only keeps the JIT from removing objects.
    VmAndEscape,
    /// The VM, and no code is rewritten: what the JIT removes is never allocated.
    Vm,
    /// No events: rewritten code counts.
    Counts,
    /// Neither events nor counts.
    Off,
}

impl AllocationSource {
    /// The source for these options on a VM of that feature release.
    pub fn of(options: &Options, java: u32) -> AllocationSource {
        match options.heap {
            HeapMode::Vm => AllocationSource::Vm,
            HeapMode::Counts => AllocationSource::Counts,
            HeapMode::Off => AllocationSource::Off,
            // Hooks recognise an object that has been reported by its tag, and so need lifetimes.
            HeapMode::Events if options.lifetimes && !options.filters.rules().is_empty() => AllocationSource::Hooks,
            HeapMode::Events if java < FIRST_WITHOUT_HOLE => AllocationSource::VmAndHooks,
            HeapMode::Events => AllocationSource::VmAndEscape,
        }
    }

    /// Whether the VM's event for every object is used.
    pub fn is_by_vm_event(self) -> bool {
        matches!(self, AllocationSource::VmAndHooks | AllocationSource::VmAndEscape | AllocationSource::Vm)
    }

    /// Whether rewritten code hands objects over.
    pub fn has_hooks(self) -> bool {
        matches!(self, AllocationSource::Hooks | AllocationSource::VmAndHooks)
    }

    /// Whether an object that a hook hands over may have been reported already.
    pub fn may_report_twice(self) -> bool {
        self == AllocationSource::VmAndHooks
    }

    /// The flags of the VM that are switched off, so that the JIT does not remove what is to be reported.
    pub fn unwanted_flags(self, heap: HeapMode, is_late: bool) -> &'static [&'static CStr] {
        match (heap, self) {
            (_, AllocationSource::VmAndEscape) if !is_late => {
                &[c"EliminateAutoBox", c"OptimizeStringConcat", c"EliminateAllocations"]
            }
            (HeapMode::Events, _) => &[c"EliminateAutoBox", c"OptimizeStringConcat"],
            _ => &[],
        }
    }

    /// Whether classes are rewritten for allocations.
    pub fn rewrites(self) -> bool {
        !matches!(self, AllocationSource::Vm | AllocationSource::Off)
    }

    /// Whether many classes that were loaded before VMInit are rewritten.
    pub(crate) fn rewrites_much(self) -> bool {
        self.rewrites() && self != AllocationSource::VmAndEscape
    }

    /// Whether rewritten code counts.
    pub fn counts(self) -> bool {
        self == AllocationSource::Counts
    }

    /// Whether an object gets a tag as soon as it is reported, by which it is identified: to hooks, or because `locks` are
    /// recorded, and threads may wait on it.
    pub(crate) fn identifies(self, locks: bool) -> bool {
        self.has_hooks() || locks && self.tracks_objects()
    }

    /// Whether it matters which virtual thread runs on a platform thread. Counters belong to platform threads.
    pub(crate) fn follows_threads(self, options: &Options) -> bool {
        self.tracks_objects() || options.locks.is_some() || options.samples.threads() || options.requests.any()
    }

    /// Whether objects are followed one by one, from allocation to death.
    pub fn tracks_objects(self) -> bool {
        !matches!(self, AllocationSource::Counts | AllocationSource::Off)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_options::parse;

    #[test]
    fn hooks_report_filtered_classes() {
        for (given, java, source) in [
            ("heap=vm", 11, AllocationSource::Vm),
            ("heap=vm,include=a.*", 17, AllocationSource::Vm),
            ("heap=counts", 11, AllocationSource::Counts),
            ("heap=off", 11, AllocationSource::Off),
            ("heap=events", 11, AllocationSource::VmAndHooks),
            ("heap=events", 17, AllocationSource::VmAndEscape),
            ("heap=events,lifetimes=false,include=a.*", 17, AllocationSource::VmAndEscape),
            ("heap=events,include=a.*", 11, AllocationSource::Hooks),
            ("heap=events,include=a.*", 17, AllocationSource::Hooks),
        ] {
            assert_eq!(AllocationSource::of(&parse(given).unwrap(), java), source, "{given} on {java}");
        }
    }
}
