//! The agent's options as flags of the command, made from the agent's own table.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use agent_options::{Choice, HeapMode, OPTIONS, OptionError, OptionSpec, RawOptions, if_taken};
use anyhow::{Context, anyhow, bail};
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint};
use trace::file::{self, Kind, LOCK_LOG, TRACE};

use crate::launch::outputs::PID;
use crate::launch::program;

/// The trace file where none is asked for.
const DEFAULT_FILE: &str = "martini-%p.trcxml";
/// How often the callers of sites are sampled unless the user says it: for a hundredth of a processor at most.
const CALLERS: &str = "16k";

/// How often objects are sampled where leaks are looked for: a leak of some MiB has a hundred samples.
const OF_LEAKS: &str = "64k";

/// How often threads are sampled beside their start.
const CPU: &str = "10ms";

/// The options given, in their order, which matters for filter patterns.
#[derive(Clone, Debug, Default)]
pub(crate) struct AgentOptions {
    raw: RawOptions,
}

/// What is recorded of a running JVM where nothing is asked for.
const AT_ONCE: [&str; 3] = ["sampled", "cpu", "locks"];

/// What `-h` shows; `--help` shows all.
const COMMON: [&str; 16] = [
    "heap", "stack", "live", "sampled", "file", "limit", "include", "exclude", "locks", "juc", "cpu", "wall", "ttsp",
    "warmup", "requests", "dump",
];

/// Threads of a running JVM are dumped too, whatever else is recorded.
const THREAD_DUMP: (&str, &str) = ("threaddump", "few");

/// Options that were understood, ready to hand to the agent.
#[derive(Debug)]
pub(crate) struct Resolved {
    /// The agent's option string.
    pub(crate) string: String,
    /// The trace file, absolute, with `%p` for the process id.
    pub(crate) file: PathBuf,
    /// The lock log, if there is to be one, likewise.
    pub(crate) lock_log: Option<PathBuf>,
    /// How allocations are recorded.
    pub(crate) heap: HeapMode,
    /// Stacks of running threads are walked.
    pub(crate) walks_stacks: bool,
    /// Waits for locks of java.util.concurrent are recorded.
    pub(crate) juc: bool,
    /// A sentence for each option that has no effect.
    pub(crate) without_effect: Vec<String>,
}

impl AgentOptions {
    /// Options set by the command itself.
    pub(crate) fn of(pairs: &[(&str, &str)]) -> Self {
        AgentOptions { raw: pairs.iter().copied().collect() }
    }

    /// Sets `heap=counts`, the cheapest mode, unless an option that the user gave decides the mode; and with it `callers`, unless that
    /// is given. Locks of all kinds are recorded together: nothing has run yet that would have to be rewritten.
    pub(crate) fn or_counts(mut self) -> Self {
        self.set_unless_decided(&[("heap", HeapMode::Counts.as_str())], decides_heap);
        self.with_callers().with_parts_of_requests().with_juc().with_cpu()
    }

    /// Sets what a running JVM gives at once, without a class being rewritten, unless an option that the user gave decides what is
    /// recorded; with `heap=counts` sets `callers`, unless that is given. `keeps_code`: rewriting a class of the JDK costs the JVM nothing,
    /// so that locks of all kinds are recorded together.
    pub(crate) fn or_at_once(mut self, keeps_code: bool) -> Self {
        let bare = |name| agent_options::find(name).and_then(OptionSpec::bare_value).map(|value| (name, value));
        // Waits of java.util.concurrent come on top.
        let decides = |name: &str| name != "juc" && decides_heap(name);
        self.set_unless_decided(&AT_ONCE.into_iter().filter_map(bare).collect::<Vec<_>>(), decides);
        if !self.has(THREAD_DUMP.0) {
            self.raw.push(THREAD_DUMP.0, THREAD_DUMP.1);
        }
        let with_callers = self.with_callers().with_parts_of_requests().with_cpu();
        if keeps_code { with_callers.with_juc() } else { with_callers }
    }

    /// Sets what finding a leak takes, unless the user said otherwise: samples of objects whose ages are followed, and a dump.
    pub(crate) fn or_leaks(mut self, dump: &str) -> Self {
        self.set_unless_decided(&[("sampled", OF_LEAKS)], decides_heap);
        if !self.has("dump") {
            self.raw.push("dump", dump);
        }
        self
    }

    /// Whether the user gave an option.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.raw.value(name).is_some()
    }

    /// Whether the user gave any.
    pub(crate) fn has_any(&self) -> bool {
        !self.raw.pairs().is_empty()
    }

    /// The option whose value a word may be that stands where the program does, as in `--sampled 64k java`.
    pub(crate) fn may_take(&self, word: &str) -> Option<&str> {
        let names = self.raw.pairs().iter().rev().map(|(name, _)| name.as_str());
        let mut bare = names.filter(|name| agent_options::find(name).and_then(OptionSpec::bare_value).is_some());
        bare.find(|name| RawOptions::from_iter([(*name, word)]).resolve().is_ok())
    }

    /// Sets another option.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.raw.push(name, value);
        self
    }

    fn set_unless_decided(&mut self, pairs: &[(&str, &str)], decides: impl Fn(&str) -> bool) {
        if !self.raw.pairs().iter().any(|(name, _)| decides(name)) {
            let given = self.raw.pairs().iter().map(|(name, value)| (name.as_str(), value.as_str()));
            self.raw = pairs.iter().copied().chain(given).collect();
        }
    }

    /// Sets `juc` where `locks` is on, unless that is given.
    fn with_juc(mut self) -> Self {
        if self.raw.value("locks") == Some("on") && !self.has("juc") {
            self.raw.push("juc", "on");
        }
        self
    }

    /// Sets `warmup` and `locks` where requests are recorded, unless they are given: what requests spend their time on.
    fn with_parts_of_requests(mut self) -> Self {
        if self.raw.value("requests") == Some("on") || self.has("request") {
            for part in ["warmup", "locks"] {
                if !self.has(part) {
                    self.raw.push(part, "on");
                }
            }
        }
        self
    }

    /// Sets `cpu` where `warmup` is on, unless that is given: how much of the code is still interpreted.
    fn with_cpu(mut self) -> Self {
        if self.raw.value("warmup") == Some("on") && !self.has("cpu") {
            self.raw.push("cpu", CPU);
        }
        self
    }

    fn with_callers(mut self) -> Self {
        if self.raw.value("heap") == Some(HeapMode::Counts.as_str()) && self.raw.value("callers").is_none() {
            self.raw.push("callers", CALLERS);
        }
        self
    }

    /// The option string for a JVM that sees other files than we do: each path of these options, which have been resolved, is what
    /// `place` makes of the option's name and the path.
    pub(crate) fn placed(
        resolved: &Resolved,
        mut place: impl FnMut(&str, &Path) -> anyhow::Result<String>,
    ) -> anyhow::Result<String> {
        let given: RawOptions = resolved.string.parse()?;
        let mut placed = RawOptions::default();
        for (name, value) in given.pairs() {
            match agent_options::find(name).is_some_and(OptionSpec::is_path) && !value.is_empty() {
                true => placed.push(name, &place(name, Path::new(value))?),
                false => placed.push(name, value),
            }
        }
        Ok(placed.to_string())
    }

    /// Checks the options as the agent will, and makes their paths independent of where the program runs.
    pub(crate) fn resolve(&self) -> anyhow::Result<Resolved> {
        let mut raw = self.raw.clone();
        if raw.value("file").is_none() {
            raw.push("file", DEFAULT_FILE);
        }
        raw.replace_paths(absolute)?;
        let options = raw.resolve()?;
        let without_effect = raw.without_effect(&options);
        let juc = options.locks.as_ref().is_some_and(|locks| locks.juc);
        let lock_log = options.locks.and_then(|locks| locks.log);
        check_output(&options.file, TRACE, "file")?;
        lock_log.iter().try_for_each(|log| check_output(log, LOCK_LOG, "locklog"))?;
        Ok(Resolved {
            string: options.given,
            file: options.file,
            lock_log,
            heap: options.heap,
            walks_stacks: options.samples.any(),
            juc,
            without_effect,
        })
    }
}

/// Whether an option says what is to be recorded.
fn decides_heap(name: &str) -> bool {
    agent_options::find(name).is_some_and(OptionSpec::decides_heap)
}

fn absolute(path: &str) -> anyhow::Result<String> {
    let absolute = std::path::absolute(path).with_context(|| format!("{path} is not a path"))?;
    match absolute.into_os_string().into_string() {
        Ok(text) => Ok(text),
        Err(text) => {
            bail!("the path {} is not UTF-8, as agent options must be; use another folder", text.display())
        }
    }
}

/// The agent checks this too, but only after the JVM began to start.
fn check_output(path: &Path, kind: Kind, option: &str) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    if folder.to_string_lossy().contains(PID) {
        bail!("--{option} {} has %p in a folder name; put it into the file name", path.display());
    }
    if !folder.is_dir() {
        bail!(
            "cannot write the {}: the folder {} does not exist; create it, or choose another --{option}",
            kind.name,
            folder.display()
        );
    }
    file::check(path, kind, if_taken(path)).map_err(|refusal| anyhow!("{refusal}; choose another --{option}"))
}

/// Offers the values of an option where a shell completes them, and takes any text: `resolve` explains better what is wrong with it.
#[derive(Clone)]
struct AnyValue(&'static OptionSpec);

impl TypedValueParser for AnyValue {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = self.0.completions();
        let value = |choice: Choice| {
            let value = PossibleValue::new(choice.word);
            if choice.means.is_empty() { value } else { value.help(choice.means) }
        };
        (!values.is_empty()).then(|| Box::new(values.into_iter().map(value)) as Box<_>)
    }
}

/// What is wrong with the words behind `martini run` if an option that needs a value has none, so that it took the word behind it, as
/// in `--stack java -jar app.jar`.
pub(crate) fn without_value(words: &[String]) -> Option<String> {
    let mut words = words.iter().map(String::as_str);
    while let Some(name) = words.next().and_then(|word| word.strip_prefix("--")).filter(|name| !name.is_empty()) {
        if agent_options::find(name).is_none_or(|spec| spec.bare_value().is_some()) {
            continue;
        }
        let Some(value) = words.next() else { break };
        if let Err(OptionError::BadValue { takes, .. }) = RawOptions::from_iter([(name, value)]).resolve() {
            return Some(format!("--{name} needs {takes}, but is followed by '{value}'"));
        }
    }
    None
}

/// The words of a command line with each value of an option that needs none (`--sampled 64k`) in one word with it, as the parser wants it.
/// What is no value of the option, or may be a program or a process, stays what it is.
pub(crate) fn joined(command: &Command, words: Vec<OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    let mut words = words.into_iter().peekable();
    // What stands behind the program is its own.
    let is_run = command.get_name() == "run";
    while let Some(word) = words.next() {
        let name = word.to_str().and_then(|word| word.strip_prefix("--")).filter(|name| !name.is_empty());
        let argument = name.and_then(|name| command.get_arguments().find(|argument| argument.get_long() == Some(name)));
        let is_end = word == "--" || is_run && !word.as_encoded_bytes().starts_with(b"-");
        joined.push(word.clone());
        match argument {
            Some(argument) if argument.is_require_equals_set() => {
                let value = words
                    .peek()
                    .and_then(|value| value.to_str())
                    .filter(|value| is_value(argument.get_id().as_str(), value, is_run));
                if let (Some(value), Some(option)) = (value.map(str::to_owned), joined.last_mut()) {
                    option.push(format!("={value}"));
                    words.next();
                }
            }
            Some(argument) if argument.get_action().takes_values() => joined.extend(words.next()),
            _ if is_end => break,
            _ => {}
        }
    }
    joined.extend(words);
    joined
}

fn is_value(option: &str, value: &str, is_run: bool) -> bool {
    // A number alone may be a process, a name a program.
    let is_other =
        if is_run { program::is_found(OsStr::new(value)) } else { value.bytes().all(|c| c.is_ascii_digit()) };
    !is_other && RawOptions::from_iter([(option, value)]).resolve().is_ok()
}

/// What an option is in that command where it is not given.
fn default_text(spec: &'static OptionSpec, command: &str) -> String {
    let bare = spec.bare_value().unwrap_or_default();
    match (command, spec.name) {
        ("run", "heap") => HeapMode::Counts.as_str().to_owned(),
        ("run", "callers") => CALLERS.to_owned(),
        ("attach", "heap") => HeapMode::Off.as_str().to_owned(),
        ("attach", "callers") => format!("off; {CALLERS} with --heap counts"),
        ("attach", name) if name == THREAD_DUMP.0 => THREAD_DUMP.1.to_owned(),
        ("attach", name) if AT_ONCE.contains(&name) => format!("{bare} if no option says what to record"),
        _ => spec.default.text().to_owned(),
    }
}

/// The first paragraph of an option's help in that command.
fn short_help(spec: &'static OptionSpec, command: &str) -> String {
    match (command, spec.name) {
        ("attach", "mark") => format!("Only with martini run: {}", spec.help.to_lowercase()),
        _ => spec.help.to_owned(),
    }
}

fn argument(spec: &'static OptionSpec, command: &str) -> Arg {
    let argument = Arg::new(spec.name)
        .long(spec.name)
        .aliases(spec.old.iter().copied())
        .value_name(spec.values())
        .help(format!("{} [default: {}]", short_help(spec, command), default_text(spec, command)))
        .long_help(long_help(spec, command))
        .help_heading(format!("{} (agent options)", spec.group.title()))
        .value_parser(AnyValue(spec))
        .hide_possible_values(true)
        .hide_short_help(!COMMON.contains(&spec.name))
        .value_hint(if spec.is_path() { ValueHint::FilePath } else { ValueHint::Unknown })
        .action(ArgAction::Append);
    match spec.bare_value() {
        // Without a required "=" the flag alone would take the program as its value.
        Some(value) => argument.num_args(0..=1).require_equals(true).default_missing_value(value),
        None => argument,
    }
}

fn long_help(spec: &'static OptionSpec, command: &str) -> String {
    let mut paragraphs = vec![short_help(spec, command)];
    let choices = spec.choices();
    if !choices.is_empty() {
        let lines = choices.iter().map(|choice| format!("- {}: {}", choice.word, choice.means));
        paragraphs.push(lines.collect::<Vec<_>>().join("\n"));
    }
    let sentences = [spec.more, spec.needs.sentence().unwrap_or_default()].join(" ");
    if !sentences.trim().is_empty() {
        // The table marks words of code as Markdown does.
        paragraphs.push(sentences.trim().replace('`', ""));
    }
    if let Some((name, value)) = spec.examples.first().and_then(|example| example.split_once('=')) {
        let quote = if value.contains('*') { "'" } else { "" };
        paragraphs.push(format!("Example: --{name}={quote}{value}{quote}"));
    }
    paragraphs.push(format!("[default: {}]", default_text(spec, command)));
    paragraphs.join("\n\n")
}

impl clap::Args for AgentOptions {
    fn augment_args(command: Command) -> Command {
        let name = command.get_name().to_owned();
        command.args(OPTIONS.iter().map(|spec| argument(spec, &name)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for AgentOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut found = Vec::new();
        for spec in OPTIONS {
            let values = matches.get_many::<String>(spec.name).into_iter().flatten();
            found.extend(
                matches.indices_of(spec.name).into_iter().flatten().zip(values.map(|value| (spec.name, value))),
            );
        }
        found.sort_by_key(|&(index, _)| index);
        Ok(AgentOptions { raw: found.into_iter().map(|(_, pair)| pair).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args, FromArgMatches};

    use super::*;

    fn resolve(arguments: &[&str]) -> anyhow::Result<Resolved> {
        let command = AgentOptions::augment_args(Command::new("run"));
        let matches = command.try_get_matches_from([&["run"], arguments].concat()).unwrap();
        AgentOptions::from_arg_matches(&matches).unwrap().resolve()
    }

    #[test]
    fn options_reach_the_agent_in_their_order() {
        let arguments = "--exclude=com.acme.gen.* --include com.acme.* --exclude * --allocsites --stack=4 --file";
        let resolved = resolve(&[&arguments.split(' ').collect::<Vec<_>>()[..], &["/tmp/a,b-%p.trcxml"]].concat());
        let expected = "exclude=com.acme.gen.*,include=com.acme.*,exclude=*,allocsites=true,stack=4,\
                        file=/tmp/a,,b-%p.trcxml";
        let resolved = resolved.unwrap();
        assert_eq!(resolved.string, expected);
        assert_eq!(resolved.file, Path::new("/tmp/a,b-%p.trcxml"));
    }

    #[test]
    fn counts_are_for_those_who_ask_for_nothing_else() {
        let counts = |pairs: &[(&str, &str)]| {
            let options = AgentOptions::of(pairs).or_counts().resolve().unwrap();
            options.heap == HeapMode::Counts
        };
        assert!(counts(&[]) && counts(&[("include", "a.*"), ("file", "x.trcxml")]) && counts(&[("heap", "counts")]));
        let asked = "heap=events heap=vm stack=4 allocsites=true lifetimes=false locks=on locklog=x.locks cpu=10ms wall=20ms \
                     sampled=512k ttsp=on";
        for asked in asked.split(' ').map(|asked| asked.split_once('=').unwrap()) {
            assert!(!counts(&[asked]), "{asked:?}");
        }
    }

    #[test]
    fn counts_come_with_callers_unless_these_are_given() {
        let string = |pairs: &[(&str, &str)]| {
            let options = AgentOptions::of(&[pairs, &[("file", "/tmp/x.trcxml")]].concat());
            options.or_counts().resolve().unwrap().string
        };
        assert_eq!(string(&[]), "heap=counts,file=/tmp/x.trcxml,callers=16k");
        assert_eq!(string(&[("heap", "counts")]), "heap=counts,file=/tmp/x.trcxml,callers=16k");
        for given in ["off", "4k"] {
            assert_eq!(string(&[("callers", given)]), format!("heap=counts,callers={given},file=/tmp/x.trcxml"));
        }
        assert!(!string(&[("heap", "vm")]).contains("callers") && !string(&[("locks", "on")]).contains("callers"));
        assert_eq!(string(&[("locks", "on")]), "locks=on,file=/tmp/x.trcxml,juc=on");
        assert_eq!(string(&[("locks", "on"), ("juc", "off")]), "locks=on,juc=off,file=/tmp/x.trcxml");
        assert_eq!(string(&[("warmup", "on")]), "warmup=on,file=/tmp/x.trcxml,cpu=10ms");
        assert_eq!(string(&[("warmup", "on"), ("cpu", "off")]), "warmup=on,cpu=off,file=/tmp/x.trcxml");
        let parts = "requests=on,file=/tmp/x.trcxml,warmup=on,locks=on,juc=on,cpu=10ms";
        assert_eq!(string(&[("requests", "on")]), parts);
        let parts = "request=a.B.c,locks=off,file=/tmp/x.trcxml,warmup=on,cpu=10ms";
        assert_eq!(string(&[("request", "a.B.c"), ("locks", "off")]), parts);
    }

    #[test]
    fn a_running_jvm_is_asked_for_what_it_gives_at_once_unless_told_otherwise() {
        let string = |pairs: &[(&str, &str)]| {
            let options = AgentOptions::of(&[pairs, &[("file", "/tmp/x.trcxml")]].concat());
            options.or_at_once(false).resolve().unwrap().string
        };
        assert_eq!(string(&[]), "sampled=512k,cpu=10ms,locks=on,file=/tmp/x.trcxml,threaddump=few");
        let with_juc = string(&[("juc", "on")]);
        assert_eq!(with_juc, "sampled=512k,cpu=10ms,locks=on,juc=on,file=/tmp/x.trcxml,threaddump=few");
        assert_eq!(string(&[("cpu", "1ms")]), "cpu=1ms,file=/tmp/x.trcxml,threaddump=few");
        let counts = string(&[("heap", "counts"), ("threaddump", "off")]);
        assert_eq!(counts, "heap=counts,threaddump=off,file=/tmp/x.trcxml,callers=16k");
        let late = AgentOptions::of(&[("file", "/tmp/x.trcxml")]).or_at_once(true).resolve().unwrap();
        assert_eq!(late.string, "sampled=512k,cpu=10ms,locks=on,file=/tmp/x.trcxml,threaddump=few,juc=on");
    }

    #[test]
    fn paths_are_placed_where_the_jvm_sees_them() {
        let resolved = resolve(&["--locks", "--file=/tmp/a,b.trcxml", "--locklog=/tmp/x.log"]).unwrap();
        let placed = AgentOptions::placed(&resolved, |name, path| Ok(format!("/in/{name},{}", path.display())));
        assert_eq!(placed.unwrap(), "locks=on,file=/in/file,,/tmp/a,,b.trcxml,locklog=/in/locklog,,/tmp/x.log");
    }

    #[test]
    fn a_value_that_stands_where_the_program_does_is_recognised() {
        let options = AgentOptions::of;
        assert_eq!(options(&[("sampled", "512k"), ("locks", "on")]).may_take("64k"), Some("sampled"));
        assert_eq!(options(&[("cpu", "10ms")]).may_take("1ms"), Some("cpu"));
        assert_eq!(options(&[("cpu", "10ms"), ("stack", "8")]).may_take("16"), None);
        assert_eq!(options(&[("sampled", "512k")]).may_take("java"), None);
    }

    #[test]
    fn a_value_may_be_a_word_of_its_own() {
        let join = |name: &'static str, words: &str| {
            let command = AgentOptions::augment_args(Command::new(name));
            let words = joined(&command, words.split(' ').map(OsString::from).collect());
            words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
        };
        for (words, expected) in [
            ("--sampled 64k --cpu 5ms sh", "--sampled=64k --cpu=5ms sh"),
            ("--stack 16 --sampled 65536 -- sh", "--stack 16 --sampled=65536 -- sh"),
            (
                "--sampled=64k --locks on --file x sh --sampled 64k",
                "--sampled=64k --locks=on --file x sh --sampled 64k",
            ),
            ("--sampled sh 64k", "--sampled sh 64k"),
            ("--sampled", "--sampled"),
        ] {
            assert_eq!(join("run", words), expected);
        }
        assert_eq!(join("attach", "--sampled 4711"), "--sampled 4711");
        assert_eq!(join("attach", "4711 --sampled 64k --cpu"), "4711 --sampled=64k --cpu");
    }

    #[test]
    fn an_option_that_took_the_program_for_its_value_says_what_it_needs() {
        let said = |words: &str| without_value(&words.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let stack = said("--stack java -jar app.jar").unwrap();
        assert!(stack.starts_with("--stack needs ") && stack.contains("0 to 64 frames"), "{stack}");
        assert!(stack.contains(", such as ") && stack.ends_with(", but is followed by 'java'"), "{stack}");
        assert!(said("--quiet --locks --stack 8 --every java -jar x").unwrap().starts_with("--every needs "));
        for right in [
            "--stack 8 java -x",
            "--stack=8 java --stack java",
            "--callers 16k java",
            "--cpu --wall --sampled --ttsp java -jar x",
            "--cpu=1ms --sampled=1m java",
            "--locks java -jar x",
            "-- --stack x",
            "--stack",
        ] {
            assert_eq!(said(right), None, "{right}");
        }
    }

    #[test]
    fn the_default_file_is_in_the_current_folder() {
        let resolved = resolve(&[]).unwrap();
        assert_eq!(resolved.file, std::env::current_dir().unwrap().join(DEFAULT_FILE));
        assert_eq!(resolved.string, format!("file={}", resolved.file.display()));
    }

    #[test]
    fn places_where_nothing_can_be_written_are_refused_before_anything_runs() {
        let missing = "the folder /no/such/folder does not exist; create it, or choose another --locklog";
        for (arguments, part) in [
            (["--file="], "file"),
            (["--file=/tmp/%p/x"], "put it into the file name"),
            (["--file=/proc/self/cmdline"], "; choose another --file"),
            (["--locklog=/no/such/folder/x"], missing),
        ] {
            let error = format!("{:#}", resolve(&arguments).unwrap_err());
            assert!(error.contains(part), "{arguments:?}: {error}");
        }
    }

    #[test]
    fn the_old_spelling_of_an_option_is_understood_and_not_listed() {
        assert!(resolve(&["--threads"]).unwrap().string.starts_with("locks=on,"));
        let help = AgentOptions::augment_args(Command::new("run")).render_long_help().to_string();
        assert!(help.contains("--locks") && !help.contains("--threads"), "{help}");
    }

    #[test]
    fn every_option_has_help_with_its_default() {
        for spec in OPTIONS {
            let long = long_help(spec, "");
            assert!(long.starts_with(spec.help) && long.contains(spec.default.text()), "{long}");
        }
        let every = OPTIONS.iter().find(|spec| spec.name == "every").unwrap();
        assert!(
            long_help(every, "run")
                .ends_with("Requires heap=counts or sampled.\n\nExample: --every=10\n\n[default: 1]")
        );
        let exclude = OPTIONS.iter().find(|spec| spec.name == "exclude").unwrap();
        assert!(long_help(exclude, "run").contains("Example: --exclude='java.*'\n"));
    }

    #[test]
    fn help_has_the_defaults_of_its_command() {
        let help = |command: &'static str, name: &str| {
            let command = AgentOptions::augment_args(Command::new(command));
            let option = command.get_arguments().find(|option| option.get_long() == Some(name)).unwrap();
            option.get_help().unwrap().to_string()
        };
        assert!(help("run", "heap").ends_with("[default: counts]"));
        assert!(help("run", "cpu").ends_with("[default: off]"));
        assert!(help("attach", "heap").ends_with("[default: off]"));
        assert!(help("attach", "cpu").ends_with("[default: 10ms if no option says what to record]"));
        assert!(help("run", "threaddump").ends_with("[default: off]"));
        assert!(help("attach", "threaddump").ends_with("[default: few]"));
        assert!(help("attach", "mark").starts_with("Only with martini run: mark "));
    }
}
