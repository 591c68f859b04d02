//! Where in the code something happened, and what it was of.

use std::fmt;

use trace::names;

use crate::location::Location;

/// How finely places are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Lines of code.
    Line,
    /// Methods, those of the same name together.
    #[default]
    Method,
    /// Classes of the code.
    Class,
    /// Packages of the code.
    Package,
}

impl Unit {
    /// All of them, the finest first.
    pub const ALL: [Unit; 4] = [Unit::Line, Unit::Method, Unit::Class, Unit::Package];

    /// What one is called, and several are.
    pub fn words(self) -> [&'static str; 2] {
        match self {
            Unit::Line => ["line", "lines"],
            Unit::Method => ["method", "methods"],
            Unit::Class => ["class", "classes"],
            Unit::Package => ["package", "packages"],
        }
    }

    /// The unit of a word.
    pub fn of_word(word: &str) -> Option<Unit> {
        Unit::ALL.into_iter().find(|unit| unit.words()[0] == word)
    }
}

/// A place in the code, as fine as its [`Unit`]; with an empty class it gathers what has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The class, or the package; empty if it is not known.
    pub class: Box<str>,
    /// The method as the JVM spells it; empty if the place is a class or a package.
    pub method: Box<str>,
    /// The source file; empty if it is not known, or the place is no line.
    pub source: Box<str>,
    /// The line.
    pub line: Option<u32>,
}

impl Place {
    /// The place of a frame.
    pub fn of(at: Location<'_>, unit: Unit) -> Place {
        let class = match unit {
            Unit::Package => names::package(at.class),
            Unit::Line | Unit::Method | Unit::Class => at.class,
        };
        let place = Place { class: class.into(), ..Place::default() };
        match unit {
            Unit::Class | Unit::Package => place,
            Unit::Method => Place { method: names::jvm_method_name(at.method).into(), ..place },
            Unit::Line => Place {
                method: names::jvm_method_name(at.method).into(),
                source: at.source.into(),
                line: at.line,
                ..place
            },
        }
    }

    /// The place as a larger unit has it.
    pub fn coarser(&self, unit: Unit) -> Place {
        let (class, method) = (self.class.clone(), self.method.clone());
        match unit {
            Unit::Line => self.clone(),
            Unit::Method => Place { class, method, ..Place::default() },
            Unit::Class => Place { class, ..Place::default() },
            Unit::Package => Place::named(names::package(&self.class)),
        }
    }

    /// A place that only has a name.
    pub fn named(name: &str) -> Place {
        Place { class: name.into(), ..Place::default() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.class.is_empty() { "(no place)" } else { &self.class })?;
        if !self.method.is_empty() {
            write!(f, ".{}", self.method)?;
        }
        match (&*self.source, self.line) {
            ("", None) => Ok(()),
            ("", Some(line)) => write!(f, "(line {line})"),
            (source, None) => write!(f, "({source})"),
            (source, Some(line)) => write!(f, "({source}:{line})"),
        }
    }
}

/// A place, and the class of what was allocated or locked there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Item {
    /// Where.
    pub place: Place,
    /// The class; empty if the measure is of none.
    pub of: Box<str>,
}
