//! The checks within one document, each in a module of its own.

use crate::model::{Element, Irregularities};

use super::counts::Counts;
use super::definitions::Definitions;
use super::order::Stage;
use super::pairs::Pairs;
use super::times::Latest;
use super::{Findings, Rule};

/// What is known of a document at a point.
#[derive(Debug, Default)]
pub(crate) struct Document {
    stage: Stage,
    definitions: Definitions,
    pairs: Pairs,
    counts: Counts,
    latest: Latest,
}

impl Document {
    /// Checks an element against everything before it.
    pub(crate) fn element(&mut self, element: &Element<'_>, irregularities: Irregularities, findings: &mut Findings) {
        if irregularities != Irregularities::default() {
            findings.add(Rule::Attributes, || {
                let Irregularities { missing, unknown, repeated } = irregularities;
                format!(
                    "{} has {missing} missing, {unknown} unknown and {repeated} repeated attributes",
                    element.name()
                )
            });
        }
        self.stage.element(element, findings);
        self.definitions.references(element, findings);
        self.definitions.element(element, findings);
        self.pairs.element(element, findings);
        self.counts.element(element, findings);
        self.latest.element(element, findings);
    }

    /// Checks the end of a document that has one.
    pub(crate) fn end(&mut self, findings: &mut Findings) {
        if self.stage != Stage::Left {
            findings.add(Rule::Ending, || "the document ends without traceEnd and agentDestroy".to_owned());
        }
        if self.pairs.in_gc() && findings.is_strict() {
            findings.add(Rule::GcPairs, || "the document ends inside a collection".to_owned());
        }
    }
}
