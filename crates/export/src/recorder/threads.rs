//! Threads: who they are, and when they begin and end.

use trace::ids::ThreadId;
use trace::model::ThreadStart;
use trace::time::Time;

use super::pools::Thread;
use super::{Event, Recorder};

/// A thread of the document.
#[derive(Debug)]
pub(super) struct Known {
    number: u64,
    pub(super) name: Box<str>,
    is_java: bool,
}

impl Recorder {
    pub(super) fn thread(&mut self, id: ThreadId) -> u64 {
        match self.threads.get(&id) {
            Some(known) => known.number,
            None => self.new_thread(id, &format!("(undefined thread {id})"), "", true),
        }
    }

    pub(super) fn new_thread(&mut self, id: ThreadId, name: &str, group: &str, is_java: bool) -> u64 {
        let group_number = self.recording.pools.group(group);
        let thread = self.recording.pools.thread(Thread {
            name: name.into(),
            id: id.0,
            document: self.documents,
            is_java,
            is_virtual: group == "VirtualThreads",
            group: group_number,
        });
        self.threads.insert(id, Known { number: thread, name: name.into(), is_java });
        self.named.insert(name.into(), thread);
        thread
    }

    pub(super) fn thread_named(&mut self, name: &str) -> u64 {
        if let Some(&known) = self.named.get(name) {
            return known;
        }
        let thread = Thread { name: name.into(), id: 0, document: 0, is_java: true, is_virtual: false, group: 0 };
        let thread = self.recording.pools.thread(thread);
        self.named.insert(name.into(), thread);
        thread
    }

    pub(super) fn thread_starts(&mut self, start: &ThreadStart<'_>) {
        self.reach(start.time);
        let thread = self.new_thread(start.thread_id, &start.thread_name, &start.group_name, start.kind.is_none());
        if start.kind.is_none() {
            self.recording.events.push(Event::ThreadStart { thread, time: start.time });
        }
    }

    pub(super) fn thread_ends(&mut self, id: ThreadId, time: Time) {
        self.reach(time);
        self.end_waits(id, time);
        if let Some(Known { number: thread, is_java: true, .. }) = self.threads.remove(&id) {
            self.recording.events.push(Event::ThreadEnd { thread, time });
        }
    }
}
