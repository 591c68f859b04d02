//! The types that a chunk of ours declares: its own, so that a reader needs no other description.

/// A type that a chunk declares.
pub(super) struct Type {
    pub(super) id: u64,
    pub(super) name: &'static str,
    /// Its supertype, or nothing.
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

const fn structure(id: u64, name: &'static str, fields: &'static [Field]) -> Type {
    Type { id, name, extends: "", is_simple: false, label: "", category: &[], fields }
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

const TICKS: (u64, &str) = (TIMESPAN, "TICKS");
const BYTES: (u64, &str) = (DATA_AMOUNT, "BYTES");

const START: Field = called("Start Time", measured("startTime", (TIMESTAMP, "TICKS")));
const DURATION: Field = called("Duration", measured("duration", TICKS));
const EVENT_THREAD: Field = called("Event Thread", constant("eventThread", THREAD));
const STACK_TRACE: Field = called("Stack Trace", constant("stackTrace", STACK));
const MONITOR_CLASS: Field = called("Monitor Class", constant("monitorClass", CLASS));
const GC_ID: Field = called("GC Identifier", plain("gcId", INT));

const APPLICATION: &[&str] = &["Java Application"];
const PROFILING: &[&str] = &["Java Virtual Machine", "Profiling"];
const COLLECTOR: &[&str] = &["Java Virtual Machine", "GC", "Collector"];
const PHASES: &[&str] = &["Java Virtual Machine", "GC", "Phases"];
const COMPILER: &[&str] = &["Java Virtual Machine", "Compiler"];
const LOADING: &[&str] = &["Java Virtual Machine", "Class Loading"];
const HEAP: &[&str] = &["Java Virtual Machine", "GC", "Heap"];

macro_rules! types {
    ($( $constant:ident = $id:literal, $make:ident($name:literal $(, $more:expr)*) { $( $field:expr ),* } )*) => {
        $( pub(super) const $constant: u64 = $id; )*

        /// All of them. Events have the fields that the JDK's have, as far as a trace knows them, in the order in which they are
        /// written.
        pub(super) const TYPES: &[Type] = &[ $( $make($constant, $name, $( $more, )* &[ $( $field ),* ]), )* ];
    };
}

types! {
    BOOLEAN = 4, structure("boolean") {}
    INT = 10, structure("int") {}
    LONG = 11, structure("long") {}
    STRING = 20, structure("java.lang.String") {}
    CLASS = 21, structure("java.lang.Class") { constant("name", SYMBOL), plain("modifiers", INT), plain("hidden", BOOLEAN) }
    THREAD = 22, structure("java.lang.Thread") {
        plain("osName", STRING), plain("osThreadId", LONG), plain("javaName", STRING), plain("javaThreadId", LONG),
        constant("group", THREAD_GROUP), plain("virtual", BOOLEAN)
    }
    THREAD_GROUP = 29, structure("jdk.types.ThreadGroup") { constant("parent", THREAD_GROUP), plain("name", STRING) }
    SYMBOL = 24, simple("jdk.types.Symbol") { plain("string", STRING) }
    METHOD = 25, structure("jdk.types.Method") {
        constant("type", CLASS), constant("name", SYMBOL), constant("descriptor", SYMBOL), plain("modifiers", INT),
        plain("hidden", BOOLEAN)
    }
    FRAME = 26, structure("jdk.types.StackFrame") {
        constant("method", METHOD), plain("lineNumber", INT), plain("bytecodeIndex", INT), constant("type", FRAME_TYPE)
    }
    STACK = 27, structure("jdk.types.StackTrace") { plain("truncated", BOOLEAN), array("frames", FRAME) }
    FRAME_TYPE = 28, simple("jdk.types.FrameType") { plain("description", STRING) }
    THREAD_STATE = 30, simple("jdk.types.ThreadState") { plain("name", STRING) }
    GC_WHEN = 31, simple("jdk.types.GCWhen") { plain("when", STRING) }
    LABEL = 40, annotation("jdk.jfr.Label") { plain("value", STRING) }
    CATEGORY = 41, annotation("jdk.jfr.Category") { array("value", STRING) }
    TIMESTAMP = 42, annotation("jdk.jfr.Timestamp") { plain("value", STRING) }
    TIMESPAN = 43, annotation("jdk.jfr.Timespan") { plain("value", STRING) }
    DATA_AMOUNT = 44, annotation("jdk.jfr.DataAmount") { plain("value", STRING) }
    ALLOCATION = 100, event("jdk.ObjectAllocationSample", "Object Allocation Sample", APPLICATION) {
        START, EVENT_THREAD, STACK_TRACE, called("Object Class", constant("objectClass", CLASS)),
        called("Sample Weight", measured("weight", BYTES))
    }
    MONITOR_ENTER = 101, event("jdk.JavaMonitorEnter", "Java Monitor Blocked", APPLICATION) {
        START, DURATION, EVENT_THREAD, STACK_TRACE, MONITOR_CLASS,
        called("Previous Monitor Owner", constant("previousOwner", THREAD))
    }
    MONITOR_WAIT = 102, event("jdk.JavaMonitorWait", "Java Monitor Wait", APPLICATION) {
        START, DURATION, EVENT_THREAD, STACK_TRACE, MONITOR_CLASS, called("Timed Out", plain("timedOut", BOOLEAN))
    }
    THREAD_PARK = 103, event("jdk.ThreadPark", "Java Thread Park", APPLICATION) {
        START, DURATION, EVENT_THREAD, STACK_TRACE, called("Class Parked On", constant("parkedClass", CLASS))
    }
    THREAD_SLEEP = 104, event("jdk.ThreadSleep", "Java Thread Sleep", APPLICATION) {
        START, DURATION, EVENT_THREAD, STACK_TRACE
    }
    EXECUTION_SAMPLE = 105, event("jdk.ExecutionSample", "Method Profiling Sample", PROFILING) {
        START, called("Thread", constant("sampledThread", THREAD)), STACK_TRACE,
        called("Thread State", constant("state", THREAD_STATE)),
        called("CPU Time", measured("cpuTime", (TIMESPAN, "NANOSECONDS")))
    }
    COLLECTION = 106, event("jdk.GarbageCollection", "Garbage Collection", COLLECTOR) {
        START, DURATION, GC_ID, called("Sum of Pauses", measured("sumOfPauses", TICKS)),
        called("Longest Pause", measured("longestPause", TICKS))
    }
    PAUSE = 107, event("jdk.GCPhasePause", "GC Phase Pause", PHASES) {
        START, DURATION, GC_ID, called("Name", plain("name", STRING))
    }
    HEAP_SUMMARY = 108, event("jdk.GCHeapSummary", "GC Heap Summary", HEAP) {
        START, GC_ID, called("When", constant("when", GC_WHEN)), called("Heap Used", measured("heapUsed", BYTES))
    }
    THREAD_START = 109, event("jdk.ThreadStart", "Java Thread Start", APPLICATION) {
        START, EVENT_THREAD, called("New Java Thread", constant("thread", THREAD))
    }
    COMPILATION = 111, event("jdk.Compilation", "Compilation", COMPILER) {
        START, DURATION, called("Compilation Identifier", plain("compileId", INT)), called("Compiler", plain("compiler", STRING)),
        called("Method", constant("method", METHOD)), called("Compilation Level", plain("compileLevel", INT)),
        called("On Stack Replacement", plain("isOsr", BOOLEAN))
    }
    CLASS_DEFINE = 112, event("jdk.ClassDefine", "Class Define", LOADING) {
        START, called("Defined Class", constant("definedClass", CLASS))
    }
    THREAD_END = 110, event("jdk.ThreadEnd", "Java Thread End", APPLICATION) {
        START, EVENT_THREAD, called("Java Thread", constant("thread", THREAD))
    }
}
