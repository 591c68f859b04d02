//! What happens to a JVM from outside while it runs.

use crate::random::Random;

/// Something that is done to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// A signal, by its name.
    Signal(&'static str),
    /// Stopped by the kernel, and continued a moment later.
    Stop,
    /// A command of `jcmd`; `{dir}` is the folder of the run.
    Jcmd(&'static [&'static str]),
    /// A debugger that stops all threads so many times.
    Debugger(u32),
    /// The file that asks the agent for something: the trace's name and this.
    Request(&'static str),
    /// A word of the command `martini`, for a JVM that is recorded by attaching.
    Martini(&'static str),
}

/// An act, and when: so many milliseconds after the program said that it begins, or after the act before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timed {
    /// What.
    pub(super) act: Act,
    /// When.
    pub(super) millis: u64,
}

const COMMANDS: &[&[&str]] = &[
    &["Thread.print", "-l"],
    &["JVMTI.data_dump"],
    &["GC.heap_dump", "{dir}/jcmd.hprof"],
    &["GC.class_histogram"],
    &["GC.run"],
    &["Compiler.codecache"],
    &["VM.classloader_stats"],
    &["VM.info"],
    &["Thread.dump_to_file", "{dir}/threads.json"],
    &["JFR.start", "name=torture", "settings=profile"],
];

impl Act {
    /// Whether it is to end the JVM.
    pub(super) fn ends(self) -> bool {
        matches!(self, Self::Signal("TERM" | "INT" | "HUP" | "KILL"))
    }

    /// Its name in the table.
    pub(super) fn name(self) -> String {
        match self {
            Self::Signal(signal) => format!("SIG{signal}"),
            Self::Stop => "SIGSTOP, SIGCONT".into(),
            Self::Jcmd(words) => format!("jcmd {}", words[0]),
            Self::Debugger(_) => "debugger".into(),
            Self::Request(what) => format!("TRACE{what}"),
            Self::Martini(word) => format!("martini {word}"),
        }
    }
}

/// What somebody can ask for while a JVM is recorded.
const WORDS: &[&str] = &["status", "snapshot", "dump", "stop"];

/// When the agent comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// With the JVM; dumps are made on request or not.
    Start { requests_dumps: bool },
    /// By attaching.
    Later,
}

/// Draws what happens: mostly nothing.
pub(super) fn draw(random: &mut Random, moment: Moment, has_debugger: bool) -> Vec<Timed> {
    let mut acts = Vec::new();
    let mut add = |random: &mut Random, act| acts.push(Timed { act, millis: random.below(400) });
    match moment {
        Moment::Start { requests_dumps } => {
            if requests_dumps {
                add(random, Act::Request(".dump"));
            }
            if random.once_in(8) {
                add(random, Act::Request(".live"));
            }
        }
        Moment::Later => {
            for _ in 0..random.below(4) {
                let word = random.pick(WORDS);
                add(random, Act::Martini(word));
            }
        }
    }
    match random.below(10) {
        0 => (0..3).for_each(|_| add(random, Act::Signal("QUIT"))),
        1 => {
            let words = random.pick(COMMANDS);
            add(random, Act::Jcmd(words));
        }
        2 => add(random, Act::Stop),
        3 => {
            let signal = random.pick(&["TERM", "TERM", "INT", "HUP", "KILL"]);
            add(random, Act::Signal(signal));
        }
        4 if has_debugger => add(random, Act::Debugger(5)),
        _ => {}
    }
    acts
}
