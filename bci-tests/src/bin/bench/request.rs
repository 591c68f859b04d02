//! What the command line asks for.

use std::time::Duration;

use bci_tests::jdk::{self, Jdk};

/// A run longer than this is stopped, unless asked otherwise.
const LIMIT: Duration = Duration::from_secs(900);

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// Tables for the terminal.
    #[default]
    Text,
    /// Tables for a document.
    Markdown,
    /// Every run, for programs.
    Json,
}

/// The options; lists are empty where nothing was said.
#[derive(Debug, PartialEq)]
pub(crate) struct Request {
    /// How often all variants run.
    pub(crate) rounds: Option<usize>,
    /// Feature releases; none for the default of the benchmark.
    jdks: Jdks,
    /// Words that the names of variants contain (`alloc`, `locks`).
    pub(crate) only: Vec<String>,
    /// Variants by id (`compare`, `memory`, `dump`).
    pub(crate) variants: Vec<String>,
    /// Programs by id (`compare`, `locks`).
    pub(crate) programs: Vec<String>,
    /// Documents that each thread of the JSON program reads where an allocation is dear.
    pub(crate) documents: Option<usize>,
    /// Objects of the heap that is dumped.
    pub(crate) objects: Option<usize>,
    /// A run that takes longer has failed.
    pub(crate) limit: Duration,
    /// How results are printed.
    pub(crate) form: Form,
}

#[derive(Debug, Default, PartialEq)]
enum Jdks {
    #[default]
    Default,
    All,
    Features(Vec<u32>),
}

const OPTIONS: &str = "--rounds, --jdk, --program, --variant, --limit, --json and --markdown; for alloc and locks also --only, \
    for alloc --documents, for dump --objects";

impl Request {
    /// Reads the options behind the name of the benchmark.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut request = Self {
            rounds: None,
            jdks: Jdks::Default,
            only: Vec::new(),
            variants: Vec::new(),
            programs: Vec::new(),
            documents: None,
            objects: None,
            limit: LIMIT,
            form: Form::Text,
        };
        let mut arguments = arguments.into_iter();
        while let Some(option) = arguments.next() {
            match option.as_str() {
                "--json" => request.form = Form::Json,
                "--markdown" => request.form = Form::Markdown,
                _ => {
                    let value = arguments.next().ok_or(format!("{option} has no value behind it, or is unknown"))?;
                    request.set(&option, &value)?;
                }
            }
        }
        Ok(request)
    }

    fn set(&mut self, option: &str, value: &str) -> Result<(), String> {
        let number = || match value.parse::<usize>() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(format!("{option} takes a number above 0, not {value}")),
        };
        let list = || value.split(',').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        match option {
            "--rounds" => self.rounds = Some(number()?),
            "--documents" => self.documents = Some(number()?),
            "--objects" => self.objects = Some(number()?),
            "--limit" => self.limit = Duration::from_secs(number()? as u64),
            "--only" => self.only = list(),
            "--variant" => self.variants = list(),
            "--program" => self.programs = list(),
            "--jdk" if value == "all" => self.jdks = Jdks::All,
            "--jdk" => {
                let feature = |word: &str| {
                    word.parse().map_err(|_| format!("--jdk takes releases such as 17,21, or all, not {value}"))
                };
                self.jdks = Jdks::Features(value.split(',').map(feature).collect::<Result<_, _>>()?);
            }
            _ => return Err(format!("unknown option {option}: there are {OPTIONS}")),
        }
        Ok(())
    }

    /// The installed JDKs of the releases asked for, or those of `otherwise`.
    pub(crate) fn jdks(&self, otherwise: fn() -> Vec<&'static Jdk>) -> Result<Vec<&'static Jdk>, String> {
        match &self.jdks {
            Jdks::Default => Ok(otherwise()),
            Jdks::All => Ok(jdk::each_feature()),
            Jdks::Features(features) => features.iter().map(|&feature| installed(feature)).collect(),
        }
    }
}

fn installed(feature: u32) -> Result<&'static Jdk, String> {
    let found = jdk::each_feature().into_iter().find(|jdk| jdk.feature == feature);
    found.ok_or(format!("no JDK {feature} here: name its folder in MARTINI_JDKS"))
}

/// The entries whose ids are asked for, in the order of the table; those of `default` if none is.
///
/// `all` stands for every one. An id that is in no entry is an error, with the ids that are.
pub(crate) fn pick<'a, T>(
    asked: &[String],
    entries: &'a [T],
    id: impl Fn(&T) -> &str,
    default: impl Fn(&T) -> bool,
) -> Result<Vec<&'a T>, String> {
    if asked.is_empty() {
        return Ok(entries.iter().filter(|entry| default(entry)).collect());
    }
    if asked.iter().any(|word| word == "all") {
        return Ok(entries.iter().collect());
    }
    if let Some(unknown) = asked.iter().find(|word| entries.iter().all(|entry| id(entry) != word.as_str())) {
        let known: Vec<&str> = entries.iter().map(&id).collect();
        return Err(format!("there is no '{unknown}': choose among {} or all", known.join(", ")));
    }
    Ok(entries.iter().filter(|entry| asked.iter().any(|word| word == id(entry))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Request, String> {
        Request::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_are_read() {
        let request = parse("--rounds 7 --jdk 17,25 --program json,javac --variant counts --limit 30 --json").unwrap();
        assert_eq!(request.rounds, Some(7));
        assert_eq!(request.jdks, Jdks::Features(vec![17, 25]));
        assert_eq!(request.programs, ["json", "javac"]);
        assert_eq!(request.variants, ["counts"]);
        assert_eq!(request.limit, Duration::from_secs(30));
        assert_eq!(request.form, Form::Json);
        assert_eq!(parse("--jdk all").unwrap().jdks, Jdks::All);
        assert_eq!(parse("").unwrap().form, Form::Text);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (line, sentence) in [
            ("--rounds", "--rounds has no value"),
            ("--rounds 0", "--rounds takes a number above 0, not 0"),
            ("--rounds many", "not many"),
            ("--jdk new", "not new"),
            ("--colour red", "unknown option --colour"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.contains(sentence), "{line}: {error}");
        }
    }

    #[test]
    fn entries_are_picked_by_id_in_the_order_of_the_table() {
        let table = ["one", "two", "three"];
        let pick = |asked: &[&str]| {
            let asked: Vec<String> = asked.iter().map(|&word| word.to_owned()).collect();
            pick(&asked, &table, |entry| entry, |entry| entry.len() == 3)
                .map(|picked| picked.into_iter().copied().collect::<Vec<_>>())
        };
        assert_eq!(pick(&[]).unwrap(), ["one", "two"]);
        assert_eq!(pick(&["three", "one"]).unwrap(), ["one", "three"]);
        assert_eq!(pick(&["all"]).unwrap(), table);
        assert_eq!(pick(&["four"]).unwrap_err(), "there is no 'four': choose among one, two, three or all");
    }
}
