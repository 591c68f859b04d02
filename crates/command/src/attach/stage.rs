//! A folder in the JVM's `/tmp` for what the agent writes, where the JVM cannot write to the place that was asked for: it sees other
//! files than we do, or is another user's. What is in it is copied out when the recording has ended.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use agent_options::if_taken;
use anyhow::{Context, anyhow, bail};
use attach::Target;
use trace::file::{IfTaken, Kind, TRACE, create};

use crate::launch::outputs::PID;

const TMP: &str = "/tmp/";
const PREFIX: &str = "martini-files-";
/// Names of files that the agent only reads begin so.
const INPUT: &str = "read-";
/// What stands beside a trace. No file is taken for such.
const BESIDE: Kind = Kind { name: "file", is_begun_by: |_| false };

/// The folder, by its name in the JVM's `/tmp`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stage(String);

impl Stage {
    /// Whether the JVM has to write there.
    pub(crate) fn is_needed(target: &Target) -> bool {
        !target.shares_files() || target.process().owner().uid != rustix::process::geteuid().as_raw()
    }

    /// Makes one.
    pub(crate) fn make(target: &Target) -> anyhow::Result<Stage> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let name = format!("{PREFIX}{}-{now}", std::process::id());
        let made = target.as_owner(|| DirBuilder::new().mode(0o700).create(target.tmp().join(&name)))?;
        made.with_context(|| format!("cannot create {TMP}{name} in the file system of {}", target.process().pid()))?;
        Ok(Stage(name))
    }

    /// The one in which a file of the JVM lies, and the file's name.
    pub(crate) fn of(path: &str) -> Option<(Stage, &str)> {
        let (folder, file) = path.strip_prefix(TMP)?.split_once('/')?;
        let is_one = folder.starts_with(PREFIX) && !file.contains('/') && !file.is_empty();
        is_one.then(|| (Stage(folder.to_owned()), file))
    }

    /// The path of a file in it, for the JVM.
    pub(crate) fn path(&self, name: &str) -> String {
        format!("{TMP}{}/{name}", self.0)
    }

    /// The path of a file in it, for us.
    pub(crate) fn path_here(&self, target: &Target, name: &str) -> PathBuf {
        target.tmp().join(&self.0).join(name)
    }

    /// Puts a file of ours into it, for the JVM to read; gives its path there.
    pub(crate) fn put(&self, target: &Target, path: &Path) -> anyhow::Result<String> {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let name = &format!("{INPUT}{}", file_name(path)?);
        let written = target.as_owner(|| -> io::Result<()> {
            let place = target.tmp().folder(&self.0)?.join(name);
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(place)?.write_all(&bytes)
        })?;
        written.with_context(|| format!("cannot copy {} to {}", path.display(), self.path(name)))?;
        Ok(self.path(name))
    }

    /// Copies all that the agent wrote: the trace to `wanted`, the rest beside it; then removes the folder. Gives the place of the
    /// trace. What cannot be copied stays.
    pub(crate) fn copy_out(&self, target: &Target, trace: &str, wanted: &Path) -> anyhow::Result<PathBuf> {
        let pid = target.process().pid();
        let cannot = || format!("cannot copy {}{} of process {pid}; it stays there", TMP, self.0);
        let open = |name: &str| target.as_owner(|| target.tmp().folder(&self.0)?.file(name));
        let mut from = open(trace)?.with_context(cannot)?;
        let place = Path::new(&with_pid(wanted, pid.0)).to_owned();
        let made =
            create(&place, TRACE, if_taken(wanted)).map_err(|refusal| anyhow!("{refusal}")).with_context(cannot)?;
        let mut to = made.file;
        io::copy(&mut from, &mut to).with_context(cannot)?;
        let folder = target.tmp().folder(&self.0).with_context(cannot)?;
        let names = target.as_owner(|| folder.names())?;
        for name in names.iter().filter(|name| *name != trace && !is_input(name)) {
            // A pipe or the like is nothing that the agent made.
            let Ok(mut from) = open(name)? else { continue };
            let beside = create(&made.path.with_file_name(name), BESIDE, IfTaken::Next);
            let mut to = beside.map_err(|refusal| anyhow!("{refusal}")).with_context(cannot)?.file;
            io::copy(&mut from, &mut to).with_context(cannot)?;
        }
        self.remove(target);
        Ok(made.path)
    }

    /// Reads a text file that the JVM wrote.
    pub(crate) fn read(&self, target: &Target, name: &str) -> anyhow::Result<String> {
        let cannot = || format!("cannot read {}", self.path(name));
        let file = target.as_owner(|| target.tmp().folder(&self.0)?.file(name))?.with_context(cannot)?;
        io::read_to_string(file).with_context(cannot)
    }

    /// Copies a single file out to that place, which is free.
    pub(crate) fn copy_file(&self, target: &Target, name: &str, wanted: &Path) -> anyhow::Result<()> {
        let cannot = || format!("cannot copy {} to {}", self.path(name), wanted.display());
        let from = target.as_owner(|| target.tmp().folder(&self.0)?.file(name))?;
        let to = OpenOptions::new().write(true).create_new(true).mode(0o600).open(wanted);
        io::copy(&mut from.with_context(cannot)?, &mut to.with_context(cannot)?).with_context(cannot)?;
        Ok(())
    }

    /// Removes the folder, with all that is in it.
    pub(crate) fn remove(&self, target: &Target) {
        // The cleaning of /tmp takes what we cannot.
        let _ = target.as_owner(|| fs::remove_dir_all(target.tmp().join(&self.0)));
    }
}

fn is_input(name: &str) -> bool {
    name.starts_with(INPUT)
}

/// The name of a file in the folder.
pub(crate) fn file_name(path: &Path) -> anyhow::Result<&str> {
    match path.file_name().and_then(|name| name.to_str()) {
        Some(name) => Ok(name),
        None => bail!("{} has no UTF-8 file name; use another", path.display()),
    }
}

/// A path with the process's id in place of `%p`.
pub(crate) fn with_pid(path: &Path, pid: u32) -> String {
    path.to_string_lossy().replace(PID, &pid.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_staged_trace_is_known_by_its_path() {
        let (stage, file) = Stage::of("/tmp/martini-files-7-8/martini-9.trcxml").unwrap();
        assert_eq!((stage.path("x"), file), ("/tmp/martini-files-7-8/x".to_owned(), "martini-9.trcxml"));
        for other in ["/tmp/x/y", "/tmp/martini-files-1", "/tmp/martini-files-1/", "/tmp/martini-files-1/a/b", "x"] {
            assert_eq!(Stage::of(other), None, "{other}");
        }
    }
}
