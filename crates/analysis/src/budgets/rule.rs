//! Budgets in one line: `bytes of byte[] at com.acme.* each method without start <= baseline + 2 %`.

use std::fmt::Write as _;
use std::str::FromStr;

use trace::filter::Pattern;

use super::{Budget, Limit, Start};
use crate::ledger::{Measure, Unit};

/// What is wrong with a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RuleError(pub String);

fn pattern(text: &str) -> Result<Pattern, RuleError> {
    text.parse().map_err(|error: trace::filter::PatternError| RuleError(error.to_string()))
}

impl Budget {
    /// A budget of words, as a line or a file has them; without a name it is called as a line would have it.
    ///
    /// # Errors
    /// A word is not known, or they do not go together.
    pub fn of_words(words: &Words<'_>) -> Result<Budget, RuleError> {
        let error = |text: String| RuleError(text);
        let measure = Measure::of_word(words.measure).ok_or_else(|| {
            let known: Vec<_> = Measure::ALL.iter().map(|measure| measure.word()).collect();
            error(format!("'{}' is no measure; known are {}", words.measure, known.join(", ")))
        })?;
        let each = words.each.map(|word| {
            let unknown = || error(format!("each '{word}' is not known; it is line, method, class or package"));
            Unit::of_word(word).ok_or_else(unknown)
        });
        let each = each.transpose()?;
        let start = match words.start {
            None => Start::Included,
            Some("without") => Start::Without,
            Some("only") => Start::Only,
            Some(other) => return Err(error(format!("start '{other}' is not known; it is without or only"))),
        };
        if words.thread.is_some()
            && (words.at.is_some() || words.of.is_some() || each.is_some() || words.start.is_some())
        {
            return Err(error("of a thread only all together is known: leave out at, of, each and start".to_owned()));
        }
        if words.thread.is_some() && !matches!(measure, Measure::Bytes | Measure::Objects | Measure::Cpu) {
            return Err(error("of a thread bytes, objects and cpu are known".to_owned()));
        }
        if words.of.is_some() && matches!(measure, Measure::Cpu | Measure::Calls | Measure::Time) {
            return Err(error(format!("{} is of no class: leave out of", measure.word())));
        }
        if measure == Measure::Retained {
            return Err(error("retained is known of heap dumps only: see martini diff".to_owned()));
        }
        if measure == Measure::Live && (words.at.is_some() || start != Start::Included) {
            return Err(error("live objects are known by class only: name it with of".to_owned()));
        }
        let parsed = |text: Option<&str>| text.map(pattern).transpose();
        Ok(Budget {
            name: words.name.map_or_else(|| words.text(), str::to_owned),
            measure,
            at: parsed(words.at)?,
            of: parsed(words.of)?,
            thread: parsed(words.thread)?,
            each,
            start,
            limit: Limit::parse(words.at_most, measure).map_err(RuleError)?,
        })
    }
}

/// A budget as it is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Words<'a> {
    /// What it is called.
    pub name: Option<&'a str>,
    /// `bytes`, `objects`, `live`, `cpu`, `blocked`, `waits`, `calls` or `time`.
    pub measure: &'a str,
    /// A pattern for code.
    pub at: Option<&'a str>,
    /// A pattern for classes of objects or locks.
    pub of: Option<&'a str>,
    /// A pattern for threads.
    pub thread: Option<&'a str>,
    /// `line`, `method`, `class` or `package`.
    pub each: Option<&'a str>,
    /// `without` or `only`.
    pub start: Option<&'a str>,
    /// The bound.
    pub at_most: &'a str,
}

impl Words<'_> {
    /// The budget in one line, without its bound.
    fn text(&self) -> String {
        let mut text = self.measure.to_owned();
        for (word, value) in [("of", self.of), ("at", self.at), ("thread", self.thread), ("each", self.each)] {
            if let Some(value) = value {
                _ = write!(text, " {word} {value}");
            }
        }
        match self.start {
            Some("only") => text.push_str(" start only"),
            Some(_) => text.push_str(" without start"),
            None => {}
        }
        text
    }
}

impl FromStr for Budget {
    type Err = RuleError;

    fn from_str(line: &str) -> Result<Budget, RuleError> {
        const FORM: &str =
            "write MEASURE [of CLASS] [at CODE] [thread NAME] [each UNIT] [without start | start only] <= LIMIT";
        let form = || RuleError(FORM.to_owned());
        let (subject, at_most) = line.split_once("<=").ok_or_else(form)?;
        let mut rest = subject.split_whitespace();
        let mut words = Words { measure: rest.next().ok_or_else(form)?, at_most, ..Words::default() };
        while let Some(word) = rest.next() {
            let mut value = || rest.next().ok_or_else(form);
            match word {
                "of" => words.of = Some(value()?),
                "at" => words.at = Some(value()?),
                "thread" => words.thread = Some(value()?),
                "each" => words.each = Some(value()?),
                "without" if value()? == "start" => words.start = Some("without"),
                "start" if value()? == "only" => words.start = Some("only"),
                _ => return Err(RuleError(format!("'{word}' is not known here; {FORM}"))),
            }
        }
        Budget::of_words(&words)
    }
}
