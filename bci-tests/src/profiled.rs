//! A program under the agent: which JVM, which options, and what is expected of its trace.
//!
//! Unless a test says otherwise, the program has to end with status 0, and its trace has to be complete, valid by the validator and
//! by the strict schema. So what is left for a test is to compare.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::fs;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use crate::jdk::{self, Collector, Jdk, Mode};
use crate::process::{self, Finished, Running};
use crate::read::{self, Judged, TraceData};
use crate::schema::{self, Schema};
use crate::workdir::Workdir;
use crate::{java, martini};

/// The agent's option `heap`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heap {
    /// Every object, seen by rewritten code.
    Events,
    /// Sums per site.
    Counts,
    /// Every object, reported by the JVM.
    Vm,
    /// No objects.
    Off,
}

impl Heap {
    /// The value of the option.
    pub fn name(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Counts => "counts",
            Self::Vm => "vm",
            Self::Off => "off",
        }
    }
}

/// Whether the tests run in safe mode (`MARTINI_SAFE=1`), in which the agent uses nothing of HotSpot's private memory.
pub fn is_safe_mode() -> bool {
    std::env::var_os("MARTINI_SAFE").is_some_and(|value| value == "1")
}

/// What the agent asks for in safe mode with `heap=events`, where it leaves the flags of the JIT alone.
const FLAGS_OF_SAFE_MODE: [&str; 3] =
    ["-XX:-EliminateAutoBox", "-XX:-OptimizeStringConcat", "-XX:-EliminateAllocations"];

/// With any of these no object is an event.
const WITHOUT_EVENTS: [&str; 3] = ["heap=counts", "heap=vm", "heap=off"];

/// A program that is to run, with or without the agent.
#[derive(Debug)]
pub struct Profiled<'a> {
    jdk: &'a Jdk,
    dir: Workdir,
    file: PathBuf,
    options: Vec<String>,
    spelled: Option<String>,
    flags: Vec<OsString>,
    flags_behind: Vec<OsString>,
    class_path: OsString,
    through: Vec<OsString>,
    folder: Option<PathBuf>,
    main: OsString,
    args: Vec<OsString>,
    variables: Vec<(String, OsString)>,
    has_agent: bool,
    expected: Expected,
}

/// What is expected of the program and its trace.
#[derive(Clone, Debug)]
struct Expected {
    success: bool,
    judged: Judged,
    schemas: Vec<Schema>,
}

impl<'a> Profiled<'a> {
    /// A program on this JDK, with a folder of its own for its trace.
    pub fn on(jdk: &'a Jdk) -> Self {
        let dir = Workdir::new();
        Self {
            jdk,
            file: dir.join("app.trcxml"),
            dir,
            options: Vec::new(),
            spelled: None,
            flags: Vec::new(),
            flags_behind: Vec::new(),
            class_path: java::class_path().clone(),
            through: Vec::new(),
            folder: None,
            main: OsString::new(),
            args: Vec::new(),
            variables: Vec::new(),
            has_agent: true,
            expected: Expected { success: true, judged: Judged::Valid, schemas: vec![Schema::Strict] },
        }
    }

    /// The agent's option `heap`.
    #[must_use]
    pub fn heap(self, heap: Heap) -> Self {
        self.option("heap", heap.name())
    }

    /// An option of the agent.
    #[must_use]
    pub fn option(self, key: &str, value: impl Display) -> Self {
        self.options(&format!("{key}={value}"))
    }

    /// Options of the agent as they are written, separated by commas; none if there are no characters.
    #[must_use]
    pub fn options(mut self, options: &str) -> Self {
        self.options.extend((!options.is_empty()).then(|| options.to_owned()));
        self
    }

    /// All options of the agent in another spelling, or in a wrong one; `{file}` stands for the trace, which they have to name.
    #[must_use]
    pub fn spelled(mut self, options: &str) -> Self {
        self.spelled = Some(options.replace("{file}", &self.file.display().to_string()));
        self
    }

    /// The JVM's collector.
    #[must_use]
    pub fn collector(self, collector: Collector) -> Self {
        self.flags(collector.flags())
    }

    /// How the JVM runs bytecode.
    #[must_use]
    pub fn mode(self, mode: Mode) -> Self {
        self.flags(mode.flags())
    }

    /// Options of the JVM.
    #[must_use]
    pub fn flags<S: AsRef<OsStr>>(mut self, flags: &[S]) -> Self {
        self.flags.extend(flags.iter().map(|flag| flag.as_ref().to_owned()));
        self
    }

    /// Another agent beside ours: one in Java that begins in this class of the tests.
    ///
    /// # Panics
    /// If its jar cannot be made.
    #[must_use]
    pub fn agent_in_java(self, class: &str) -> Self {
        let (manifest, jar) = (self.dir().join("manifest"), self.dir().join("agent.jar"));
        let text = format!("Premain-Class: {class}\nCan-Retransform-Classes: true\nCan-Redefine-Classes: true\n");
        fs::write(&manifest, text).expect("a file");
        process::run(jdk::compiler().tool("jar").arg("cfm").args([&jar, &manifest])).success();
        self.flags(&[format!("-javaagent:{}", jar.display())])
    }

    /// Options of the JVM behind the one that starts the agent.
    #[must_use]
    pub fn flags_behind<S: AsRef<OsStr>>(mut self, flags: &[S]) -> Self {
        self.flags_behind.extend(flags.iter().map(|flag| flag.as_ref().to_owned()));
        self
    }

    /// The main class.
    #[must_use]
    pub fn main(mut self, class: &str) -> Self {
        self.main = class.into();
        self
    }

    /// Arguments of the program.
    #[must_use]
    pub fn args<S: AsRef<OsStr>>(mut self, args: &[S]) -> Self {
        self.args.extend(args.iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// An environment variable of the JVM.
    #[must_use]
    pub fn variable(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name.to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Jars behind the programs of `bci-tests/java` on the class path.
    #[must_use]
    pub fn jars(mut self, jars: impl IntoIterator<Item = PathBuf>) -> Self {
        let own = std::env::split_paths(java::class_path());
        self.class_path = std::env::join_paths(own.chain(jars)).expect("no colons");
        self
    }

    /// Nothing but this on the class path.
    #[must_use]
    pub fn class_path(mut self, jar: &Path) -> Self {
        self.class_path = jar.into();
        self
    }

    /// The folder in which the program runs.
    #[must_use]
    pub fn in_folder(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    /// The trace in another place, such as a named pipe.
    #[must_use]
    pub fn file(mut self, file: &Path) -> Self {
        self.file = file.to_owned();
        self
    }

    /// Without the agent, for comparison.
    #[must_use]
    pub fn without_agent(mut self) -> Self {
        self.has_agent = false;
        self.expected.schemas.clear();
        self.expected.judged = Judged::NotRead;
        self
    }

    /// The program may end in any way.
    #[must_use]
    pub fn any_status(mut self) -> Self {
        self.expected.success = false;
        self
    }

    /// Nobody can have written the trace's end.
    #[must_use]
    pub fn unfinished(mut self) -> Self {
        self.expected.judged = Judged::Unfinished;
        self
    }

    /// Checks the trace against the lenient schema too.
    #[must_use]
    pub fn both_schemas(mut self) -> Self {
        self.expected.schemas.push(Schema::Lenient);
        self
    }

    /// Leaves the schemas out: for traces of millions of elements that are like others, and for those that are no plain file.
    #[must_use]
    pub fn no_schema(mut self) -> Self {
        self.expected.schemas.clear();
        self
    }

    /// The trace is the test's business alone.
    #[must_use]
    pub fn trace_unread(mut self) -> Self {
        self.expected.judged = Judged::NotRead;
        self.no_schema()
    }

    /// The folder of its files.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// A command that starts the JVM: its arguments, behind which the JVM and its own come.
    #[must_use]
    pub fn through<S: AsRef<OsStr>>(mut self, command: &[S]) -> Self {
        self.through = command.iter().map(|word| word.as_ref().to_owned()).collect();
        self
    }

    /// The JVM option that starts the agent.
    fn agent(&self) -> OsString {
        let usual = || [&[format!("file={}", self.file.display())], &self.options[..]].concat().join(",");
        martini::built().agent_path(&self.spelled.clone().unwrap_or_else(usual))
    }

    fn command(&self) -> Command {
        let java = self.jdk.tool("java");
        let mut command = match self.through.split_first() {
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(java.get_program());
                command
            }
            None => java,
        };
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let has_events = !self.options.iter().any(|option| WITHOUT_EVENTS.iter().any(|heap| option.contains(heap)));
        let needs_flags = is_safe_mode() && self.has_agent && has_events;
        command.args(FLAGS_OF_SAFE_MODE.iter().filter(|_| needs_flags));
        command.args(&self.flags).args(self.has_agent.then(|| self.agent())).args(&self.flags_behind);
        command.arg("-cp").arg(&self.class_path).arg(&self.main).args(&self.args);
        command
    }

    /// Runs it to its end, and checks what is expected.
    #[track_caller]
    pub fn run(self) -> Ran {
        self.run_and_read()
    }

    /// The same, and gives what is wanted of the trace.
    #[track_caller]
    pub fn run_and_read<T: TraceData>(self) -> Ran<T> {
        self.start().finish_and_read()
    }

    /// Starts it.
    #[track_caller]
    pub fn start(self) -> Started {
        let running = Running::start(&mut self.command());
        Started { running, dir: self.dir, file: self.file, expected: self.expected }
    }
}

/// A program that a test talks to while it runs.
#[derive(Debug)]
pub struct Started {
    running: Running,
    /// The folder of its files.
    pub dir: Workdir,
    /// Its trace.
    pub file: PathBuf,
    expected: Expected,
}

impl Started {
    /// Waits for its end, and checks what is expected.
    #[track_caller]
    pub fn finish(self) -> Ran {
        self.finish_and_read()
    }

    /// The same, and gives what is wanted of the trace.
    #[track_caller]
    pub fn finish_and_read<T: TraceData>(self) -> Ran<T> {
        let Self { running, dir, file, expected } = self;
        let mut finished = running.finish();
        if expected.success {
            finished = finished.success();
        }
        for &schema in &expected.schemas {
            schema::check(&file, schema);
        }
        let trace = read::trace(&file, T::default(), expected.judged);
        Ran { finished, dir, file, trace }
    }
}

impl Deref for Started {
    type Target = Running;

    fn deref(&self) -> &Running {
        &self.running
    }
}

impl DerefMut for Started {
    fn deref_mut(&mut self) -> &mut Running {
        &mut self.running
    }
}

/// A program that has run.
#[derive(Debug)]
pub struct Ran<T = ()> {
    finished: Finished,
    /// The folder of its files.
    pub dir: Workdir,
    /// Its trace.
    pub file: PathBuf,
    /// What was wanted of the trace.
    pub trace: T,
}

impl<T> Ran<T> {
    /// How it ended.
    pub fn status(&self) -> ExitStatus {
        self.finished.status
    }

    /// Its standard output.
    pub fn out(&self) -> String {
        self.finished.out()
    }

    /// Its standard error.
    pub fn err(&self) -> String {
        self.finished.err()
    }
}
