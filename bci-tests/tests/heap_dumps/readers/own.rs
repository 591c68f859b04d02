//! The reader of this project, which identifies each root by the class of its object, its thread and its frame.

use std::path::PathBuf;

use super::{Counts, Reader, add};
use crate::dump::Dump;

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
            for name in dump.root_names() {
                add(&mut counts, format!("root {name}"), &[1]);
            }
            counts
        };
        Ok(dumps.iter().map(count_one).collect())
    }
}
