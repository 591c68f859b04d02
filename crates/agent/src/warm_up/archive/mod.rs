//! The archives of classes that the command line names: whether the VM uses them, and if not why.
//!
//! The VM decides before an agent can listen to its log, and keeps no reason. But it maps what it uses, so its mappings say whether; and
//! what it compares can be compared once more: the beginning of the file (`file`), options, agents, jars. Only if that explains nothing,
//! all of the file is read, on a thread of the agent's (`unread`). Nothing is looked at where the archive is used.

mod file;
mod unread;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use jvmti::sys::JVMTI_PHASE_LIVE;
use trace::model::ArchiveRefusal;

use agent_core::core::Core;
use file::HEADER_BYTES;
use hotspot::Hotspot;

pub(super) use unread::Unread;

/// Beside one of these the VM uses no archive.
const EXCLUDING: [&[u8]; 5] =
    [b"-Xshare:off", b"-XX:AOTMode=off", b"--limit-modules", b"--upgrade-module-path", b"--patch-module"];
/// Beside one of these it uses no AOT cache that was made without.
const CHANGING: [&[u8]; 6] = [
    b"--add-modules",
    b"--add-opens",
    b"--add-exports",
    b"--add-reads",
    b"--enable-native-access",
    b"-Djava.system.class.loader",
];
const DEBUGGERS: [&[u8]; 2] = [b"-agentlib:jdwp", b"-Xrunjdwp"];
const FIRST_WITH_CACHE: u32 = 24;

/// An archive that the command line names.
#[derive(Clone, Debug)]
pub(crate) struct Archive {
    pub(crate) file: Box<str>,
    /// Why it is not used, and what that is about, if it is not.
    pub(crate) refusal: Option<(ArchiveRefusal, Box<str>)>,
}

impl Archive {
    fn refused(file: &Path, refusal: ArchiveRefusal, detail: impl Into<Box<str>>) -> Archive {
        Archive { file: file.to_string_lossy().into(), refusal: Some((refusal, detail.into())) }
    }
}

/// What a look at an archive shows.
pub(super) enum Look {
    /// Whether it is used, and why not.
    Known(Archive),
    /// It is not used, and only all of it can say why.
    Unread(Unread),
}

/// The archives that the command line names.
pub(super) struct Named {
    files: Vec<&'static [u8]>,
    /// The VM does not say it between `Agent_OnLoad` and VMInit.
    class_path: Vec<PathBuf>,
}

impl Named {
    /// Those of this VM; in `Agent_OnLoad`, or once the VM runs.
    pub(super) fn of(core: &Core) -> Named {
        let files = core.hotspot.map(Hotspot::archives).unwrap_or_default();
        let class_path = Some(core.jvm.env).filter(|_| !files.is_empty());
        let class_path = class_path.and_then(|env| env.get_system_property(c"java.class.path").ok());
        let paths = class_path.iter().flat_map(|path| std::env::split_paths(OsStr::from_bytes(path)));
        Named { class_path: paths.collect(), files }
    }

    /// Whether each of them is used; from VMStart on.
    pub(super) fn look(&self, core: &Core) -> Vec<Look> {
        let Some(hotspot) = core.hotspot.filter(|_| !self.files.is_empty()) else { return Vec::new() };
        let Ok(mappings) = fs::read("/proc/self/maps") else { return Vec::new() };
        let look = |path: &&[u8]| {
            let file = Path::new(OsStr::from_bytes(path));
            if is_mapped(&mappings, file) {
                return Look::Known(Archive { file: file.to_string_lossy().into(), refusal: None });
            }
            match (self.refusal(core, hotspot, file), self.class_path.first()) {
                (Some((refusal, detail)), _) => Look::Known(Archive::refused(file, refusal, detail)),
                (None, Some(jar)) => Look::Unread(Unread::new(file, jar)),
                (None, None) => Look::Known(Archive::refused(file, ArchiveRefusal::Unknown, "")),
            }
        };
        self.files.iter().map(look).collect()
    }

    /// Why an archive is not used, without reading all of it; `None` if nothing explains it.
    fn refusal(&self, core: &Core, hotspot: &Hotspot, file: &Path) -> Option<(ArchiveRefusal, String)> {
        let java = core.jvm.java;
        if let Some(option) = hotspot.option_among(&EXCLUDING) {
            return Some((ArchiveRefusal::Option, name(option)));
        }
        let (header, bytes) = match begin_of(file) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Some((ArchiveRefusal::Missing, String::new()));
            }
            Err(error) => return Some((ArchiveRefusal::Unreadable, error.to_string())),
        };
        if let Some(refusal) = file::refusal(&header, bytes, java, &hotspot.archive_settings()) {
            return Some(refusal);
        }
        if java >= FIRST_WITH_CACHE && hotspot.option_among(&DEBUGGERS).is_some() {
            return Some((ArchiveRefusal::Agent, "jdwp".into()));
        }
        // Before the VM runs: later agents may be told that were not then.
        let env = core.jvm.env;
        if env.get_phase() != Ok(JVMTI_PHASE_LIVE) && hotspot.class_hook_is_on() == Some(true) {
            return Some((ArchiveRefusal::Agent, String::new()));
        }
        if java >= FIRST_WITH_CACHE
            && let Some(option) = hotspot.option_among(&CHANGING)
        {
            return Some((ArchiveRefusal::Option, name(option)));
        }
        let jar = changed_since(file, &self.class_path)?;
        Some((ArchiveRefusal::ChangedJar, jar.display().to_string()))
    }
}

/// Whether a file is among the mappings of this process, one per line.
fn is_mapped(mappings: &[u8], file: &Path) -> bool {
    let Ok(file) = file.canonicalize() else { return false };
    let wanted = file.as_os_str().as_bytes();
    mappings.split(|&byte| byte == b'\n').any(|line| line.ends_with(wanted))
}

/// An option without its value.
fn name(option: &[u8]) -> String {
    let end =
        option.iter().position(|&byte| byte == b'=').filter(|_| !option.starts_with(b"-XX:")).unwrap_or(option.len());
    String::from_utf8_lossy(&option[..end]).into_owned()
}

fn begin_of(file: &Path) -> io::Result<(Vec<u8>, u64)> {
    let file = File::open(file)?;
    let mut header = Vec::with_capacity(HEADER_BYTES);
    let bytes = file.metadata()?.len();
    file.take(HEADER_BYTES as u64).read_to_end(&mut header)?;
    Ok((header, bytes))
}

/// The first jar of a class path that was written after the archive.
fn changed_since<'p>(archive: &Path, class_path: &'p [PathBuf]) -> Option<&'p PathBuf> {
    let changed = |path: &Path| fs::metadata(path).ok().filter(fs::Metadata::is_file)?.modified().ok();
    let made = changed(archive)?;
    class_path.iter().find(|jar| changed(jar).is_some_and(|changed| changed > made))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mapped_is_used() {
        let folder = tempfile::tempdir().expect("a folder");
        let archive = folder.path().canonicalize().expect("a path").join("app.jsa");
        let mappings =
            format!("7f00-7f01 r--p 00000000 fe:00 1\n7f01-7f02 rw-p 00001000 fe:00 77   {}\n", archive.display());
        assert!(!is_mapped(mappings.as_bytes(), &archive), "there is no such file");
        fs::write(&archive, "").expect("written");
        assert!(is_mapped(mappings.as_bytes(), &archive));
        assert!(!is_mapped(b"", &archive));
    }

    #[test]
    fn options_are_named_without_values() {
        assert_eq!(name(b"--limit-modules=java.base"), "--limit-modules");
        assert_eq!(name(b"-XX:AOTMode=off"), "-XX:AOTMode=off");
    }
}
