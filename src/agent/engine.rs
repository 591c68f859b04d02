//! Who tells of allocations: rewritten bytecode, or the VM.
//!
//! The VM's own event, `SampledObjectAlloc` with interval 0, comes for every object that it accounts to a thread, however it
//! was made, and its price is the same for all. Hooks in rewritten code tell of what bytecode makes, and cost next to nothing
//! for a class that is filtered out. So the VM tells when everything is wanted, and the hooks when little is.
//!
//! Before JDK 17 the VM's event has a hole: when an object does not fit into what is left of a thread's allocation buffer and
//! is put beside it, the rest of that buffer goes unwatched. There the hooks tell too, of what has no tag yet.

use super::options::{HeapMode, Options};

/// The feature release from which on the VM's event comes for every object.
const FIRST_WITHOUT_HOLE: u32 = 17;

/// Who tells of allocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    /// Rewritten code hands over each object of a class that the filters let through.
    Hooks,
    /// The VM, and the hooks tell of what it missed.
    VmAndHooks,
    /// The VM; rewritten code only keeps the JIT from removing objects.
    VmAndEscape,
    /// The VM, and no code is rewritten: what the JIT removes is never allocated.
    Vm,
    /// Nobody: rewritten code counts.
    Counts,
    /// Nobody.
    Off,
}

impl Engine {
    /// The engine for these options on a VM of that feature release.
    pub(crate) fn of(options: &Options, java: u32) -> Engine {
        match options.heap {
            HeapMode::Vm => Engine::Vm,
            HeapMode::Counts => Engine::Counts,
            HeapMode::Off => Engine::Off,
            // Hooks tell an object that has been reported by its tag, and so need lifetimes.
            HeapMode::Events if options.lifetimes && !options.filters.rules().is_empty() => Engine::Hooks,
            HeapMode::Events if java < FIRST_WITHOUT_HOLE => Engine::VmAndHooks,
            HeapMode::Events => Engine::VmAndEscape,
        }
    }

    /// Whether the VM's event for every object is used.
    pub(crate) fn samples(self) -> bool {
        matches!(self, Engine::VmAndHooks | Engine::VmAndEscape | Engine::Vm)
    }

    /// Whether rewritten code hands objects over.
    pub(crate) fn has_hooks(self) -> bool {
        matches!(self, Engine::Hooks | Engine::VmAndHooks)
    }

    /// Whether an object that a hook hands over may have been reported already.
    pub(crate) fn tells_twice(self) -> bool {
        self == Engine::VmAndHooks
    }

    /// Whether classes are rewritten for the heap's sake.
    pub(crate) fn rewrites(self) -> bool {
        !matches!(self, Engine::Vm | Engine::Off)
    }

    /// Whether objects are followed one by one, from allocation to death.
    pub(crate) fn follows(self) -> bool {
        !matches!(self, Engine::Counts | Engine::Off)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::options::parse;

    #[test]
    fn few_classes_are_for_the_hooks() {
        for (given, java, engine) in [
            ("heap=vm", 11, Engine::Vm),
            ("heap=vm,include=a.*", 17, Engine::Vm),
            ("heap=counts", 11, Engine::Counts),
            ("heap=off", 11, Engine::Off),
            ("heap=events", 11, Engine::VmAndHooks),
            ("heap=events", 17, Engine::VmAndEscape),
            ("heap=events,lifetimes=false,include=a.*", 17, Engine::VmAndEscape),
            ("heap=events,include=a.*", 11, Engine::Hooks),
            ("heap=events,include=a.*", 17, Engine::Hooks),
        ] {
            assert_eq!(Engine::of(&parse(given).unwrap(), java), engine, "{given} on {java}");
        }
    }
}
