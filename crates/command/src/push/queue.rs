//! Pushes the pieces of a recording while it goes on.

use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::{Destination, Pushed, Unanswered};
use crate::attach::recording::say;
use crate::exit;
use crate::render::human::counted;

/// After a push that failed; twice as long after each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// How long the end of a recording waits for what was not pushed yet.
const LAST: Duration = Duration::from_secs(10);

/// Pushes traces to one destination, one after the other, on a thread of its own.
#[derive(Debug)]
pub(crate) struct Queue {
    destination: String,
    sender: Sender<PathBuf>,
    thread: JoinHandle<Tally>,
}

/// What became of the traces.
#[derive(Debug, Default)]
struct Tally {
    pushed: u64,
    /// They were deleted before the server could be reached.
    deleted: u64,
    refused: u64,
    left: u64,
}

impl Queue {
    /// Begins to push. `keeps`: traces stay where they are; otherwise one that was pushed is deleted.
    pub(crate) fn new(destination: Destination, keeps: bool) -> Queue {
        let (sender, receiver) = mpsc::channel();
        let name = destination.to_string();
        let thread = thread::spawn(move || Work::new(destination, keeps).until_the_end(&receiver));
        Queue { destination: name, sender, thread }
    }

    /// Adds a finished trace.
    pub(crate) fn add(&self, trace: PathBuf) {
        // The thread takes traces as long as there is a sender.
        let _ = self.sender.send(trace);
    }

    /// Waits until everything is pushed, but not for long. A sentence on what became of the traces.
    pub(crate) fn end(self) -> String {
        drop(self.sender);
        let Tally { pushed, deleted, refused, left } = self.thread.join().unwrap_or_default();
        let traces = |number| counted(number, "trace", "traces");
        let mut sentence = format!("{} pushed to {}", traces(pushed), self.destination);
        for (number, what) in
            [(refused, "refused"), (deleted, "deleted before they could be"), (left, "left to `martini push`")]
        {
            if number > 0 {
                sentence.push_str(&format!(", {number} {what}"));
            }
        }
        sentence
    }
}

struct Work {
    destination: Destination,
    keeps: bool,
    waiting: VecDeque<PathBuf>,
    pause: Duration,
    tally: Tally,
}

impl Work {
    fn new(destination: Destination, keeps: bool) -> Work {
        Work { destination, keeps, waiting: VecDeque::new(), pause: FIRST_PAUSE, tally: Tally::default() }
    }

    fn until_the_end(mut self, receiver: &Receiver<PathBuf>) -> Tally {
        let mut last = None;
        loop {
            let pause = if self.waiting.is_empty() { LONGEST_PAUSE } else { self.pause };
            match receiver.recv_timeout(pause) {
                Ok(trace) => self.waiting.push_back(trace),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let end = *last.get_or_insert_with(|| Instant::now() + LAST);
                    if self.waiting.is_empty() || Instant::now() >= end {
                        self.tally.left = self.waiting.len() as u64;
                        return self.tally;
                    }
                    if self.pause > FIRST_PAUSE {
                        thread::sleep(FIRST_PAUSE);
                    }
                }
            }
            while self.push_first() {}
        }
    }

    /// Pushes what has waited longest. Whether to go on with the next.
    fn push_first(&mut self) -> bool {
        let Some(trace) = self.waiting.front() else { return false };
        if !trace.exists() {
            self.tally.deleted += 1;
            self.waiting.pop_front();
            return true;
        }
        match self.destination.push(trace, None, |_| ()) {
            Ok(pushed) => {
                if let Pushed::Taken(Some(but)) = pushed {
                    say(&format!("{}: {but}", trace.display()));
                }
                self.tally.pushed += 1;
                if !self.keeps {
                    // What stays is small, and is deleted with the folder.
                    let _ = fs::remove_file(trace);
                }
            }
            Err(error) if error.downcast_ref::<Unanswered>().is_some_and(|error| error.is_passing) => {
                if self.pause == FIRST_PAUSE {
                    say(&format!("{}; trying again", exit::sentence(&error)));
                }
                self.pause = (2 * self.pause).min(LONGEST_PAUSE);
                return false;
            }
            Err(error) => {
                say(&format!("{} is not pushed: {}", trace.display(), exit::sentence(&error)));
                self.tally.refused += 1;
            }
        }
        self.pause = FIRST_PAUSE;
        self.waiting.pop_front();
        true
    }
}
