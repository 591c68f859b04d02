//! The types that a chunk of ours declares: its own, so that a reader needs no other description.

/// A type that a chunk declares.
pub(super) struct Type {
    pub(super) id: u64,
    pub(super) name: &'static str,
    pub(super) extends: &'static str,
    /// It stands for its only field.
    pub(super) is_simple: bool,
    /// Of an event: its name for people, and where it stands in their menus.
    pub(super) label: &'static str,
    pub(super) category: &'static [&'static str],
    pub(super) fields: &'static [Field],
}

/// A field of a type.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) of: u64,
    /// It holds the number of a constant.
    pub(super) is_constant: bool,
    pub(super) is_array: bool,
    /// In what it is measured: an annotation, and its value.
    pub(super) unit: Option<(u64, &'static str)>,
}

const fn plain(name: &'static str, of: u64) -> Field {
    Field { name, label: "", of, is_constant: false, is_array: false, unit: None }
}

const fn constant(name: &'static str, of: u64) -> Field {
    Field { is_constant: true, ..plain(name, of) }
}

const fn array(name: &'static str, of: u64) -> Field {
    Field { is_array: true, ..plain(name, of) }
}

const fn called(label: &'static str, field: Field) -> Field {
    Field { label, ..field }
}

const fn measured(name: &'static str, unit: (u64, &'static str)) -> Field {
    Field { unit: Some(unit), ..plain(name, LONG) }
}

const fn basic(id: u64, name: &'static str) -> Type {
    Type { id, name, extends: "", is_simple: false, label: "", category: &[], fields: &[] }
}

const fn structure(id: u64, name: &'static str, fields: &'static [Field]) -> Type {
    Type { fields, ..basic(id, name) }
}

const fn simple(id: u64, name: &'static str, fields: &'static [Field]) -> Type {
    Type { is_simple: true, ..structure(id, name, fields) }
}

const fn annotation(id: u64, name: &'static str, fields: &'static [Field]) -> Type {
    Type { extends: "java.lang.annotation.Annotation", ..structure(id, name, fields) }
}

const fn event(
    id: u64,
    name: &'static str,
    label: &'static str,
    category: &'static [&'static str],
    fields: &'static [Field],
) -> Type {
    Type { extends: "jdk.jfr.Event", label, category, ..structure(id, name, fields) }
}

pub(super) const BOOLEAN: u64 = 4;
pub(super) const INT: u64 = 10;
pub(super) const LONG: u64 = 11;
pub(super) const STRING: u64 = 20;
pub(super) const CLASS: u64 = 21;
pub(super) const THREAD: u64 = 22;
pub(super) const SYMBOL: u64 = 24;
pub(super) const METHOD: u64 = 25;
pub(super) const FRAME: u64 = 26;
pub(super) const STACK: u64 = 27;
pub(super) const FRAME_TYPE: u64 = 28;
pub(super) const THREAD_GROUP: u64 = 29;
pub(super) const THREAD_STATE: u64 = 30;
pub(super) const GC_WHEN: u64 = 31;
pub(super) const LABEL: u64 = 40;
pub(super) const CATEGORY: u64 = 41;
const TIMESTAMP: u64 = 42;
const TIMESPAN: u64 = 43;
const DATA_AMOUNT: u64 = 44;
pub(super) const ALLOCATION: u64 = 100;
pub(super) const MONITOR_ENTER: u64 = 101;
pub(super) const MONITOR_WAIT: u64 = 102;
pub(super) const THREAD_PARK: u64 = 103;
pub(super) const THREAD_SLEEP: u64 = 104;
pub(super) const EXECUTION_SAMPLE: u64 = 105;
pub(super) const COLLECTION: u64 = 106;
pub(super) const PAUSE: u64 = 107;
pub(super) const HEAP_SUMMARY: u64 = 108;
pub(super) const THREAD_START: u64 = 109;
pub(super) const THREAD_END: u64 = 110;

const START: Field = called("Start Time", measured("startTime", (TIMESTAMP, "TICKS")));
const DURATION: Field = called("Duration", measured("duration", (TIMESPAN, "TICKS")));
const EVENT_THREAD: Field = called("Event Thread", constant("eventThread", THREAD));
const STACK_TRACE: Field = called("Stack Trace", constant("stackTrace", STACK));
const GC_ID: Field = called("GC Identifier", plain("gcId", INT));

const APPLICATION: &[&str] = &["Java Application"];
const COLLECTOR: &[&str] = &["Java Virtual Machine", "GC", "Collector"];

/// All of them. Events have the fields that the JDK's have, as far as a trace knows them, in the order in which they are written.
pub(super) const TYPES: &[Type] = &[
    basic(BOOLEAN, "boolean"),
    basic(INT, "int"),
    basic(LONG, "long"),
    basic(STRING, "java.lang.String"),
    structure(CLASS, "java.lang.Class", &[constant("name", SYMBOL), plain("modifiers", INT), plain("hidden", BOOLEAN)]),
    structure(
        THREAD,
        "java.lang.Thread",
        &[
            plain("osName", STRING),
            plain("osThreadId", LONG),
            plain("javaName", STRING),
            plain("javaThreadId", LONG),
            constant("group", THREAD_GROUP),
            plain("virtual", BOOLEAN),
        ],
    ),
    structure(THREAD_GROUP, "jdk.types.ThreadGroup", &[constant("parent", THREAD_GROUP), plain("name", STRING)]),
    simple(SYMBOL, "jdk.types.Symbol", &[plain("string", STRING)]),
    structure(
        METHOD,
        "jdk.types.Method",
        &[
            constant("type", CLASS),
            constant("name", SYMBOL),
            constant("descriptor", SYMBOL),
            plain("modifiers", INT),
            plain("hidden", BOOLEAN),
        ],
    ),
    structure(
        FRAME,
        "jdk.types.StackFrame",
        &[
            constant("method", METHOD),
            plain("lineNumber", INT),
            plain("bytecodeIndex", INT),
            constant("type", FRAME_TYPE),
        ],
    ),
    structure(STACK, "jdk.types.StackTrace", &[plain("truncated", BOOLEAN), array("frames", FRAME)]),
    simple(FRAME_TYPE, "jdk.types.FrameType", &[plain("description", STRING)]),
    simple(THREAD_STATE, "jdk.types.ThreadState", &[plain("name", STRING)]),
    simple(GC_WHEN, "jdk.types.GCWhen", &[plain("when", STRING)]),
    annotation(LABEL, "jdk.jfr.Label", &[plain("value", STRING)]),
    annotation(CATEGORY, "jdk.jfr.Category", &[array("value", STRING)]),
    annotation(TIMESTAMP, "jdk.jfr.Timestamp", &[plain("value", STRING)]),
    annotation(TIMESPAN, "jdk.jfr.Timespan", &[plain("value", STRING)]),
    annotation(DATA_AMOUNT, "jdk.jfr.DataAmount", &[plain("value", STRING)]),
    event(
        ALLOCATION,
        "jdk.ObjectAllocationSample",
        "Object Allocation Sample",
        APPLICATION,
        &[
            START,
            EVENT_THREAD,
            STACK_TRACE,
            called("Object Class", constant("objectClass", CLASS)),
            called("Sample Weight", measured("weight", (DATA_AMOUNT, "BYTES"))),
        ],
    ),
    event(
        MONITOR_ENTER,
        "jdk.JavaMonitorEnter",
        "Java Monitor Blocked",
        APPLICATION,
        &[
            START,
            DURATION,
            EVENT_THREAD,
            STACK_TRACE,
            called("Monitor Class", constant("monitorClass", CLASS)),
            called("Previous Monitor Owner", constant("previousOwner", THREAD)),
        ],
    ),
    event(
        MONITOR_WAIT,
        "jdk.JavaMonitorWait",
        "Java Monitor Wait",
        APPLICATION,
        &[
            START,
            DURATION,
            EVENT_THREAD,
            STACK_TRACE,
            called("Monitor Class", constant("monitorClass", CLASS)),
            called("Timed Out", plain("timedOut", BOOLEAN)),
        ],
    ),
    event(
        THREAD_PARK,
        "jdk.ThreadPark",
        "Java Thread Park",
        APPLICATION,
        &[START, DURATION, EVENT_THREAD, STACK_TRACE, called("Class Parked On", constant("parkedClass", CLASS))],
    ),
    event(
        THREAD_SLEEP,
        "jdk.ThreadSleep",
        "Java Thread Sleep",
        APPLICATION,
        &[START, DURATION, EVENT_THREAD, STACK_TRACE],
    ),
    event(
        EXECUTION_SAMPLE,
        "jdk.ExecutionSample",
        "Method Profiling Sample",
        &["Java Virtual Machine", "Profiling"],
        &[
            START,
            called("Thread", constant("sampledThread", THREAD)),
            STACK_TRACE,
            called("Thread State", constant("state", THREAD_STATE)),
            called("CPU Time", measured("cpuTime", (TIMESPAN, "NANOSECONDS"))),
        ],
    ),
    event(
        COLLECTION,
        "jdk.GarbageCollection",
        "Garbage Collection",
        COLLECTOR,
        &[
            START,
            DURATION,
            GC_ID,
            called("Sum of Pauses", measured("sumOfPauses", (TIMESPAN, "TICKS"))),
            called("Longest Pause", measured("longestPause", (TIMESPAN, "TICKS"))),
        ],
    ),
    event(
        PAUSE,
        "jdk.GCPhasePause",
        "GC Phase Pause",
        &["Java Virtual Machine", "GC", "Phases"],
        &[START, DURATION, GC_ID, called("Name", plain("name", STRING))],
    ),
    event(
        HEAP_SUMMARY,
        "jdk.GCHeapSummary",
        "GC Heap Summary",
        &["Java Virtual Machine", "GC", "Heap"],
        &[
            START,
            GC_ID,
            called("When", constant("when", GC_WHEN)),
            called("Heap Used", measured("heapUsed", (DATA_AMOUNT, "BYTES"))),
        ],
    ),
    event(
        THREAD_START,
        "jdk.ThreadStart",
        "Java Thread Start",
        APPLICATION,
        &[START, EVENT_THREAD, called("New Java Thread", constant("thread", THREAD))],
    ),
    event(
        THREAD_END,
        "jdk.ThreadEnd",
        "Java Thread End",
        APPLICATION,
        &[START, EVENT_THREAD, called("Java Thread", constant("thread", THREAD))],
    ),
];
