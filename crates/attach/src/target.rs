//! A JVM to attach to.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Access, AtFlags, CWD, accessat};

use crate::agent::{AgentAnswer, Reply, Request};
use crate::answer::{Answer, Loaded};
use crate::connection::{self, LONGEST_ANSWER};
use crate::error::AttachError;
use crate::files::{bytes_of, make_private};
use crate::jvm;
use crate::process::Process;
use crate::rights::as_owner;
use crate::root::{Folder, Root, TMP};

/// How long a JVM may take to listen, or to answer.
const LIMIT: Duration = Duration::from_secs(10);
/// How long it may take to dump its heap.
const LONGEST_DUMP: Duration = Duration::from_secs(600);
/// How long it may take to dump its threads, and the longest text of that: of 100,000 threads.
const LONGEST_THREAD_DUMP: (Duration, u64) = (Duration::from_secs(60), 1 << 30);
/// What it says when it has.
const DUMPED: &str = "Heap dump file created";
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);
/// Between requests of an agent that serves somebody else: each loads the library.
const BUSY_PAUSE: Duration = Duration::from_millis(200);
/// The agent's answers are short.
const LONGEST_REPLY: u64 = 1 << 20;

/// A JVM that may be attached to: its process, and its folder for temporary files.
#[derive(Debug)]
pub struct Target {
    process: Process,
    root: Root,
    tmp: Folder,
    shares_files: bool,
}

impl Target {
    /// Looks at a process, and refuses it if it is no JVM that can be attached to.
    ///
    /// # Errors
    /// What is in the way.
    pub fn open(process: Process) -> Result<Target, AttachError> {
        let mapped = process.mapped()?;
        if jvm::library(&mapped).is_none() {
            return Err(AttachError::NotAJvm(process.pid()));
        }
        let root = Root::of(&process).map_err(|error| process.io("cannot open its root folder", error))?;
        let tmp = root.folder(Path::new(TMP));
        let tmp = tmp.map_err(|error| AttachError::NoTmp { pid: process.pid(), error })?;
        let place = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino())).ok();
        let roots = (place(&process.folder().join("root")), place(Path::new("/")));
        let shares_files = process.is_apart("mnt") == Some(false) && roots.0.is_some() && roots.0 == roots.1;
        Ok(Target { process, root, tmp, shares_files })
    }

    /// The process.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Its file system.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// Its folder for temporary files, `/tmp` for the process.
    pub fn tmp(&self) -> &Folder {
        &self.tmp
    }

    /// Whether paths mean the same to it as to us, or did while it ran.
    pub fn shares_files(&self) -> bool {
        self.shares_files
    }

    /// How a switch of the JVM, `-XX:+NAME` or `-XX:-NAME`, was set at its start, as far as can be seen.
    pub fn switch(&self, name: &str) -> Option<bool> {
        jvm::switch(&self.process, &self.root, name)
    }

    /// Does something with the rights of the JVM's user.
    ///
    /// # Errors
    /// We may not.
    pub fn as_owner<T: Send>(&self, action: impl FnOnce() -> T + Send) -> Result<T, AttachError> {
        let done = as_owner(self.process.owner(), action);
        done.map_err(|error| self.process.io("martini cannot act as its user", error))
    }

    /// Has the JVM do one of its commands, such as `properties` or `jcmd`.
    ///
    /// # Errors
    /// What is in the way.
    pub fn execute(&self, command: &str, arguments: &[&str]) -> Result<Answer, AttachError> {
        self.execute_within((LIMIT, LONGEST_ANSWER), command, arguments)
    }

    /// Has the JVM run one of its diagnostic commands about threads, as `jcmd PID COMMAND` does, and gives back what it prints.
    ///
    /// # Errors
    /// What is in the way, or why it does not.
    pub fn threads(&self, command: &str) -> Result<String, AttachError> {
        let answer = self.execute_within(LONGEST_THREAD_DUMP, "jcmd", &[command])?;
        match answer.status {
            0 => Ok(answer.text),
            _ => {
                let text = answer.text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
                Err(AttachError::NoThreads { pid: self.process.pid(), text })
            }
        }
    }

    /// Has the JVM listen, if it does not yet: the name of its socket.
    fn listening(&self) -> Result<String, AttachError> {
        if self.process.state()?.is_stopped {
            return Err(AttachError::Stopped(self.process.pid()));
        }
        let name = format!(".java_pid{}", self.process.inner_pid());
        if !self.has_socket(&name)? {
            self.awaken(&name)?;
        }
        Ok(name)
    }

    /// With the longest wait, and the most bytes that are read of the answer.
    fn execute_within(
        &self,
        (limit, longest): (Duration, u64),
        command: &str,
        arguments: &[&str],
    ) -> Result<Answer, AttachError> {
        let pid = self.process.pid();
        if let Some(long) = arguments.iter().find(|argument| argument.len() > connection::LONGEST) {
            return Err(AttachError::TooLong { length: long.len(), limit: connection::LONGEST });
        }
        let request = connection::request(command, arguments);
        let name = self.listening()?;
        let socket = self.tmp.join(&name);
        let ask = || self.as_owner(|| connection::ask(&socket, &request, limit, longest));
        let answer = match ask()? {
            // Left behind by another process with this id, or by the JVM when its listener ended. To a socket of root's the JVM's user may
            // not connect, and only root removes it.
            Err(error)
                if error.kind() == ErrorKind::ConnectionRefused
                    || error.kind() == ErrorKind::PermissionDenied && is_deserted(&socket) =>
            {
                let remove = || fs::remove_file(&socket);
                self.as_owner(remove)?.or_else(|_| remove()).ok();
                self.awaken(&name)?;
                ask()?
            }
            answer => answer,
        };
        match answer {
            Ok(bytes) if bytes.is_empty() && !self.process.is_alive() => Err(AttachError::Gone(pid)),
            Ok(bytes) if bytes.is_empty() => Err(AttachError::Refused(pid)),
            Ok(bytes) => Answer::parse(&bytes)
                .ok_or_else(|| AttachError::Strange { pid, text: String::from_utf8_lossy(&bytes).trim().to_owned() }),
            Err(error) if connection::is_late(&error) && self.process.is_alive() => {
                Err(AttachError::NoAnswer { pid, limit })
            }
            Err(error) if error.kind() == ErrorKind::PermissionDenied && !self.is_own(&socket) => {
                Err(AttachError::ForeignSocket { pid, name })
            }
            Err(error) => Err(self.process.io("cannot use its socket", error)),
        }
    }

    /// Has the JVM dump its live objects with its own dumper, into a file that is not there yet, by its path in the JVM's file system.
    ///
    /// # Errors
    /// What is in the way.
    pub fn dump_heap(&self, path: &str) -> Result<(), AttachError> {
        let answer = self.execute_within((LONGEST_DUMP, LONGEST_ANSWER), "dumpheap", &[path, "-live"])?;
        // The status is 0 even if there is no dump.
        if answer.status == 0 && answer.text.contains(DUMPED) {
            return Ok(());
        }
        let text = answer.text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        Err(AttachError::NotDumped { pid: self.process.pid(), text })
    }

    /// Loads an agent by its path in the JVM's file system.
    ///
    /// # Errors
    /// What is in the way.
    pub fn load(&self, library: &str, options: &str) -> Result<(), AttachError> {
        self.load_within(LIMIT, library, options)
    }

    fn load_within(&self, limit: Duration, library: &str, options: &str) -> Result<(), AttachError> {
        let pid = self.process.pid();
        match self.execute_within((limit, LONGEST_ANSWER), "load", &[library, "true", options])?.loaded() {
            Loaded::Yes => Ok(()),
            Loaded::Forbidden => Err(AttachError::NoAgents(pid)),
            Loaded::No(text) => Err(AttachError::NotLoaded { pid, text }),
        }
    }

    /// Asks Martini's agent, which is loaded with that, and waits for its answer; before that, until it has served whoever was earlier.
    ///
    /// # Errors
    /// What is in the way, or what the agent refuses.
    pub fn ask(&self, library: &str, request: Request, rest: &str) -> Result<AgentAnswer, AttachError> {
        let limit = match request {
            Request::Start | Request::Stop => Duration::from_secs(60),
            Request::Dump => LONGEST_DUMP,
            Request::Status | Request::Check | Request::Snapshot | Request::Set => LIMIT,
        };
        let begun = Instant::now();
        loop {
            match self.ask_once(library, request, rest, limit) {
                Err(AttachError::Busy { .. }) if begun.elapsed() < limit => thread::sleep(BUSY_PAUSE),
                answer => return answer,
            }
        }
    }

    fn ask_once(
        &self,
        library: &str,
        request: Request,
        rest: &str,
        limit: Duration,
    ) -> Result<AgentAnswer, AttachError> {
        let pid = self.process.pid();
        // The file is there for a moment only before the agent knows of it, which removes it if we are killed.
        self.listening()?;
        let file = ReplyFile::make(self)?;
        let loaded = self.load_within(limit, library, &format!("{};{TMP}/{};{rest}", request.word(), file.name));
        // An agent that is not content with a request says why in its answer.
        if matches!(loaded, Err(AttachError::NotLoaded { .. })) {
            file.read()?;
        }
        loaded?;
        let begun = Instant::now();
        loop {
            // In this order: an answer that came before the process ended is one.
            let is_alive = self.process.is_alive();
            match file.read()? {
                Some(answer) => return Ok(answer),
                None if !is_alive => return Err(AttachError::Gone(pid)),
                None if begun.elapsed() > limit => return Err(AttachError::NoAnswer { pid, limit }),
                None => thread::sleep(PAUSE),
            }
        }
    }

    /// Whether a file belongs to the JVM's user.
    fn is_own(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|found| found.uid() == self.process.owner().uid)
    }

    /// Whether the JVM's socket is there, and its own.
    fn has_socket(&self, name: &str) -> Result<bool, AttachError> {
        let found = match fs::symlink_metadata(self.tmp.join(name)) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(self.process.io("cannot inspect its socket", error)),
        };
        if found.file_type().is_socket() && [self.process.owner().uid, 0].contains(&found.uid()) {
            return Ok(true);
        }
        Err(AttachError::ForeignSocket { pid: self.process.pid(), name: name.to_owned() })
    }

    /// Has the JVM make its socket: by a file of a certain name, and SIGQUIT.
    fn awaken(&self, socket: &str) -> Result<(), AttachError> {
        let pid = self.process.pid();
        // Any of these would have the JVM print the stacks of its threads, or end.
        if self.switch("DisableAttachMechanism") == Some(true) {
            return Err(AttachError::Disabled(pid));
        }
        if !self.process.state()?.catches_quit {
            return Err(AttachError::Deaf(pid));
        }
        let can_write = self.as_owner(|| accessat(CWD, self.tmp.path(), Access::WRITE_OK, AtFlags::EACCESS))?;
        can_write.map_err(|error| AttachError::NoTmp { pid, error: error.into() })?;
        let _trigger = Trigger::make(self)?;
        // Another command may have been faster, and a JVM that listens prints stacks when it gets the signal.
        if self.has_socket(socket)? {
            return Ok(());
        }
        self.process.quit()?;
        let begun = Instant::now();
        while !self.has_socket(socket)? {
            if !self.process.is_alive() {
                return Err(AttachError::Gone(pid));
            }
            if begun.elapsed() > LIMIT {
                return Err(AttachError::NoSocket { pid, limit: LIMIT });
            }
            thread::sleep(PAUSE);
        }
        Ok(())
    }
}

/// The file that says to a JVM what SIGQUIT is for, removed when the JVM has understood. It is in /tmp rather than in the JVM's
/// current folder, which is the program's.
struct Trigger<'a> {
    target: &'a Target,
    name: String,
}

impl<'a> Trigger<'a> {
    fn make(target: &'a Target) -> Result<Self, AttachError> {
        let name = format!(".attach_pid{}", target.process.inner_pid());
        let path = target.tmp.join(&name);
        let made = target.as_owner(|| {
            // One that was left behind serves as well if it is the user's; otherwise the JVM ignores it.
            let _ = fs::remove_file(&path);
            make_private(&path)
        })?;
        made.map_err(|error| AttachError::NoTmp { pid: target.process.pid(), error })?;
        Ok(Trigger { target, name })
    }
}

impl Drop for Trigger<'_> {
    fn drop(&mut self) {
        let path = self.target.tmp.join(&self.name);
        // The JVM may have ended; nothing depends on this file.
        let _ = self.target.as_owner(|| fs::remove_file(path));
    }
}

/// Whether nobody listens at a socket to which we may connect.
fn is_deserted(socket: &Path) -> bool {
    UnixStream::connect(socket).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}

/// The file that the agent writes its answer into.
struct ReplyFile<'a> {
    target: &'a Target,
    name: String,
}

impl<'a> ReplyFile<'a> {
    fn make(target: &'a Target) -> Result<Self, AttachError> {
        let name = format!("martini-reply-{}-{}", std::process::id(), unique());
        let path = target.tmp.join(&name);
        let made = target.as_owner(|| make_private(&path))?;
        made.map_err(|error| AttachError::NoTmp { pid: target.process.pid(), error })?;
        Ok(ReplyFile { target, name })
    }

    /// The answer; none while it is not whole. What the agent refuses is an error.
    fn read(&self) -> Result<Option<AgentAnswer>, AttachError> {
        let process = &self.target.process;
        let read = self.target.as_owner(|| bytes_of(self.target.tmp.file(&self.name)?, LONGEST_REPLY))?;
        let bytes = read.map_err(|error| process.io("cannot read the agent's answer", error))?;
        match Reply::parse(&bytes) {
            Reply::Ok(answer) => Ok(Some(answer)),
            Reply::Unfinished => Ok(None),
            Reply::Error(sentence) => Err(AttachError::Agent { pid: process.pid(), sentence }),
            Reply::Busy(sentence) => Err(AttachError::Busy { pid: process.pid(), sentence }),
        }
    }
}

impl Drop for ReplyFile<'_> {
    fn drop(&mut self) {
        let path = self.target.tmp.join(&self.name);
        // The machine's cleaning of /tmp takes what we cannot.
        let _ = self.target.as_owner(|| fs::remove_file(path));
    }
}

/// A number that no earlier call in this machine's life had, as good as.
fn unique() -> u128 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |since| since.as_nanos())
}
