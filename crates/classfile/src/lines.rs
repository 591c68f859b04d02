//! Line numbers of a method (JVMS 4.7.12), sorted once and then searched.

use crate::attribute::Attributes;

/// The line numbers of one method. A method may have several tables, in any order.
#[derive(Debug, Clone, Default)]
pub struct LineTable {
    /// Start pc and line, sorted by pc; entries of one pc keep the class file's order.
    entries: Vec<(u16, u16)>,
}

impl LineTable {
    pub(crate) fn new(attributes: Attributes<'_, '_>) -> Self {
        let mut entries = Vec::new();
        for attribute in attributes.filter(|a| a.name == b"LineNumberTable") {
            let (rows, _) = attribute.data.get(2..).unwrap_or_default().as_chunks::<4>();
            entries.extend(
                rows.iter().map(|row| (u16::from_be_bytes([row[0], row[1]]), u16::from_be_bytes([row[2], row[3]]))),
            );
        }
        if !entries.is_sorted_by_key(|&(pc, _)| pc) {
            entries.sort_by_key(|&(pc, _)| pc);
        }
        LineTable { entries }
    }

    /// The line of the instruction at `pc`: that of the last entry at or before it; of several entries at
    /// exactly `pc` the first, as HotSpot answers (`Method::line_number_from_bci`).
    pub fn line(&self, pc: u16) -> Option<u16> {
        let first_at = self.entries.partition_point(|&(start, _)| start < pc);
        match self.entries.get(first_at) {
            Some(&(start, line)) if start == pc => Some(line),
            _ => Some(self.entries.get(first_at.checked_sub(1)?)?.1),
        }
    }

    /// Start pc and line of each entry, by rising pc.
    pub fn entries(&self) -> &[(u16, u16)] {
        &self.entries
    }
}
