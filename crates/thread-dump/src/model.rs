//! A dump: threads, their stacks, and what each holds and waits for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use trace::model::ThreadState;
use trace::time::Nanos;

/// Place of a thread in [`ThreadDump::threads`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadIndex(pub usize);

/// Place of a frame among those of a dump; equal frames have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameIndex(pub(crate) usize);

/// All Java threads of a JVM at one moment.
#[derive(Clone, Debug, Default)]
pub struct ThreadDump {
    /// The threads, in the JVM's order.
    pub threads: Vec<DumpThread>,
    pub(crate) frames: Vec<Frame>,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpThread {
    /// Its name; empty for most virtual threads.
    pub name: String,
    /// `Thread.threadId`, which no other thread ever has.
    pub number: u64,
    /// A virtual thread. A dump has only those that were mounted, unless they were asked for.
    pub is_virtual: bool,
    /// CPU time so far, exact to 10 us; `None` if unknown.
    pub cpu: Option<Nanos>,
    /// What it does; `None` if unknown.
    pub state: Option<ThreadState>,
    /// The number of the virtual thread that it carries.
    pub carries: Option<u64>,
    /// Its stack, innermost first.
    pub stack: Vec<FrameIndex>,
    /// What it waits for.
    pub wait: Option<Wait>,
    /// Monitors, and synchronizers of java.util.concurrent as far as the dump has them.
    pub holds: Vec<Lock>,
}

/// What a thread waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// How.
    pub kind: WaitKind,
    /// For which object.
    pub lock: Lock,
}

/// How a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitKind {
    /// To enter a monitor.
    Enter,
    /// In `Object.wait`.
    Notify,
    /// Parked by java.util.concurrent.
    Park,
}

/// A monitor or a synchronizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// Where it lies at the moment of the dump; `None` if unknown.
    pub address: Option<u64>,
    /// Its class.
    pub class: String,
}

/// A frame of a stack.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame {
    /// The class; that of a lambda without its number.
    pub class: String,
    /// The method.
    pub method: String,
    /// The source file; empty if unknown or native.
    pub source: String,
    /// The line in it.
    pub line: Option<u32>,
}

impl ThreadDump {
    /// A thread.
    pub fn thread(&self, index: ThreadIndex) -> &DumpThread {
        &self.threads[index.0]
    }

    /// The frames of a thread, innermost first.
    pub fn stack<'a>(&'a self, thread: &'a DumpThread) -> impl Iterator<Item = &'a Frame> {
        thread.stack.iter().map(|&FrameIndex(index)| &self.frames[index])
    }

    /// Notes who owns what a thread is parked for, by their numbers, where the text does not say it.
    pub fn add_owner(&mut self, waiter: u64, owner: u64) {
        let waiter = self.threads.iter().find(|thread| thread.number == waiter);
        let Some(lock) = waiter.and_then(|waiter| waiter.wait.as_ref()).map(|wait| wait.lock.clone()) else { return };
        let owner = self.threads.iter_mut().find(|thread| thread.number == owner);
        if let Some(owner) = owner.filter(|owner| !owner.holds.contains(&lock)) {
            owner.holds.push(lock);
        }
    }

    /// The threads that have not run since an earlier dump: their CPU time is the same, and so is their stack. A wait of theirs goes on
    /// since then, at least.
    pub fn unmoved_since(&self, earlier: &ThreadDump) -> BTreeSet<ThreadIndex> {
        let before: BTreeMap<u64, &DumpThread> = earlier.threads.iter().map(|thread| (thread.number, thread)).collect();
        let is_unmoved = |thread: &DumpThread| {
            before.get(&thread.number).is_some_and(|before| {
                thread.cpu.is_some() && thread.cpu == before.cpu && self.stack(thread).eq(earlier.stack(before))
            })
        };
        let threads = self.threads.iter().enumerate();
        threads.filter(|(_, thread)| is_unmoved(thread)).map(|(index, _)| ThreadIndex(index)).collect()
    }
}

impl Frame {
    /// Reads a frame: `a.B.c(B.java:7)`, with module or class loader in front of the class or the file.
    pub(crate) fn parse(text: &str) -> Option<Frame> {
        let (name, place) = text.trim().strip_suffix(')')?.split_once('(')?;
        let (class, method) = name.rsplit_once('.')?;
        let place = place.rsplit('/').next().unwrap_or(place);
        let (source, line) = match place.rsplit_once(':').map(|(source, line)| (source, line.parse().ok())) {
            Some((source, Some(line))) => (source, Some(line)),
            _ if ["Native Method", "Unknown Source"].contains(&place) => ("", None),
            _ => (place, None),
        };
        Some(Frame { class: class_name(class), method: method.to_owned(), source: source.to_owned(), line })
    }
}

/// The class of a frame without its module, and without the address of a hidden class.
fn class_name(text: &str) -> String {
    let visible = match text.rsplit_once('/') {
        Some((class, address)) if address.starts_with("0x") => class,
        _ => text,
    };
    let class = visible.rsplit('/').next().unwrap_or(visible);
    match class.split_once("$$Lambda") {
        Some((outer, _)) => format!("{outer}$$Lambda"),
        None => class.to_owned(),
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.class, self.method)?;
        match (self.source.as_str(), self.line) {
            ("", _) => Ok(()),
            (source, None) => write!(f, "({source})"),
            (source, Some(line)) => write!(f, "({source}:{line})"),
        }
    }
}

impl fmt::Display for DumpThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name.as_str() {
            "" if self.is_virtual => write!(f, "virtual thread #{}", self.number),
            "" => write!(f, "thread #{}", self.number),
            name => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_named_without_module_and_address() {
        let shown = |text| Frame::parse(text).map(|frame| frame.to_string());
        assert_eq!(shown("a.B.main(B.java:10)").as_deref(), Some("a.B.main(B.java:10)"));
        assert_eq!(
            shown("java.lang.Thread.sleep(java.base@17.0.9/Native Method)").as_deref(),
            Some("java.lang.Thread.sleep")
        );
        assert_eq!(
            shown("java.base/java.lang.Thread.run(Thread.java:3)").as_deref(),
            Some("java.lang.Thread.run(Thread.java:3)")
        );
        assert_eq!(shown("app//a.B.c(Unknown Source)").as_deref(), Some("a.B.c"));
        assert_eq!(shown("a.B$$Lambda$8/0x00000008000.run(Unknown Source)").as_deref(), Some("a.B$$Lambda.run"));
        assert_eq!(shown("app//a.B$$Lambda/0x00000008000.run(Unknown Source)").as_deref(), Some("a.B$$Lambda.run"));
        assert_eq!(shown("a.B.c(B.java)").as_deref(), Some("a.B.c(B.java)"));
        assert_eq!(shown("nothing"), None);
    }
}
