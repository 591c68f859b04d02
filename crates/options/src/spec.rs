//! A row of the table: an option as its user sees it.

use super::kind::{Choice, Kind};
use super::resolved::{HeapMode, Options};

/// An option.
#[derive(Debug)]
pub struct OptionSpec {
    /// The name before the `=`.
    pub name: &'static str,
    /// Names that it had in earlier versions and that are still understood.
    pub old: &'static [&'static str],
    /// What it is about.
    pub group: Group,
    /// What happens without it.
    pub default: DefaultValue,
    /// What it does: one sentence, without its full stop.
    pub help: &'static str,
    /// What else there is to know about it: whole sentences, or nothing.
    pub more: &'static str,
    /// Examples, each one `name=value`.
    pub examples: &'static [&'static str],
    /// What else has to be given for it to have an effect.
    pub needs: Need,
    /// How its value is read, and where it goes.
    pub(crate) kind: Kind,
}

/// What happens without an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultValue {
    /// The same as with this value.
    Value(&'static str),
    /// What these words say.
    Text(&'static str),
}

impl DefaultValue {
    /// The value, or the words.
    pub fn text(self) -> &'static str {
        match self {
            DefaultValue::Value(text) | DefaultValue::Text(text) => text,
        }
    }
}

/// What an option is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// What is recorded of allocations.
    Heap,
    /// Which classes are reported.
    Filters,
    /// What is recorded of threads that wait for locks.
    Locks,
    /// What is recorded of what threads do.
    Cpu,
    /// Dumps of the heap.
    Dumps,
    /// The trace file.
    Trace,
    /// How the JVM is asked.
    Jvm,
}

impl Group {
    /// All groups, in the order in which the table has them.
    pub const ALL: [Group; 7] =
        [Group::Heap, Group::Trace, Group::Filters, Group::Locks, Group::Cpu, Group::Dumps, Group::Jvm];

    /// The title in help.
    pub fn title(self) -> &'static str {
        match self {
            Group::Heap => "Allocations",
            Group::Filters => "Class filters",
            Group::Locks => "Locks",
            Group::Cpu => "CPU time",
            Group::Dumps => "Heap dumps",
            Group::Trace => "The trace file",
            Group::Jvm => "The JVM's private memory",
        }
    }
}

/// Options that choose what is recorded: without `heap` beside them no allocations are, but for itself.
const HEAP_OFF: [&str; 12] =
    ["heap", "locks", "juc", "locklog", "sampled", "cpu", "wall", "ttsp", "warmup", "requests", "request", "ready"];

/// What else has to be given for an option to have an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing.
    Nothing,
    /// A heap mode that records single objects.
    Objects,
    /// `heap=counts`; without it the option is refused.
    Counts,
    /// `heap=counts` or `sampled`; without them the option is refused.
    Totals,
    /// `locks=on`.
    Locks,
    /// `dump`.
    Dump,
}

impl Need {
    /// The need as a sentence.
    pub fn sentence(self) -> Option<&'static str> {
        match self {
            Need::Nothing => None,
            Need::Objects => Some("Records every object: implies `heap=events` if nothing else is recorded."),
            Need::Counts => Some("Requires `heap=counts`."),
            Need::Totals => Some("Requires `heap=counts` or `sampled`."),
            Need::Locks => Some("Requires lock recording."),
            Need::Dump => Some("Requires `dump`."),
        }
    }

    /// Why the option has no effect with these options, and what to write; `None` if it has one, or would have been refused.
    pub(crate) fn unmet(self, options: &Options) -> Option<String> {
        match self {
            Need::Objects if !matches!(options.heap, HeapMode::Events | HeapMode::Vm) => {
                Some(format!("with heap={}: write heap=events or heap=vm", options.heap.as_str()))
            }
            Need::Locks if options.locks.is_none() => Some("unless locks are recorded: write locks=on".to_owned()),
            Need::Dump if !options.dump.when.ever() => Some("without a dump: write dump=end".to_owned()),
            _ => None,
        }
    }
}

impl OptionSpec {
    /// What its value looks like: words with `|` between, or a name in capitals.
    pub fn values(&self) -> String {
        self.kind.values()
    }

    /// What it takes, with the range and examples: part of a sentence.
    pub(crate) fn takes(&self) -> String {
        let takes = self.kind.takes();
        match self.kind {
            Kind::OnOff(_) | Kind::Bool(_) | Kind::OneOf(_) => takes,
            _ => format!("{takes}, such as {}", self.example_values().collect::<Vec<_>>().join(" or ")),
        }
    }

    /// The values of its examples.
    fn example_values(&self) -> impl Iterator<Item = &'static str> {
        self.examples.iter().filter_map(|example| example.split_once('=')).map(|(_, value)| value)
    }

    /// The words that it takes, if each has a meaning of its own.
    pub fn choices(&self) -> Vec<Choice> {
        self.kind.choices()
    }

    /// Whole values to offer where a shell completes them; none where any text may be right.
    pub fn completions(&self) -> Vec<Choice> {
        let plain = |word| Choice { word, means: "" };
        match self.kind {
            Kind::OnOff(_) => ["on", "off"].map(plain).to_vec(),
            Kind::Bool(_) => ["true", "false"].map(plain).to_vec(),
            // A word with a number in it is completed by an example.
            Kind::DumpTimes(..) => {
                let words = self.choices().into_iter().filter(|choice| !choice.word.contains('N'));
                words.chain(self.example_values().map(plain)).collect()
            }
            _ => self.choices(),
        }
    }

    /// The value that the name alone stands for on a command line, if it may stand alone.
    pub fn bare_value(&self) -> Option<&'static str> {
        match self.kind {
            Kind::OnOff(_) => Some("on"),
            Kind::Bool(_) => Some("true"),
            Kind::SizeOrOff { usual, .. } => usual,
            Kind::IntervalOrOff { usual, .. } => Some(usual),
            Kind::OneOf(words) => words.iter().map(|(choice, _)| choice.word).find(|&word| word == "on"),
            _ => None,
        }
    }

    /// Whether its value is the path of a file.
    pub fn is_path(&self) -> bool {
        matches!(self.kind, Kind::Path(_))
    }

    /// Whether it may be given several times.
    pub fn is_repeatable(&self) -> bool {
        matches!(self.kind, Kind::Pattern(_) | Kind::Method(_) | Kind::Methods(_))
    }

    /// Whether who gives it has chosen a heap mode by that: one that records single objects, or none because locks are wanted.
    pub fn decides_heap(&self) -> bool {
        self.needs == Need::Objects || HEAP_OFF.contains(&self.name)
    }
}
