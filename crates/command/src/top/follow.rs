//! Reads a trace while it is written.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use analysis::explain::TraceStats;
use trace::file::is_being_written;
use trace::reader::{Event, ReadError, TraceReader};

use super::figures::Figures;

/// Between two looks at the end of a file.
const PAUSE: Duration = Duration::from_millis(50);
/// A file that nobody has locked may grow all the same, where the file system has no locks; so long nothing came then.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is known so far of a trace that a thread of its own reads.
pub(crate) struct Follower {
    shared: Arc<Shared>,
    figures: Receiver<Figures>,
    reader: Option<JoinHandle<Result<(), String>>>,
}

#[derive(Default)]
struct Shared {
    is_ended: AtomicBool,
    /// All that was there when it was opened is read.
    is_caught_up: AtomicBool,
    /// Somebody wants figures.
    is_asked: AtomicBool,
    /// Nobody wants to know more.
    is_unwanted: AtomicBool,
    read: AtomicU64,
}

impl Follower {
    /// Begins to read.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub(crate) fn of(path: &Path) -> io::Result<Follower> {
        let file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        let shared = Arc::new(Shared::default());
        let (sender, figures) = mpsc::channel();
        let (path, own) = (path.to_owned(), Arc::clone(&shared));
        let reader = thread::spawn(move || {
            let stats = Rc::new(RefCell::new(TraceStats::new()));
            let answers = Answers { stats: Rc::clone(&stats), sender, shared: Arc::clone(&own) };
            let tail = Tail { file, path: path.into(), answers: answers.clone(), since: Instant::now() };
            let outcome = read(tail, &stats);
            own.is_caught_up.store(true, Ordering::Relaxed);
            own.is_ended.store(true, Ordering::Relaxed);
            answers.send();
            outcome
        });
        Ok(Follower { shared, figures, reader: Some(reader) })
    }

    /// Asks for figures, which come later.
    pub(crate) fn ask(&self) {
        self.shared.is_asked.store(true, Ordering::Relaxed);
    }

    /// The newest figures that came since the last call. The last ones come at the end of the trace without being asked for.
    pub(crate) fn figures(&self) -> Option<Figures> {
        self.figures.try_iter().last()
    }

    /// Bytes that are read.
    pub(crate) fn bytes(&self) -> u64 {
        self.shared.read.load(Ordering::Relaxed)
    }

    /// Nobody writes the file any more, and it is read to its end.
    pub(crate) fn is_ended(&self) -> bool {
        self.shared.is_ended.load(Ordering::Relaxed)
    }

    /// Why the trace could not be read further, once it has ended.
    pub(crate) fn problem(&mut self) -> Option<String> {
        let is_ended = self.is_ended();
        let reader = self.reader.take_if(|_| is_ended)?;
        reader.join().unwrap_or_else(|_| Err("the trace reader failed".to_owned())).err()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.shared.is_unwanted.store(true, Ordering::Relaxed);
    }
}

/// Answers what is asked, on the thread that reads: between two reads of the file nobody else has the statistics.
#[derive(Clone)]
struct Answers {
    stats: Rc<RefCell<TraceStats<'static>>>,
    sender: Sender<Figures>,
    shared: Arc<Shared>,
}

impl Answers {
    /// Sends figures if they are wanted, and of now.
    fn answer(&self) {
        let shared = &self.shared;
        if shared.is_caught_up.load(Ordering::Relaxed) && shared.is_asked.swap(false, Ordering::Relaxed) {
            self.send();
        }
    }

    /// Sends figures as of a trace that ends here.
    fn send(&self) {
        let mut stats = self.stats.borrow().clone();
        if !self.shared.is_ended.load(Ordering::Relaxed) {
            stats.end_document();
        }
        // Nobody may want them any more.
        let _ = self.sender.send(Figures::of(&stats.finish()));
    }
}

fn read(tail: Tail, stats: &RefCell<TraceStats<'static>>) -> Result<(), String> {
    let mut reader = TraceReader::new(tail).map_err(|error| error.to_string())?;
    loop {
        match reader.next_event() {
            Ok(Some(Event::Element { element, .. })) => stats.borrow_mut().element(&element),
            Ok(Some(Event::DocumentEnd(_))) => stats.borrow_mut().end_document(),
            Ok(Some(Event::DocumentStart { .. })) | Err(ReadError::Malformed { .. }) => {}
            Ok(None) => return Ok(()),
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// A file that may grow: its end is where nobody writes it any more.
struct Tail {
    file: File,
    path: Box<Path>,
    answers: Answers,
    /// Since when nothing came.
    since: Instant,
}

impl Read for Tail {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let shared = Arc::clone(&self.answers.shared);
        loop {
            self.answers.answer();
            // Before the look at the file: what is written after it is not missed.
            let is_over = !is_being_written(&self.path) && self.since.elapsed() >= PATIENCE;
            let read = self.file.read(bytes)?;
            if read > 0 || bytes.is_empty() {
                self.since = Instant::now();
                shared.read.fetch_add(read as u64, Ordering::Relaxed);
                return Ok(read);
            }
            shared.is_caught_up.store(true, Ordering::Relaxed);
            if is_over || shared.is_unwanted.load(Ordering::Relaxed) {
                return Ok(0);
            }
            thread::sleep(PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

    const HEAD: &str = "<?xml version=\"1.0\"?>\n<TRACE>\n";

    /// Elements that are read by now.
    fn elements(follower: &Follower) -> u64 {
        follower.ask();
        let mut figures = None;
        wait_until(|| {
            figures = follower.figures();
            figures.is_some()
        });
        figures.map_or(0, |figures| figures.elements)
    }

    fn wait_until(mut is_so: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < Duration::from_secs(60), "it does not come");
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn what_is_appended_is_read_until_the_end() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        write!(file, "{HEAD}<gcStart time=\"1.0\" isOwn=").unwrap();
        let mut follower = Follower::of(file.path()).unwrap();
        wait_until(|| follower.bytes() > 0);
        assert_eq!(elements(&follower), 0);
        write!(file, "\"0\"/>\n<gcFinish time=\"1.1\"/>\n</TRACE>\n").unwrap();
        wait_until(|| elements(&follower) == 2);
        wait_until(|| follower.is_ended());
        assert_eq!(follower.bytes(), fs::metadata(file.path()).unwrap().len());
        assert_eq!(follower.problem(), None);
    }

    #[test]
    fn what_is_no_trace_is_a_problem() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"PK is not XML").unwrap();
        let mut follower = Follower::of(file.path()).unwrap();
        wait_until(|| follower.is_ended());
        assert!(follower.problem().is_some());
        assert!(Follower::of(Path::new("/")).is_err());
    }
}
