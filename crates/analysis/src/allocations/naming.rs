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

impl Naming {
    /// Whose code a frame is.
    pub(crate) fn own_code(&self) -> OwnCode {
        match self {
            Naming::Own(patterns) => OwnCode::new(patterns.clone()),
            Naming::Innermost | Naming::Callers(_) => OwnCode::default(),
        }
    }
}

/// The frame that names each stack of a report.
#[derive(Debug)]
pub struct SiteNames {
    naming: Rule,
    /// Of each stack.
    names: Vec<Option<SiteIndex>>,
}

#[derive(Debug)]
enum Rule {
    Innermost,
    Callers(Vec<Pattern>),
    Own(OwnCode),
}

impl SiteNames {
    pub(crate) fn new(naming: &Naming, stacks: &Stacks, symbols: &Symbols) -> Self {
        let stacks = stacks.iter();
        match naming {
            Naming::Innermost => SiteNames { naming: Rule::Innermost, names: Vec::new() },
            Naming::Callers(patterns) => {
                let calls = |site: &SiteIndex| is_of(patterns, symbols.location(*site).class);
                let names = stacks.map(|frames| frames.iter().copied().find(calls)).collect();
                SiteNames { naming: Rule::Callers(patterns.clone()), names }
            }
            Naming::Own(patterns) => {
                let mut own = OwnCode::new(patterns.clone());
                let names = stacks.map(|frames| own.frame(frames, symbols)).collect();
                SiteNames { naming: Rule::Own(own), names }
            }
        }
    }

    /// Whether each stack is named by its innermost frame.
    pub(super) fn are_innermost(&self) -> bool {
        matches!(self.naming, Rule::Innermost)
    }

    /// Whether each stack whose innermost frame is this one is named by it, whoever calls it.
    pub(super) fn always_name(&self, innermost: Option<SiteIndex>, symbols: &Symbols) -> bool {
        let class = || innermost.map(|site| symbols.location(site).class);
        match &self.naming {
            Rule::Innermost => true,
            Rule::Callers(patterns) => class().is_some_and(|class| is_of(patterns, class)),
            Rule::Own(own) => class().is_some_and(|class| own.is_nearest(class)),
        }
    }

    /// The name of a stack, of which the innermost frame is known at least.
    pub(crate) fn site(&self, innermost: Option<SiteIndex>, stack: Option<StackIndex>) -> Option<SiteIndex> {
        let named = stack.and_then(|stack| self.names.get(stack.rank()).copied().flatten());
        named.or(innermost)
    }
}

fn is_of(patterns: &[Pattern], class: &str) -> bool {
    patterns.iter().any(|pattern| pattern.matches(class))
}
