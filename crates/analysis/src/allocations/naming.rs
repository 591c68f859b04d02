//! Which frame of a stack is the one that allocates.

use trace::filter::Pattern;

use crate::own_code::OwnCode;
use crate::stacks::{StackIndex, Stacks};
use crate::symbols::{SiteIndex, Symbols};

/// Which frame of a stack is to be named.
#[derive(Clone, Debug)]
pub enum Naming {
    /// The innermost one: often one of the JDK.
    Innermost,
    /// The innermost one in a class of these patterns; where there is none, the innermost of all.
    Callers(Vec<Pattern>),
    /// The one that its reader can change; see [`own_code`](crate::own_code). With patterns for what is the user's own.
    Own(Vec<Pattern>),
}

/// The frame that names each stack of a report.
#[derive(Debug)]
pub struct SiteNames(Option<Vec<Option<SiteIndex>>>);

impl SiteNames {
    pub(super) fn new(naming: &Naming, stacks: &Stacks, symbols: &Symbols) -> Self {
        let stacks = stacks.iter();
        SiteNames(match naming {
            Naming::Innermost => None,
            Naming::Callers(patterns) => {
                let calls = |site: &SiteIndex| {
                    let class = symbols.location(*site).class;
                    patterns.iter().any(|pattern| pattern.matches(class))
                };
                Some(stacks.map(|frames| frames.iter().copied().find(calls)).collect())
            }
            Naming::Own(patterns) => {
                let mut own = OwnCode::new(patterns.clone());
                Some(stacks.map(|frames| own.frame(frames, symbols)).collect())
            }
        })
    }

    /// Whether each stack is named by its innermost frame.
    pub(super) fn are_innermost(&self) -> bool {
        self.0.is_none()
    }

    /// The name of a stack, of which the innermost frame is known at least.
    pub(super) fn site(&self, innermost: Option<SiteIndex>, stack: Option<StackIndex>) -> Option<SiteIndex> {
        let named = self.0.as_ref().zip(stack).and_then(|(names, stack)| names[stack.rank()]);
        named.or(innermost)
    }
}
