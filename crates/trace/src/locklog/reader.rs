//! Reads a lock log line by line, in constant memory.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::attribute::parse_u64;
use crate::escape::unspell;
use crate::time::Nanos;

use super::writer::swap_separators;
use super::{LockEvent, LockEventKind, LogFrame, WallClock};

/// The longest line that is read. Names have at most 65,535 bytes; real ones a hundred.
const MAX_LINE: usize = 1 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Why a log, or a line of it, could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file cannot be opened.
    #[error("cannot open the lock log {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Reading failed; nothing more comes.
    #[error("cannot read the lock log after byte {consumed}: {source}")]
    Io {
        /// How many bytes were read before.
        consumed: u64,
        /// What the system said.
        source: io::Error,
    },
    /// One line is malformed; reading continues behind it.
    #[error("line {line}: {problem}")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it.
        problem: LineProblem,
    },
}

/// What can be wrong with one line of a lock log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineProblem {
    /// It does not begin with nanoseconds.
    #[error("it does not start with nanoseconds or a date")]
    Time,
    /// The word behind the time is another.
    #[error("the time is not followed by TRY or LCK")]
    Kind,
    /// The thread's name is missing.
    #[error("the thread name in brackets is missing")]
    Thread,
    /// A frame is none.
    #[error("the text after the thread is not of the form Lclass;#method")]
    Frame,
    /// It is longer than any line has to be.
    #[error("it is too long for a lock log")]
    Length,
}

/// What a reader delivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogItem<'a> {
    /// The wall-clock time from which the nanoseconds count; a log begins anew here.
    Start(WallClock),
    /// An event.
    Event(LockEvent<'a>),
}

/// Reads the lines of a lock log one by one.
///
/// ```
/// use trace::locklog::{LockLogReader, LogItem};
///
/// let log = b"2011/03/14 15:09:26.535\n7 TRY [worker 1] Ldemo/Queue;#take\n";
/// let mut reader = LockLogReader::new(&log[..]);
/// assert!(matches!(reader.next_item()?, Some(LogItem::Start(clock)) if clock.year == 2011));
/// let Some(LogItem::Event(event)) = reader.next_item()? else { panic!() };
/// assert_eq!((&*event.thread, &*event.frames[0].class), ("worker 1", "demo.Queue"));
/// assert_eq!(reader.next_item()?, None);
/// # Ok::<(), trace::locklog::LogError>(())
/// ```
pub struct LockLogReader<R> {
    input: BufReader<R>,
    total: Option<u64>,
    consumed: u64,
    /// The current line without its end.
    line: Vec<u8>,
    number: u64,
    is_cut: bool,
    is_finished: bool,
    /// A line that was no UTF-8, as text.
    repaired: String,
}

/// Whether bytes are the beginning of a lock log and not of anything else that Martini reads.
pub fn is_lock_log(beginning: &[u8]) -> bool {
    beginning.strip_prefix(BYTE_ORDER_MARK).unwrap_or(beginning).first().is_some_and(u8::is_ascii_digit)
}

impl LockLogReader<File> {
    /// Opens a log.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(path: &Path) -> Result<Self, LogError> {
        let file = File::open(path).map_err(|source| LogError::Open { path: path.to_owned(), source })?;
        let total = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|metadata| metadata.len());
        Ok(Self { total, ..Self::new(file) })
    }
}

impl<R: Read> LockLogReader<R> {
    /// Reads a log from anything; needs no buffering in between.
    pub fn new(read: R) -> Self {
        Self {
            input: BufReader::with_capacity(1 << 18, read),
            total: None,
            consumed: 0,
            line: Vec::new(),
            number: 0,
            is_cut: false,
            is_finished: false,
            repaired: String::new(),
        }
    }

    /// How many bytes have been used.
    pub fn consumed(&self) -> u64 {
        self.consumed
    }

    /// The length of the file, if it is one.
    pub fn total(&self) -> Option<u64> {
        self.total
    }

    /// Whether the log ends inside a line, as when its writer was killed. If that line made sense it was delivered, but its last
    /// name may be cut off.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The next line, or `None` behind the last. Empty lines are passed over.
    ///
    /// # Errors
    /// A line that is malformed, or the end of what can be read. A caller may report errors and always continue.
    pub fn next_item(&mut self) -> Result<Option<LogItem<'_>>, LogError> {
        loop {
            if self.is_finished || !self.next_line()? {
                return Ok(None);
            }
            if !self.line.iter().all(u8::is_ascii_whitespace) {
                break;
            }
        }
        if let Some(clock) = WallClock::parse(self.line.trim_ascii()) {
            return Ok(Some(LogItem::Start(clock)));
        }
        let text = match std::str::from_utf8(&self.line) {
            Ok(text) => text,
            Err(_) => {
                // As in traces: what is no UTF-8 is taken for Latin-1.
                self.repaired.clear();
                self.repaired.extend(self.line.iter().map(|&byte| char::from(byte)));
                &self.repaired
            }
        };
        match event(text) {
            Ok(event) => Ok(Some(LogItem::Event(event))),
            Err(problem) => Err(LogError::Line { line: self.number, problem }),
        }
    }

    /// Reads a line; `false` at the end.
    fn next_line(&mut self) -> Result<bool, LogError> {
        self.line.clear();
        let mut is_long = false;
        let mut is_begun = false;
        loop {
            let piece = match self.input.fill_buf() {
                Ok(piece) => piece,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(source) => {
                    self.is_finished = true;
                    return Err(LogError::Io { consumed: self.consumed, source });
                }
            };
            if piece.is_empty() {
                self.is_finished = true;
                self.is_cut = is_begun;
                break;
            }
            if !is_begun {
                is_begun = true;
                self.number += 1;
            }
            let end = memchr::memchr(b'\n', piece);
            let part = &piece[..end.unwrap_or(piece.len())];
            is_long |= self.line.len() + part.len() > MAX_LINE;
            if !is_long {
                self.line.extend_from_slice(part);
            }
            let used = end.map_or(piece.len(), |end| end + 1);
            self.input.consume(used);
            self.consumed += used as u64;
            if end.is_some() {
                break;
            }
        }
        if is_long {
            return Err(LogError::Line { line: self.number, problem: LineProblem::Length });
        }
        if self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        if self.number == 1 && self.line.starts_with(BYTE_ORDER_MARK) {
            self.line.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(is_begun)
    }
}

/// `NANOS TRY [THREAD] Lclass;#method Lclass;#method`
fn event(line: &str) -> Result<LockEvent<'_>, LineProblem> {
    let (nanos, rest) = line.split_once(' ').unwrap_or((line, ""));
    let since_start = parse_u64(nanos.as_bytes()).map(Nanos).ok_or(LineProblem::Time)?;
    let (kind, rest) = [LockEventKind::Try, LockEventKind::Locked]
        .into_iter()
        .find_map(|kind| Some((kind, rest.strip_prefix(kind.as_str())?)))
        .ok_or(LineProblem::Kind)?;
    // Names of threads may hold brackets, those of classes and methods do not.
    let (thread, frames) = rest.strip_prefix(" [").and_then(|rest| rest.rsplit_once(']')).ok_or(LineProblem::Thread)?;
    let frames = match frames.trim_ascii() {
        "" => Vec::new(),
        _ => self::frames(frames)?,
    };
    Ok(LockEvent { since_start, kind, thread: unspell(thread), frames })
}

/// ` Lclass;#method Lclass;#method`: a class has no blank, a method may.
fn frames(text: &str) -> Result<Vec<LogFrame<'_>>, LineProblem> {
    let mut frames = Vec::new();
    let mut pieces = text.split(";#");
    let mut class = pieces.next().and_then(|first| first.strip_prefix(" L")).ok_or(LineProblem::Frame)?;
    let mut pieces = pieces.peekable();
    while let Some(piece) = pieces.next() {
        let is_last = pieces.peek().is_none();
        let (method, next) = match is_last {
            true => (piece, ""),
            false => piece.rsplit_once(" L").ok_or(LineProblem::Frame)?,
        };
        frames.push(LogFrame { class: class_name(class), method: unspell(method) });
        class = next;
    }
    if frames.is_empty() { Err(LineProblem::Frame) } else { Ok(frames) }
}

fn class_name(internal: &str) -> Cow<'_, str> {
    if !internal.bytes().any(|byte| matches!(byte, b'/' | b'.')) {
        return unspell(internal);
    }
    let mut name = unspell(internal).into_owned().into_bytes();
    swap_separators(&mut name);
    // Only ASCII was exchanged for ASCII.
    Cow::Owned(String::from_utf8(name).unwrap_or_default())
}
