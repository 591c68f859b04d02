//! The program to profile, looked at before it is started.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::exit::{FAILED, Failure};
use crate::launch::elf::Platform;

/// What a program's JVM can load, as far as its file shows: what a script starts is not known.
pub(crate) fn platform(program: &OsStr) -> Option<Platform> {
    Platform::of(&find(program)?).ok().flatten()
}

/// Refuses a program whose JVM could not load the agent, and would therefore not start.
///
/// # Errors
/// What the program is.
pub(crate) fn check(program: &OsStr, agent: &Path) -> Result<(), Failure> {
    match misfit(platform(program), agent) {
        None => Ok(()),
        Some(why) => {
            let message = format!(
                "{} {why}, so its JVM cannot load the agent; use another JDK, or start it without martini run",
                find(program).as_deref().unwrap_or(Path::new(program)).display()
            );
            Err(Failure { status: FAILED, message })
        }
    }
}

/// Why a JVM of that platform could not load the agent: part of a sentence.
pub(crate) fn misfit(platform: Option<Platform>, agent: &Path) -> Option<&'static str> {
    let agent = Platform::of_library(agent).ok().flatten();
    platform.zip(agent).and_then(|(its, agent)| its.misfit(agent))
}

/// Whether the system can start it, as far as that is known.
pub(crate) fn is_found(program: &OsStr) -> bool {
    find(program).is_some()
}

/// The file that the system will start.
fn find(program: &OsStr) -> Option<PathBuf> {
    if program.as_encoded_bytes().contains(&b'/') {
        return Some(PathBuf::from(program)).filter(|file| file.is_file());
    }
    let is_executable =
        |file: &PathBuf| file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
    std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join(program)).find(is_executable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_and_what_is_not_known_may_start() {
        for program in ["sh", "/proc/self/exe", "no-such-program", "/no/such/program", "/dev/null"] {
            assert!(check(OsStr::new(program), Path::new("/proc/self/exe")).is_ok(), "{program}");
        }
        assert!(find(OsStr::new("sh")).unwrap().is_absolute());
    }
}
