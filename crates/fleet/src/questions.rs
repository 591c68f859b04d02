//! Questions in SQL, in what DuckDB and Spark have in common, and the views that they ask.
//!
//! The first lines of a question are comments: what it answers, of which column there is a trend (`= bytes by service, place`), and a line for
//! each parameter with its default. A view has the rows of
//! a table that count, each with the labels of its run; views of names have each name once.

use std::fmt::Write;
use std::path::PathBuf;

use crate::schema::{Kind, Partition, RUN, TABLES, Table};

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question<'t>(&'t str);

/// A parameter of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter<'t> {
    /// Its name.
    pub name: &'t str,
    /// Its value if none is given: a number, or a text in quotes.
    pub default: &'t str,
    /// What it is.
    pub says: &'t str,
}

/// How an answer becomes a trend: the same question about each day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trend<'t> {
    /// The column whose numbers are compared.
    pub measure: &'t str,
    /// The columns by which a row is known on all days.
    pub keys: Vec<&'t str>,
}

/// Why a parameter is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// The question has no such parameter.
    #[error("the question has no parameter '{name}'; it has {known}")]
    Unknown {
        /// What was given.
        name: String,
        /// What there is.
        known: String,
    },
    /// It is a number, and no number was given.
    #[error("parameter '{name}' is a whole number, not '{value}'")]
    NoNumber {
        /// Which.
        name: String,
        /// What was given.
        value: String,
    },
}

macro_rules! questions {
    ($($name:literal),* $(,)?) => {
        /// The questions that come with Martini, by their names.
        pub const QUESTIONS: &[(&str, Question<'static>)] =
            &[$(($name, Question(include_str!(concat!("../questions/", $name, ".sql"))))),*];
    };
}

questions![
    "lines",
    "classes",
    "releases",
    "cpu",
    "shared",
    "growing",
    "locks",
    "collections",
    "first-requests",
    "coverage"
];

/// What a parameter begins with, in a comment and in the question.
const MARK: char = ':';
/// What a trend begins with.
const TREND: &str = "= ";

impl<'t> Question<'t> {
    /// A question of somebody else's.
    pub fn of(text: &'t str) -> Question<'t> {
        Question(text)
    }

    fn comments(&self) -> impl Iterator<Item = &'t str> {
        self.0.lines().map_while(|line| line.strip_prefix("--")).map(str::trim)
    }

    /// What it answers; empty if it does not say.
    pub fn says(&self) -> &'t str {
        self.comments().find(|line| !line.starts_with(MARK) && !line.starts_with(TREND)).unwrap_or_default()
    }

    /// The trend of its answers; `None` if it says none, or has no parameters `from`, `until` and `top`.
    pub fn trend(&self) -> Option<Trend<'t>> {
        let parameters = self.parameters();
        let has = |name: &&str| parameters.iter().any(|parameter| parameter.name == *name);
        let (measure, keys) = self.comments().find_map(|line| line.strip_prefix(TREND))?.split_once(" by ")?;
        ["from", "until", "top"].iter().all(has).then(|| Trend { measure, keys: keys.split(", ").collect() })
    }

    /// The days that are asked about.
    ///
    /// # Errors
    /// As for [`sql`](Self::sql).
    pub fn days(&self, given: &[(String, String)]) -> Result<String, ParameterError> {
        let all = Question(
            "-- :from = '0000-00-00'\n-- :until = '9999-99-99'\nselect distinct dt from run where dt >= :from and dt < :until order by dt",
        );
        let of_days = |name: &str| all.parameters().iter().any(|parameter| parameter.name == name);
        let given: Vec<_> = given.iter().filter(|(name, _)| of_days(name)).cloned().collect();
        all.sql(&given)
    }

    /// The question about each of these days, for rows with these keys: a column `day`, the keys as texts, and the measure.
    ///
    /// # Errors
    /// As for [`sql`](Self::sql).
    pub fn sql_by_day(
        &self,
        trend: &Trend<'_>,
        given: &[(String, String)],
        days: &[String],
        rows: &[Vec<String>],
    ) -> Result<String, ParameterError> {
        // What sorts behind each moment of a day, and before the next day.
        const BEHIND: &str = "~";
        let text = |column: &str| format!("coalesce(cast({column} as string), '')");
        let named: Vec<String> = (0..trend.keys.len()).map(|at| format!("k{at}")).collect();
        let keys: Vec<String> =
            trend.keys.iter().zip(&named).map(|(key, name)| format!("{} as {name}", text(key))).collect();
        let keys = keys.join(", ");
        let same: Vec<String> = named.iter().map(|name| format!("of_day.{name} = wanted.{name}")).collect();
        let wanted: Vec<String> = rows
            .iter()
            .map(|row| format!("({})", row.iter().map(|value| quoted(value)).collect::<Vec<_>>().join(", ")))
            .collect();
        let of_day = |day: &String| {
            let own =
                [("from", day.clone()), ("until", format!("{day}{BEHIND}")), ("top", i64::from(i32::MAX).to_string())];
            let own = own.map(|(name, value)| (name.to_owned(), value));
            let sql = self.sql(&[given, &own].concat())?;
            let measure = trend.measure;
            let (day, sql) = (quoted(day), sql.trim_end());
            Ok(format!("select {day} as day, {keys}, {measure} from (\n{sql}\n) answer"))
        };
        let each = days.iter().map(of_day).collect::<Result<Vec<_>, _>>()?;
        Ok(format!(
            "select of_day.* from (\n{}\n) of_day join (values {}) wanted({}) on {}",
            each.join("\nunion all\n"),
            wanted.join(", "),
            named.join(", "),
            same.join(" and ")
        ))
    }

    /// Its parameters.
    pub fn parameters(&self) -> Vec<Parameter<'t>> {
        let parameter = |line: &'t str| {
            let (name, rest) = line.strip_prefix(MARK)?.split_once(" = ")?;
            let (default, says) = rest.split_once("  ").unwrap_or((rest, ""));
            Some(Parameter { name, default, says })
        };
        self.comments().filter_map(parameter).collect()
    }

    /// The question with values for its parameters: those that are given, by name, or else the defaults.
    ///
    /// # Errors
    /// A parameter is unknown or no number.
    pub fn sql(&self, given: &[(String, String)]) -> Result<String, ParameterError> {
        let parameters = self.parameters();
        for (name, _) in given {
            if !parameters.iter().any(|parameter| parameter.name == name) {
                let known: Vec<&str> = parameters.iter().map(|parameter| parameter.name).collect();
                return Err(ParameterError::Unknown { name: name.clone(), known: known.join(", ") });
            }
        }
        let value = |parameter: &Parameter<'_>| match given.iter().rfind(|(name, _)| name == parameter.name) {
            None => Ok(parameter.default.to_owned()),
            Some((_, value)) if parameter.default.starts_with('\'') => Ok(quoted(value)),
            Some((_, value)) if value.parse::<i64>().is_ok() => Ok(value.clone()),
            Some((name, value)) => Err(ParameterError::NoNumber { name: name.clone(), value: value.clone() }),
        };
        let values = parameters.iter().map(|parameter| Ok((parameter.name, value(parameter)?)));
        let values: Vec<(&str, String)> = values.collect::<Result<_, _>>()?;
        let lines = self.0.lines().skip_while(|line| line.starts_with("--"));
        Ok(lines.map(|line| filled(line, &values) + "\n").collect())
    }
}

/// A line with the values of its parameters. One that is no parameter stays as it is.
fn filled(line: &str, values: &[(&str, String)]) -> String {
    let mut filled = String::new();
    let mut parts = line.split(MARK);
    filled.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        match values.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => filled.push_str(value),
            None => {
                filled.push(MARK);
                filled.push_str(name);
            }
        }
        filled.push_str(rest);
    }
    filled
}

/// A text as SQL has it. A backslash is one for Spark if there are two, and DuckDB would take them for two, so there is none.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "").replace('\'', "''"))
}

/// Who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// DuckDB.
    Duckdb,
    /// Spark SQL.
    Spark,
}

/// Where the files of a store are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a folder.
    Folder(PathBuf),
    /// Behind a URL that the engine reads.
    Url {
        /// The URL of the store, without a slash at its end.
        url: String,
        /// The tables of which there are files.
        tables: Vec<String>,
    },
}

impl Place {
    /// Where the files of a table are; `None` if there are none.
    fn of(&self, table: &Table) -> Option<String> {
        match self {
            Place::Folder(root) => {
                let folder = root.join(table.name);
                folder.is_dir().then(|| folder.display().to_string())
            }
            Place::Url { url, tables } => {
                tables.iter().any(|name| name == table.name).then(|| format!("{url}/{}", table.name))
            }
        }
    }
}

/// What an engine is asked to know the tables of a store behind a URL: statements that go before the question, and the question. Each row of
/// the answer is the name of a table.
pub fn listing(engine: Engine, url: &str) -> (String, String) {
    let (before, files, path) = match engine {
        Engine::Duckdb => (String::new(), format!("glob({})", quoted(&format!("{url}/*/*/*/*.parquet"))), "file"),
        // The format in which Spark does not look into files of which only the path is wanted.
        Engine::Spark => {
            let options = "recursiveFileLookup 'true', pathGlobFilter '*.parquet'";
            let view =
                format!("create temporary view listed using binaryFile options (path {}, {options});\n", quoted(url));
            (view, "listed".to_owned(), "path")
        }
    };
    let table = format!("regexp_extract({path}, '/([a-z_]+)/[^/]+/[^/]+/[^/]+[.]parquet$', 1)");
    (before, format!("select distinct {table} as name from {files}"))
}

/// The statements that make the views of a store, each with a semicolon behind it.
pub fn views(engine: Engine, place: &Place) -> String {
    let mut text = String::new();
    text.push_str(match engine {
        // DuckDB 2.0.1 loses conditions on the columns of partitions where it inlines a step. Null stands where it does for Spark.
        Engine::Duckdb => {
            "set disabled_optimizers = 'cte_inlining';\nset default_null_order = 'nulls_first_on_asc_last_on_desc';\n"
        }
        Engine::Spark => "set spark.sql.sources.partitionColumnTypeInference.enabled = false;\n",
    });
    // Writing to a text cannot fail.
    for table in TABLES {
        let _ = writeln!(text, "{};", files(engine, place, table));
    }
    for table in [&RUN].into_iter().chain(TABLES.iter().copied().filter(|table| *table != &RUN)) {
        let _ = writeln!(text, "{} view {} as {};", engine.create(), table.name, view(table));
    }
    text
}

impl Engine {
    fn create(self) -> &'static str {
        match self {
            Engine::Duckdb => "create or replace",
            Engine::Spark => "create or replace temporary",
        }
    }
}

/// The view of all rows of a table's files.
fn files(engine: Engine, place: &Place, table: &Table) -> String {
    let name = format!("{} view {}_files", engine.create(), table.name);
    let Some(folder) = place.of(table) else {
        let nothing = columns(engine, table).map(|(name, kind)| format!("cast(null as {kind}) as {name}"));
        return format!("{name} as select {} where false", nothing.collect::<Vec<_>>().join(", "));
    };
    match engine {
        Engine::Duckdb => {
            let files = quoted(&format!("{folder}/*/*/*.parquet"));
            let options = "hive_partitioning = true, hive_types_autocast = false, union_by_name = true";
            format!("{name} as select * from read_parquet({files}, {options})")
        }
        // Without columns Spark looks into files of each table before it answers.
        Engine::Spark => {
            let columns = columns(engine, table).map(|(name, kind)| format!("{name} {kind}"));
            let columns = columns.collect::<Vec<_>>().join(", ");
            format!("{name} ({columns}) using parquet options (path {})", quoted(&folder))
        }
    }
}

/// The columns of a table and their types.
fn columns(engine: Engine, table: &Table) -> impl Iterator<Item = (&'static str, &'static str)> {
    let partition = match table.partition {
        Partition::Day => ["dt", "service"],
        Partition::Release => ["service", "release"],
    };
    let columns = table.columns.iter().map(|column| (column.name, column.kind));
    columns.chain(partition.map(|name| (name, Kind::Text))).map(move |(name, kind)| {
        let kind = match (kind, engine) {
            (Kind::Int, _) => "bigint",
            (Kind::Double, _) => "double",
            (Kind::Text, Engine::Duckdb) => "varchar",
            (Kind::Text, Engine::Spark) => "string",
            (Kind::Time, _) => "timestamp",
        };
        (name, kind)
    })
}

/// What a view shows of the files.
fn view(table: &Table) -> String {
    let name = table.name;
    if table == &RUN {
        return "select * from (select *, max(batch) over (partition by run_id) as last_batch from run_files) all_runs \
                where batch = last_batch"
            .to_owned();
    }
    match table.partition {
        Partition::Day => format!(
            "select {name}_files.*, run.release, run.host from {name}_files join run on run.run_id = {name}_files.run_id \
             and run.batch = {name}_files.batch and run.dt = {name}_files.dt and run.service = {name}_files.service"
        ),
        Partition::Release => {
            let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
            format!("select distinct {} from {name}_files", columns.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "-- Which?\n-- :top = 20  rows\n-- :service = '%'  services like this\nselect ':x', a\nlimit :top; :service";

    fn given(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn parameters_have_defaults_and_kinds() {
        let question = Question::of(TEXT);
        assert_eq!(question.says(), "Which?");
        let names: Vec<_> = question.parameters().iter().map(|parameter| parameter.name).collect();
        assert_eq!(names, ["top", "service"]);
        assert_eq!(question.sql(&[]).unwrap(), "select ':x', a\nlimit 20; '%'\n");
        let sql = question.sql(&given(&[("service", "it's \\"), ("top", "-3")])).unwrap();
        assert_eq!(sql, "select ':x', a\nlimit -3; 'it''s '\n");
        let said = |pairs: &[(&str, &str)]| question.sql(&given(pairs)).unwrap_err().to_string();
        assert_eq!(said(&[("x", "1")]), "the question has no parameter 'x'; it has top, service");
        assert_eq!(said(&[("top", "1; drop")]), "parameter 'top' is a whole number, not '1; drop'");
    }

    #[test]
    fn every_question_says_what_it_answers_and_uses_its_parameters() {
        for (name, question) in QUESTIONS {
            assert!(question.says().ends_with('?'), "{name}");
            let parameters = question.parameters();
            assert!(!parameters.is_empty());
            for parameter in &parameters {
                let uses = question.0.lines().filter(|line| !line.starts_with("--"));
                let mark = format!("{MARK}{}", parameter.name);
                assert!(uses.clone().any(|line| line.contains(&mark)) && !parameter.says.is_empty(), "{name}: {mark}");
            }
            assert!(!question.sql(&[]).unwrap().contains(MARK), "{name}: a parameter without a default");
        }
    }

    #[test]
    fn a_trend_is_the_question_about_each_day() {
        let (_, lines) = &QUESTIONS[0];
        let trend = lines.trend().unwrap();
        assert_eq!((trend.measure, trend.keys.len()), ("bytes", 4));
        let days = ["2026-11-29", "2026-11-30"].map(str::to_owned);
        let row = ["it's", "1", "a.B.c", ""].map(str::to_owned).to_vec();
        let sql = lines.sql_by_day(&trend, &given(&[("service", "it%"), ("top", "5")]), &days, &[row]).unwrap();
        for part in [
            "dt >= '2026-11-30' and dt < '2026-11-30~'",
            "limit 2147483647",
            "('it''s', '1', 'a.B.c', '')",
            "like 'it%'",
        ] {
            assert!(sql.contains(part), "{part}: {sql}");
        }
        assert_eq!(sql.matches("union all").count(), 1);
        assert!(
            lines.days(&given(&[("service", "x"), ("from", "2026-11-29")])).unwrap().contains("dt >= '2026-11-29'")
        );
        assert_eq!(Question::of(TEXT).trend(), None);
        // Columns of the answer, every one.
        for (name, question) in QUESTIONS {
            let Some(trend) = question.trend() else { continue };
            for column in trend.keys.iter().chain([&trend.measure]) {
                assert!(
                    question.0.lines().filter(|line| !line.starts_with("--")).any(|line| line.contains(column)),
                    "{name}: {column}"
                );
            }
        }
    }

    #[test]
    fn a_url_is_asked_for_its_tables() {
        let place = Place::Url { url: "s3://a/b".to_owned(), tables: vec!["run".to_owned()] };
        let sql = views(Engine::Duckdb, &place);
        assert!(sql.contains("read_parquet('s3://a/b/run/*/*/*.parquet', ") && !sql.contains("s3://a/b/gc"), "{sql}");
        assert!(views(Engine::Spark, &place).contains("options (path 's3://a/b/run')"));
        assert!(listing(Engine::Duckdb, "s3://a/b").1.ends_with(" from glob('s3://a/b/*/*/*/*.parquet')"));
    }

    #[test]
    fn tables_without_files_are_empty_views() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::Folder(folder.path().to_owned());
        let sql = views(Engine::Spark, &place);
        assert!(sql.contains("temporary view run_files as select cast(null as bigint) as run_id, "), "{sql}");
        std::fs::create_dir(folder.path().join("run")).unwrap();
        let sql = views(Engine::Duckdb, &place);
        assert!(sql.contains("create or replace view run_files as select * from read_parquet('"), "{sql}");
    }
}
