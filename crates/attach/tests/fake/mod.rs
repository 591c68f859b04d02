//! A JVM that is a thread.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use attach::{AttachError, Pid, Process, Target};
use signal_hook::consts::SIGQUIT;
use signal_hook::iterator::{Handle, Signals};
use tempfile::TempDir;

/// The JVM's id in its own name space.
pub(crate) const INNER_PID: u32 = 7;

/// What it answers.
#[derive(Clone, Copy)]
pub(crate) enum Says {
    /// These bytes.
    Bytes(&'static str),
    /// That it loaded the agent, which then writes this.
    Agent(&'static str),
    /// That the agent is not content, which has written this.
    Discontent(&'static str),
    /// The same for the first time, and then that it loaded the agent, which writes the second.
    Later(&'static str, &'static str),
}

#[derive(Default)]
struct Seen {
    starts: usize,
    requests: Vec<String>,
}

pub(crate) struct Fake {
    folder: TempDir,
    seen: Arc<Mutex<Seen>>,
    signals: Handle,
}

impl Fake {
    /// One that does not listen yet.
    pub(crate) fn new(says: Says) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (own, process) = (Path::new("/proc/self"), folder.path().join(std::process::id().to_string()));
        fs::create_dir_all(process.join("root/tmp")).unwrap();
        fs::copy(own.join("stat"), process.join("stat")).unwrap();
        let status = fs::read_to_string(own.join("status")).unwrap();
        let status = status.lines().map(|line| match line.split_once(':').map(|(name, _)| name) {
            Some("SigCgt") => "SigCgt:\t0000000000000004".to_owned(),
            Some("NSpid") => format!("NSpid:\t{}\t{INNER_PID}", std::process::id()),
            Some("State") => "State:\tS (sleeping)".to_owned(),
            _ => line.to_owned(),
        });
        fs::write(process.join("status"), status.collect::<Vec<_>>().join("\n")).unwrap();
        fs::write(process.join("maps"), "7f00-7f01 r-xp 0 08:02 1      /opt/jdk/lib/server/libjvm.so\n").unwrap();
        let seen = Arc::new(Mutex::new(Seen::default()));
        let mut signals = Signals::new([SIGQUIT]).unwrap();
        let fake = Fake { folder, seen: Arc::clone(&seen), signals: signals.handle() };
        let root = fake.root();
        thread::spawn(move || {
            for _ in signals.forever() {
                // A link to it leads there only where the test's root is the root.
                let tmp =
                    ["scratch", "tmp"].map(|name| root.join(name)).into_iter().find(|path| path.is_dir()).unwrap();
                // The signal is for every fake of the test's process.
                if !tmp.join(format!(".attach_pid{INNER_PID}")).exists() {
                    continue;
                }
                let socket = tmp.join(format!(".java_pid{INNER_PID}"));
                let _ = fs::remove_file(&socket);
                let listener = UnixListener::bind(&socket).unwrap();
                seen.lock().unwrap().starts += 1;
                let seen = Arc::clone(&seen);
                thread::spawn(move || serve(&listener, says, &tmp, &seen));
                // Signals of other tests come while the file is still there.
                break;
            }
        });
        fake
    }

    pub(crate) fn target(&self) -> Result<Target, AttachError> {
        Target::open(Process::in_folder(Pid(std::process::id()), self.folder.path())?)
    }

    /// What stands for its folder in `/proc`.
    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().join(std::process::id().to_string())
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder().join("root")
    }

    pub(crate) fn tmp(&self) -> PathBuf {
        self.root().join("tmp")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.tmp().join(format!(".java_pid{INNER_PID}"))
    }

    /// Changes what stands for its status.
    pub(crate) fn status(&self, change: impl Fn(String) -> String) {
        let path = self.folder().join("status");
        fs::write(&path, change(fs::read_to_string(&path).unwrap())).unwrap();
    }

    /// How often it began to listen.
    pub(crate) fn starts(&self) -> usize {
        self.seen.lock().unwrap().starts
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.seen.lock().unwrap().requests.clone()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.signals.close();
    }
}

fn serve(listener: &UnixListener, says: Says, tmp: &Path, seen: &Mutex<Seen>) {
    for connection in listener.incoming() {
        let mut connection = connection.unwrap();
        let mut request = Vec::new();
        while request.iter().filter(|&&byte| byte == 0).count() < 5 {
            let mut byte = [0];
            connection.read_exact(&mut byte).unwrap();
            request.push(byte[0]);
        }
        let request = String::from_utf8(request).unwrap();
        seen.lock().unwrap().requests.push(request.clone());
        let reply = |answer| {
            let reply = request.split(';').nth(1).unwrap();
            fs::write(tmp.join(Path::new(reply).file_name().unwrap()), answer).unwrap();
        };
        let is_first = seen.lock().unwrap().requests.len() == 1;
        let says = match says {
            Says::Later(first, _) if is_first => Says::Discontent(first),
            Says::Later(_, then) => Says::Agent(then),
            says => says,
        };
        match says {
            Says::Bytes(bytes) => connection.write_all(bytes.as_bytes()).unwrap(),
            Says::Agent(answer) => {
                connection.write_all(b"0\nreturn code: 0\n").unwrap();
                reply(answer);
            }
            Says::Discontent(answer) => {
                reply(answer);
                connection.write_all(b"0\nreturn code: -1\n").unwrap();
            }
            Says::Later(..) => unreachable!("it is one of the others by now"),
        }
    }
}
