//! What may be in the way of attaching, looked at one by one.

use std::fs::File;
use std::path::Path;

use attach::{AgentAnswer, Jvm, Pid, Process, Request, Target};
use rustix::fs::OFlags;

use crate::attach::agent_file;
use crate::attach::recording::{self, OLDEST};
use crate::attach::stage::Stage;
use crate::exit;
use crate::launch::glibc;
use crate::launch::{library, program};
use crate::render::human::bytes;

/// The newest Java that was tried.
const NEWEST: u32 = 25;
/// A trace needs some room.
const LEAST_ROOM: u64 = 256 << 20;
/// Agents of others, by the names of their files, and whether they get in each other's way.
const AGENTS: [(&str, &str); 6] = [
    ("libasyncProfiler.so", "async-profiler: do not sample allocations or CPU time with both at once"),
    ("libjdwp.so", "a debugger: a suspended program writes no trace"),
    ("libinstrument.so", "Java agents: classes they change are rewritten in their changed form"),
    ("liblagent.so", "honest-profiler: do not sample with both at once"),
    ("libyjpagent.so", "YourKit: do not sample allocations with both at once"),
    ("libjprofilerti.so", "JProfiler: do not sample allocations with both at once"),
];

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is as it should be.
    Yes,
    /// It is in the way.
    No,
    /// It is not in the way, and good to know.
    Note,
}

impl Verdict {
    /// A word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Verdict::Yes => "yes",
            Verdict::No => "no",
            Verdict::Note => "note",
        }
    }
}

/// Something that was looked at.
#[derive(Debug)]
pub(crate) struct Check {
    /// What.
    pub(crate) name: String,
    pub(crate) verdict: Verdict,
    /// What was found, and what to do where it is in the way.
    pub(crate) why: String,
}

impl Check {
    fn new(name: &str, verdict: Verdict, why: impl Into<String>) -> Check {
        Check { name: name.to_owned(), verdict, why: why.into() }
    }

    fn of<T>(name: &str, result: anyhow::Result<T>, why: impl FnOnce(T) -> String) -> Check {
        match result {
            Ok(found) => Check::new(name, Verdict::Yes, why(found)),
            Err(error) => Check::new(name, Verdict::No, exit::sentence(&error)),
        }
    }
}

/// What is so on this machine, for any JVM.
pub(crate) fn of_machine() -> Vec<Check> {
    vec![
        Check::of("agent", library::find(None), |path| path.display().to_string()),
        setting("perf events", "/proc/sys/kernel/perf_event_paranoid", "samples come from timers"),
        setting("ptrace", "/proc/sys/kernel/yama/ptrace_scope", "the JVM loads the agent itself"),
    ]
}

/// A setting of the kernel that other profilers need, and we do not.
fn setting(name: &str, path: &str, instead: &str) -> Check {
    let value =
        std::fs::read_to_string(path).map_or_else(|_| "is not set".into(), |value| format!("is {}", value.trim()));
    let setting = path.rsplit('/').next().unwrap_or_default();
    Check::new(name, Verdict::Yes, format!("not needed: {instead}, so {setting} does not matter (it {value})"))
}

/// What is so of a process. At the end it is asked for its version, as an attach would; and the agent, if it is there or is to be loaded,
/// for what it could do.
pub(crate) fn of_process(pid: u32, loads: bool) -> Vec<Check> {
    let target = match recording::target(pid) {
        Ok(target) => target,
        Err(error) => return vec![Check::new("JVM", Verdict::No, error.to_string())],
    };
    let jvm = Process::find(Pid(pid)).ok().and_then(Jvm::of);
    let mapped = target.process().mapped().unwrap_or_default();
    let mut checks = vec![user(&target), java(jvm.as_ref())];
    let agent = agent_file::own(target.process());
    let platform = agent_file::platform(target.process());
    checks.push(match agent.as_ref().ok().and_then(|agent| program::misfit(platform, agent)) {
        None => Check::new("platform", Verdict::Yes, "the agent fits the JVM"),
        Some(why) => Check::new("platform", Verdict::No, format!("it {why}; use a Martini built for it")),
    });
    checks.extend(agent.ok().and_then(|agent| c_library(&target, &agent, &mapped)));
    checks.push(files(&target));
    checks.extend(execution(&target));
    checks.extend(room(&target));
    checks.extend(filter(&target));
    checks.extend(agents(&mapped));
    checks.push(match target.switch("EnableDynamicAgentLoading") {
        Some(false) => Check::new(
            "loading",
            Verdict::No,
            "-XX:-EnableDynamicAgentLoading is set; start the JVM \
                                                           without it",
        ),
        None if jvm.as_ref().and_then(Jvm::feature).is_some_and(|feature| feature >= 21) => {
            let why = "the JVM will print a warning (JEP 451); start it with -XX:+EnableDynamicAgentLoading to avoid \
                       that";
            Check::new("loading", Verdict::Note, why)
        }
        _ => Check::new("loading", Verdict::Yes, "the JVM allows loading agents"),
    });
    let asked = target.execute("jcmd", &["VM.version"]).map_err(anyhow::Error::from);
    let answers = asked.is_ok();
    checks.push(Check::of("answers", asked, |_| "the JVM answered a request".to_owned()));
    if answers {
        checks.extend(abilities(&target, loads));
    }
    checks
}

/// What the agent says that it could do in this JVM.
fn abilities(target: &Target, loads: bool) -> Vec<Check> {
    const NAME: &str = "engines";
    let ask = || -> anyhow::Result<Option<AgentAnswer>> {
        let loaded = agent_file::loaded(target)?;
        let placed = (loaded.is_none() && loads).then(|| agent_file::place(target)).transpose()?;
        let library = loaded.as_deref().or(placed.as_deref());
        let answer = library.map(|library| target.ask(library, Request::Check, "")).transpose();
        placed.iter().for_each(|copy| agent_file::remove_copy(target, copy));
        Ok(answer?)
    };
    match ask() {
        Ok(Some(answer)) => {
            let checks = answer.pairs().filter_map(|(key, text)| {
                let (name, why) = text.split_once(": ")?;
                let verdict = if key == "yes" { Verdict::Yes } else { Verdict::Note };
                Some(Check::new(name, verdict, why))
            });
            checks.collect()
        }
        Ok(None) => {
            let why = "not checked: this needs the agent in the JVM; use --load to load it";
            vec![Check::new(NAME, Verdict::Note, why)]
        }
        Err(error) => vec![Check::new(NAME, Verdict::No, exit::sentence(&error))],
    }
}

fn user(target: &Target) -> Check {
    let (owner, own) = (target.process().owner().uid, rustix::process::geteuid());
    match owner == own.as_raw() {
        true => Check::new("user", Verdict::Yes, "the JVM is yours"),
        false => Check::new("user", Verdict::Yes, format!("the JVM belongs to user {owner}, and you are root")),
    }
}

fn java(jvm: Option<&Jvm>) -> Check {
    let Some((version, feature)) = jvm.and_then(|jvm| jvm.version.as_deref().zip(jvm.feature())) else {
        return Check::new("Java", Verdict::Note, "cannot read its version");
    };
    match feature {
        ..OLDEST => Check::new("Java", Verdict::No, format!("{version}; the agent needs {OLDEST} or newer")),
        OLDEST..=NEWEST => Check::new("Java", Verdict::Yes, version),
        _ => Check::new("Java", Verdict::Note, format!("{version} is newer than the tested versions (up to {NEWEST})")),
    }
}

/// Whether the JVM's C library is new enough for the agent.
fn c_library(target: &Target, agent: &Path, mapped: &[String]) -> Option<Check> {
    let needed = glibc::newest(File::open(agent).ok()?).ok()??;
    let path = mapped.iter().find(|path| path.ends_with("/libc.so.6"))?;
    let file = target.root().open(Path::new(path), OFlags::RDONLY | OFlags::NONBLOCK).ok()?;
    let offered = glibc::newest(File::from(file)).ok()??;
    Some(match needed <= offered {
        true => Check::new("C library", Verdict::Yes, format!("glibc {offered}; the agent needs {needed}")),
        false => {
            let why = format!("glibc {offered}, but the agent needs {needed}; build Martini on a system that old");
            Check::new("C library", Verdict::No, why)
        }
    })
}

fn files(target: &Target) -> Check {
    let why = match Stage::is_needed(target) {
        false => return Check::new("files", Verdict::Yes, "the JVM sees the same files as you"),
        true if target.shares_files() => "the JVM belongs to another user",
        true => "the JVM is in a container",
    };
    Check::new("files", Verdict::Note, format!("{why}: the trace goes to its /tmp and is copied out at the end"))
}

/// Whether a copy of the agent could be loaded.
fn execution(target: &Target) -> Option<Check> {
    let is_at_hand = target.shares_files() || agent_file::loaded(target).is_ok_and(|loaded| loaded.is_some());
    (!is_at_hand && target.tmp().is_without_execution()).then(|| {
        let why = "the agent must be copied to the JVM's /tmp, which is mounted noexec; remount it without noexec, or \
                   start the JVM with the agent (-agentpath)";
        Check::new("loading from /tmp", Verdict::No, why)
    })
}

/// Whether there is room for a trace.
fn room(target: &Target) -> Option<Check> {
    let (place, path) = match Stage::is_needed(target) {
        true => ("/tmp of the JVM", target.tmp().path()),
        false => ("this folder", ".".into()),
    };
    let found = rustix::fs::statvfs(&path).ok()?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    Some(match free < LEAST_ROOM {
        true => Check::new("room", Verdict::No, format!("{} free in {place}; make room, or use --limit", bytes(free))),
        false => Check::new("room", Verdict::Yes, format!("{} free in {place}", bytes(free))),
    })
}

/// Whether system calls of the JVM are filtered.
fn filter(target: &Target) -> Option<Check> {
    let status = target.process().read("status").ok()?;
    let status = String::from_utf8_lossy(&status);
    let mode = status.lines().find_map(|line| line.strip_prefix("Seccomp:"))?.trim();
    Some(match mode {
        "0" => Check::new("timers", Verdict::Yes, "no system call filter (seccomp) blocks timers"),
        _ => {
            let why = "system calls are filtered (seccomp): if timer_create is blocked, --cpu and --wall report it; \
                       everything else works";
            Check::new("timers", Verdict::Note, why)
        }
    })
}

fn agents(mapped: &[String]) -> Vec<Check> {
    let has = |name: &str| mapped.iter().any(|path| path.rsplit('/').next() == Some(name));
    let others = AGENTS.iter().filter(|(name, _)| has(name));
    let mut checks: Vec<Check> = others.map(|(_, what)| Check::new("other agents", Verdict::Note, *what)).collect();
    if agent_file::among(mapped).is_some() {
        let why = "already loaded; see `martini status`";
        checks.push(Check::new("Martini's agent", Verdict::Note, why));
    }
    checks
}
