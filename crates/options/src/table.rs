//! The table of options.

use std::time::Duration;

use trace::filter::Rule;
use trace::model::FilterMode;

use super::draft::Draft;
use super::dump::{DumpContents, DumpFormat};
use super::error::OptionError;
use super::kind::{Choice, Kind, Word};
use super::memory;
use super::resolved::{Format, HeapMode, Owners, Readiness, Stacks};
use super::spec::{DefaultValue, Group, Need, OptionSpec};

const MAX_STACK_DEPTH: usize = 64;

/// Dumping more threads may stop the program for longer than a fifth of a second.
const FEW_THREADS: u32 = 500;
/// What the buffers of the agent take at least.
const MIN_BUFFER: u64 = 64 << 10;
/// No machine has use for larger ones.
const MAX_BUFFER: u64 = 1 << 40;

/// The option with that name, or with that old spelling.
pub fn find(name: &str) -> Option<&'static OptionSpec> {
    OPTIONS.iter().find(|option| option.name == name || option.old.contains(&name))
}

/// The option with that name, or the error that there is none.
pub(crate) fn require(name: &str) -> Result<&'static OptionSpec, OptionError> {
    find(name).ok_or_else(|| OptionError::Unknown {
        name: name.to_owned(),
        known: OPTIONS.iter().map(|option| option.name).collect::<Vec<_>>().join(", "),
    })
}

const fn choice(word: &'static str, means: &'static str) -> Choice {
    Choice { word, means }
}

const fn word(word: &'static str, means: &'static str, set: fn(&mut Draft)) -> Word {
    (choice(word, means), set)
}

/// What a row has unless it says otherwise.
const ROW: OptionSpec = OptionSpec {
    name: "",
    old: &[],
    group: Group::Heap,
    default: DefaultValue::Text(""),
    help: "",
    more: "",
    examples: &[],
    needs: Need::Nothing,
    kind: Kind::OneOf(&[]),
};

/// Every option, in the order of help.
pub static OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "heap",
        group: Group::Heap,
        kind: Kind::OneOf(&[
            word("events", "every object, even those the JIT would remove", |d| d.heap = Some(HeapMode::Events)),
            word("counts", "totals per allocation site, at the lowest cost", |d| d.heap = Some(HeapMode::Counts)),
            word(
                "vm",
                "every object the JVM reports; code is not rewritten, and the JIT removes objects as usual",
                |d| {
                    d.heap = Some(HeapMode::Vm);
                },
            ),
            word("off", "nothing", |d| d.heap = Some(HeapMode::Off)),
        ]),
        default: DefaultValue::Text("events; off if locks are recorded; counts with martini run"),
        help: "How to record allocations",
        more: "`martini run` uses `counts` unless an option asks for locks or single objects (`lifetimes`, \
               `allocsites`, `stack`).",
        examples: &["heap=counts"],
        ..ROW
    },
    OptionSpec {
        name: "lifetimes",
        group: Group::Heap,
        kind: Kind::Bool(|d, yes| d.options.lifetimes = yes),
        default: DefaultValue::Value("true"),
        help: "Record the death of each object",
        more: "A death is recorded after the garbage collection that frees the object (element `objFree`).",
        examples: &["lifetimes=false"],
        needs: Need::Objects,
        ..ROW
    },
    OptionSpec {
        name: "allocsites",
        group: Group::Heap,
        kind: Kind::Bool(|d, yes| d.options.allocsites = yes),
        default: DefaultValue::Value("false"),
        help: "Record the method and line of each allocation",
        examples: &["allocsites=true"],
        needs: Need::Objects,
        ..ROW
    },
    OptionSpec {
        name: "stack",
        group: Group::Heap,
        kind: Kind::Depth { max: MAX_STACK_DEPTH, set: |d, depth| d.options.stack_depth = depth },
        default: DefaultValue::Value("0"),
        help: "Record the call stack of each allocation, up to this many frames",
        more: "The innermost frames are kept. At most 64; 0 records no stacks.",
        examples: &["stack=16"],
        needs: Need::Objects,
        ..ROW
    },
    OptionSpec {
        name: "live",
        group: Group::Heap,
        kind: Kind::Bool(|d, yes| d.options.live = yes),
        default: DefaultValue::Value("false"),
        help: "At exit, run a garbage collection and count the surviving objects of each class",
        examples: &["live=true"],
        ..ROW
    },
    OptionSpec {
        name: "callers",
        old: &["estimate"],
        group: Group::Heap,
        kind: Kind::SizeOrOff {
            max: 1 << 30,
            usual: None,
            set: |d, bytes| d.options.callers_bytes = bytes.and_then(|bytes| u32::try_from(bytes).ok()),
        },
        default: DefaultValue::Text("off; 16k with martini run"),
        help: "Sample the call stacks of each allocation site, and how much the JIT removes there",
        more: "`martini run` defaults to `16k`. The JVM samples one object per SIZE bytes on average. A smaller SIZE \
               gives smaller error margins; SIZE grows automatically if samples would cost more than 1 % of a \
               processor.",
        examples: &["callers=512k"],
        needs: Need::Counts,
    },
    OptionSpec {
        name: "sampled",
        group: Group::Heap,
        kind: Kind::SizeOrOff {
            max: 1 << 30,
            usual: Some("512k"),
            set: |d, bytes| d.options.sampled_bytes = bytes.and_then(|bytes| u32::try_from(bytes).ok()),
        },
        default: DefaultValue::Value("off"),
        help: "Sample allocations with their call stacks, and track how long the objects live",
        more: "The JVM samples one object per SIZE bytes on average. No code is rewritten. SIZE grows automatically if \
               samples would cost more than 1 % of a processor. With `heap=counts`, `sampled` and `callers` share \
               their samples, at the smaller SIZE. Without `heap`, nothing else is recorded about allocations. Not \
               allowed with `heap=events` or `heap=vm`, which record every object.",
        examples: &["sampled=512k"],
        ..ROW
    },
    OptionSpec {
        name: "every",
        group: Group::Heap,
        kind: Kind::Seconds(|d, period| d.options.every = period),
        default: DefaultValue::Value("1"),
        help: "Flush counts and samples to the trace every SECONDS, in case the JVM is killed, and to show allocation \
               over time",
        more: "After ten flushes the interval grows to a tenth of the run so far, so a week has some hundred. Only \
               sites that changed are written, and only in the first half of a trace with a `limit`. With 0, counts \
               are written only at the end.",
        examples: &["every=10"],
        needs: Need::Totals,
        ..ROW
    },
    OptionSpec {
        name: "file",
        group: Group::Trace,
        kind: Kind::Path(|d, path| d.options.file = path),
        default: DefaultValue::Value("martini-%p.trcxml"),
        help: "Write the trace to this file; %p becomes the process id",
        more: "If a name with %p exists, the next free one is used, such as `martini-1-2.trcxml`. Any other existing \
               file must be a trace, and is replaced. With a named pipe, the JVM waits at its start for a reader, for \
               ten seconds at most; then the program runs unprofiled.",
        examples: &["file=app-%p.trcxml"],
        ..ROW
    },
    OptionSpec {
        name: "format",
        group: Group::Trace,
        kind: Kind::OneOf(&[
            word("xml", "plain XML", |d| d.options.format = Format::Xml),
            word("zip", "XML in a zip archive, for import into TPTP", |d| d.options.format = Format::Zip),
        ]),
        default: DefaultValue::Value("xml"),
        help: "The format of the trace",
        examples: &["format=zip"],
        ..ROW
    },
    OptionSpec {
        name: "service",
        group: Group::Trace,
        kind: Kind::Text { name: "NAME", set: |d, name| d.options.labels.service = Some(name) },
        default: DefaultValue::Text("what the environment says"),
        help: "File the trace under this service",
        more: "Written into the trace, by which `martini fleet` keeps the traces of many JVMs apart. The environment says it in \
               OTEL_SERVICE_NAME, or as `service.name` in OTEL_RESOURCE_ATTRIBUTES.",
        examples: &["service=checkout"],
        ..ROW
    },
    OptionSpec {
        name: "release",
        group: Group::Trace,
        kind: Kind::Text { name: "NAME", set: |d, name| d.options.labels.release = Some(name) },
        default: DefaultValue::Text("what the environment says"),
        help: "File the trace under this release of the service",
        more: "As `service`; the environment says it as `service.version` in OTEL_RESOURCE_ATTRIBUTES.",
        examples: &["release=1.4.2"],
        ..ROW
    },
    OptionSpec {
        name: "pod",
        group: Group::Trace,
        kind: Kind::Text { name: "NAME", set: |d, name| d.options.labels.pod = Some(name) },
        default: DefaultValue::Text("what the environment says"),
        help: "File the trace under this pod",
        more: "As `service`; the environment says it as `k8s.pod.name` in OTEL_RESOURCE_ATTRIBUTES, in POD_NAME, or in a pod as \
               HOSTNAME.",
        examples: &["pod=checkout-0"],
        ..ROW
    },
    OptionSpec {
        name: "mark",
        group: Group::Trace,
        kind: Kind::Method(|d, method| d.options.marks.push(method)),
        default: DefaultValue::Text("no mark"),
        help: "Mark the first call of this method in the trace",
        more: "Use it as a time in commands that read the trace: `--from METHOD`, `--to METHOD`. Counts are flushed at \
               each mark, so counts between two marks cover exactly that time. Can be repeated. Only when the JVM \
               starts with the agent, and not beside a debugger: only one agent can use breakpoints.",
        examples: &["mark=com.acme.Server.ready", "mark=com.acme.Server.stop"],
        ..ROW
    },
    OptionSpec {
        name: "limit",
        group: Group::Trace,
        kind: Kind::Size { min: 1, max: u64::MAX, set: |d, bytes| d.options.limit_bytes = Some(bytes) },
        default: DefaultValue::Text("no limit"),
        help: "End the trace at this size; the program continues",
        more: "The trace stays valid. The size is that of the uncompressed text.",
        examples: &["limit=2g"],
        ..ROW
    },
    OptionSpec {
        name: "buffer",
        group: Group::Trace,
        kind: Kind::Size {
            min: MIN_BUFFER,
            max: MAX_BUFFER,
            set: |d, bytes| d.options.buffer_bytes = bytes.min(memory::of_the_machine()) as usize,
        },
        default: DefaultValue::Value("64m"),
        help: "Memory for events waiting to be written",
        more: "When it is full, the program waits for the writer; if nothing is written for five seconds, events are \
               dropped until the writer has caught up (`events.dropped`). With `heap=counts` it also limits the memory \
               for counters: beyond it, new threads share counters, which is slower. At least 64k, at most the \
               machine's memory.",
        examples: &["buffer=256m"],
        ..ROW
    },
    OptionSpec {
        name: "include",
        group: Group::Filters,
        kind: Kind::Pattern(|d, pattern| d.options.filters.push(Rule::for_classes(pattern, FilterMode::Include))),
        default: DefaultValue::Text("all classes"),
        help: "Record objects whose class matches",
        more: "Matches the class of the object, not the code that allocates it (for that, see `martini stats --in`). A \
               pattern is a class name, or has one `*` at its beginning or end. Can be repeated and mixed with \
               `exclude`: the first matching pattern decides. If the last pattern is an `include` and no filter file \
               follows, all other classes are excluded.",
        examples: &["include=com.acme.*", "include=java.lang.String"],
        ..ROW
    },
    OptionSpec {
        name: "exclude",
        group: Group::Filters,
        kind: Kind::Pattern(|d, pattern| d.options.filters.push(Rule::for_classes(pattern, FilterMode::Exclude))),
        default: DefaultValue::Text("no class"),
        help: "Exclude objects whose class matches",
        more: "Takes the same patterns as `include`.",
        examples: &["exclude=java.*", "exclude=*Test"],
        ..ROW
    },
    OptionSpec {
        name: "filters",
        group: Group::Filters,
        kind: Kind::Path(|d, path| d.filter_file = Some(path)),
        default: DefaultValue::Text("no filter file"),
        help: "Read more patterns from this TPTP filter file",
        more: "They apply after `include` and `exclude`. Each line has three fields separated by blanks: class \
               pattern, method pattern (ignored), `INCLUDE` or `EXCLUDE`.",
        examples: &["filters=filters.txt"],
        ..ROW
    },
    OptionSpec {
        name: "locks",
        old: &["threads"],
        group: Group::Locks,
        kind: Kind::OnOff(|d, on| d.locks_wanted = Some(on)),
        default: DefaultValue::Value("off"),
        help: "Record which thread waits for which monitor, for how long, and who owns it",
        more: "`juc=on` and `locklog` turn it on. Without `heap`, no allocations are recorded.",
        examples: &["locks=on"],
        ..ROW
    },
    OptionSpec {
        name: "juc",
        group: Group::Locks,
        kind: Kind::OnOff(|d, on| d.locks.juc = on),
        default: DefaultValue::Value("off"),
        help: "Also record waits in java.util.concurrent: locks, conditions and queues",
        more: "Turns on `locks`, unless `locks=off` is given.",
        examples: &["juc=on"],
        ..ROW
    },
    OptionSpec {
        name: "owners",
        group: Group::Locks,
        kind: Kind::OneOf(&[
            word("on", "read the owner from the JVM's memory and record its call stack", |d| {
                d.locks.owners = Owners::WithStacks
            }),
            word("off", "read the owner from the JVM's memory, without its call stack", |d| {
                d.locks.owners = Owners::WithoutStacks;
            }),
            word(
                "jvmti",
                "ask JVMTI for the owner and record its call stack; slow, so some waits have no owner",
                |d| {
                    d.locks.owners = Owners::ByJvmti;
                },
            ),
        ]),
        default: DefaultValue::Value("on"),
        help: "How to find the owner of a contended monitor",
        examples: &["owners=off"],
        needs: Need::Locks,
        ..ROW
    },
    OptionSpec {
        name: "lockstack",
        group: Group::Locks,
        kind: Kind::Depth { max: MAX_STACK_DEPTH, set: |d, depth| d.locks.stack_depth = depth },
        default: DefaultValue::Value("8"),
        help: "Record the call stacks of waiting threads and owners, up to this many frames",
        more: "The innermost frames are kept. At most 64; 0 records no stacks.",
        examples: &["lockstack=16"],
        needs: Need::Locks,
        ..ROW
    },
    OptionSpec {
        name: "locknames",
        group: Group::Locks,
        kind: Kind::OnOff(|d, on| d.locks.names = on),
        default: DefaultValue::Value("on"),
        help: "At the end, find the field that holds each lock",
        more: "Only for the locks with the longest waits. The JVM walks its heap, for one second at most. Not with \
               `heap=events` or `heap=vm`.",
        examples: &["locknames=off"],
        needs: Need::Locks,
        ..ROW
    },
    OptionSpec {
        name: "locklog",
        group: Group::Locks,
        kind: Kind::Path(|d, path| d.locks.log = Some(path)),
        default: DefaultValue::Text("no log"),
        help: "Also write contended locks to this text file; %p becomes the process id",
        more: "The log has one line when a thread starts to wait for a lock, and one when it gets the lock. Existing \
               files are treated as for `file`. Turns on `locks`, unless `locks=off` is given.",
        examples: &["locklog=locks-%p.txt"],
        ..ROW
    },
    OptionSpec {
        name: "threaddump",
        group: Group::Locks,
        kind: Kind::OneOf(&[
            word("off", "no dumps", |d| d.options.thread_dump = None),
            word("few", "only if the JVM has at most 500 threads", |d| d.options.thread_dump = Some(FEW_THREADS)),
            word("all", "however many threads the JVM has", |d| d.options.thread_dump = Some(u32::MAX)),
        ]),
        default: DefaultValue::Value("off"),
        help: "When attached, dump all threads at the beginning and the end",
        more: "The dumps show waits that began before the recording, and deadlocks. The JVM stops the program for each, \
               for some 20 to 450 us per thread. Virtual threads are not in them.",
        examples: &["threaddump=few"],
        ..ROW
    },
    OptionSpec {
        name: "cpu",
        group: Group::Cpu,
        kind: Kind::IntervalOrOff {
            min: Duration::from_micros(100),
            max: Duration::from_secs(10),
            usual: "10ms",
            set: |d, time| d.options.samples.cpu = time,
        },
        default: DefaultValue::Value("off"),
        help: "Sample each running thread once per interval of its CPU time",
        more: "Without `heap`, no allocations are recorded.",
        examples: &["cpu=10ms"],
        ..ROW
    },
    OptionSpec {
        name: "wall",
        group: Group::Cpu,
        kind: Kind::IntervalOrOff {
            min: Duration::from_millis(1),
            max: Duration::from_secs(10),
            usual: "20ms",
            set: |d, time| d.options.samples.wall = time,
        },
        default: DefaultValue::Value("off"),
        help: "Sample all threads at this interval, running or waiting",
        more: "Each time, a few threads are sampled in turn. Without `heap`, no allocations are recorded.",
        examples: &["wall=20ms"],
        ..ROW
    },
    OptionSpec {
        name: "ttsp",
        group: Group::Cpu,
        kind: Kind::OnOff(|d, on| d.options.samples.ttsp = on),
        default: DefaultValue::Value("off"),
        help: "Record how long threads take to reach safepoints, and which are late",
        more: "Without `heap`, no allocations are recorded.",
        examples: &["ttsp=on"],
        ..ROW
    },
    OptionSpec {
        name: "warmup",
        group: Group::Cpu,
        kind: Kind::OnOff(|d, on| d.options.warm_up = on),
        default: DefaultValue::Value("off"),
        help: "Record static initialisers, compilations, and the JVM's own counters of its start",
        more: "An initialiser is recorded if it runs for 1 ms or more. Without `heap`, no allocations are recorded.",
        examples: &["warmup=on"],
        ..ROW
    },
    OptionSpec {
        name: "ready",
        group: Group::Cpu,
        kind: Kind::OneOf(&[
            word("off", "nothing", |d| d.options.readiness = None),
            word("on", "in the file TRACE.ready, twice a second", |d| d.options.readiness = Some(Readiness::File)),
            word("jmx", "also by the MXBean martini:type=WarmUp", |d| {
                d.options.readiness = Some(Readiness::FileAndBean);
            }),
        ]),
        default: DefaultValue::Value("off"),
        help: "Say whether the JVM is warm",
        more: "Beside `requests` it is not warm as long as requests get faster; beside `warmup` it also says how many \
               methods C2 has compiled. Without `heap`, no allocations are recorded.",
        examples: &["ready=on"],
        ..ROW
    },
    OptionSpec {
        name: "requests",
        group: Group::Cpu,
        kind: Kind::OnOff(|d, on| d.options.requests.known = on),
        default: DefaultValue::Value("off"),
        help: "Record how long requests take, from the entry points of common servers and frameworks",
        more: "Entry points of servlet containers, Spring, Netty, gRPC, JAX-RS, JMS, Kafka and Spark, and of the JDK's own \
               HTTP server. Their methods are rewritten to tell when they begin and end. Without `heap`, no \
               allocations are recorded.",
        examples: &["requests=on"],
        ..ROW
    },
    OptionSpec {
        name: "request",
        group: Group::Cpu,
        kind: Kind::Methods(|d, methods| d.options.requests.methods.push(methods)),
        default: DefaultValue::Text("none"),
        help: "Record each call of this method as a request",
        more: "A call within another request is a part of that. At most 256 methods are recorded. Can be repeated, also \
               beside `requests`.",
        examples: &["request=com.acme.Orders.handle", "request=*Controller.*"],
        ..ROW
    },
    OptionSpec {
        name: "dump",
        group: Group::Dumps,
        kind: Kind::DumpTimes(
            &[
                choice("end", "when the JVM exits"),
                choice("oom", "at the first OutOfMemoryError for Java heap space"),
                choice("gc:N", "after the N-th garbage collection"),
                choice("request", "whenever you create the file TRACE.dump, where TRACE is the trace's path"),
            ],
            |d, when| d.options.dump.when = when,
        ),
        default: DefaultValue::Text("no dump"),
        help: "When to dump the heap",
        more: "Join several with `+`.",
        examples: &["dump=oom+end", "dump=gc:20"],
        ..ROW
    },
    OptionSpec {
        name: "dumpfile",
        group: Group::Dumps,
        kind: Kind::Path(|d, path| d.options.dump.file = Some(path)),
        default: DefaultValue::Text("NAME-%n.hprof beside the trace NAME.trcxml"),
        help: "Write heap dumps to this file; %p becomes the process id, %n the dump's number",
        more: "If the file exists, the dump gets the next number.",
        examples: &["dumpfile=/dumps/app-%p-%n.hprof"],
        needs: Need::Dump,
        ..ROW
    },
    OptionSpec {
        name: "dumpformat",
        group: Group::Dumps,
        kind: Kind::OneOf(&[
            word("hprof", "a file for any heap tool", |d| d.options.dump.format = DumpFormat::Hprof),
            word("xml", "roots and references only, inside the trace", |d| d.options.dump.format = DumpFormat::Xml),
        ]),
        default: DefaultValue::Value("hprof"),
        help: "The format of heap dumps",
        examples: &["dumpformat=xml"],
        needs: Need::Dump,
        ..ROW
    },
    OptionSpec {
        name: "dumpcontents",
        group: Group::Dumps,
        kind: Kind::OneOf(&[
            word("full", "the values of fields and arrays", |d| d.options.dump.contents = DumpContents::Full),
            word("zero", "zeros in place of numbers and text, for a dump you can share", |d| {
                d.options.dump.contents = DumpContents::Zero;
            }),
        ]),
        default: DefaultValue::Value("full"),
        help: "Which program data a heap dump contains",
        more: "Names of classes, fields, methods and source files are always in the dump.",
        examples: &["dumpcontents=zero"],
        needs: Need::Dump,
        ..ROW
    },
    OptionSpec {
        name: "internals",
        group: Group::Jvm,
        kind: Kind::OnOff(|d, on| d.options.internals = on),
        default: DefaultValue::Text("on; off with a JDK newer than 25 or with `MARTINI_SAFE=1`"),
        help: "Read the JVM's private memory, as a debugger does",
        more: "With `off`, it is neither read nor written, and everything comes from JVMTI: call stacks and lock \
               owners are slower, some owners stay unknown, and you set the JIT's flags for `heap=events` yourself (a \
               message says which).",
        examples: &["internals=off"],
        ..ROW
    },
    OptionSpec {
        name: "stacks",
        group: Group::Jvm,
        kind: Kind::OneOf(&[
            word("on", "recognise known call stacks by return addresses; ask JVMTI for new ones", |d| {
                d.options.stacks = Stacks::ByAddresses;
            }),
            word("jvmti", "ask JVMTI each time; one to two microseconds per stack", |d| {
                d.options.stacks = Stacks::ByJvmti;
            }),
        ]),
        default: DefaultValue::Value("on"),
        help: "How to get the current thread's call stack",
        examples: &["stacks=jvmti"],
        ..ROW
    },
];
