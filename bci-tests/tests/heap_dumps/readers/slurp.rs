//! The program of the crate `hprof-slurp`, which counts instances and their bytes.

use std::path::{Path, PathBuf};
use std::process::Command;

use bci_tests::process;
use bci_tests::workdir::Workdir;

use super::{Counts, Reader, add};

pub(super) struct Slurp(PathBuf);

impl Slurp {
    /// The program in a folder that `cargo install --root` has filled.
    pub(super) fn find(folder: &Path) -> Option<Slurp> {
        let program = folder.join("bin/hprof-slurp");
        program.is_file().then_some(Slurp(program))
    }

    fn count_one(&self, dump: &Path, report: &Path) -> Result<Counts, String> {
        let mut command = Command::new(&self.0);
        command.arg(dump).args(["--top", "1000000", "--json", "-o"]).arg(report);
        let ran = process::run(&mut command);
        let err = ran.err();
        let usual = ["Processing ", "Output JSON result file ", "File successfully processed in "];
        let complains = |line: &str| !line.is_empty() && !usual.iter().any(|words| line.starts_with(words));
        if !ran.status.success() || err.lines().any(complains) {
            return Err(format!("{}, {}: {err}", dump.display(), ran.status));
        }
        let text = std::fs::read(report).expect("it has left its report");
        let json: serde_json::Value = serde_json::from_slice(&text).expect("it is JSON");
        let mut counts = Counts::new();
        for class in json["heap"]["top_allocated_classes"].as_array().expect("a list of classes") {
            let name = class["class_name"].as_str().expect("a name");
            let numbers = ["instance_count", "allocation_size_bytes"];
            add(&mut counts, format!("class {name}"), &numbers.map(|key| class[key].as_u64().expect("a number")));
        }
        Ok(counts)
    }
}

impl Reader for Slurp {
    fn name(&self) -> &'static str {
        "hprof-slurp"
    }

    fn count(&self, dumps: &[PathBuf]) -> Result<Vec<Counts>, String> {
        let place = Workdir::new();
        dumps.iter().map(|dump| self.count_one(dump, &place.join("report.json"))).collect()
    }
}
