//! What is asked of the agent in a JVM that runs: `REQUEST;REPLY;REST`, or agent options alone, which ask for a recording.

use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// A recording with these options.
    Start(String),
    /// The end of the recording.
    Stop,
    /// What is recorded.
    Status,
    /// What could be recorded.
    Check,
    /// The numbers so far, in the trace.
    Snapshot,
    /// A heap dump, at that path if it is not empty.
    Dump(String),
    /// Other values for these options.
    Set(String),
}

/// What `Agent_OnAttach` was given.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) request: Request,
    /// Where the answer goes; `None`: to standard error.
    pub(super) reply: Option<PathBuf>,
}

impl Given {
    /// Takes the text apart. What does not begin with a request is agent options, some of which have semicolons too.
    pub(super) fn parse(text: &str) -> Given {
        let mut parts = text.splitn(3, ';');
        let (name, reply) = (parts.next().unwrap_or_default(), parts.next());
        let rest = parts.next().unwrap_or_default().to_owned();
        let request = match name {
            "start" => Some(Request::Start(rest)),
            "stop" => Some(Request::Stop),
            "status" => Some(Request::Status),
            "check" => Some(Request::Check),
            "snapshot" => Some(Request::Snapshot),
            "dump" => Some(Request::Dump(rest)),
            "set" => Some(Request::Set(rest)),
            _ => None,
        };
        match request.zip(reply) {
            Some((request, reply)) => Given { request, reply: Some(reply.into()) },
            None => Given { request: Request::Start(text.to_owned()), reply: None },
        }
    }
}

/// A reply file, open.
#[derive(Debug)]
pub(super) struct Reply {
    file: File,
    path: PathBuf,
}

/// How often it is looked at whether an answer was taken.
const LOOK: Duration = Duration::from_millis(20);

impl Reply {
    /// Opens it.
    ///
    /// # Errors
    /// It is not what nobody but the asking command can have made: one sentence. None if it is there no more, since who asked waits no
    /// longer.
    pub(super) fn open(path: &Path) -> Result<Reply, Option<String>> {
        let refuse = |why: &str| Some(format!("cannot write the reply file {}: {why}", path.display()));
        if !path.is_absolute() {
            return Err(refuse("its path is not absolute"));
        }
        let mut options = OpenOptions::new();
        // Without blocking: it may be a pipe, which nobody reads.
        options.write(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC);
        let opened = options.open(path).and_then(|file| file.metadata().map(|metadata| (file, metadata)));
        let (file, metadata) = opened.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => None,
            _ => refuse(&error.to_string()),
        })?;
        // SAFETY: it takes nothing and cannot fail.
        let own = unsafe { libc::geteuid() };
        if metadata.is_file() && metadata.uid() == own && metadata.nlink() == 1 && metadata.len() == 0 {
            Ok(Reply { file, path: path.to_owned() })
        } else {
            Err(refuse("it is not an empty regular file owned by the JVM's user"))
        }
    }

    /// Whether who asked has removed the file, and so reads no answer.
    pub(super) fn is_unwanted(&self) -> bool {
        self.file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
    }

    /// Waits until who asked has removed the file, and removes it after that time: then who asked was killed.
    pub(super) fn remove_if_left(&self, longest: Duration) {
        let begun = Instant::now();
        while !self.is_unwanted() {
            if begun.elapsed() > longest {
                let key = |metadata: Metadata| (metadata.dev(), metadata.ino());
                let is_same = fs::symlink_metadata(&self.path).map(key).ok() == self.file.metadata().map(key).ok();
                // The machine's cleaning of /tmp takes what we cannot.
                let _ = is_same.then(|| fs::remove_file(&self.path));
                return;
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Writes the answer.
    pub(super) fn send(&self, answer: &Answer) -> io::Result<()> {
        self.write(&answer.text())
    }

    /// Writes why the request is taken later only.
    pub(super) fn send_busy(&self, sentence: &str) -> io::Result<()> {
        self.write(&format!("busy {sentence}\nend\n"))
    }

    fn write(&self, text: &str) -> io::Result<()> {
        (&self.file).write_all(text.as_bytes())
    }
}

/// Why a request is not taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Untaken {
    /// It may be a moment later: one sentence.
    Later(String),
    /// One sentence.
    For(String),
}

impl fmt::Display for Untaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Untaken::Later(sentence) | Untaken::For(sentence) => f.write_str(sentence),
        }
    }
}

impl From<String> for Untaken {
    fn from(sentence: String) -> Self {
        Untaken::For(sentence)
    }
}

/// An answer: `key value` lines, or what is wrong.
pub(super) type Answer = Result<Lines, String>;

/// The lines of an answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Lines(Vec<(&'static str, String)>);

impl Lines {
    /// One line more.
    pub(super) fn with(mut self, key: &'static str, value: impl ToString) -> Lines {
        self.0.push((key, value.to_string()));
        self
    }
}

/// An answer as text.
trait Text {
    fn text(&self) -> String;
}

impl Text for Answer {
    fn text(&self) -> String {
        // A path or an option may hold a line break.
        let line = |text: &str| text.replace(['\n', '\r'], " ");
        let head = match self {
            Ok(Lines(lines)) => {
                let lines = lines.iter().map(|(key, value)| format!("{key} {}\n", line(value)));
                std::iter::once("ok\n".to_owned()).chain(lines).collect()
            }
            Err(sentence) => format!("error {}\n", line(sentence)),
        };
        head + "end\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_alone_ask_for_a_recording() {
        let given = |text| {
            let Given { request, reply } = Given::parse(text);
            (request, reply.map(|path| path.display().to_string()))
        };
        let reply = Some("/t/r".to_owned());
        assert_eq!(given("start;/t/r;heap=vm;x"), (Request::Start("heap=vm;x".into()), reply.clone()));
        assert_eq!(given("stop;/t/r;"), (Request::Stop, reply.clone()));
        assert_eq!(given("status;/t/r"), (Request::Status, reply.clone()));
        assert_eq!(given("dump;/t/r;/t/a;b"), (Request::Dump("/t/a;b".into()), reply));
        for options in ["", "stop", "heap=vm", "JPIAgent:server=standalone,file=x;HeapProf:allocsites=true"] {
            assert_eq!(given(options), (Request::Start(options.into()), None));
        }
    }

    #[test]
    fn answers_are_lines() {
        let answer: Answer = Ok(Lines::default().with("trace", "/a\nb").with("seconds", 7));
        assert_eq!(answer.text(), "ok\ntrace /a b\nseconds 7\nend\n");
        assert_eq!(Answer::Err("it is not".into()).text(), "error it is not\nend\n");
    }

    #[test]
    fn only_an_empty_file_of_ours_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("reply");
        let refused = || Reply::open(&path).expect_err("refused");
        assert_eq!(refused(), None);
        std::fs::write(&path, "").expect("written");
        let reply = Reply::open(&path).expect("open");
        assert!(!reply.is_unwanted());
        reply.send(&Err("no".into())).expect("sent");
        assert_eq!(std::fs::read_to_string(&path).expect("read"), "error no\nend\n");
        assert!(refused().is_some_and(|why| why.contains("not an empty regular file")));
        std::fs::write(&path, "").expect("written");
        std::fs::hard_link(&path, folder.path().join("other")).expect("linked");
        assert!(refused().is_some_and(|why| why.contains("not an empty regular file")));
        std::fs::remove_file(&path).expect("removed");
        std::os::unix::fs::symlink(folder.path().join("other"), &path).expect("linked");
        assert!(refused().is_some());
        std::fs::write(folder.path().join("third"), "").expect("written");
        let reply = Reply::open(&folder.path().join("third")).expect("open");
        std::fs::remove_file(folder.path().join("third")).expect("removed");
        assert!(reply.is_unwanted());
        // Whoever asked was killed.
        let left = folder.path().join("left");
        std::fs::write(&left, "").expect("written");
        let reply = Reply::open(&left).expect("open");
        reply.remove_if_left(Duration::ZERO);
        assert!(!left.exists());
        // It is gone, and another one has its name.
        std::fs::write(&left, "").expect("written");
        reply.remove_if_left(Duration::ZERO);
        assert!(left.exists());
        let relative = Reply::open(Path::new("reply")).expect_err("relative");
        assert!(relative.is_some_and(|why| why.contains("not absolute")));
    }
}
