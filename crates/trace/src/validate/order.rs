//! The check that elements come in their order: head, filters, options, events, end.

use crate::model::Element;

use super::{Findings, Rule};

/// How far a document has come. The order is the order in a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    #[default]
    Nothing,
    Node,
    Process,
    Agent,
    /// Collection has begun; filters may come.
    Started,
    Options,
    Events,
    /// Collection has ended; it may begin again.
    Stopped,
    /// The agent has left.
    Left,
}

impl Stage {
    /// Checks that an element may come at this point.
    pub(super) fn element(&mut self, element: &Element<'_>, findings: &mut Findings) {
        let (allowed, next) = match element {
            Element::Node(_) => (*self == Stage::Nothing, Stage::Node),
            Element::ProcessCreate(_) => (*self == Stage::Node, Stage::Process),
            Element::AgentCreate(_) => (*self == Stage::Process, Stage::Agent),
            Element::TraceStart(_) => (matches!(*self, Stage::Agent | Stage::Stopped), Stage::Started),
            Element::Filter(_) => (*self == Stage::Started, Stage::Started),
            Element::TraceOption(_) => (matches!(*self, Stage::Started | Stage::Options), Stage::Options),
            Element::TraceEnd(_) => ((Stage::Started..=Stage::Events).contains(self), Stage::Stopped),
            Element::AgentDestroy(_) => (*self == Stage::Stopped, Stage::Left),
            _ => ((Stage::Started..=Stage::Events).contains(self), Stage::Events),
        };
        if allowed {
            *self = next;
            return;
        }
        let is_tail = matches!(element, Element::TraceEnd(_) | Element::AgentDestroy(_));
        let stage = *self;
        let rule = if stage >= Stage::Stopped || is_tail { Rule::Tail } else { Rule::Head };
        findings.add(rule, || format!("{} cannot come {}", element.name(), stage.describe()));
        // What has begun stays begun; but each element behind the end is one too many.
        if stage < Stage::Stopped {
            *self = stage.max(next);
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Self::Nothing => "at the beginning",
            Self::Node => "right after node",
            Self::Process => "right after processCreate",
            Self::Agent => "right after agentCreate",
            Self::Started => "after traceStart",
            Self::Options => "after the options",
            Self::Events => "after the events have begun",
            Self::Stopped => "after traceEnd",
            Self::Left => "after agentDestroy",
        }
    }
}
