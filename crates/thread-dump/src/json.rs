//! Reads what `Thread.dump_to_file -format=json` writes: the virtual threads, which `Thread.print` leaves out. It says nothing of owners.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Deserialize;
use trace::model::ThreadState;

use crate::model::{DumpThread, Lock, ThreadDump, ThreadIndex, Wait, WaitKind};
use crate::text::{Frames, thread};

/// A text is no such dump.
#[derive(Debug, thiserror::Error)]
#[error("the JVM's dump of virtual threads cannot be read: {0}")]
pub struct NotADump(#[from] serde_json::Error);

#[derive(Deserialize)]
struct Document<'t> {
    #[serde(borrow, rename = "threadDump")]
    dump: Containers<'t>,
}

#[derive(Deserialize)]
struct Containers<'t> {
    #[serde(borrow, rename = "threadContainers")]
    containers: Vec<Container<'t>>,
}

#[derive(Deserialize)]
struct Container<'t> {
    #[serde(borrow)]
    threads: Vec<Thread<'t>>,
}

#[derive(Deserialize)]
struct Thread<'t> {
    tid: Number,
    name: String,
    #[serde(borrow, default)]
    stack: Vec<Text<'t>>,
    /// From JDK 24 on.
    #[serde(default, rename = "virtual")]
    is_virtual: bool,
    state: Option<String>,
    #[serde(rename = "parkBlocker")]
    blocker: Option<Blocker>,
}

/// `a.B@55e426f0`
#[derive(Deserialize)]
struct Blocker {
    object: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Number {
    Number(u64),
    Text(String),
}

/// A text that is copied only if it holds escapes, as names of modules do.
#[derive(Deserialize)]
struct Text<'t>(#[serde(borrow)] Cow<'t, str>);

impl ThreadDump {
    /// Adds the virtual threads of a dump of the same JVM.
    ///
    /// # Errors
    /// The text is no such dump.
    pub fn add_virtual_threads(&mut self, json: &str) -> Result<(), NotADump> {
        let document: Document<'_> = serde_json::from_str(json)?;
        let known: BTreeSet<u64> = self.threads.iter().map(|thread| thread.number).collect();
        let mut frames = Frames::default();
        for of in document.dump.containers.into_iter().flat_map(|container| container.threads) {
            let number = match of.tid {
                Number::Number(number) => number,
                Number::Text(text) => text.parse().unwrap_or(0),
            };
            if known.contains(&number) {
                continue;
            }
            let stack = of.stack.into_iter().filter_map(|Text(frame)| frames.intern(self, frame)).collect();
            let blocker = of.blocker.map(|blocker| Wait {
                kind: WaitKind::Park,
                lock: Lock { address: None, class: blocker.object.split('@').next().unwrap_or_default().to_owned() },
            });
            let state = of.state.and_then(|word| ThreadState::ALL.iter().copied().find(|state| state.as_str() == word));
            let made = DumpThread { is_virtual: true, state, stack, wait: blocker, ..thread(of.name, number) };
            if of.is_virtual || self.is_run_by_virtual_thread(&made) {
                self.threads.push(made);
            }
        }
        Ok(())
    }

    /// Whether the outermost frames are those of a virtual thread, which JDK 21 does not say.
    fn is_run_by_virtual_thread(&self, thread: &DumpThread) -> bool {
        self.stack(thread).any(|frame| frame.class == "java.lang.VirtualThread" && frame.method == "run")
    }

    /// The virtual threads.
    pub fn virtual_threads(&self) -> impl Iterator<Item = ThreadIndex> {
        let threads = self.threads.iter().enumerate();
        threads.filter(|(_, thread)| thread.is_virtual).map(|(index, _)| ThreadIndex(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_threads_of_each_jdk_are_added() {
        for (jdk, text, json) in [
            ("21", include_str!("../tests/dumps/jdk21.txt"), include_str!("../tests/dumps/jdk21.json")),
            ("25", include_str!("../tests/dumps/jdk25.txt"), include_str!("../tests/dumps/jdk25.json")),
        ] {
            let mut dump = ThreadDump::parse(text);
            let platform = dump.threads.iter().filter(|thread| !thread.is_virtual).count();
            dump.add_virtual_threads(json).expect("it is a dump");
            assert_eq!(dump.virtual_threads().count(), 4, "{jdk}");
            assert_eq!(dump.threads.len(), platform + 4, "{jdk}");
            let sleeps = |thread: &DumpThread| dump.stack(thread).any(|frame| frame.method == "pause");
            assert_eq!(dump.threads.iter().filter(|thread| thread.is_virtual && sleeps(thread)).count(), 2, "{jdk}");
        }
    }

    #[test]
    fn what_is_no_dump_is_refused() {
        assert!(ThreadDump::default().add_virtual_threads("{}").is_err());
        assert!(ThreadDump::default().add_virtual_threads("\u{0}").is_err());
    }
}
