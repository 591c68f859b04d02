//! Numbers of what is known of rewritten classes.

/// Number of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CounterIndex(pub(crate) u32);

impl CounterIndex {
    /// The counter behind this one.
    pub(crate) fn next(self) -> CounterIndex {
        CounterIndex(self.0 + 1)
    }
}

/// Number of a class as class files name it: an internal name, or the descriptor of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NameIndex(pub(super) u32);

/// Number of a class file that was rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RewritingIndex(pub(super) u32);

/// Number of a method with sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RewrittenMethodIndex(pub(super) u32);
