//! Programs and profilers of other people, as jars: from folders that the environment names, or fetched by Maven.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use bci_tests::martini::workspace;

/// A folder with jars that is looked at first.
const OWN_FOLDER: &str = "MARTINI_BENCH_JARS";

/// The folder of the tests on real programs.
const REAL_PROGRAMS: &str = "MARTINI_REAL_PROGRAMS";

/// What Maven fetches: the profilers and sources of `compare`, and the programs that the tests run too.
const POMS: [&str; 2] = [".ci/bench/pom.xml", ".ci/real-programs/pom.xml"];

/// Where jars may lie.
pub(crate) struct Jars {
    folders: Vec<PathBuf>,
}

impl Jars {
    /// The folders of the environment and, unless `MARTINI_BENCH_JARS` is set, one in the target folder, which Maven fills if
    /// any of `wanted` is missing.
    pub(crate) fn with<'a>(target: &Path, mut wanted: impl Iterator<Item = &'a str>) -> Self {
        let own = env::var_os(OWN_FOLDER).map(PathBuf::from);
        let fetched = target.join("bench-jars");
        let folders = [own.clone(), env::var_os(REAL_PROGRAMS).map(PathBuf::from), Some(fetched.clone())];
        let jars = Self { folders: folders.into_iter().flatten().collect() };
        if own.is_none() && !wanted.all(|name| jars.find(name).is_ok()) {
            eprintln!("fetching jars with Maven into {}", fetched.display());
            for pom in POMS {
                if let Err(reason) = fetch(pom, &fetched) {
                    eprintln!("{reason}");
                }
            }
        }
        jars
    }

    /// The file of this name.
    pub(crate) fn find(&self, name: &str) -> Result<PathBuf, String> {
        let places = self.folders.iter().map(|folder| folder.join(name));
        places.clone().find(|path| path.is_file()).ok_or_else(|| {
            format!("{name} is neither fetched by Maven nor in a folder that {OWN_FOLDER} or {REAL_PROGRAMS} names")
        })
    }
}

fn fetch(pom: &str, folder: &Path) -> Result<(), String> {
    let mut maven = Command::new("mvn");
    maven.args(["-B", "-q", "-f"]).arg(workspace().join(pom)).arg("dependency:copy-dependencies");
    let output = maven
        .arg(format!("-DoutputDirectory={}", folder.display()))
        .output()
        .map_err(|e| format!("mvn does not start ({e}): what {pom} names is left out"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let why = said.lines().find(|line| line.contains("ERROR")).unwrap_or("it does not say why");
    Err(format!("Maven did not fetch what {pom} names: {why}"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_first_folder_that_has_it_counts() {
        let dir = tempfile::tempdir().expect("a folder");
        let folders = vec![dir.path().join("a"), dir.path().join("b")];
        for folder in &folders {
            fs::create_dir(folder).expect("a folder");
        }
        fs::write(folders[1].join("x.jar"), "").expect("a file");
        let jars = Jars { folders: folders.clone() };
        assert_eq!(jars.find("x.jar"), Ok(folders[1].join("x.jar")));
        fs::write(folders[0].join("x.jar"), "").expect("a file");
        assert_eq!(jars.find("x.jar"), Ok(folders[0].join("x.jar")));
        assert!(jars.find("y.jar").unwrap_err().starts_with("y.jar is neither"));
    }
}
