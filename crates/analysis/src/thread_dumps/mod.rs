//! The JVM's own dumps of all threads: those that a trace has, and what stands out in one.

mod blocked;

use std::sync::Arc;

use thread_dump::ThreadDump;
use trace::model::Element;
use trace::time::Time;

pub use blocked::{BlockedThreads, DumpDeadlock, HeldUpThreads, QueuedThreads, WaitingThread};

/// A dump, and when it was taken.
#[derive(Clone, Debug)]
pub struct TakenDump {
    /// When the JVM was asked for it.
    pub time: Time,
    /// What it said.
    pub dump: ThreadDump,
}

/// Puts the dumps of a trace together from their parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct DumpReader {
    taken: Vec<Arc<TakenDump>>,
    /// The dump whose parts come.
    last: Option<Parts>,
}

#[derive(Clone, Debug)]
struct Parts {
    time: Time,
    text: String,
    owners: String,
}

impl DumpReader {
    /// Takes in the next element of the document.
    pub(crate) fn element(&mut self, element: &Element<'_>) {
        let Element::ThreadDump(part) = element else { return };
        match &mut self.last {
            Some(last) if last.time == part.time => last.text.push_str(&part.text),
            _ => {
                self.end_dump();
                let owners = part.owners.as_deref().unwrap_or_default().to_owned();
                self.last = Some(Parts { time: part.time, text: part.text.clone().into_owned(), owners });
            }
        }
    }

    /// All dumps, in their order.
    pub(crate) fn finish(mut self) -> Vec<Arc<TakenDump>> {
        self.end_dump();
        self.taken
    }

    fn end_dump(&mut self) {
        let Some(Parts { time, text, owners }) = self.last.take() else { return };
        let mut dump = ThreadDump::parse(&text);
        let pairs = owners.split(' ').filter_map(|pair| {
            let (waiter, owner) = pair.split_once(':')?;
            Some((waiter.parse().ok()?, owner.parse().ok()?))
        });
        pairs.for_each(|(waiter, owner)| dump.add_owner(waiter, owner));
        self.taken.push(Arc::new(TakenDump { time, dump }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(time: u64, owners: Option<&'static str>, text: &'static str) -> Element<'static> {
        let owners = owners.map(Into::into);
        Element::ThreadDump(trace::model::ThreadDump { time: Time(time), owners, text: text.into() })
    }

    #[test]
    fn parts_of_one_time_are_one_dump() {
        let mut reader = DumpReader::default();
        let waits = "\"b\" #2\n\t- parking to wait for  <0x1> (a java.util.concurrent.locks.ReentrantLock$FairSync)\n";
        reader.element(&part(1, Some("2:1 7:x 3"), "\"a\" #1\n"));
        reader.element(&part(1, None, waits));
        reader.element(&part(2, None, "\"c\" #3\n"));
        let taken = reader.finish();
        let names = |dump: &ThreadDump| dump.threads.iter().map(|thread| thread.name.clone()).collect::<Vec<_>>();
        assert_eq!(taken.iter().map(|taken| names(&taken.dump)).collect::<Vec<_>>(), [vec!["a", "b"], vec!["c"]]);
        assert_eq!(thread_dump::Waits::of(&taken[0].dump).held_up().len(), 1);
    }
}
