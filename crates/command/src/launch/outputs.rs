//! The files that profiled JVMs leave behind, found by the pattern of their name.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use trace::file::numbered;

/// Stands for the process id in a file name.
pub(crate) const PID: &str = "%p";

/// The files of a pattern, as they were before the program ran.
pub(crate) struct Outputs {
    pattern: PathBuf,
    folder: PathBuf,
    /// The file name, cut where the process id goes.
    parts: Vec<String>,
    before: HashMap<PathBuf, Stamp>,
}

/// What changes when a file is written.
type Stamp = (Option<SystemTime>, u64);

impl Outputs {
    /// Looks at the files that exist already. `pattern` is an absolute path; `%p` in its file name stands for a process id.
    pub(crate) fn before(pattern: &Path) -> Self {
        let name = pattern.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let folder = pattern.parent().unwrap_or(Path::new("/")).to_owned();
        let parts = name.split(PID).map(str::to_owned).collect();
        let mut outputs = Outputs { pattern: pattern.to_owned(), folder, parts, before: HashMap::new() };
        outputs.before = outputs.present();
        outputs
    }

    /// The pattern that the files' names follow.
    pub(crate) fn pattern(&self) -> &Path {
        &self.pattern
    }

    /// The same as a person reads it, with `PID` for the process id.
    pub(crate) fn for_any_process(&self) -> String {
        self.pattern.display().to_string().replace(PID, "PID")
    }

    /// The files that are new or changed, oldest first.
    pub(crate) fn written(&self) -> Vec<PathBuf> {
        let changed = self.present().into_iter().filter(|(path, stamp)| self.before.get(path) != Some(stamp));
        let mut changed: Vec<(Stamp, PathBuf)> = changed.map(|(path, stamp)| (stamp, path)).collect();
        changed.sort();
        changed.into_iter().map(|(_, path)| path).collect()
    }

    fn present(&self) -> HashMap<PathBuf, Stamp> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let matching = entries.filter(|entry| self.matches(&entry.file_name().to_string_lossy()));
        matching
            .filter_map(|entry| {
                let metadata = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
                Some((entry.path(), (metadata.modified().ok(), metadata.len())))
            })
            .collect()
    }

    /// Whether the agent may have chosen this name: the pattern, or the next name where that was taken.
    fn matches(&self, name: &str) -> bool {
        self.fits(name) || (self.parts.len() > 1 && first_name(name).is_some_and(|name| self.fits(&name)))
    }

    /// Is this the pattern with one and the same number wherever it says `%p`?
    fn fits(&self, name: &str) -> bool {
        let [first, rest @ ..] = &self.parts[..] else { return false };
        let Some(after) = name.strip_prefix(first.as_str()) else { return false };
        if rest.is_empty() {
            return after.is_empty();
        }
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        // A digit that follows %p in the pattern makes the number's end uncertain: try every length.
        (1..=digits).any(|length| name == self.parts.join(&after[..length]))
    }
}

/// The name that was taken if this is the next one: `a.trcxml` of `a-2.trcxml`.
fn first_name(name: &str) -> Option<String> {
    let path = Path::new(name);
    let (first, number) = path.file_stem()?.to_str()?.rsplit_once('-')?;
    let taken = path.extension().map_or_else(|| first.into(), |end| format!("{first}.{}", end.to_string_lossy()));
    let number = number.parse().ok().filter(|&number| number > 1)?;
    (numbered(Path::new(&taken), number) == path).then_some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        Outputs::before(&Path::new("/nowhere").join(pattern)).matches(name)
    }

    #[test]
    fn names_match_their_pattern() {
        assert!(matches("martini-%p.trcxml", "martini-4711.trcxml"));
        assert!(!matches("martini-%p.trcxml", "martini-.trcxml"));
        assert!(!matches("martini-%p.trcxml", "martini-47x.trcxml"));
        assert!(!matches("martini-%p.trcxml", "martini-47.trcxml.zip"));
        assert!(matches("a.trcxml", "a.trcxml"));
        assert!(!matches("a.trcxml", "a.trcxml2"));
        assert!(matches("%p-%p0.x", "12-120.x"));
        assert!(!matches("%p-%p.x", "12-13.x"));
        for (pattern, name) in [("t-%p.trcxml", "t-1-2.trcxml"), ("t-%p", "t-1-12"), ("%p.a.b", "1.a-3.b")] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("t-%p.trcxml", "t-1-1.trcxml"), ("t-%p.trcxml", "t-1-02.trcxml"), ("t.x", "t-2.x")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn only_new_and_changed_files_count_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        std::fs::write(file("t-1.x"), "old").unwrap();
        std::fs::write(file("t-2.x"), "old").unwrap();
        let outputs = Outputs::before(&file("t-%p.x"));
        assert!(outputs.written().is_empty());
        std::fs::write(file("t-2.x"), "changed").unwrap();
        std::fs::write(file("t-3.x"), "new").unwrap();
        std::fs::write(file("other.x"), "new").unwrap();
        let mut written = outputs.written();
        written.sort();
        assert_eq!(written, [file("t-2.x"), file("t-3.x")]);
    }
}
