//! TPTP filter rules: which classes a profiler reports.
//!
//! A list of patterns, each with INCLUDE or EXCLUDE. The first pattern that matches a class decides;
//! if none does, the class is included. A pattern is a whole name or has one `*`, in front or
//! behind, and names may be spelled as tables or Java code spell them. A pattern for a class is one for
//! its arrays, too. Method patterns are kept and written, but selectivity in heap and thread traces is
//! by class alone.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::generated::plain_name;
use crate::model::{Filter, FilterMode, Wildcard};

/// Why a filter could not be had. One sentence each.
#[derive(Debug, thiserror::Error)]
pub enum FilterError {
    /// The filter file cannot be read.
    #[error("cannot read the filter file {}: {source}; give an existing text file", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line of a filter file is not an entry.
    #[error("{}:{line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: LineProblem,
    },
}

/// What can be wrong with one line of a filter file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineProblem {
    /// Not three fields.
    #[error(
        "found {0} fields instead of three, separated by blanks: class pattern, method pattern, INCLUDE or EXCLUDE"
    )]
    Fields(usize),
    /// The third field is no mode.
    #[error("the third field is \"{0}\" instead of INCLUDE or EXCLUDE")]
    Mode(String),
    /// A pattern is none.
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

/// A text is no filter pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is not a filter pattern; write a name such as com.foo.Bar, \
     or put one * at its beginning or its end, such as com.foo.*"
)]
pub struct PatternError(pub String);

/// A name, or the beginning or end of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    wildcard: Wildcard,
}

impl Pattern {
    /// The pattern `*`, which matches every name.
    pub fn any() -> Self {
        Self { text: String::new(), wildcard: Wildcard::Prefix }
    }

    /// Whether it is the pattern `*`.
    pub fn is_any(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether a name matches. A dot of the pattern also stands for the `$` of an inner class and the `/` of a hidden one, and
    /// the name may be as tables show it: without what the JDK appends to generated names, and with packages shortened to
    /// their first letters.
    pub fn matches(&self, name: &str) -> bool {
        self.matches_spelled(name) || matches!(plain_name(name), Cow::Owned(plain) if self.matches_spelled(&plain))
    }

    /// Whether a class matches, or one of which it is an array.
    pub fn matches_class(&self, class: &str) -> bool {
        std::iter::successors(Some(class), |class| class.strip_suffix("[]")).any(|class| self.matches(class))
    }

    fn matches_spelled(&self, name: &str) -> bool {
        let fits = |text: &str, name: &str| match self.wildcard {
            Wildcard::None => text.len() == name.len() && begins(name, text),
            Wildcard::Prefix => name.len().checked_sub(text.len()).is_some_and(|at| {
                let end = &name.as_bytes()[at..];
                end.iter().zip(text.as_bytes()).all(|(&of_name, &of_text)| is_same(of_name, of_text))
            }),
            Wildcard::Suffix => begins(name, text),
        };
        fits(&self.text, name)
            || self.wildcard != Wildcard::Prefix
                && lengthened(&self.text, name).is_some_and(|(text, name)| fits(text, name))
    }
}

/// Whether a name begins with a text.
fn begins(name: &str, text: &str) -> bool {
    name.len() >= text.len() && name.bytes().zip(text.bytes()).all(|(of_name, of_text)| is_same(of_name, of_text))
}

fn is_same(of_name: u8, of_text: u8) -> bool {
    of_name == of_text || of_text == b'.' && matches!(of_name, b'$' | b'/')
}

/// What is behind packages that the text has only the first letters of: `j.util.Map` is short for `java.util.Map`. Only where a class
/// follows, as in tables: packages of one letter are real ones in obfuscated programs.
fn lengthened<'t, 'n>(mut text: &'t str, mut name: &'n str) -> Option<(&'t str, &'n str)> {
    let of_class = text.rsplit('.').find(|part| part.starts_with(char::is_uppercase));
    of_class?;
    let mut is_shortened = false;
    while let Some((letter, rest)) = text.split_once('.')
        && letter.chars().count() == 1
        && letter.starts_with(char::is_lowercase)
    {
        let (package, rest_of_name) = name.split_once('.')?;
        if !package.starts_with(letter) {
            return None;
        }
        is_shortened |= package != letter;
        (text, name) = (rest, rest_of_name);
    }
    is_shortened.then_some((text, name))
}

impl fmt::Display for Pattern {
    /// The pattern as it is typed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.wildcard {
            Wildcard::None => f.write_str(&self.text),
            Wildcard::Prefix => write!(f, "*{}", self.text),
            Wildcard::Suffix => write!(f, "{}*", self.text),
        }
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    /// Reads `com.foo.*`, `*Test`, `com.foo.Bar` or `*`; packages may be given with slashes. A table writes `…` in front of a name
    /// whose beginning it leaves out.
    fn from_str(text: &str) -> Result<Self, PatternError> {
        let (name, wildcard) = match (text.strip_prefix(['*', '…']), text.strip_suffix('*')) {
            (Some(name), _) => (name, Wildcard::Prefix),
            (None, Some(name)) => (name, Wildcard::Suffix),
            (None, None) => (text, Wildcard::None),
        };
        // Names of threads and of Kotlin's functions have blanks inside.
        if text.is_empty() || name.contains('*') || name.trim() != name {
            return Err(PatternError(text.to_owned()));
        }
        Ok(Self { text: plain_name(name).replace('/', "."), wildcard })
    }
}

/// One entry of a filter list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Which classes it is about.
    pub class: Pattern,
    /// Which methods it is about; without effect in heap and thread traces.
    pub method: Pattern,
    /// What to do with them.
    pub mode: FilterMode,
}

impl Rule {
    /// A rule about classes, for all their methods.
    pub fn for_classes(class: Pattern, mode: FilterMode) -> Self {
        Self { class, method: Pattern::any(), mode }
    }
}

/// A filter list. An empty one includes every class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilterSet {
    rules: Vec<Rule>,
}

impl FilterSet {
    /// Reads a TPTP filter file: one entry a line, three fields separated by blanks. Empty lines and
    /// lines that begin with `#` say nothing.
    ///
    /// # Errors
    /// The file cannot be read, or the first line that is no entry.
    pub fn load(path: &Path) -> Result<Self, FilterError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| FilterError::Read { path: path.to_owned(), source })?;
        Self::parse(&text, path)
    }

    /// As [`load`](Self::load), from the text of the file; `path` only names it in errors.
    ///
    /// # Errors
    /// The first line that is no entry.
    pub fn parse(text: &str, path: &Path) -> Result<Self, FilterError> {
        let mut rules = Vec::new();
        for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let rule = parse_line(line).map_err(|problem| FilterError::Line {
                path: path.to_owned(),
                line: index + 1,
                problem,
            })?;
            rules.push(rule);
        }
        Ok(Self { rules })
    }

    /// Appends a rule, which decides only about what no earlier rule matches.
    pub fn push(&mut self, rule: Rule) {
        self.rules.push(rule);
    }

    /// The rules in their order.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Whether a class is reported. The name is in the trace's form: `p.A$1`, `int[][]`.
    pub fn includes(&self, class_name: &str) -> bool {
        self.deciding(class_name).is_none_or(|rule| self.rules[rule].mode == FilterMode::Include)
    }

    /// The number of the rule that decides about a class; `None` if none is about it.
    pub fn deciding(&self, class_name: &str) -> Option<usize> {
        self.rules.iter().position(|rule| rule.class.matches_class(class_name))
    }

    /// The rules as elements of a trace.
    pub fn records(&self) -> impl Iterator<Item = Filter<'_>> {
        self.rules.iter().map(|rule| Filter {
            pattern: Cow::Borrowed(&rule.class.text),
            mode: rule.mode,
            generic_pattern: rule.class.wildcard,
            method_pattern: Cow::Borrowed(&rule.method.text),
            method_mode: rule.mode,
            method_generic_pattern: rule.method.wildcard,
        })
    }
}

impl FromIterator<Rule> for FilterSet {
    fn from_iter<I: IntoIterator<Item = Rule>>(rules: I) -> Self {
        Self { rules: rules.into_iter().collect() }
    }
}

fn parse_line(line: &str) -> Result<Rule, LineProblem> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let &[class, method, mode] = fields.as_slice() else {
        return Err(LineProblem::Fields(fields.len()));
    };
    let mode = match mode.to_ascii_uppercase().as_str() {
        "INCLUDE" => FilterMode::Include,
        "EXCLUDE" => FilterMode::Exclude,
        _ => return Err(LineProblem::Mode(mode.to_owned())),
    };
    Ok(Rule { class: class.parse()?, method: method.parse()?, mode })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set(text: &str) -> FilterSet {
        FilterSet::parse(text, Path::new("f.txt")).unwrap()
    }

    fn error(text: &str) -> String {
        let error = FilterSet::parse(text, Path::new("f.txt")).unwrap_err();
        error.to_string()
    }

    #[test]
    fn the_first_match_decides() {
        let excluded = set("org.eclipse* * EXCLUDE\norg.eclipse.sample* * INCLUDE\n");
        assert!(!excluded.includes("org.eclipse.sample.A"));
        let included = set("org.eclipse.sample* * INCLUDE\norg.eclipse* * EXCLUDE\n");
        assert!(included.includes("org.eclipse.sample.A"));
        assert!(!included.includes("org.eclipse.A"));
    }

    #[test]
    fn what_nothing_matches_is_included() {
        assert!(FilterSet::default().includes("a.B"));
        assert!(set("x* * EXCLUDE").includes("a.B"));
    }

    #[test]
    fn the_three_forms_of_a_pattern() {
        let filter = set("a.B * INCLUDE\n*Test * INCLUDE\ncom.* * INCLUDE\n* * EXCLUDE");
        for included in ["a.B", "x.MyTest", "Test", "com.foo.Bar"] {
            assert!(filter.includes(included), "{included}");
        }
        for excluded in ["a.BC", "a.B$1", "Tests", "com", "community.A", ""] {
            assert!(!filter.includes(excluded), "{excluded}");
        }
    }

    #[test]
    fn a_pattern_is_shown_as_it_is_typed() {
        for text in ["a.B", "*Test", "com.*", "*"] {
            assert_eq!(text.parse::<Pattern>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_pattern_for_a_class_is_one_for_its_arrays() {
        let filter = set("int * INCLUDE\ndemo.* * INCLUDE\nlong[] * INCLUDE\n* * EXCLUDE");
        assert!(filter.includes("int[]") && filter.includes("int[][]"));
        assert!(filter.includes("demo.A[]") && !filter.includes("char[]"));
        assert!(filter.includes("long[]") && filter.includes("long[][]") && !filter.includes("long"));
        let arrays = set("*[] * INCLUDE\n* * EXCLUDE");
        assert!(arrays.includes("byte[]") && arrays.includes("demo.A[][]") && !arrays.includes("demo.A"));
    }

    #[test]
    fn names_are_spelled_as_tables_and_java_code_spell_them() {
        for (pattern, names) in [
            ("java.util.Map.Entry", &["java.util.Map$Entry", "java.util.Map$Entry[]"][..]),
            ("java/util/Map$Entry", &["java.util.Map$Entry"]),
            ("java.util.HashMap.*", &["java.util.HashMap$Node", "java.util.HashMap.put"]),
            ("*.Entry", &["java.util.Map$Entry", "demo.Entry"]),
            ("j.l.String", &["java.lang.String", "java.lang.String[]"]),
            ("j.util.Map$Entry[]", &["java.util.Map$Entry[]"]),
            ("j.u.HashMap.put", &["java.util.HashMap.put"]),
            ("j.u.Hash*", &["java.util.HashMap", "java.util.HashSet"]),
            ("ü.c.Ä", &["ünï.code.Ä"]),
            ("…ashMap", &["java.util.HashMap"]),
            ("app.Main$$Lambda", &["app.Main$$Lambda$14/0x0000000800c03000", "app.Main$$Lambda/0x7f[]"]),
            ("app.Main$$Lambda/0x0000000800c03000", &["app.Main$$Lambda", "app.Main$$Lambda/0x0000000800c03000"]),
            ("app.Main$$Lambda/*", &["app.Main$$Lambda/0x7f"]),
            ("app.Made", &["app.Made/0x7f"]),
            ("jdk.proxy.$Proxy", &["jdk.proxy2.$Proxy17", "com.sun.proxy.$Proxy3"]),
            ("app.𝒳Cls", &["app.𝒳Cls"]),
            ("pool 1", &["pool 1"]),
            ("a.b.C", &["a.b.C"]),
        ] {
            let pattern: Pattern = pattern.parse().unwrap();
            assert!(names.iter().all(|name| pattern.matches_class(name)), "{pattern} {names:?}");
        }
        for (pattern, name) in [
            ("java.util.Map$Entry", "java.util.Map.Entry"),
            ("j.l.String", "java.util.String"),
            ("j.l.String", "java.lang.reflect.String"),
            ("j.l.String", "java.lang.StringBuilder"),
            ("j.u.*", "java.util.Map"),
            ("a.b.c", "apple.banana.c"),
            ("String", "java.lang.String"),
            ("app.Main", "app.Main$$Lambda"),
            ("app.Main[]", "app.Main"),
        ] {
            assert!(!pattern.parse::<Pattern>().unwrap().matches_class(name), "{pattern} {name}");
        }
        for none in ["", " a.B", "a.B ", "a*b"] {
            assert!(none.parse::<Pattern>().is_err(), "{none}");
        }
    }

    #[test]
    fn slashes_are_dots() {
        assert!(set("com/foo/* * INCLUDE\n* * EXCLUDE").includes("com.foo.Bar"));
    }

    #[test]
    fn comments_blank_lines_tabs_and_line_ends() {
        let filter = set("\u{feff}# ours\r\n\r\n  com.*\t*   include \r\n* * EXCLUDE");
        assert_eq!(filter.rules().len(), 2);
    }

    #[test]
    fn errors_name_file_line_and_cure() {
        assert_eq!(
            error("# x\n\ncom.foo.*  INCLUDE\n"),
            "f.txt:3: found 2 fields instead of three, separated by blanks: \
             class pattern, method pattern, INCLUDE or EXCLUDE"
        );
        assert_eq!(error("a * MAYBE"), "f.txt:1: the third field is \"MAYBE\" instead of INCLUDE or EXCLUDE");
        for pattern in ["a*b", "*a*", "**"] {
            let text = error(&format!("{pattern} * INCLUDE"));
            assert!(text.starts_with(&format!("f.txt:1: \"{pattern}\" is not")), "{text}");
        }
        let missing = FilterSet::load(Path::new("/no/such/filter")).unwrap_err();
        assert!(missing.to_string().starts_with("cannot read the filter file /no/such/filter: "));
    }

    #[test]
    fn records_are_split_as_in_real_traces() {
        let filter = set("CH.ifa.draw* * INCLUDE\njava.lang.String run* INCLUDE\n* * EXCLUDE");
        let records: Vec<_> = filter
            .records()
            .map(|f| {
                let method = (f.method_pattern.into_owned(), f.method_generic_pattern);
                (f.pattern.into_owned(), f.generic_pattern, f.mode, method, f.method_mode)
            })
            .collect();
        let any = || (String::new(), Wildcard::Prefix);
        let (include, exclude) = (FilterMode::Include, FilterMode::Exclude);
        let run = ("run".to_owned(), Wildcard::Suffix);
        assert_eq!(
            records,
            [
                ("CH.ifa.draw".to_owned(), Wildcard::Suffix, include, any(), include),
                ("java.lang.String".to_owned(), Wildcard::None, include, run, include),
                (String::new(), Wildcard::Prefix, exclude, any(), exclude),
            ]
        );
    }

    proptest! {
        #[test]
        fn any_text_gives_a_set_or_an_error(text: String) {
            let _ = FilterSet::parse(&text, Path::new("f"));
        }
    }
}
