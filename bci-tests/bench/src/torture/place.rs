//! What all runs share: the built agent, the compiled programs, a `jcmd`, and the folder for what is kept.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use bci_tests::jdk::{self, Jdk};
use bci_tests::martini::Martini;
use bci_tests::{java, martini};

/// It.
pub(super) struct Place {
    /// The agent.
    pub(super) martini: &'static Martini,
    /// The class path of the programs.
    pub(super) classes: OsString,
    /// The jar of the second agent.
    pub(super) redefiner: PathBuf,
    /// The folder of the runs' folders; those of failures stay.
    pub(super) kept: PathBuf,
}

impl Place {
    /// Builds what there is to build.
    pub(super) fn make(kept: &Path) -> Result<Self, String> {
        let failed = |e: std::io::Error| format!("{} cannot be made: {e}", kept.display());
        fs::create_dir_all(kept).map_err(failed)?;
        // The runs have their own folders as current ones.
        let kept = kept.canonicalize().map_err(failed)?;
        let classes = java::class_path().clone();
        let redefiner = java::agent_jar(&kept, "torture.Redefine")?;
        Ok(Self { martini: martini::built(), classes, redefiner, kept })
    }
}

/// A `jcmd` for a JVM of this JDK: its own, or that of another one, since the protocol is the same for all.
pub(super) fn jcmd(jdk: &Jdk) -> Option<PathBuf> {
    let of = |jdk: &Jdk| Some(jdk.home.join("bin/jcmd")).filter(|path| path.is_file());
    of(jdk).or_else(|| jdk::all().iter().find_map(of))
}
