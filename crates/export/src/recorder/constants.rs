//! What the numbers of a recording stand for.

use super::Recording;
use super::pools::{Frame, Method, Thread};

/// All constants, by their numbers.
pub(crate) struct Constants<'a> {
    classes: Vec<&'a str>,
    methods: Vec<&'a Method>,
    stacks: Vec<&'a [Frame]>,
    threads: Vec<&'a Thread>,
}

fn at<T: Copy>(all: &[T], number: u64) -> Option<T> {
    all.get(usize::try_from(number).ok()?.checked_sub(1)?).copied()
}

impl<'a> Constants<'a> {
    pub(crate) fn of(recording: &'a Recording) -> Self {
        let pools = &recording.pools;
        Constants {
            classes: pools.classes.in_order().map(|(_, name)| &**name).collect(),
            methods: pools.methods.in_order().map(|(_, method)| method).collect(),
            stacks: pools.stacks.in_order().map(|(_, frames)| &**frames).collect(),
            threads: pools.threads.in_order().map(|(_, thread)| thread).collect(),
        }
    }

    /// The name of a class; `None` if it is not known.
    pub(crate) fn class(&self, number: u64) -> Option<&'a str> {
        at(&self.classes, number).filter(|name| !name.is_empty())
    }

    /// The frames of a stack, innermost first.
    pub(crate) fn frames(&self, stack: u64) -> &'a [Frame] {
        at(&self.stacks, stack).unwrap_or_default()
    }

    pub(crate) fn thread(&self, number: u64) -> Option<&'a Thread> {
        at(&self.threads, number)
    }

    /// Methods with their names: class and method, or what else it is.
    pub(crate) fn method(&self, number: u64) -> Option<(&'a Method, String)> {
        let method = at(&self.methods, number)?;
        let class = self.class(method.class).filter(|_| method.is_java);
        Some((method, class.map_or_else(|| method.name.to_string(), |class| format!("{class}.{}", method.name))))
    }
}
