//! Call stacks with what happened on each: what is drawn, summed up and shown by other programs is made of these.

use crate::call_tree::Label;

/// A call stack, and what happened on it.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedStack<'a> {
    /// The thread; `None` if it is not known.
    pub thread: Option<&'a str>,
    /// The class of the objects, or of the lock; `None` if there is neither.
    pub class: Option<&'a str>,
    /// What was called, innermost first; never empty.
    pub frames: Vec<Label<'a>>,
    /// Objects, waits or samples.
    pub count: u64,
    /// Their bytes, or nanoseconds.
    pub weight: u64,
}

/// The frames of a stack, of which some are always there.
pub(crate) fn known<'a>(frames: impl Iterator<Item = Label<'a>>) -> Vec<Label<'a>> {
    let frames: Vec<Label<'a>> = frames.collect();
    if frames.is_empty() { vec![Label::NoStack] } else { frames }
}

/// Rounds the parts of a whole so that their sum is the whole, rounded.
#[derive(Debug, Default)]
pub(crate) struct Rounding {
    exact: f64,
    given: u64,
}

impl Rounding {
    /// The next part.
    pub(crate) fn next(&mut self, part: f64) -> u64 {
        self.exact += part;
        let upto = self.exact.round() as u64;
        let next = upto.saturating_sub(self.given);
        self.given = self.given.max(upto);
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounded_parts_make_the_whole() {
        let mut rounding = Rounding::default();
        let parts: Vec<u64> = [0.4, 0.4, 0.4, 2.8, 3.0].map(|part| rounding.next(part)).to_vec();
        assert_eq!(parts, [0, 1, 0, 3, 3]);
    }

    #[test]
    fn a_stack_without_frames_says_so() {
        assert_eq!(known(std::iter::empty()), [Label::NoStack]);
        assert_eq!(known([Label::Kernel].into_iter()), [Label::Kernel]);
    }
}
