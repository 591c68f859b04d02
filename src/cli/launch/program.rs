//! The program to profile, looked at before it is started.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::cli::exit::{FAILED, Failure};
use crate::cli::launch::elf::Platform;

/// Refuses a program whose JVM could not load the agent, and would therefore not start. What a script starts is not known.
///
/// # Errors
/// What the program is.
pub(crate) fn check(program: &OsStr) -> Result<(), Failure> {
    let Some(file) = find(program) else { return Ok(()) };
    let platform = |path: &Path| Platform::of(path).ok().flatten();
    // The agent is built together with this command.
    let misfit = platform(&file).zip(platform(Path::new("/proc/self/exe"))).and_then(|(its, own)| its.misfit(own));
    match misfit {
        None => Ok(()),
        Some(why) => {
            let message = format!(
                "{} {why}, so a JVM in it could not load the agent and would not start; use another JDK, or start it \
                 without martini run",
                file.display()
            );
            Err(Failure { status: FAILED, message })
        }
    }
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
            assert!(check(OsStr::new(program)).is_ok(), "{program}");
        }
        assert!(find(OsStr::new("sh")).unwrap().is_absolute());
    }
}
