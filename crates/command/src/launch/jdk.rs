//! Finds a Java launcher for the demo, and asks it what it is.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::exit;

/// The oldest Java that the demo classes run on.
const OLDEST: u32 = 11;

/// A Java runtime that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Jdk {
    /// The `java` launcher.
    pub(crate) java: PathBuf,
    /// Its full version, such as `17.0.21`.
    version: String,
    /// Its folder.
    home: String,
}

impl fmt::Display for Jdk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Java {} ({})", self.version, self.home)
    }
}

/// The Java to use: the one asked for, else the first that works of `JAVA_HOME`, `java` on the path, `/usr/lib/jvm`.
pub(crate) fn find(wanted: Option<&Path>) -> anyhow::Result<Jdk> {
    if let Some(path) = wanted {
        let java = if path.is_dir() { path.join("bin/java") } else { path.to_owned() };
        return ask(&java).with_context(|| format!("cannot use --java {}", path.display()));
    }
    let mut refused = Vec::new();
    for java in candidates() {
        match ask(&java) {
            Ok(jdk) => return Ok(jdk),
            Err(error) => refused.push(exit::sentence(&error)),
        }
    }
    let tried = if refused.is_empty() { String::new() } else { format!(" (tried {})", refused.join("; ")) };
    bail!(
        "no Java {OLDEST} or newer found in JAVA_HOME, on the PATH or in /usr/lib/jvm{tried}; install a JDK, or give \
         one with --java PATH"
    )
}

fn candidates() -> Vec<PathBuf> {
    let mut candidates = Vec::new();
    if let Some(home) = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty()) {
        candidates.push(Path::new(&home).join("bin/java"));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    candidates.extend(std::env::split_paths(&path).map(|folder| folder.join("java")).find(|java| java.is_file()));
    let installed = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
    let mut installed: Vec<PathBuf> = installed.map(|entry| entry.path().join("bin/java")).collect();
    installed.retain(|java| java.is_file());
    installed.sort();
    candidates.extend(installed);
    candidates
}

fn ask(java: &Path) -> anyhow::Result<Jdk> {
    let output = Command::new(java)
        .args(["-XshowSettings:properties", "-version"])
        .env_remove("JAVA_TOOL_OPTIONS")
        .output()
        .with_context(|| format!("cannot start {}", java.display()))?;
    if !output.status.success() {
        bail!("{} -version failed ({})", java.display(), output.status);
    }
    parse(java, &String::from_utf8_lossy(&output.stderr))
}

fn parse(java: &Path, settings: &str) -> anyhow::Result<Jdk> {
    let property = |name: &str| {
        let value = settings.lines().find_map(|line| line.trim().strip_prefix(name)?.trim_start().strip_prefix('='));
        value.map(|value| value.trim().to_owned())
    };
    let (Some(version), Some(home)) = (property("java.version"), property("java.home")) else {
        bail!("{} is not a Java launcher: -XshowSettings prints no version", java.display());
    };
    let major: u32 = version.split(['.', '-', '+']).next().and_then(|major| major.parse().ok()).unwrap_or(0);
    if major < OLDEST {
        bail!("{} is Java {version}, but the demo needs {OLDEST} or newer", java.display());
    }
    Ok(Jdk { java: java.to_owned(), version, home })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(version: &str) -> String {
        format!(
            "Property settings:\n    java.home = /opt/jdk\n    java.version = {version}\n    java.version.date = 2024\n"
        )
    }

    #[test]
    fn version_and_home_are_read_from_the_settings() {
        let jdk = parse(Path::new("j"), &settings("17.0.21")).unwrap();
        assert_eq!(jdk.to_string(), "Java 17.0.21 (/opt/jdk)");
        assert_eq!(parse(Path::new("j"), &settings("26-ea")).unwrap().version, "26-ea");
    }

    #[test]
    fn old_and_foreign_launchers_are_refused() {
        let old = parse(Path::new("j"), &settings("1.8.0_402")).unwrap_err().to_string();
        assert_eq!(old, "j is Java 1.8.0_402, but the demo needs 11 or newer");
        assert!(parse(Path::new("j"), "gcj 4.0").is_err());
    }
}
