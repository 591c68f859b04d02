//! A process as `/proc` shows it.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use rustix::process::{Pid as RawPid, Signal};

use crate::error::AttachError;
use crate::ids::{Owner, Pid};

/// Longer files of `/proc` are cut.
const MOST: u64 = 64 << 20;
const SIGQUIT: u32 = 3;

/// A process: one that has the same id later differs in when it started.
#[derive(Debug)]
pub struct Process {
    pid: Pid,
    folder: PathBuf,
    started: u64,
    owner: Owner,
    inner_pid: u32,
}

/// What changes while a process runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    pub(crate) is_stopped: bool,
    pub(crate) catches_quit: bool,
}

impl Process {
    /// Looks a process up.
    ///
    /// # Errors
    /// There is none.
    pub fn find(pid: Pid) -> Result<Process, AttachError> {
        Process::in_folder(pid, Path::new("/proc"))
    }

    /// The same in another place than `/proc`.
    ///
    /// # Errors
    /// There is none.
    pub fn in_folder(pid: Pid, proc: &Path) -> Result<Process, AttachError> {
        let folder = proc.join(pid.to_string());
        let none = |_| AttachError::NoProcess(pid);
        let status = fs::read_to_string(folder.join("status")).map_err(none)?;
        let started = started(&folder).ok_or(AttachError::NoProcess(pid))?;
        // A thread has a folder too, but is no process. The state Z: it has ended.
        let is_process = number(&status, "Tgid:", 0) == Some(pid.0) && !state(&status).starts_with(['Z', 'X']);
        let ids = number(&status, "Uid:", 1).zip(number(&status, "Gid:", 1)).filter(|_| is_process);
        let (uid, gid) = ids.ok_or(AttachError::NoProcess(pid))?;
        let inner_pid = field(&status, "NSpid:").and_then(|ids| ids.split_whitespace().last()?.parse().ok());
        Ok(Process { pid, folder, started, owner: Owner { uid, gid }, inner_pid: inner_pid.unwrap_or(pid.0) })
    }

    /// Its id.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Its id in its own name space.
    pub fn inner_pid(&self) -> u32 {
        self.inner_pid
    }

    /// Whose it is.
    pub fn owner(&self) -> Owner {
        self.owner
    }

    /// Its folder in `/proc`.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether it still runs.
    pub fn is_alive(&self) -> bool {
        let is_same = || started(&self.folder) == Some(self.started);
        let status = fs::read_to_string(self.folder.join("status")).unwrap_or_default();
        is_same() && !status.is_empty() && !state(&status).starts_with(['Z', 'X'])
    }

    /// What is so at this time.
    pub(crate) fn state(&self) -> Result<State, AttachError> {
        let status = fs::read_to_string(self.folder.join("status")).map_err(|_| AttachError::Gone(self.pid))?;
        let caught = field(&status, "SigCgt:").and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        Ok(State {
            is_stopped: state(&status).starts_with(['T', 't']),
            catches_quit: caught.is_some_and(|mask| mask >> (SIGQUIT - 1) & 1 == 1),
        })
    }

    /// Sends SIGQUIT if the process catches it. The process is held meanwhile, so that no other one with its id gets the signal.
    pub(crate) fn quit(&self) -> Result<(), AttachError> {
        let raw = i32::try_from(self.pid.0).ok().and_then(RawPid::from_raw).ok_or(AttachError::NoProcess(self.pid))?;
        let held = rustix::process::pidfd_open(raw, rustix::process::PidfdFlags::empty());
        if !self.is_alive() {
            return Err(AttachError::Gone(self.pid));
        }
        if !self.state()?.catches_quit {
            return Err(AttachError::Deaf(self.pid));
        }
        let sent = match held {
            Ok(held) => rustix::process::pidfd_send_signal(held, Signal::QUIT),
            // Linux before 5.3.
            Err(_) => rustix::process::kill_process(raw, Signal::QUIT),
        };
        sent.map_err(|error| self.io("cannot send SIGQUIT", error.into()))
    }

    /// An error of this process.
    pub(crate) fn io(&self, what: &'static str, error: io::Error) -> AttachError {
        let (pid, uid) = (self.pid, self.owner.uid);
        match error.kind() {
            _ if !self.is_alive() => AttachError::Gone(pid),
            ErrorKind::PermissionDenied => {
                let own = rustix::process::geteuid();
                let is_ours = own.is_root() || own.as_raw() == uid;
                if is_ours { AttachError::Forbidden(pid) } else { AttachError::NotPermitted { pid, uid } }
            }
            _ => AttachError::Io { pid, what, error },
        }
    }

    /// A file of its folder.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(self.folder.join(name))?.take(MOST).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The words of its command line.
    pub fn command_line(&self) -> Vec<String> {
        let words = self.read("cmdline").unwrap_or_default();
        let words = words.strip_suffix(b"\0").unwrap_or(&words);
        words.split(|&byte| byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
    }

    /// Whether one of its threads has this name, of which the system keeps the first 15 bytes. Unknown without the right to look.
    pub fn has_thread(&self, name: &str) -> Option<bool> {
        let tasks = fs::read_dir(self.folder.join("task")).ok()?;
        let mut names = tasks.flatten().filter_map(|task| fs::read(task.path().join("comm")).ok());
        Some(names.any(|found| found.trim_ascii_end() == name.as_bytes()))
    }

    /// Whether it is in another name space of this kind than we are: `mnt`, `pid`. Unknown without the right to look.
    pub fn is_apart(&self, kind: &str) -> Option<bool> {
        let own = fs::read_link(format!("/proc/self/ns/{kind}")).ok()?;
        Some(fs::read_link(self.folder.join("ns").join(kind)).ok()? != own)
    }

    /// The paths of the files that are mapped into it, without those that have no path.
    ///
    /// # Errors
    /// They may not be looked at.
    pub fn mapped(&self) -> Result<Vec<String>, AttachError> {
        let maps = self.read("maps").map_err(|error| self.io("cannot read its mapped files", error))?;
        let paths = maps.split(|&byte| byte == b'\n').filter_map(|line| {
            let path = line.splitn(6, |&byte| byte == b' ').nth(5)?.trim_ascii_start();
            path.starts_with(b"/").then(|| String::from_utf8_lossy(path).into_owned())
        });
        let mut paths: Vec<String> = paths.collect();
        paths.sort_unstable();
        paths.dedup();
        Ok(paths)
    }
}

/// The value of a line of `status`.
fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name))
}

fn number(status: &str, name: &str, at: usize) -> Option<u32> {
    field(status, name)?.split_whitespace().nth(at)?.parse().ok()
}

fn state(status: &str) -> &str {
    field(status, "State:").unwrap_or_default().trim_start()
}

/// When a process started, in ticks since the machine did: the 22nd field of `stat`, counted behind the name, which may hold anything.
fn started(folder: &Path) -> Option<u64> {
    let stat = fs::read(folder.join("stat")).ok()?;
    let behind = stat.iter().rposition(|&byte| byte == b')')?;
    let fields = std::str::from_utf8(&stat[behind + 1..]).ok()?;
    fields.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = "Name:\tx\nState:\tS (sleeping)\nTgid:\t12\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nNSpid:\t12\t1\n\
                          SigCgt:\t2000000181005ccf\n";

    fn found(stat: &str, status: &str) -> (tempfile::TempDir, Result<Process, AttachError>) {
        let proc = tempfile::tempdir().unwrap();
        fs::create_dir(proc.path().join("12")).unwrap();
        fs::write(proc.path().join("12/stat"), stat).unwrap();
        fs::write(proc.path().join("12/status"), status).unwrap();
        let process = Process::in_folder(Pid(12), proc.path());
        (proc, process)
    }

    fn stat(name: &str, started: u64) -> String {
        format!("12 ({name}) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 {started} 20 21")
    }

    #[test]
    fn a_process_is_what_its_files_say_whatever_its_name() {
        for name in ["java", "a) S 1 (b", ")))", ""] {
            let (proc, process) = found(&stat(name, 77), STATUS);
            let process = process.unwrap();
            assert_eq!((process.owner(), process.inner_pid()), (Owner { uid: 2, gid: 6 }, 1), "{name}");
            let state = process.state().unwrap();
            assert!(process.is_alive() && state.catches_quit && !state.is_stopped, "{name}");
            // Another process has its id.
            fs::write(proc.path().join("12/stat"), stat(name, 78)).unwrap();
            assert!(!process.is_alive(), "{name}");
            assert!(matches!(process.quit(), Err(AttachError::Gone(_))));
        }
    }

    #[test]
    fn what_is_no_process_is_not_found() {
        for (stat, status) in [
            ("", STATUS),
            ("12 (x) S 1", STATUS),
            (&stat("x", 1), ""),
            (&stat("x", 1), "Tgid:\t11\nUid:\t1\t1\nGid:\t1\t1\n"),
            (&stat("x", 1), &STATUS.replace("S (sleeping)", "Z (zombie)")),
            (&stat("x", 1), &STATUS.replace("Uid:\t1\t2", "Uid:\t1")[..40]),
        ] {
            assert!(matches!(found(stat, status).1, Err(AttachError::NoProcess(Pid(12)))), "{stat} {status}");
        }
    }
}
