//! The files of a rolling recording. The one that is being written has a name that begins with a dot, as log shippers pass over it.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use anyhow::{Context, bail};
use trace::date::{Date, stamp};
use trace::file::{is_being_written, numbered};
use trace::time::Time;

use crate::launch::outputs::PID;
use crate::push::Queue;
use crate::redact::Redactor;

const PREFIX: &str = "martini-";
const SUFFIX: &str = ".trcxml";
/// In front of the name of a piece that is not finished.
const HIDDEN: &str = ".";
/// Behind the name of a piece: its copy without names, while it is made.
const COPY: &str = ".copy";

/// The folder in which pieces of recordings are gathered.
#[derive(Debug)]
pub(crate) struct Pieces {
    folder: PathBuf,
    /// The most bytes that finished pieces may take together.
    keep: Option<u64>,
    /// What takes names out of those that are finished.
    redactor: Option<Redactor>,
    /// Where those that are finished are pushed.
    queues: Vec<Queue>,
    finished: AtomicU64,
}

impl Pieces {
    /// In a folder, which is made if it is not there. Pieces that a recording left behind when it was killed are finished.
    ///
    /// # Errors
    /// The folder cannot be made, or not be written to.
    pub(crate) fn new(
        folder: &Path,
        keep: Option<u64>,
        redactor: Option<Redactor>,
        queues: Vec<Queue>,
    ) -> anyhow::Result<Pieces> {
        let cannot = || format!("traces cannot be gathered in {}", folder.display());
        DirBuilder::new().recursive(true).mode(0o700).create(folder).with_context(cannot)?;
        let folder = folder.canonicalize().with_context(cannot)?;
        if rustix::fs::access(&folder, rustix::fs::Access::WRITE_OK).is_err() {
            bail!("traces cannot be gathered in {}: it is not writable", folder.display());
        }
        let pieces = Pieces { folder, keep, redactor, queues, finished: AtomicU64::new(0) };
        for (copy, _) in pieces.files(|name| name.ends_with(COPY) && name.starts_with(HIDDEN))? {
            // Of a piece that is still there.
            if is_old(&copy) {
                fs::remove_file(&copy).with_context(cannot)?;
            }
        }
        pieces.finish_abandoned(None)?;
        Ok(pieces)
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// How many have been finished.
    pub(crate) fn count(&self) -> u64 {
        self.finished.load(Ordering::Relaxed)
    }

    /// Where a piece goes that begins now, with `%p` for the process id.
    pub(crate) fn next(&self) -> PathBuf {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let now = Time(u64::try_from(now.as_nanos()).unwrap_or(u64::MAX));
        self.folder.join(format!("{HIDDEN}{PREFIX}{PID}-{}{SUFFIX}", stamp(now)))
    }

    /// Gives a piece that is complete its name, and deletes the oldest ones that are beyond what may be kept. Its path.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub(crate) fn finish(&self, piece: &Path) -> anyhow::Result<PathBuf> {
        let cannot = || format!("cannot finish the trace {}", piece.display());
        let name = piece.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix(HIDDEN));
        let wanted = self.folder.join(name.with_context(cannot)?);
        let free = |path: &PathBuf| !path.exists();
        let path = std::iter::once(wanted.clone()).chain((2..).map(|number| numbered(&wanted, number))).find(free);
        let path = path.with_context(cannot)?;
        match &self.redactor {
            None => fs::rename(piece, &path).with_context(cannot)?,
            Some(redactor) => self.without_names(redactor, piece, &path).with_context(cannot)?,
        }
        self.finished.fetch_add(1, Ordering::Relaxed);
        self.queues.iter().for_each(|queue| queue.add(path.clone()));
        self.delete_oldest(&path).with_context(|| format!("cannot delete old traces in {}", self.folder.display()))?;
        Ok(path)
    }

    /// Finishes a piece with a copy that lacks names, and deletes it.
    fn without_names(&self, redactor: &Redactor, piece: &Path, path: &Path) -> anyhow::Result<()> {
        let mut copy = piece.as_os_str().to_owned();
        copy.push(COPY);
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&copy)?;
        redactor.copy(piece, &mut file)?;
        fs::rename(&copy, path)?;
        Ok(fs::remove_file(piece)?)
    }

    /// The queues, to which nothing is added any more.
    pub(crate) fn into_queues(self) -> Vec<Queue> {
        self.queues
    }

    /// Finishes pieces that nobody writes any more: those of a process that has ended, and those of others that look so. Whether that process
    /// still has a piece open, as the kernel has not closed all its files yet.
    ///
    /// # Errors
    /// As for [`finish`](Self::finish).
    pub(crate) fn finish_abandoned(&self, ended: Option<u32>) -> anyhow::Result<bool> {
        let hidden = |name: &str| name.strip_prefix(HIDDEN).is_some_and(is_piece);
        let mut is_open = false;
        let of_process = ended.map(|pid| format!("{HIDDEN}{PREFIX}{pid}-"));
        for (path, bytes) in self.files(hidden).with_context(|| format!("cannot read {}", self.folder.display()))? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let has_ended = of_process.as_deref().is_some_and(|start| name.starts_with(start));
            let is_written = is_being_written(&path);
            is_open |= has_ended && is_written;
            // Not all file systems have locks.
            if is_written || !(has_ended || is_old(&path)) {
                continue;
            }
            match bytes {
                // The JVM ended before anything was written.
                0 => fs::remove_file(&path).with_context(|| format!("cannot delete {}", path.display()))?,
                _ => drop(self.finish(&path)?),
            }
        }
        Ok(is_open)
    }

    fn delete_oldest(&self, newest: &Path) -> io::Result<()> {
        let Some(keep) = self.keep else { return Ok(()) };
        let mut files = self.files(is_piece)?;
        // By time, whichever process wrote it.
        files.sort_by_key(|(path, _)| {
            path.file_name().and_then(|name| name.to_str()).and_then(time_of).map(str::to_owned)
        });
        let mut bytes: u64 = files.iter().map(|(_, bytes)| bytes).sum();
        for (path, its) in files.iter().filter(|(path, _)| path != newest) {
            if bytes <= keep {
                break;
            }
            // Somebody may have carried it away meanwhile.
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => bytes -= its,
            }
        }
        Ok(())
    }

    /// Regular files with such names, and how large they are.
    fn files(&self, is_wanted: impl Fn(&str) -> bool) -> io::Result<Vec<(PathBuf, u64)>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if entry.file_name().to_str().is_some_and(&is_wanted) {
                // One that was carried away meanwhile is not there.
                let metadata = entry.metadata().ok().filter(fs::Metadata::is_file);
                files.extend(metadata.map(|metadata| (entry.path(), metadata.len())));
            }
        }
        Ok(files)
    }
}

/// Whether a file has not been written to for long.
fn is_old(path: &Path) -> bool {
    const LONG: Duration = Duration::from_secs(60);
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
    modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age >= LONG))
}

/// Whether a file has a name that only we give: nothing else is ever deleted.
fn is_piece(name: &str) -> bool {
    time_of(name).is_some()
}

/// The part of a name that says when the piece began, and the number behind it if there is one.
fn time_of(name: &str) -> Option<&str> {
    let (process, time) = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.split_once('-')?;
    let (date, clock) = time.split_once('T')?;
    let (seconds, number) = clock.split_once('Z')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_numbered = number.is_empty() || number.strip_prefix('-').is_some_and(is_number);
    let is_ours = is_number(process) && Date::parse(date).is_some() && seconds.len() == 6 && is_number(seconds);
    (is_ours && is_numbered).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn names_of_pieces_are_told_from_all_others() {
        for name in ["martini-1-2026-11-29T231400Z.trcxml", "martini-4711-2026-11-29T000000Z-2.trcxml"] {
            assert!(is_piece(name), "{name}");
        }
        for name in [
            "martini-1.trcxml",
            "martini-x-2026-11-29T231400Z.trcxml",
            "martini-1-2026-13-29T231400Z.trcxml",
            "martini-1-2026-11-29T2314Z.trcxml",
            "martini-1-2026-11-29T231400Z.xml",
            "martini-1-2026-11-29T231400Z-.trcxml",
            ".martini-1-2026-11-29T231400Z.trcxml",
        ] {
            assert!(!is_piece(name), "{name}");
        }
        let folder = tempfile::tempdir().unwrap();
        let next = Pieces::new(folder.path(), None, None, Vec::new()).unwrap().next();
        let name = next.file_name().unwrap().to_str().unwrap().replace(PID, "12");
        assert!(is_piece(name.strip_prefix(HIDDEN).unwrap()), "{name}");
    }

    #[test]
    fn the_oldest_go_first_and_nothing_else_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: usize| {
            let path = folder.path().join(name);
            fs::write(&path, vec![b'x'; bytes]).unwrap();
            path
        };
        write("martini-9-2026-11-29T231300Z.trcxml", 100);
        write("martini-10-2026-11-29T231200Z.trcxml", 100);
        write("martini-7.trcxml", 1000);
        let pieces = Pieces::new(folder.path(), Some(250), None, Vec::new()).unwrap();
        let first = write(".martini-1-2026-11-29T231500Z.trcxml", 100);
        pieces.finish(&first).unwrap();
        let kept = ["martini-1-2026-11-29T231500Z.trcxml", "martini-7.trcxml", "martini-9-2026-11-29T231300Z.trcxml"];
        assert_eq!(names(folder.path()), kept);
        // What has just been finished stays, however large it is.
        let large = write(".martini-1-2026-11-29T231600Z.trcxml", 1000);
        pieces.finish(&large).unwrap();
        assert_eq!(names(folder.path()), ["martini-1-2026-11-29T231600Z.trcxml", "martini-7.trcxml"]);
        assert_eq!(pieces.count(), 2);
    }

    #[test]
    fn what_a_killed_recording_left_is_finished_and_what_is_written_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let old = SystemTime::now() - Duration::from_secs(3600);
        fs::write(path(".martini-1-2026-11-29T231500Z.trcxml"), "<TRACE>").unwrap();
        fs::File::open(path(".martini-1-2026-11-29T231500Z.trcxml")).unwrap().set_modified(old).unwrap();
        fs::write(path("martini-1-2026-11-29T231500Z.trcxml"), "<TRACE>").unwrap();
        let empty = fs::File::create(path(".martini-2-2026-11-29T231500Z.trcxml")).unwrap();
        empty.set_modified(old).unwrap();
        fs::write(path(".martini-4-2026-11-29T231500Z.trcxml"), "<TRACE>").unwrap();
        let written = fs::File::create(path(".martini-3-2026-11-29T231500Z.trcxml")).unwrap();
        rustix::fs::flock(&written, rustix::fs::FlockOperation::LockExclusive).unwrap();
        written.set_modified(old).unwrap();
        let pieces = Pieces::new(folder.path(), None, None, Vec::new()).unwrap();
        let left = [
            ".martini-3-2026-11-29T231500Z.trcxml",
            ".martini-4-2026-11-29T231500Z.trcxml",
            "martini-1-2026-11-29T231500Z-2.trcxml",
            "martini-1-2026-11-29T231500Z.trcxml",
        ];
        assert_eq!(names(folder.path()), left);
        pieces.finish_abandoned(Some(4)).unwrap();
        assert!(path("martini-4-2026-11-29T231500Z.trcxml").exists());
    }
}
