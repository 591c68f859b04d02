//! What is wrong with the options.

use thiserror::Error;
use trace::filter::PatternError;

/// What is wrong with the options: one sentence each, which names the option and says what to write instead.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum OptionError {
    /// No option has that name.
    #[error("unknown option '{name}': the options are {known}")]
    Unknown {
        /// What was written.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// A name without `=value`.
    #[error("option '{name}' has no value: write {name}={takes}")]
    NoValue {
        /// The option, as it was written.
        name: String,
        /// What it takes.
        takes: String,
    },
    /// A value that the option does not take.
    #[error("option '{name}' does not take '{value}': it takes {takes}")]
    BadValue {
        /// The option, as it was written.
        name: String,
        /// The value.
        value: String,
        /// What it takes.
        takes: String,
    },
    /// A value that is not a filter pattern.
    #[error("option '{name}': {problem}")]
    BadPattern {
        /// The option.
        name: &'static str,
        /// What is wrong with the pattern, and what a pattern looks like.
        problem: PatternError,
    },
    /// An option that was given twice.
    #[error("option '{0}' is given twice: remove one")]
    Twice(&'static str),
    /// An option that was given by its name and by its old spelling.
    #[error("options '{old}' and '{name}' mean the same: remove '{old}'")]
    TwiceByOldSpelling {
        /// The option.
        name: &'static str,
        /// Its old spelling.
        old: &'static str,
    },
    /// An option that only `heap=counts` has a use for.
    #[error("option '{0}' requires heap=counts: add it, or remove '{0}'")]
    NeedsCounts(&'static str),
    /// An option that only `heap=counts` has a use for, beside one that only single objects have a use for.
    #[error(
        "options '{counts}' and '{objects}' exclude each other: '{counts}' requires heap=counts, '{objects}' records every object; remove one"
    )]
    CountsWithObjects {
        /// The option of `heap=counts`, as it was written.
        counts: &'static str,
        /// The option of single objects, as it was written.
        objects: &'static str,
    },
    /// An option that only `heap=counts` and `sampled` have a use for.
    #[error("option '{0}' requires heap=counts or sampled: add one, or remove '{0}'")]
    NeedsTotals(&'static str),
    /// A sampler beside a heap mode that records every object.
    #[error("option 'sampled' conflicts with heap={0}, which records every object: remove one, or write heap=counts")]
    SampledWithObjects(&'static str),
    /// A filter file that cannot be read or has a wrong line.
    #[error("option 'filters': {0}")]
    FilterFile(String),
    /// A TPTP profiler, server or option that Martini does not have.
    #[error("'{0}' in the TPTP syntax is not supported: {1}")]
    Tptp(String, &'static str),
}
