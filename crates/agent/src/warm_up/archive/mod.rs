//! The archives of classes that the command line names: whether the VM uses them, and if not why.
//!
//! The VM decides before an agent can listen to its log, and keeps no reason. But it maps what it uses, so its mappings say whether; and
//! what it compares can be compared once more: the beginning of the file (`file`), options, agents, jars. Nothing of that is looked at
//! where the archive is used.

mod file;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use jvmti::sys::JVMTI_PHASE_LIVE;
use trace::model::ArchiveRefusal;

use agent_core::core::Core;
use file::HEADER_BYTES;
use hotspot::Hotspot;

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
    pub(super) fn look(&self, core: &Core) -> Vec<Archive> {
        let Some(hotspot) = core.hotspot.filter(|_| !self.files.is_empty()) else { return Vec::new() };
        let Ok(mappings) = fs::read("/proc/self/maps") else { return Vec::new() };
        let archive = |path: &&[u8]| {
            let file = Path::new(OsStr::from_bytes(path));
            let refusal = (!is_mapped(&mappings, file)).then(|| self.refusal(core, hotspot, file));
            let refusal = refusal.map(|(refusal, detail)| (refusal, detail.into()));
            Archive { file: String::from_utf8_lossy(path).into(), refusal }
        };
        self.files.iter().map(archive).collect()
    }

    fn refusal(&self, core: &Core, hotspot: &Hotspot, file: &Path) -> (ArchiveRefusal, String) {
        let java = core.jvm.java;
        if let Some(option) = hotspot.option_among(&EXCLUDING) {
            return (ArchiveRefusal::Option, name(option));
        }
        let (header, bytes) = match begin_of(file) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return (ArchiveRefusal::Missing, String::new()),
            Err(error) => return (ArchiveRefusal::Unreadable, error.to_string()),
        };
        if let Some(refusal) = file::refusal(&header, bytes, java, &hotspot.archive_settings()) {
            return refusal;
        }
        if java >= FIRST_WITH_CACHE && hotspot.option_among(&DEBUGGERS).is_some() {
            return (ArchiveRefusal::Agent, "jdwp".into());
        }
        // Before the VM runs: later agents may be told that were not then.
        let env = core.jvm.env;
        if env.get_phase() != Ok(JVMTI_PHASE_LIVE) && hotspot.class_hook_is_on() == Some(true) {
            return (ArchiveRefusal::Agent, String::new());
        }
        if java >= FIRST_WITH_CACHE
            && let Some(option) = hotspot.option_among(&CHANGING)
        {
            return (ArchiveRefusal::Option, name(option));
        }
        if let Some(jar) = changed_since(file, &self.class_path) {
            return (ArchiveRefusal::ChangedJar, jar.display().to_string());
        }
        match self.class_path.first().filter(|first| names(file, first) == Some(false)) {
            Some(first) => (ArchiveRefusal::ClassPath, first.display().to_string()),
            None => (ArchiveRefusal::Unknown, String::new()),
        }
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

/// Whether an archive has a jar of that name; `None` if that cannot be found out.
fn names(archive: &Path, jar: &Path) -> Option<bool> {
    let name = jar.file_name()?.as_bytes();
    let mut file = File::open(archive).ok()?;
    let mut piece = vec![0; 1 << 20];
    let mut kept = 0;
    loop {
        let read = file.read(&mut piece[kept..]).ok()?;
        let filled = kept + read;
        if memchr::memmem::find(&piece[..filled], name).is_some() {
            return Some(true);
        }
        if read == 0 {
            return Some(false);
        }
        // It may lie on the border.
        kept = filled.min(name.len());
        piece.copy_within(filled - kept..filled, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_wherever_it_lies() {
        let folder = tempfile::tempdir().expect("a folder");
        let archive = folder.path().join("app.jsa");
        for at in [0, (1 << 20) - 3, (2 << 20) + 7] {
            let mut bytes = vec![b'x'; 3 << 20];
            bytes[at..at + 7].copy_from_slice(b"app.jar");
            fs::write(&archive, bytes).expect("written");
            assert_eq!(names(&archive, Path::new("/lib/app.jar")), Some(true));
            assert_eq!(names(&archive, Path::new("other.jar")), Some(false));
        }
        assert_eq!(names(&folder.path().join("none"), Path::new("app.jar")), None);
    }

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
