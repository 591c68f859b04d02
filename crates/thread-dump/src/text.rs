//! Reads what `Thread.print` prints.
//!
//! ```text
//! "name" #12 [345] daemon prio=5 os_prio=0 cpu=1.71ms elapsed=3.09s tid=0x... nid=0x25fc waiting for monitor entry  [0x...]
//!    java.lang.Thread.State: BLOCKED (on object monitor)
//! <tab>at a.B.c(B.java:7)
//! <tab>- waiting to lock <0x000000069ec190f0> (a java.lang.Object)
//! <tab>- locked <0x000000069ec190e0> (a java.lang.Object)
//!
//!    Locked ownable synchronizers:
//! <tab>- <0x000000069ec25bb0> (a java.util.concurrent.locks.ReentrantLock$NonfairSync)
//! ```
//!
//! Behind the threads HotSpot names the deadlocks that it found, which it does without looking for all owners.

use std::collections::HashMap;

use trace::model::ThreadState;
use trace::time::Nanos;

use crate::model::{DumpThread, Frame, FrameIndex, Lock, ThreadDump, Wait, WaitKind};

impl ThreadDump {
    /// Reads a dump. What is no thread of Java is left out.
    pub fn parse(text: &str) -> ThreadDump {
        let mut parser = Parser::default();
        let mut lines = text.lines();
        for line in lines.by_ref() {
            if line.starts_with(DEADLOCK) {
                break;
            }
            parser.line(line);
        }
        let mut dump = parser.finish();
        add_owners_of_deadlocks(&mut dump, lines);
        dump
    }
}

const DEADLOCK: &str = "Found one Java-level deadlock:";

#[derive(Default)]
struct Parser<'t> {
    dump: ThreadDump,
    known: Frames<'t>,
    /// The thread whose lines come.
    current: Option<Draft>,
}

/// A thread so far.
struct Draft {
    thread: DumpThread,
    /// It is in `Object.wait` for an object that is not named.
    waits_for_unnamed: bool,
}

/// Frames by their text.
#[derive(Default)]
pub(crate) struct Frames<'t>(HashMap<std::borrow::Cow<'t, str>, Option<FrameIndex>>);

impl<'t> Frames<'t> {
    /// The frame with that text, if it is one.
    pub(crate) fn intern(&mut self, dump: &mut ThreadDump, text: std::borrow::Cow<'t, str>) -> Option<FrameIndex> {
        if let Some(&known) = self.0.get(&text) {
            return known;
        }
        let index = Frame::parse(&text).map(|frame| {
            dump.frames.push(frame);
            FrameIndex(dump.frames.len() - 1)
        });
        self.0.insert(text, index);
        index
    }
}

impl<'t> Parser<'t> {
    fn line(&mut self, line: &'t str) {
        if line.starts_with('"') {
            self.end_thread();
            self.current = head(line).map(|thread| Draft { thread, waits_for_unnamed: false });
            return;
        }
        let Some(draft) = &mut self.current else { return };
        let text = line.trim();
        if let Some(frame) = text.strip_prefix("at ") {
            let frame = self.known.intern(&mut self.dump, frame.into());
            draft.thread.stack.extend(frame);
        } else if let Some(note) = text.strip_prefix("- ") {
            draft.note(note);
        } else if let Some(state) = text.strip_prefix("java.lang.Thread.State: ") {
            let word = state.split(' ').next().unwrap_or(state);
            draft.thread.state = ThreadState::ALL.iter().copied().find(|state| state.as_str() == word);
        } else if let Some(carried) = text.strip_prefix("Carrying virtual thread #") {
            draft.thread.carries = carried.parse().ok();
        } else if let Some(mounted) = text.strip_prefix("Mounted virtual thread ") {
            let number = mounted.rsplit('#').next().and_then(|number| number.parse().ok());
            let name = mounted.rsplit_once('#').map_or("", |(name, _)| name.trim().trim_matches('"')).to_owned();
            self.end_thread();
            self.current = number.map(|number| Draft {
                thread: DumpThread { is_virtual: true, ..thread(name, number) },
                waits_for_unnamed: false,
            });
        }
    }

    fn end_thread(&mut self) {
        let Some(Draft { mut thread, waits_for_unnamed }) = self.current.take() else { return };
        // Who waits to be notified has left the monitor, though its frame is shown as one that has locked it.
        match &thread.wait {
            Some(Wait { kind: WaitKind::Notify | WaitKind::Enter, lock }) => {
                let address = lock.address;
                thread.holds.retain(|held| held.address != address);
            }
            None if waits_for_unnamed && !thread.holds.is_empty() => {
                let lock = thread.holds.remove(0);
                thread.wait = Some(Wait { kind: WaitKind::Notify, lock });
            }
            _ => {}
        }
        self.dump.threads.push(thread);
    }

    fn finish(mut self) -> ThreadDump {
        self.end_thread();
        self.dump
    }
}

impl Draft {
    /// Takes in a line about a lock.
    fn note(&mut self, note: &str) {
        let is_first = self.thread.wait.is_none();
        let mut waits = |kind, lock: Option<Lock>| {
            if let Some(lock) = lock.filter(|_| is_first) {
                self.thread.wait = Some(Wait { kind, lock });
            }
        };
        if let Some(rest) = note.strip_prefix("waiting to lock ") {
            waits(WaitKind::Enter, lock(rest));
        } else if let Some(rest) = note.strip_prefix("parking to wait for ") {
            waits(WaitKind::Park, lock(rest));
        } else if let Some(rest) = note.strip_prefix("waiting to re-lock in wait() ") {
            // It has been notified, or JDK 11 says so of each frame of a wait.
            let is_blocked = self.thread.state == Some(ThreadState::Blocked);
            match lock(rest) {
                Some(lock) if is_blocked => self.thread.wait = Some(Wait { kind: WaitKind::Enter, lock }),
                lock => waits(WaitKind::Notify, lock),
            }
        } else if let Some(rest) = note.strip_prefix("waiting on ") {
            let is_blocked = self.thread.state == Some(ThreadState::Blocked);
            match lock(rest) {
                None => self.waits_for_unnamed = rest.starts_with("<no object"),
                lock => waits(if is_blocked { WaitKind::Enter } else { WaitKind::Notify }, lock),
            }
        } else if let Some(rest) = note.strip_prefix("locked ") {
            self.thread.holds.extend(lock(rest));
        } else {
            self.thread.holds.extend(lock(note));
        }
    }
}

/// A thread of that name and number, of which nothing else is known.
pub(crate) fn thread(name: String, number: u64) -> DumpThread {
    DumpThread {
        name,
        number,
        is_virtual: false,
        cpu: None,
        state: None,
        carries: None,
        stack: Vec::new(),
        wait: None,
        holds: Vec::new(),
    }
}

/// The first line of a thread of Java, which has a number. Its name may hold quotes, what is behind it does not.
fn head(line: &str) -> Option<DumpThread> {
    let (name, rest) = line.strip_prefix('"')?.rsplit_once("\" #")?;
    let mut words = rest.split(' ');
    let number = words.next()?.parse().ok()?;
    let cpu = words.find_map(|word| word.strip_prefix("cpu=")?.strip_suffix("ms")?.parse::<f64>().ok());
    // Too large or no number at all becomes what fits.
    let cpu = cpu.map(|millis| Nanos((millis * 1e6).round() as u64));
    Some(DumpThread { cpu, ..thread(name.to_owned(), number) })
}

/// `<0x000000069ec190f0> (a java.lang.Object)`
fn lock(text: &str) -> Option<Lock> {
    let (address, rest) = text.trim_start().strip_prefix('<')?.split_once('>')?;
    let address = u64::from_str_radix(address.strip_prefix("0x")?, 16).ok()?;
    let class = rest.trim().strip_prefix('(')?.strip_suffix(')')?;
    let class = class.strip_prefix("a ").unwrap_or(class);
    Some(Lock { address: Some(address), class: class.to_owned() })
}

/// Of locks of java.util.concurrent HotSpot says in the part about deadlocks who owns them, however it was asked.
fn add_owners_of_deadlocks<'t>(dump: &mut ThreadDump, lines: impl Iterator<Item = &'t str>) {
    let mut found = Vec::new();
    let mut waited_for = None;
    for line in lines {
        if let Some(rest) = line.trim_start().strip_prefix("waiting for ownable synchronizer 0x") {
            waited_for = rest.split_once(", ").and_then(|(address, class)| {
                let class = class.trim_start_matches("(a ").trim_end_matches(',').trim_end_matches(')');
                Some(Lock { address: Some(u64::from_str_radix(address, 16).ok()?), class: class.to_owned() })
            });
        } else if let Some(rest) = line.trim_start().strip_prefix("which is held by \"") {
            found.extend(waited_for.take().zip(rest.strip_suffix('"')));
        }
    }
    for (lock, name) in found {
        let mut named = dump.threads.iter_mut().filter(|thread| thread.name == name);
        // Names need not be unique.
        if let (Some(owner), None) = (named.next(), named.next())
            && !owner.holds.contains(&lock)
        {
            owner.holds.push(lock);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_text_of_each_jdk_is_understood() {
        for jdk in ["11", "17", "21", "25"] {
            let dump = dump_of(jdk);
            let named = |name: &str| dump.threads.iter().find(|thread| thread.name == name).expect(name);
            let a = named("dead A");
            assert_eq!(a.state, Some(ThreadState::Blocked), "{jdk}");
            assert!(matches!(&a.wait, Some(Wait { kind: WaitKind::Enter, lock }) if lock.class == "java.lang.Object"));
            assert_eq!(a.holds.len(), 1, "{jdk}");
            assert!(a.cpu.is_some_and(|cpu| cpu.0 > 0));
            assert_eq!(named("dead \"B\"").holds[0], a.wait.as_ref().expect("it waits").lock, "{jdk}");
            assert!(dump.stack(a).any(|frame| frame.to_string() == "Main.lambda$main$0(Main.java:13)"), "{jdk}");
            let writer = named("writer");
            assert_eq!(writer.state, Some(ThreadState::TimedWaiting), "{jdk}");
            assert_eq!(writer.holds, [named("reader-2").wait.as_ref().expect("it waits").lock.clone()], "{jdk}");
            let waiter = named("waiter");
            assert!(waiter.holds.is_empty(), "{jdk}: {waiter:?}");
            assert!(
                matches!(&waiter.wait, Some(Wait { kind: WaitKind::Notify, lock }) if lock.class == "java.lang.Class for Main"),
                "{jdk}: {waiter:?}"
            );
            let worker = named("pool-1-thread-1").wait.as_ref().expect("it waits");
            assert!(worker.kind == WaitKind::Park && worker.lock.class.ends_with("$ConditionObject"), "{jdk}");
            // The VM's own threads are no threads of Java.
            assert!(dump.threads.iter().all(|thread| thread.name != "VM Thread"), "{jdk}");
        }
        let carrier = dump_of("25").threads.into_iter().find(|thread| thread.carries == Some(38)).expect("it is there");
        assert_eq!(carrier.name, "ForkJoinPool-1-worker-1");
        let mounted = dump_of("25").threads.into_iter().find(|thread| thread.is_virtual).expect("it is mounted");
        assert_eq!((mounted.number, mounted.to_string().as_str()), (38, "virtual thread #38"));
    }

    fn dump_of(jdk: &str) -> ThreadDump {
        let path = format!("{}/tests/dumps/jdk{jdk}.txt", env!("CARGO_MANIFEST_DIR"));
        ThreadDump::parse(&std::fs::read_to_string(path).expect("it is there"))
    }

    #[test]
    fn a_wait_whose_object_is_not_named_holds_nothing() {
        let dump = ThreadDump::parse(
            "\"a\" #1 cpu=1.00ms\n   java.lang.Thread.State: WAITING (on object monitor)\n\
             \tat java.lang.Object.wait(Native Method)\n\t- waiting on <no object reference available>\n\
             \tat a.B.c(B.java:1)\n\t- locked <0x10> (a a.B)\n\t- locked <0x20> (a a.C)\n",
        );
        let thread = &dump.threads[0];
        assert_eq!(thread.holds.iter().map(|lock| lock.address).collect::<Vec<_>>(), [Some(0x20)]);
        assert!(matches!(&thread.wait, Some(Wait { kind: WaitKind::Notify, lock }) if lock.address == Some(0x10)));
    }

    #[test]
    fn who_ran_meanwhile_is_not_unmoved() {
        let text = |cpu, line| format!("\"a\" #1 cpu={cpu}ms\n\tat a.B.c(B.java:{line})\n\"b\" #2\n");
        let unmoved = |cpu, line| {
            let (before, after) = (ThreadDump::parse(&text("1.00", 1)), ThreadDump::parse(&text(cpu, line)));
            after.unmoved_since(&before).len()
        };
        assert_eq!((unmoved("1.00", 1), unmoved("1.01", 1), unmoved("1.00", 2)), (1, 0, 0));
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in "(\"?[a-z#<>0-9() .=\t\n-]{0,40}){0,20}") {
            let _ = ThreadDump::parse(&text);
        }

        #[test]
        fn no_damage_to_a_dump_breaks_the_reader(at in any::<prop::sample::Index>(), with in "\\PC{0,5}", cut in 0_usize..400) {
            let text = include_str!("../tests/dumps/jdk25.txt");
            let from = at.index(text.len());
            let to = (from + cut).min(text.len());
            let damaged = [&text[..from], &with, &text[to..]].concat();
            let dump = ThreadDump::parse(&damaged);
            let _ = (crate::Waits::of(&dump).deadlocks().len(), dump.groups().len());
        }
    }
}
