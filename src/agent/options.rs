//! The agent's options: one table from which parsing, the command's flags and the documentation come.
//!
//! Two spellings are understood. Ours: `heap=events,file=app.trcxml,include=com.foo.*`. TPTP's:
//! `JPIAgent:server=standalone,file=x.trcxml,filters=f.txt;HeapProf:allocsites=true`. Nothing is guessed: what is not
//! understood stops the JVM from starting, because a half-understood profiler answers the wrong question.

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;
use trace::filter::{FilterSet, Pattern, PatternError, Rule};
use trace::model::FilterMode;

use super::dump::options::{DumpContents, DumpFormat, DumpOptions, DumpWhen};

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

const MAX_STACK_DEPTH: usize = 64;

/// What is wrong with the options: one sentence each.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum OptionError {
    /// No option of that name.
    #[error("unknown option '{0}': the options are {known}", known = known())]
    Unknown(String),
    /// A key without `=value`.
    #[error("option '{0}' has no value: write {0}=VALUE")]
    NoValue(String),
    /// A value that the option does not take.
    #[error("option '{name}' does not take '{value}': it takes {takes}")]
    BadValue {
        /// The option.
        name: &'static str,
        /// What was given.
        value: String,
        /// What it takes.
        takes: &'static str,
    },
    /// An option that was given twice.
    #[error("option '{0}' is given twice: leave one of them out")]
    Twice(&'static str),
    /// An option that another mode has no use for.
    #[error("option '{0}' is for heap=counts only: leave it out, or write heap=counts")]
    OnlyCounts(&'static str),
    /// A filter pattern or file that is not right.
    #[error("{0}")]
    Filter(String),
    /// A TPTP profiler, server or option that Martini does not have.
    #[error("'{0}' of the TPTP spelling is not supported: {1}")]
    Tptp(String, &'static str),
}

fn known() -> String {
    OPTIONS.iter().map(|o| o.name).collect::<Vec<_>>().join(", ")
}

/// What is recorded of the heap, and by what means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeapMode {
    /// Every object, by rewritten bytecode.
    #[default]
    Events,
    /// How many objects and bytes each allocation site makes, by rewritten bytecode.
    Counts,
    /// Every object, by the events of the JVM.
    Vm,
    /// Nothing.
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

/// The options, resolved.
#[derive(Debug)]
pub struct Options {
    /// The string as given, for `agentCreate agentParameters`.
    pub given: String,
    /// What is recorded of the heap.
    pub heap: HeapMode,
    /// The trace file, `%p` not yet replaced.
    pub file: PathBuf,
    /// How it is written.
    pub format: Format,
    /// Which classes are reported.
    pub filters: FilterSet,
    /// Objects are tagged and their death reported.
    pub lifetimes: bool,
    /// `objAlloc` carries method and line.
    pub allocsites: bool,
    /// At the end the heap is walked: `liveCount`.
    pub live: bool,
    /// Dumps of the heap.
    pub dump: DumpOptions,
    /// Frames per `stackDef`; 0 for none.
    pub stack_depth: usize,
    /// With `heap=counts`, the least time between two writings of the numbers so far; none if 0.
    pub every: Duration,
    /// With `heap=counts`, bytes between two samples of what is really allocated.
    pub estimate_bytes: Option<u32>,
    /// Bytes of text after which the trace is ended.
    pub limit_bytes: Option<u64>,
    /// Bytes of records that may wait for the writer.
    pub buffer_bytes: usize,
    /// What is recorded of threads that wait; `None` if nothing is.
    pub threads: Option<ThreadOptions>,
}

/// How the owners of contended monitors are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owners {
    /// By what HotSpot has in memory, without their stacks.
    WithoutStacks,
    /// By what HotSpot has in memory, with their stacks.
    WithStacks,
    /// By JVMTI's `GetObjectMonitorUsage`, with their stacks.
    ByJvmti,
}

/// What is recorded of threads that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadOptions {
    /// Parks of `java.util.concurrent` too.
    pub juc: bool,
    /// How owners are looked for.
    pub owners: Owners,
    /// Frames of each stack; 0 for no stacks.
    pub stack_depth: usize,
    /// The lock log, `%p` not yet replaced.
    pub log: Option<PathBuf>,
}

impl Default for ThreadOptions {
    fn default() -> Self {
        ThreadOptions { juc: false, owners: Owners::WithStacks, stack_depth: 3, log: None }
    }
}

impl Options {
    /// Frames to find for each allocation.
    pub(crate) fn frames(&self) -> usize {
        self.stack_depth.max(usize::from(self.allocsites))
    }
}

/// Parses what follows the `=` of `-agentpath:...=`.
///
/// # Errors
/// The first thing that is not understood.
pub fn parse(given: &str) -> Result<Options, OptionError> {
    let pairs = if given == "JPIAgent" || given.starts_with("JPIAgent:") || given.starts_with("JPIAgent;") {
        tptp_pairs(given)?
    } else {
        split(given)?
    };
    let mut options = Options {
        given: given.to_owned(),
        heap: HeapMode::default(),
        file: PathBuf::from("martini-%p.trcxml"),
        format: Format::Xml,
        filters: FilterSet::default(),
        lifetimes: true,
        allocsites: false,
        live: false,
        dump: DumpOptions::default(),
        stack_depth: 0,
        every: Duration::from_secs(60),
        estimate_bytes: None,
        limit_bytes: None,
        buffer_bytes: 64 << 20,
        threads: None,
    };
    let mut threads = ThreadOptions::default();
    let mut threads_on = None;
    let mut seen: Vec<&'static str> = Vec::new();
    let mut last_pattern = None;
    let mut file_filters = FilterSet::default();
    for (key, value) in pairs {
        let spec = OPTIONS.iter().find(|o| o.name == key).ok_or_else(|| OptionError::Unknown(key.clone()))?;
        let repeatable = matches!(spec.name, "include" | "exclude");
        if seen.contains(&spec.name) && !repeatable {
            return Err(OptionError::Twice(spec.name));
        }
        seen.push(spec.name);
        let bad = || OptionError::BadValue { name: spec.name, value: value.clone(), takes: spec.value };
        let on = || match value.as_str() {
            "on" => Ok(true),
            "off" => Ok(false),
            _ => Err(bad()),
        };
        let boolean = || match value.as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(bad()),
        };
        match spec.name {
            "heap" => {
                let modes = [HeapMode::Events, HeapMode::Counts, HeapMode::Vm, HeapMode::Off];
                options.heap = modes.into_iter().find(|mode| mode.as_str() == value).ok_or_else(bad)?;
            }
            "file" if !value.is_empty() => options.file = PathBuf::from(&value),
            "format" => {
                options.format = match value.as_str() {
                    "xml" => Format::Xml,
                    "zip" => Format::Zip,
                    _ => return Err(bad()),
                }
            }
            "include" | "exclude" => {
                let mode = if spec.name == "include" { FilterMode::Include } else { FilterMode::Exclude };
                let pattern = value.parse().map_err(|e: PatternError| OptionError::Filter(e.to_string()))?;
                options.filters.push(Rule::for_classes(pattern, mode));
                last_pattern = Some(mode);
            }
            "filters" => {
                file_filters = FilterSet::load(value.as_ref()).map_err(|e| OptionError::Filter(e.to_string()))?;
            }
            "lifetimes" => options.lifetimes = boolean()?,
            "allocsites" => options.allocsites = boolean()?,
            "stack" => {
                options.stack_depth = value.parse().ok().filter(|&d| d <= MAX_STACK_DEPTH).ok_or_else(bad)?;
            }
            "threads" => threads_on = Some(on()?),
            "juc" => threads.juc = on()?,
            "owners" if value == "jvmti" => threads.owners = Owners::ByJvmti,
            "owners" => threads.owners = if on()? { Owners::WithStacks } else { Owners::WithoutStacks },
            "lockstack" => {
                threads.stack_depth = value.parse().ok().filter(|&d| d <= MAX_STACK_DEPTH).ok_or_else(bad)?;
            }
            "locklog" if !value.is_empty() => threads.log = Some(PathBuf::from(&value)),
            "live" => options.live = boolean()?,
            "estimate" => {
                let bytes = parse_size(&value).and_then(|bytes| u32::try_from(bytes).ok());
                options.estimate_bytes = Some(bytes.ok_or_else(bad)?);
            }
            "every" => {
                let seconds: u32 = value.parse().map_err(|_| bad())?;
                options.every = Duration::from_secs(seconds.into());
            }
            "dump" => options.dump.when = DumpWhen::parse(&value).ok_or_else(bad)?,
            "dumpfile" if !value.is_empty() => options.dump.file = Some(value.into()),
            "dumpformat" => {
                options.dump.format = match value.as_str() {
                    "hprof" => DumpFormat::Hprof,
                    "xml" => DumpFormat::Xml,
                    _ => return Err(bad()),
                }
            }
            "dumpcontents" => {
                options.dump.contents = match value.as_str() {
                    "full" => DumpContents::Full,
                    "zero" => DumpContents::Zero,
                    _ => return Err(bad()),
                }
            }
            "limit" => options.limit_bytes = Some(parse_size(&value).ok_or_else(bad)? as u64),
            "buffer" => options.buffer_bytes = parse_size(&value).ok_or_else(bad)?,
            _ => return Err(bad()),
        }
    }
    if threads_on.unwrap_or(threads.juc || threads.log.is_some()) {
        options.threads = Some(threads);
        if !seen.contains(&"heap") {
            options.heap = HeapMode::Off;
        }
    }
    if options.heap != HeapMode::Counts
        && let Some(&given) = seen.iter().find(|name| ["estimate", "every"].contains(name))
    {
        return Err(OptionError::OnlyCounts(given));
    }
    // Patterns that only say what to include mean "and nothing else"; a filter file says so itself.
    if last_pattern == Some(FilterMode::Include) && file_filters.rules().is_empty() {
        options.filters.push(Rule::for_classes(Pattern::any(), FilterMode::Exclude));
    }
    for rule in file_filters.rules() {
        options.filters.push(rule.clone());
    }
    Ok(options)
}

/// Writes one `key=value` so that [`parse`] reads it back: a comma inside a value is doubled.
pub fn format_pair(key: &str, value: &str) -> String {
    format!("{key}={}", value.replace(',', ",,"))
}

/// Splits at single commas; a doubled comma is a comma of the value.
fn split(given: &str) -> Result<Vec<(String, String)>, OptionError> {
    let mut parts = vec![String::new()];
    let mut chars = given.chars().peekable();
    while let Some(c) = chars.next() {
        if c != ',' {
            parts.last_mut().expect("never empty").push(c);
        } else if chars.next_if_eq(&',').is_some() {
            parts.last_mut().expect("never empty").push(',');
        } else {
            parts.push(String::new());
        }
    }
    parts
        .into_iter()
        .filter(|p| !p.is_empty())
        .map(|p| match p.split_once('=') {
            Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
            None => Err(match OPTIONS.iter().any(|o| o.name == p) {
                true => OptionError::NoValue(p),
                false => OptionError::Unknown(p),
            }),
        })
        .collect()
}

/// Translates the TPTP spelling (format page, section 6.1) into ours.
fn tptp_pairs(given: &str) -> Result<Vec<(String, String)>, OptionError> {
    let mut pairs = Vec::new();
    let mut parts = given.split(';');
    let agent = parts.next().unwrap_or_default();
    let mut standalone = false;
    for (key, value) in split(agent.strip_prefix("JPIAgent").unwrap_or(agent).trim_start_matches(':'))? {
        match (key.as_str(), value.as_str()) {
            ("server", "standalone") => standalone = true,
            ("server", _) => return Err(OptionError::Tptp(format!("server={value}"), "write server=standalone")),
            ("file" | "filters", _) => pairs.push((key, value)),
            ("format", "xml") => {}
            _ => return Err(OptionError::Tptp(format!("{key}={value}"), "leave it out")),
        }
    }
    if !standalone {
        return Err(OptionError::Tptp(
            "JPIAgent".into(),
            "without an Agent Controller, write JPIAgent:server=standalone,...",
        ));
    }
    if !pairs.iter().any(|(k, _)| k == "file") {
        pairs.push(("file".into(), "trace.trcxml".into()));
    }
    let mut heap = false;
    let mut threads = false;
    for profiler in parts {
        let (name, arguments) = profiler.split_once(':').unwrap_or((profiler, ""));
        match name {
            "HeapProf" if !heap => heap = true,
            "ThreadProf" if !threads => threads = true,
            "HeapProf" | "ThreadProf" => return Err(OptionError::Tptp(name.to_owned(), "name it once")),
            _ => return Err(OptionError::Tptp(name.to_owned(), "Martini has HeapProf and ThreadProf")),
        }
        for (key, value) in split(arguments)? {
            match key.as_str() {
                "allocsites" if name == "HeapProf" => pairs.push((key, value)),
                _ => return Err(OptionError::Tptp(format!("{key}={value}"), "leave it out")),
            }
        }
    }
    if !heap && !threads {
        return Err(OptionError::Tptp("JPIAgent".into(), "name a profiler, as in ...;HeapProf:allocsites=true"));
    }
    pairs.push(("heap".into(), if heap { HeapMode::Events } else { HeapMode::Off }.as_str().to_owned()));
    pairs.push(("threads".into(), if threads { "on" } else { "off" }.to_owned()));
    Ok(pairs)
}

fn parse_size(text: &str) -> Option<usize> {
    let (digits, shift) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 10),
        b'm' | b'M' => (&text[..text.len() - 1], 20),
        b'g' | b'G' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let number: usize = digits.parse().ok().filter(|n| *n > 0)?;
    number.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_what_help_says() {
        let options = parse("").unwrap();
        assert_eq!(options.file, PathBuf::from("martini-%p.trcxml"));
        assert_eq!(options.format, Format::Xml);
        assert_eq!((options.lifetimes, options.allocsites, options.stack_depth), (true, false, 0));
        assert_eq!((options.heap, options.limit_bytes, options.buffer_bytes), (HeapMode::Events, None, 64 << 20));
        assert!(options.filters.includes("any.Thing"));
    }

    #[test]
    fn include_alone_means_nothing_else() {
        let options = parse("include=com.foo.*").unwrap();
        assert!(options.filters.includes("com.foo.Bar"));
        assert!(!options.filters.includes("java.lang.String"));
        let options = parse("include=com.foo.*,exclude=com.*").unwrap();
        assert!(options.filters.includes("com.foo.Bar"));
        assert!(!options.filters.includes("com.Bar"));
        assert!(options.filters.includes("java.lang.String"));
    }

    #[test]
    fn a_doubled_comma_is_part_of_the_value() {
        let text = format!("heap=events,{}", format_pair("file", "/tmp/a,b,,c.xml"));
        assert_eq!(parse(&text).unwrap().file, PathBuf::from("/tmp/a,b,,c.xml"));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (given, sentence) in [
            ("foo=1", "unknown option 'foo': the options are heap, file,"),
            ("foo", "unknown option 'foo'"),
            ("file", "option 'file' has no value: write file=VALUE"),
            ("file=", "option 'file' does not take ''"),
            ("heap=maybe", "option 'heap' does not take 'maybe': it takes events|counts|vm|off"),
            ("threads=true", "option 'threads' does not take 'true': it takes on|off"),
            ("lockstack=65", "option 'lockstack' does not take '65'"),
            ("locklog=", "option 'locklog' does not take ''"),
            ("dump=now", "option 'dump' does not take 'now': it takes end|oom|gc:N|request"),
            ("dumpformat=text", "it takes hprof|xml"),
            ("dumpcontents=some", "it takes full|zero"),
            ("limit=none", "option 'limit' does not take 'none': it takes SIZE"),
            ("limit=0", "option 'limit' does not take '0'"),
            ("allocsites=yes", "it takes true|false"),
            ("stack=65", "option 'stack' does not take '65'"),
            ("stack=-1", "option 'stack' does not take '-1'"),
            ("buffer=0", "option 'buffer' does not take '0'"),
            ("buffer=99999999999999999999g", "option 'buffer' does not take"),
            ("file=a,file=b", "option 'file' is given twice"),
            ("estimate=512k", "option 'estimate' is for heap=counts only"),
            ("every=60", "option 'every' is for heap=counts only"),
            ("heap=counts,every=-1", "option 'every' does not take '-1': it takes SECONDS"),
            ("heap=counts,estimate=8g", "option 'estimate' does not take '8g'"),
            ("include=a*b", "a*b"),
            ("filters=/no/such/file", "/no/such/file"),
        ] {
            let error = parse(given).unwrap_err().to_string();
            assert!(error.contains(sentence), "{given}: {error}");
        }
    }

    #[test]
    fn the_heap_mode_is_one_word() {
        for mode in [HeapMode::Events, HeapMode::Counts, HeapMode::Vm, HeapMode::Off] {
            assert_eq!(parse(&format!("heap={},limit=2k", mode.as_str())).unwrap().heap, mode);
        }
        assert_eq!(parse("limit=2g").unwrap().limit_bytes, Some(2 << 30));
    }

    #[test]
    fn threads_alone_leave_the_heap_alone() {
        assert_eq!(parse("").unwrap().threads, None);
        assert_eq!(parse("threads=off,juc=on").unwrap().threads, None);
        for (given, heap, juc) in [
            ("threads=on", HeapMode::Off, false),
            ("juc=on", HeapMode::Off, true),
            ("locklog=x", HeapMode::Off, false),
            ("threads=on,heap=counts", HeapMode::Counts, false),
        ] {
            let options = parse(given).unwrap();
            assert_eq!((options.heap, options.threads.unwrap().juc), (heap, juc), "{given}");
        }
        let threads = parse("locklog=l.txt,lockstack=9,owners=off").unwrap().threads.unwrap();
        let log = Some(PathBuf::from("l.txt"));
        assert_eq!(threads, ThreadOptions { juc: false, owners: Owners::WithoutStacks, stack_depth: 9, log });
        assert_eq!(parse("threads=on,owners=jvmti").unwrap().threads.unwrap().owners, Owners::ByJvmti);
    }

    #[test]
    fn the_tptp_spelling_is_understood() {
        let options = parse("JPIAgent:server=standalone,file=x.trcxml;HeapProf:allocsites=true").unwrap();
        assert_eq!(options.file, PathBuf::from("x.trcxml"));
        assert!(options.allocsites);
        assert_eq!(options.heap, HeapMode::Events);
        assert_eq!(parse("JPIAgent:server=standalone;HeapProf").unwrap().file, PathBuf::from("trace.trcxml"));
        let options = parse("JPIAgent:server=standalone;ThreadProf").unwrap();
        assert_eq!((options.heap, options.threads), (HeapMode::Off, Some(ThreadOptions::default())));
        let options = parse("JPIAgent:server=standalone;HeapProf;ThreadProf").unwrap();
        assert_eq!((options.heap, options.threads), (HeapMode::Events, Some(ThreadOptions::default())));
        for refused in [
            "JPIAgent:server=standalone;ThreadProf;ThreadProf",
            "JPIAgent:server=standalone;ThreadProf:allocsites=true",
            "JPIAgent:server=enabled;HeapProf",
            "JPIAgent;HeapProf",
            "JPIAgent:server=standalone",
            "JPIAgent:server=standalone;CGProf",
            "JPIAgent:server=standalone,format=binary;HeapProf",
            "JPIAgent:server=standalone;HeapProf:what=1",
        ] {
            assert!(matches!(parse(refused), Err(OptionError::Tptp(..))), "{refused}");
        }
    }
}
