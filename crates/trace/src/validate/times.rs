//! The check that times do not decrease.

use crate::model::Element;
use crate::time::Time;

use super::{Findings, Rule};

/// The latest time before a point of a document.
#[derive(Debug, Default)]
pub(super) struct Latest(Time);

impl Latest {
    /// Checks the time of an element.
    pub(super) fn element(&mut self, element: &Element<'_>, findings: &mut Findings) {
        let Some(time) = element.event_time() else { return };
        if time < self.0 {
            let (name, before) = (element.name(), self.0);
            findings.add(Rule::Times, || format!("{name} is of {time}, but {before} was written before"));
        }
        self.0 = self.0.max(time);
    }
}
