//! The archives of classes that a JVM was to use.

use trace::model::{ArchiveRefusal, ClassArchive};

use super::report::WarmUpReport;

/// A command line names a few.
const MOST: usize = 16;

/// An archive of classes that a JVM was to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveRow {
    /// The file, as the JVM was told.
    pub file: String,
    /// Why the JVM did not use it; `None` if it did.
    pub refusal: Option<ArchiveRefusal>,
    /// The flag, option, agent, jar or build that this is about; may be empty.
    pub detail: String,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Archives(Vec<ArchiveRow>);

impl Archives {
    pub(super) fn add(&mut self, archive: &ClassArchive<'_>) {
        if self.0.len() < MOST && self.0.iter().all(|known| known.file != archive.file) {
            self.0.push(ArchiveRow {
                file: archive.file.to_string(),
                refusal: archive.used.is_none().then(|| archive.refusal.unwrap_or_default()),
                detail: archive.detail.as_deref().unwrap_or_default().to_owned(),
            });
        }
    }
}

impl WarmUpReport {
    /// The archives that the command line of the JVM names, in its order; empty if it names none or the trace does not say.
    pub fn archives(&self) -> &[ArchiveRow] {
        &self.stats().archives.0
    }
}
