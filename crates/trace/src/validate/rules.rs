//! The rules that a trace has to follow, and how strictly.

use std::fmt;

/// How strictly a trace is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// As Martini promises to write.
    Strict,
    /// As old profilers really wrote: cut off, with times that decrease, lazily defined, and with
    /// references to objects that were never announced.
    Lenient,
}

macro_rules! rules {
    ($( $(#[$doc:meta])* $rule:ident, $profile:ident, $text:literal; )+) => {
        /// What a trace can do wrong and a schema cannot check.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule { $( $(#[$doc])* $rule, )+ }

        impl Rule {
            /// All rules.
            pub const ALL: &[Rule] = &[ $( Rule::$rule, )+ ];

            /// The least strict profile in which the rule holds.
            pub const fn profile(self) -> Profile {
                match self { $( Self::$rule => Profile::$profile, )+ }
            }

            /// The rule as a short name, such as `define-before-use`.
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$rule => $text, )+ }
            }
        }
    };
}

rules! {
    /// Everything can be read.
    Readable, Lenient, "readable";
    /// `node`, `processCreate`, `agentCreate`, `traceStart`, filters and options come first, in
    /// this order.
    Head, Lenient, "head";
    /// An id is defined before it is referred to, and not undefined in between.
    DefineBeforeUse, Lenient, "define-before-use";
    /// An id that is in use is not defined again.
    DefinedOnce, Lenient, "defined-once";
    /// Only an object that lives is freed.
    FreedOnce, Lenient, "freed-once";
    /// Collections start and finish in turn.
    GcPairs, Lenient, "gc-pairs";
    /// Objects are freed inside a collection.
    FreeInGc, Strict, "free-in-gc";
    /// The next event of a blocked or waiting thread ends that wait, with the same monitor.
    MonitorPairs, Strict, "monitor-pairs";
    /// Times do not decrease, but for definitions.
    Times, Strict, "times";
    /// What is counted from the beginning of reporting does not become less.
    Counts, Strict, "counts";
    /// Nothing follows `traceEnd` but `agentDestroy`, and nothing that.
    Tail, Lenient, "tail";
    /// `traceEnd`, `agentDestroy` and the root's end tag are there.
    Ending, Strict, "ending";
    /// Attributes are those of the format, all of them, once.
    Attributes, Strict, "attributes";
    /// Elements are those of the format.
    Elements, Strict, "elements";
}

impl Rule {
    /// Whether a trace checked by `profile` has to follow the rule.
    pub fn holds_in(self, profile: Profile) -> bool {
        profile == Profile::Strict || self.profile() == Profile::Lenient
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
