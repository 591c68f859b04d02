//! Asks JVMs that run to load the agent, and the program `attach.Main`, which is busy while they are asked.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use attach::{AttachError, Pid, Process, Target};

use crate::jdk::Jdk;
use crate::process::{Running, wait_until};
use crate::workdir::Workdir;
use crate::{java, martini};

/// Has the JVM of that number load a library as an agent, with these options; its answer.
///
/// # Errors
/// It does not answer.
pub fn load(pid: u32, library: &Path, options: &str) -> Result<String, AttachError> {
    execute(pid, "load", &[library.to_str().expect("the target folder is text"), "true", options])
}

/// How many global and weak references native code has, as the JVM says below its threads.
///
/// # Errors
/// It does not answer.
pub fn references(pid: u32) -> Result<[usize; 2], AttachError> {
    let threads = execute(pid, "threaddump", &[])?;
    let line = threads.lines().find_map(|line| line.strip_prefix("JNI global refs: "));
    let numbers = line.and_then(|line| line.split_once(", weak refs: "));
    let numbers = numbers.and_then(|(strong, weak)| Some([strong.parse().ok()?, weak.trim().parse().ok()?]));
    Ok(numbers.unwrap_or_else(|| panic!("no numbers of references in {threads}")))
}

/// How many classes are loaded. The JVM's own counters take each redefinition for one more, and the statistics of loaders have old versions of
/// a class as long as they are kept: here those have the same line as the class.
///
/// # Errors
/// It does not answer.
pub fn loaded_classes(pid: u32) -> Result<usize, AttachError> {
    let hierarchy = execute(pid, "jcmd", &["VM.class_hierarchy"])?;
    Ok(hierarchy.lines().map(|line| line.trim_start_matches(['|', '-', ' '])).collect::<HashSet<_>>().len())
}

/// KiB of memory that a process has.
pub fn resident_kib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
    resident.and_then(|kib| kib.parse().ok()).expect("its memory")
}

/// How many objects live after a collection, and their bytes, as the JVM counts them.
///
/// # Errors
/// It does not answer.
pub fn living_objects(pid: u32) -> Result<(u64, u64), AttachError> {
    let histogram = execute(pid, "jcmd", &["GC.class_histogram"])?;
    let total = histogram.lines().find_map(|line| line.trim().strip_prefix("Total"));
    let numbers: Vec<u64> = total.iter().flat_map(|line| line.split_whitespace().flat_map(str::parse)).collect();
    let [objects, bytes] = numbers[..] else { panic!("no total in {histogram}") };
    Ok((objects, bytes))
}

/// The names of its threads that run Java, or could.
///
/// # Errors
/// It does not answer.
pub fn threads(pid: u32) -> Result<Vec<String>, AttachError> {
    let threads = execute(pid, "threaddump", &[])?;
    let name = |line: &str| {
        let (name, rest) = line.strip_prefix('"')?.split_once('"')?;
        rest.starts_with(" #").then(|| name.to_owned())
    };
    Ok(threads.lines().filter_map(name).collect())
}

fn execute(pid: u32, command: &str, arguments: &[&str]) -> Result<String, AttachError> {
    Ok(Target::open(Process::find(Pid(pid))?)?.execute(command, arguments)?.text)
}

/// The program, running in a folder of its own.
#[derive(Debug)]
pub struct Program {
    /// Its process.
    pub running: Running,
    dir: Workdir,
}

impl Program {
    /// Starts it; it is busy then.
    #[track_caller]
    pub fn start(jdk: &Jdk, flags: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::start_main(jdk, "attach.Main", flags, variables)
    }

    /// Starts another one, which prints that it is ready.
    #[track_caller]
    pub fn start_main(jdk: &Jdk, main: &str, flags: &[&str], variables: &[(&str, &str)]) -> Self {
        let dir = Workdir::new();
        let mut command = java::program(jdk, flags, main, &[]);
        command.current_dir(dir.path()).envs(variables.iter().copied());
        let mut running = Running::start(&mut command);
        running.wait_for("ready");
        Self { running, dir }
    }

    /// Where its trace goes.
    pub fn trace(&self) -> PathBuf {
        self.dir.join("app.trcxml")
    }

    /// Makes a request of the agent and waits for the answer, without its last line.
    #[track_caller]
    pub fn ask(&self, request: &str, rest: &str) -> String {
        let reply = self.dir.join("reply");
        fs::write(&reply, "").expect("a file");
        let options = format!("{request};{};{rest}", reply.display());
        load(self.running.pid(), &martini::built().agent, &options).expect("an answer of the JVM");
        let mut answer = String::new();
        wait_until(|| {
            answer = fs::read_to_string(&reply).expect("the reply");
            answer.ends_with("end\n")
        });
        fs::remove_file(reply).expect("it is there");
        answer.trim_end_matches("end\n").to_owned()
    }
}
