//! One run: everything about it is drawn from its seed.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use bci_tests::jdk::{self, Jdk};
use bci_tests::jdwp;

use super::acts::{self, Act, Moment, Timed};
use super::attach::{self, Recording};
use super::flags::{self, Flag, Gc};
use super::modes::Mode;
use super::place::Place;
use super::programs::{PROGRAMS, Program};
use super::request::Request;
use crate::random::Random;

/// How often several flags are tried before there are fewer of them.
const FLAGS: u64 = 4;

/// What may be drawn.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// Programs.
    pub(super) programs: Vec<Program>,
    /// JDKs.
    pub(super) jdks: Vec<&'static Jdk>,
    /// Names of collectors; all if there is none.
    pub(super) collectors: Vec<String>,
    /// Threads are interrupted in each run, as often as can be.
    pub(super) samples: bool,
    /// JVMs are recorded by attaching.
    pub(super) attach: bool,
}

impl Choice {
    /// Programs and releases by name, all if none is named; an error names what there is.
    pub(super) fn of(request: &Request) -> Result<Self, String> {
        let Request { only: programs, jdk: releases, collector: collectors, .. } = request;
        let named = |program: &&Program| programs.is_empty() || programs.iter().any(|name| name == program.name);
        let is_left_out = |program: &Program| request.short && program.is_long;
        if let Some(name) = programs.iter().find(|name| PROGRAMS.iter().all(|program| program.name != **name)) {
            let all: Vec<&str> = PROGRAMS.iter().map(|program| program.name).collect();
            return Err(format!("there is no program '{name}': choose among {}", all.join(", ")));
        }
        let jdks: Vec<&Jdk> =
            jdk::all().iter().filter(|jdk| releases.is_empty() || releases.contains(&jdk.feature)).collect();
        let runs = |program: &&Program| jdks.iter().any(|jdk| program.runs_on(jdk));
        let programs = PROGRAMS.iter().filter(named).filter(|p| !is_left_out(p)).filter(runs).copied();
        let choice = Self {
            programs: programs.collect(),
            jdks,
            collectors: collectors.clone(),
            samples: request.samples,
            attach: request.attach,
        };
        if choice.programs.is_empty() || choice.jdks.iter().all(|jdk| choice.collectors_of(jdk).is_empty()) {
            return Err("nothing is left to run: no JDK that is here has the collector, or runs the program".into());
        }
        Ok(choice)
    }

    fn collectors_of(&self, jdk: &Jdk) -> Vec<Gc> {
        let is_wanted = |gc: &Gc| self.collectors.is_empty() || self.collectors.iter().any(|name| name == gc.name);
        flags::collectors(jdk).into_iter().filter(is_wanted).collect()
    }
}

/// A run.
#[derive(Clone, Debug)]
pub(super) struct Case {
    /// What gives it again.
    pub(super) seed: u64,
    /// Which program.
    pub(super) program: Program,
    /// On which JVM.
    pub(super) jdk: &'static Jdk,
    /// With which collector.
    pub(super) gc: Gc,
    /// With which further options of the JVM.
    pub(super) flags: Vec<Flag>,
    /// With which options of the agent; none if recordings are made later.
    pub(super) mode: Mode,
    /// What is recorded by attaching; nothing if the agent is there from the start.
    pub(super) recordings: Vec<Recording>,
    /// What is done to it.
    pub(super) acts: Vec<Timed>,
    /// The size of its work, in percent.
    pub(super) scale: u32,
}

impl Case {
    /// Whether the JVM has this option.
    pub(super) fn has_flag(&self, flag: &str) -> bool {
        self.flags.iter().any(|known| known.flags.contains(&flag))
    }

    /// What a seed gives.
    pub(super) fn draw(seed: u64, choice: &Choice) -> Self {
        let mut random = Random::of(seed);
        let (program, jdk, gc) = loop {
            let program = random.pick(&choice.programs);
            let jdk = random.pick(&choice.jdks);
            let collectors = choice.collectors_of(jdk);
            if !program.runs_on(jdk) || collectors.is_empty() {
                continue;
            }
            let gc = random.pick(&collectors);
            // What takes a minute is drawn one time in ten; what never collects has no full heap to try.
            let is_unfit = gc.never_collects && (program.fills_heap || program.is_long);
            if !is_unfit && (!program.is_long || random.once_in(10) || choice.programs.len() == 1) {
                break (program, jdk, gc);
            }
        };
        let mut drawn: Vec<Flag> = Vec::new();
        let known = flags::flags(jdk);
        for _ in 0..random.below(FLAGS) {
            let flag = random.pick(&known);
            if drawn.iter().all(|other| other.group != flag.group) && flag.is_fair(jdk, gc, &drawn) {
                drawn.push(flag);
            }
        }
        let (mode, recordings, moment) = if choice.attach {
            let recordings = attach::draw(&mut random, program.fills_heap, choice.samples);
            (Mode::default(), recordings, Moment::Later)
        } else {
            let mode = Mode::draw(&mut random, program.fills_heap, choice.samples);
            let requests_dumps = mode.dumps_at("request");
            (mode, Vec::new(), Moment::Start { requests_dumps })
        };
        let acts = acts::draw(&mut random, moment, jdwp::is_there(jdk));
        let is_slow = drawn.iter().any(|flag| flag.is_slow);
        let part = match program.is_long {
            true => 100,
            false if is_slow || gc.never_collects => 20,
            // There is to be time for several recordings.
            false if choice.attach && !program.fills_heap => random.pick(&[200, 400, 800]),
            false => random.pick(&[30, 100, 100, 200]),
        };
        Self { seed, program, jdk, gc, flags: drawn, mode, recordings, acts, scale: program.scale * part / 100 }
    }

    /// Whether it is recorded by attaching.
    pub(super) fn is_attached(&self) -> bool {
        !self.recordings.is_empty()
    }

    /// How many recordings may follow each other. After each one that rewrote classes the JVM compiles everything anew, which is most of
    /// what a slow one does.
    pub(super) fn most_recordings(&self) -> usize {
        if self.flags.iter().any(|flag| flag.is_slow) { 4 } else { 100 }
    }

    /// The same with that mode, which is judged on its own.
    pub(super) fn with_mode(&self, mode: &Mode) -> Self {
        Self { mode: mode.clone(), ..self.clone() }
    }

    /// The JVM with this run's options, and with the agent if there are options for it.
    pub(super) fn command(&self, place: &Place, dir: &Path, with_agent: bool) -> Command {
        let mut command = self.java(place, dir, self.gc, &self.flags);
        // Both orders of the two agents are tried.
        let is_debugged = self.acts.iter().any(|timed| matches!(timed.act, Act::Debugger(_)));
        let debugger = is_debugged.then_some(jdwp::OPTION);
        let is_first = self.seed.is_multiple_of(2);
        command.args(debugger.filter(|_| is_first));
        if with_agent && !self.is_attached() {
            command.arg(self.agent(place, dir));
        }
        command.args(debugger.filter(|_| !is_first));
        self.add_program(place, &mut command);
        command
    }

    /// The program as it is usually run: what it prints and returns does not depend on the JVM's options.
    pub(super) fn plain_command(&self, place: &Place, dir: &Path) -> Command {
        let mut command = self.java(place, dir, flags::collectors(self.jdk)[0], &[]);
        self.add_program(place, &mut command);
        command
    }

    /// What of it decides what the program prints.
    pub(super) fn plain_key(&self) -> (&'static str, String, u32) {
        (self.program.name, self.jdk.home.display().to_string(), self.scale)
    }

    fn java(&self, place: &Place, dir: &Path, gc: Gc, flags: &[Flag]) -> Command {
        let mut command = self.jdk.tool("java");
        // Options that reach every JVM would change what is compared.
        for variable in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"] {
            command.env_remove(variable);
        }
        command.current_dir(dir);
        command.args(["-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=hs_err.log"]);
        // Otherwise the VM warns where the program prints (JEP 451).
        command.args(self.is_attached().then_some("-XX:+EnableDynamicAgentLoading"));
        let heap = if gc.never_collects { 3072 } else { self.program.heap };
        command.arg(format!("-Xmx{heap}m")).args(gc.flags);
        command.args(flags.iter().flat_map(|flag| flag.flags));
        let redefiner = place.redefiner.display().to_string();
        command.args(self.program.flags.iter().map(|flag| flag.replace("{redefiner}", &redefiner)));
        command
    }

    fn agent(&self, place: &Place, dir: &Path) -> OsString {
        let mut options = format!("file={}", dir.join(self.mode.trace_name()).display());
        for (name, value) in self.mode.values(dir) {
            options += &format!(",{name}={value}");
        }
        place.martini.agent_path(&options)
    }

    fn add_program(&self, place: &Place, command: &mut Command) {
        let (class, args) = self.program.main;
        command.arg("-cp").arg(&place.classes).arg("torture.Main").arg(class).arg(self.scale.to_string()).args(args);
    }

    /// Everything that was drawn, in a few lines.
    pub(super) fn described(&self) -> String {
        let flags: Vec<&str> = self.flags.iter().flat_map(|flag| flag.flags).copied().collect();
        let of = |recording: &Recording| format!("{} for {} ms", recording.mode.described(), recording.millis);
        let recordings: Vec<String> = self.recordings.iter().map(of).collect();
        let agent = if self.is_attached() { recordings.join("; then ") } else { self.mode.described() };
        let acts: Vec<String> =
            self.acts.iter().map(|timed| format!("{} after {} ms", timed.act.name(), timed.millis)).collect();
        format!(
            "{} ({} %) on JDK {} ({}), {}; JVM: {}; agent: {}; from outside: {}",
            self.program.name,
            self.scale,
            self.jdk.build,
            self.jdk.vendor,
            self.gc.name,
            or_none(flags.join(" ")),
            agent,
            or_none(acts.join(", ")),
        )
    }
}

fn or_none(text: String) -> String {
    if text.is_empty() { "nothing".into() } else { text }
}
