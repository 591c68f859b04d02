//! The table of options.

/// An option as the user sees it.
#[derive(Debug)]
pub struct OptionSpec {
    /// The key before the `=`.
    pub name: &'static str,
    /// What its value looks like.
    pub value: &'static str,
    /// One sentence: what it does, and the default.
    pub help: &'static str,
}

/// Every option, in the order in which help lists them.
pub const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "heap",
        value: "events|counts|vm|off",
        help: "What to record of the heap: events = every object (default; martini run: counts); counts = numbers for each \
               allocation site; vm = every object, told by the JVM itself without rewriting; off = nothing (default with \
               threads, juc and locklog)",
    },
    OptionSpec {
        name: "file",
        value: "PATH",
        help: "Where the trace goes; %p becomes the process id (default martini-%p.trcxml). A named pipe is waited for",
    },
    OptionSpec { name: "format", value: "xml|zip", help: "Plain XML (default), or a zip that TPTP imports" },
    OptionSpec {
        name: "include",
        value: "PATTERN",
        help: "Report these classes: a name, or one with a * at its end or beginning; the first pattern that matches decides",
    },
    OptionSpec {
        name: "exclude",
        value: "PATTERN",
        help: "Do not report these classes; the first pattern that matches decides",
    },
    OptionSpec {
        name: "filters",
        value: "FILE",
        help: "A TPTP filter file, whose entries come after the patterns given here",
    },
    OptionSpec {
        name: "lifetimes",
        value: "true|false",
        help: "Follow objects to their death: objFree (default true); without it objects that the VM makes itself are not seen",
    },
    OptionSpec {
        name: "allocsites",
        value: "true|false",
        help: "Record the method and line of each allocation (default false)",
    },
    OptionSpec {
        name: "stack",
        value: "DEPTH",
        help: "Record the innermost frames of each allocation, at most 64 (default 0)",
    },
    OptionSpec {
        name: "live",
        value: "true|false",
        help: "At the end, collect garbage and count what is left of each class (default false)",
    },
    OptionSpec {
        name: "estimate",
        value: "SIZE",
        help: "With heap=counts, sample an object every so many bytes, such as 512k, to estimate what the JIT lets each site \
               allocate (default: no)",
    },
    OptionSpec {
        name: "every",
        value: "SECONDS",
        help: "With heap=counts, write the numbers so far that often, and after ten times as long whenever a tenth of the run has \
               gone by, so that a kill leaves them (default 60; 0 = only at the end)",
    },
    OptionSpec {
        name: "threads",
        value: "on|off",
        help: "Record who waits for which monitor, how long, and who holds it (default off)",
    },
    OptionSpec {
        name: "juc",
        value: "on|off",
        help: "Record waiting for locks, conditions and queues of java.util.concurrent too; switches threads on (default off)",
    },
    OptionSpec {
        name: "owners",
        value: "on|off|jvmti",
        help: "With threads: record where the owner of a contended monitor is at that moment (default on); who it is, is \
               recorded anyway. With jvmti, JVMTI is asked who it is, rarely because that is slow, and HotSpot's memory not read",
    },
    OptionSpec {
        name: "lockstack",
        value: "DEPTH",
        help: "With threads: record the innermost frames of those who wait and of owners, at most 64 (default 3)",
    },
    OptionSpec {
        name: "locklog",
        value: "FILE",
        help: "Write a line of text for each contended lock too, tried and taken; switches threads on; %p becomes the process id",
    },
    OptionSpec {
        name: "dump",
        value: "end|oom|gc:N|request",
        help: "Dump the heap at the end, at the first OutOfMemoryError, after the N-th collection, or whenever the file TRACE.dump \
               is created, where TRACE is the trace's path; several are joined by +",
    },
    OptionSpec {
        name: "dumpfile",
        value: "PATH",
        help: "Where dumps go; %p becomes the process id, %n the dump's number (default: beside the trace, NAME-%n.hprof)",
    },
    OptionSpec {
        name: "dumpformat",
        value: "hprof|xml",
        help: "A file for every heap tool (default), or only roots and references, in the trace",
    },
    OptionSpec {
        name: "dumpcontents",
        value: "full|zero",
        help: "With the values of primitives (default), or with zeros in their place, for a dump that leaves the house",
    },
    OptionSpec {
        name: "limit",
        value: "SIZE",
        help: "End the trace, cleanly, when it has that many bytes, such as 2g; the program goes on (default: none)",
    },
    OptionSpec {
        name: "buffer",
        value: "SIZE",
        help: "Memory for events on their way to the file, such as 64m (default); when it is full the program waits",
    },
];
