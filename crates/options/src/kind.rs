//! Kinds of values: how each is read, and where the row of the table puts it.

use std::path::PathBuf;
use std::time::Duration;

use trace::filter::{Pattern, PatternError};

use super::draft::Draft;
use super::dump::DumpWhen;
use super::method::{MethodName, MethodPattern};

/// A word that an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The word.
    pub word: &'static str,
    /// What it means: part of a sentence.
    pub means: &'static str,
}

/// A word that an option takes, and what it does.
pub(crate) type Word = (Choice, fn(&mut Draft));

/// How a value is read, and where it goes.
#[derive(Debug)]
pub(crate) enum Kind {
    /// `on` or `off`.
    OnOff(fn(&mut Draft, bool)),
    /// `true` or `false`.
    Bool(fn(&mut Draft, bool)),
    /// One of these words.
    OneOf(&'static [Word]),
    /// A whole number from 0 to `max`, of frames.
    Depth { max: usize, set: fn(&mut Draft, usize) },
    /// A number of bytes from `min` to `max`.
    Size { min: u64, max: u64, set: fn(&mut Draft, u64) },
    /// A number of bytes from 1 to `max`, or `off`.
    SizeOrOff { max: u64, usual: Option<&'static str>, set: fn(&mut Draft, Option<u64>) },
    /// A whole number of seconds.
    Seconds(fn(&mut Draft, Duration)),
    /// A length of time from `min` to `max`, or `off`.
    IntervalOrOff { min: Duration, max: Duration, usual: &'static str, set: fn(&mut Draft, Option<Duration>) },
    /// The path of a file.
    Path(fn(&mut Draft, PathBuf)),
    /// Any text.
    Text { name: &'static str, set: fn(&mut Draft, String) },
    /// A pattern of class names.
    Pattern(fn(&mut Draft, Pattern)),
    /// A method of a class.
    Method(fn(&mut Draft, MethodName)),
    /// Methods of classes.
    Methods(fn(&mut Draft, MethodPattern)),
    /// Times at which the heap is dumped, joined by `+`.
    DumpTimes(&'static [Choice], fn(&mut Draft, DumpWhen)),
}

/// Why a value is refused.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// It is not of the option's kind.
    NotOfKind,
    /// It is not a pattern.
    NoPattern(PatternError),
}

impl Kind {
    /// Reads the value and puts it into the draft.
    pub(crate) fn apply(&self, value: &str, draft: &mut Draft) -> Result<(), Refusal> {
        let read = match self {
            Kind::OnOff(set) => either(value, "on", "off").map(|on| set(draft, on)),
            Kind::Bool(set) => either(value, "true", "false").map(|yes| set(draft, yes)),
            Kind::OneOf(words) => words.iter().find(|(choice, _)| choice.word == value).map(|(_, set)| set(draft)),
            Kind::Depth { max, set } => value.parse().ok().filter(|depth| depth <= max).map(|depth| set(draft, depth)),
            Kind::Size { min, max, set } => {
                size(value).filter(|bytes| (min..=max).contains(&bytes)).map(|bytes| set(draft, bytes))
            }
            Kind::SizeOrOff { set, .. } if value == "off" => {
                set(draft, None);
                Some(())
            }
            Kind::SizeOrOff { max, set, .. } => {
                size(value).filter(|bytes| bytes <= max).map(|bytes| set(draft, Some(bytes)))
            }
            Kind::Seconds(set) => {
                value.parse::<u32>().ok().map(|seconds| set(draft, Duration::from_secs(seconds.into())))
            }
            Kind::IntervalOrOff { set, .. } if value == "off" => {
                set(draft, None);
                Some(())
            }
            Kind::IntervalOrOff { min, max, set, .. } => {
                interval(value).filter(|time| (*min..=*max).contains(time)).map(|time| set(draft, Some(time)))
            }
            Kind::Path(set) => (!value.is_empty()).then(|| set(draft, PathBuf::from(value))),
            Kind::Text { set, .. } => (!value.is_empty()).then(|| set(draft, value.to_owned())),
            Kind::Pattern(set) => {
                let pattern = value.parse().map_err(Refusal::NoPattern)?;
                set(draft, pattern);
                Some(())
            }
            Kind::Method(set) => MethodName::parse(value).map(|method| set(draft, method)),
            Kind::Methods(set) => MethodPattern::parse(value).map(|methods| set(draft, methods)),
            Kind::DumpTimes(_, set) => DumpWhen::parse(value).map(|when| set(draft, when)),
        };
        read.ok_or(Refusal::NotOfKind)
    }

    /// What the value looks like: the words themselves, or a name in capitals.
    pub(crate) fn values(&self) -> String {
        match self {
            Kind::OnOff(_) => "on|off".into(),
            Kind::Bool(_) => "true|false".into(),
            Kind::OneOf(_) | Kind::DumpTimes(..) => {
                self.choices().iter().map(|choice| choice.word).collect::<Vec<_>>().join("|")
            }
            Kind::Depth { .. } => "DEPTH".into(),
            Kind::Size { .. } => "SIZE".into(),
            Kind::SizeOrOff { .. } => "SIZE|off".into(),
            Kind::Seconds(_) => "SECONDS".into(),
            Kind::IntervalOrOff { .. } => "INTERVAL|off".into(),
            Kind::Path(_) => "PATH".into(),
            Kind::Text { name, .. } => (*name).into(),
            Kind::Pattern(_) => "PATTERN".into(),
            Kind::Method(_) | Kind::Methods(_) => "METHOD".into(),
        }
    }

    /// As [`values`](Self::values), with what a name in capitals stands for, and its range.
    pub(crate) fn takes(&self) -> String {
        let values = self.values();
        match self {
            Kind::OnOff(_) | Kind::Bool(_) | Kind::OneOf(_) => values,
            Kind::Depth { max, .. } => format!("{values}, 0 to {max} frames"),
            Kind::Size { min, max, .. } => match *max {
                u64::MAX => format!("{values} in bytes, {} or more", size_text(*min)),
                max => format!("{values}, {} to {} bytes", size_text(*min), size_text(max)),
            },
            Kind::SizeOrOff { max, .. } => format!("{values}, 1 to {} bytes", size_text(*max)),
            Kind::Seconds(_) => format!("{values}, an integer from 0 to {}", u32::MAX),
            Kind::IntervalOrOff { min, max, .. } => {
                format!("{values}, a duration from {} to {}", interval_text(*min), interval_text(*max))
            }
            Kind::Path(_) => format!("{values}, a file path"),
            Kind::Text { .. } => format!("{values}, a text"),
            Kind::Pattern(_) => format!("{values}, a name with at most one *, at its beginning or end"),
            Kind::Method(_) => format!("{values}, a class name and a method name"),
            Kind::Methods(_) => {
                format!("{values}, a class name, which may begin or end with *, and a method name, or * for all")
            }
            Kind::DumpTimes(..) => format!("{values}, or several joined by +, where N is 1 or more"),
        }
    }

    /// The words that the option takes.
    pub(crate) fn choices(&self) -> Vec<Choice> {
        match self {
            Kind::OneOf(words) => words.iter().map(|&(choice, _)| choice).collect(),
            Kind::DumpTimes(choices, _) => choices.to_vec(),
            _ => Vec::new(),
        }
    }
}

fn either(value: &str, yes: &str, no: &str) -> Option<bool> {
    (value == yes || value == no).then(|| value == yes)
}

/// The number of bytes in a size such as 64m; `None` of anything else, and of none.
pub fn size(text: &str) -> Option<u64> {
    let (digits, shift) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 10),
        b'm' | b'M' => (&text[..text.len() - 1], 20),
        b'g' | b'G' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let number: u64 = digits.parse().ok().filter(|n| *n > 0)?;
    number.checked_mul(1 << shift)
}

/// The units of lengths of time, the shortest first, with the microseconds in each.
const UNITS: [(&str, u32); 3] = [("us", 1), ("ms", 1000), ("s", 1_000_000)];

/// The length of time in a text such as 10ms.
fn interval(text: &str) -> Option<Duration> {
    let (digits, micros) = UNITS.iter().find_map(|&(unit, micros)| {
        let digits = text.strip_suffix(unit)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then_some((digits, micros))
    })?;
    let number: u32 = digits.parse().ok()?;
    Some(Duration::from_micros(u64::from(number) * u64::from(micros)))
}

/// A length of time as it is typed: 10000 us is 10ms.
fn interval_text(time: Duration) -> String {
    let micros = time.as_micros();
    let unit = UNITS.iter().rev().find(|&&(_, unit)| micros.is_multiple_of(unit.into()));
    let &(unit, in_unit) = unit.unwrap_or(&UNITS[0]);
    format!("{}{unit}", micros / u128::from(in_unit))
}

/// A number of bytes as it is typed: 65536 is 64k.
fn size_text(bytes: u64) -> String {
    let units = [(30, "g"), (20, "m"), (10, "k")];
    match units.into_iter().find(|(shift, _)| bytes > 0 && bytes.trailing_zeros() >= *shift) {
        Some((shift, unit)) => format!("{}{unit}", bytes >> shift),
        None => bytes.to_string(),
    }
}
