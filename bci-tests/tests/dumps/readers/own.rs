//! The reader of this project, which tells of what class the objects are that are roots.

use std::path::PathBuf;

use super::super::support::Dump;
use super::{Counts, Reader, add};

pub(super) struct Own;

impl Reader for Own {
    fn name(&self) -> &'static str {
        "our reader"
    }

    fn count(&self, dumps: &[PathBuf]) -> Result<Vec<Counts>, String> {
        let count_one = |path: &PathBuf| {
            let dump = Dump::read(path);
            let mut counts = Counts::new();
            for (class, instances) in dump.histogram() {
                add(&mut counts, format!("class {class}"), &[instances]);
            }
            for (kind, class) in dump.roots_by_class() {
                add(&mut counts, format!("root {kind:?} {class}"), &[1]);
            }
            counts
        };
        Ok(dumps.iter().map(count_one).collect())
    }
}
