//! Options whose meaning is settled.

use std::path::PathBuf;
use std::time::Duration;

use trace::file::IfTaken;
use trace::filter::FilterSet;

use super::dump::DumpOptions;
use super::method::{MethodName, MethodPattern};

/// How allocations are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeapMode {
    /// Every object, also those that the JIT would remove.
    #[default]
    Events,
    /// The number of objects and bytes that each allocation site makes, by rewritten bytecode.
    Counts,
    /// Every object, by the events of the JVM.
    Vm,
    /// Not at all.
    Off,
}

impl HeapMode {
    /// The option's value.
    pub fn as_str(self) -> &'static str {
        match self {
            HeapMode::Events => "events",
            HeapMode::Counts => "counts",
            HeapMode::Vm => "vm",
            HeapMode::Off => "off",
        }
    }
}

/// How the trace is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// One XML document.
    #[default]
    Xml,
    /// A zip with one XML document, which TPTP's importer takes.
    Zip,
}

/// How the owners of contended monitors are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owners {
    /// From HotSpot's memory, without their stacks.
    WithoutStacks,
    /// From HotSpot's memory, with their stacks.
    WithStacks,
    /// By JVMTI's `GetObjectMonitorUsage`, with their stacks.
    ByJvmti,
}

/// How the stack of the current thread is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stacks {
    /// By its return addresses, in HotSpot's memory.
    ByAddresses,
    /// By JVMTI's `GetStackTrace` each time.
    ByJvmti,
}

/// What is recorded of threads that wait for locks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockOptions {
    /// Parks of `java.util.concurrent` too.
    pub juc: bool,
    /// How owners are found.
    pub owners: Owners,
    /// Frames of each stack; 0 for no stacks.
    pub stack_depth: usize,
    /// Locks get the names of the fields in which they lie.
    pub names: bool,
    /// The lock log, `%p` not yet replaced.
    pub log: Option<PathBuf>,
}

/// What is sampled of what threads do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleOptions {
    /// CPU time of a thread between two samples of it; `None` if there are none.
    pub cpu: Option<Duration>,
    /// Time between two looks at a thread, whether it runs or not; `None` if there are none.
    pub wall: Option<Duration>,
    /// Who delays safepoints is recorded.
    pub ttsp: bool,
}

impl SampleOptions {
    /// Whether threads are interrupted to see what they do.
    pub fn threads(&self) -> bool {
        self.cpu.is_some() || self.wall.is_some()
    }

    /// Whether anything is sampled.
    pub fn any(&self) -> bool {
        self.threads() || self.ttsp
    }
}

/// How the program can be asked whether it is warm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// By a file beside the trace.
    File,
    /// By that file, and by an MXBean.
    FileAndBean,
}

/// What a recording is filed under, beside those of other JVMs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// The service.
    pub service: Option<String>,
    /// Its release.
    pub release: Option<String>,
    /// The pod or container.
    pub pod: Option<String>,
}

/// What is recorded of requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestOptions {
    /// Entry points of common servers and frameworks.
    pub known: bool,
    /// Methods that the user named.
    pub methods: Vec<MethodPattern>,
}

impl RequestOptions {
    /// Whether requests are recorded.
    pub fn any(&self) -> bool {
        self.known || !self.methods.is_empty()
    }
}

impl Default for LockOptions {
    fn default() -> Self {
        LockOptions { juc: false, owners: Owners::WithStacks, stack_depth: 8, names: true, log: None }
    }
}

/// The options, resolved: defaults are in place, and options that depend on others are settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The string as given, for `agentCreate agentParameters`.
    pub given: String,
    /// How allocations are recorded.
    pub heap: HeapMode,
    /// The trace file, `%p` not yet replaced.
    pub file: PathBuf,
    /// What is done if there is such a file already.
    pub file_if_taken: IfTaken,
    /// How it is written.
    pub format: Format,
    /// What the trace is filed under, as far as the environment does not say it.
    pub labels: Labels,
    /// Which classes are reported.
    pub filters: FilterSet,
    /// The death of each object is recorded.
    pub lifetimes: bool,
    /// `objAlloc` carries method and line.
    pub allocsites: bool,
    /// The heap is walked at exit: `liveCount`.
    pub live: bool,
    /// Dumps of the heap.
    pub dump: DumpOptions,
    /// Frames per `stackDef`; 0 for none.
    pub stack_depth: usize,
    /// With `heap=counts`, the least time between two writings of the counts so far; zero for none before the end.
    pub every: Duration,
    /// Bytes between two samples of the sampler beside counters; `None` if there is none.
    pub callers_bytes: Option<u32>,
    /// Bytes between two samples of allocated objects, which are followed as long as they live; `None` if there are none.
    pub sampled_bytes: Option<u32>,
    /// What is sampled of what threads do.
    pub samples: SampleOptions,
    /// The most threads with which a JVM is asked for thread dumps; `None` for no dumps.
    pub thread_dump: Option<u32>,
    /// Initialisers, compilations and the JVM's own counters are recorded.
    pub warm_up: bool,
    /// What is recorded of requests.
    pub requests: RequestOptions,
    /// How the program can be asked whether it is warm; `None` if it is not watched for that.
    pub readiness: Option<Readiness>,
    /// Methods whose first entry is marked in the trace.
    pub marks: Vec<MethodName>,
    /// Bytes of text after which the trace is ended.
    pub limit_bytes: Option<u64>,
    /// Bytes of records that may wait for the writer.
    pub buffer_bytes: usize,
    /// What is recorded of threads that wait for locks; `None` if nothing is.
    pub locks: Option<LockOptions>,
    /// What HotSpot keeps in its private memory is used.
    pub internals: bool,
    /// How stacks are found.
    pub stacks: Stacks,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            given: String::new(),
            heap: HeapMode::default(),
            file: PathBuf::from("martini-%p.trcxml"),
            file_if_taken: IfTaken::Next,
            format: Format::default(),
            labels: Labels::default(),
            filters: FilterSet::default(),
            lifetimes: true,
            allocsites: false,
            live: false,
            dump: DumpOptions::default(),
            stack_depth: 0,
            every: Duration::from_secs(1),
            callers_bytes: None,
            sampled_bytes: None,
            samples: SampleOptions::default(),
            thread_dump: None,
            warm_up: false,
            requests: RequestOptions::default(),
            readiness: None,
            marks: Vec::new(),
            limit_bytes: None,
            buffer_bytes: 64 << 20,
            locks: None,
            internals: true,
            stacks: Stacks::ByAddresses,
        }
    }
}

impl Options {
    /// Frames to find for each allocation.
    pub fn frames(&self) -> usize {
        self.stack_depth.max(usize::from(self.allocsites))
    }
}
