//! Dumps of all threads (`threaddump`): what each does when an attached recording begins, and when it ends. They show what threads wait
//! for since before the recording.
//!
//! The JVM is asked as `jcmd PID Thread.print` asks it. Not with `-l`, which looks for locks of `java.util.concurrent` and their owners
//! by walking the heap (160 ms for each GiB, measured): who owns what a thread is parked for is read from the two objects instead.

mod section;

use std::fmt::Write;
use std::sync::OnceLock;

use jvmti::{HeapRoom, Jni, run_diagnostic_command};

use agent_base::clock::Ticks;
use agent_base::message::message;
use agent_base::mutex::Mutex;
use agent_core::core::Core;
use agent_core::core::context::inside;
use agent_core::core::feature::{End, Feature};
use agent_trace::Section;
use section::ThreadDumpSection;

use super::locks::Blockers;

/// The JVM hands the text over as a string in its heap: so much of a thread, with what it needs to make it.
const BYTES_OF_THREAD: u64 = 32 << 10;
/// Room in the heap that is left to the program.
const LEAST_ROOM: u64 = 16 << 20;

/// A dump.
struct Dump {
    time: Ticks,
    text: String,
    /// As the element has them.
    owners: String,
}

/// The feature.
pub(crate) struct ThreadDumps {
    core: &'static Core,
    /// With more threads than these none is taken.
    most: u32,
    blockers: OnceLock<&'static Blockers>,
    taken: Mutex<Vec<Dump>>,
}

impl ThreadDumps {
    /// For a recording.
    pub(crate) fn new(core: &'static Core, most: u32) -> ThreadDumps {
        ThreadDumps { core, most, blockers: OnceLock::new(), taken: Mutex::default() }
    }

    /// What it writes into the trace.
    pub(crate) fn section(&'static self) -> Box<dyn Section> {
        Box::new(ThreadDumpSection(self))
    }

    fn take(&self, jni: Jni) {
        match inside(self.core, jni, || self.dump(jni)) {
            Some(Ok(dump)) => self.taken.lock().push(dump),
            Some(Err(why)) => message(&format!("threads are not dumped: {why}")),
            None => self.core.count_lost("thread dumps", 1),
        }
    }

    /// # Errors
    /// Why there is none: part of a sentence.
    fn dump(&self, jni: Jni) -> Result<Dump, String> {
        let owners = self.owners(jni)?;
        let time = Ticks::now();
        let text = run_diagnostic_command(jni, c"Thread.print").ok_or("this JVM has no diagnostic commands")?;
        let text = text.map_err(|error| format!("the JVM refuses it ({error})"))?;
        Ok(Dump { time, text: trace::modified_utf8::decode(&text), owners })
    }

    /// Who owns what threads are parked for. Threads go on meanwhile, which matters little: of waits that last nothing changes.
    ///
    /// # Errors
    /// There are too many threads, or there is too little room in the heap to dump them.
    fn owners(&self, jni: Jni) -> Result<String, String> {
        let jvm = self.core.jvm;
        let threads = jvm.env.get_all_threads().map_err(|error| error.to_string())?;
        jni.expect_local_refs(threads.len() + 2);
        let refusal = self.refusal(jni, threads.len());
        let mut owners = String::new();
        for &thread in threads.iter() {
            // SAFETY: local references, live until they are deleted here.
            unsafe {
                if refusal.is_none()
                    && let Some((blocker, owner)) = self.blockers.get().and_then(|all| all.parked_on(jni, thread))
                {
                    if !owner.is_null()
                        && let (Some(waiter), Some(owner)) =
                            (jvm.threads.number(jni, thread), jvm.threads.number(jni, owner))
                    {
                        let blank = if owners.is_empty() { "" } else { " " };
                        // It is written to memory.
                        let _ = write!(owners, "{blank}{}:{}", waiter.0, owner.0);
                    }
                    jni.delete_local_ref(blocker);
                    jni.delete_local_ref(owner);
                }
                jni.delete_local_ref(thread);
            }
        }
        refusal.map_or(Ok(owners), Err)
    }

    /// Why so many threads are not dumped.
    fn refusal(&self, jni: Jni, threads: usize) -> Option<String> {
        if threads > self.most as usize {
            return Some(format!(
                "there are {threads} threads, and dumping them might stop the program for longer than 0.2 s; \
                 --threaddump all dumps them"
            ));
        }
        let needed = LEAST_ROOM + BYTES_OF_THREAD * threads as u64;
        let has_room = HeapRoom::now(jni).is_none_or(|room| room.free >= needed);
        (!has_room).then(|| format!("the heap has no room for the text of {threads} threads"))
    }
}

impl Feature for ThreadDumps {
    fn begin(&'static self, jni: Jni) -> Result<(), String> {
        match Blockers::of(self.core, jni) {
            Ok(blockers) => drop(self.blockers.set(blockers)),
            Err(error) => {
                message(&format!("owners of java.util.concurrent locks are not dumped: {}", jni.cleared(error)))
            }
        }
        Ok(())
    }

    fn resume(&'static self, jni: Jni) {
        // At the start of a VM no thread has done anything yet.
        if self.core.is_late {
            self.take(jni);
        }
    }

    fn stop(&'static self, jni: Jni, end: End) {
        if end == End::Recording {
            self.take(jni);
        }
    }

    fn release(&'static self, _: Jni) {
        self.taken.lock().clear();
    }
}
