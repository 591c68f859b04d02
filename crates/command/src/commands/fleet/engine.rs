//! Runs an engine: it prints the answer, or what is wrong.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use clap::ValueEnum;
use fleet::answer::{Answer, printed};
use fleet::questions::Engine;

use crate::exit::{self, Failure};
use crate::launch::supervise;
use crate::render::human::printable;

/// Engines, as they are named on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum EngineName {
    Duckdb,
    Spark,
}

impl From<EngineName> for Engine {
    fn from(name: EngineName) -> Engine {
        match name {
            EngineName::Duckdb => Engine::Duckdb,
            EngineName::Spark => Engine::Spark,
        }
    }
}

/// Who is asked, and where it is.
#[derive(Debug, clap::Args)]
pub(super) struct EngineArguments {
    /// Who answers
    #[arg(long, value_enum, default_value_t = EngineName::Duckdb)]
    engine: EngineName,
    /// The command of DuckDB
    #[arg(long, value_name = "PATH", default_value = "duckdb")]
    duckdb: PathBuf,
    /// The command spark-sql [default: that of SPARK_HOME, or on the PATH]
    #[arg(long, value_name = "PATH")]
    spark: Option<PathBuf>,
    /// Spark's master [default: Spark's own, which is local[*] unless it is configured]
    #[arg(long, value_name = "URL")]
    master: Option<String>,
}

impl EngineArguments {
    /// Which engine that is.
    pub(super) fn engine(&self) -> Engine {
        self.engine.into()
    }

    /// Has the engine answer a question about these views.
    pub(super) fn ask(&self, views: &str, question: &str) -> anyhow::Result<Answer> {
        if self.engine == EngineName::Duckdb && (self.master.is_some() || self.spark.is_some()) {
            bail!("--master and --spark are for Spark; add --engine spark");
        }
        let sql = views.to_owned() + &printed(self.engine(), question);
        match self.engine {
            // The user's own settings could change what is printed.
            EngineName::Duckdb => answer(
                Command::new(&self.duckdb).args(["-init", "/dev/null", "-bail", "-list", "-noheader", "-c", &sql]),
                "install DuckDB (pip install duckdb-cli), name it with --duckdb, or print the SQL with --sql",
            ),
            EngineName::Spark => {
                let mut file = tempfile::NamedTempFile::new().context("cannot make a temporary file")?;
                file.write_all(sql.as_bytes()).context("cannot write a temporary file")?;
                let mut command = Command::new(self.spark());
                command.args(self.master.iter().flat_map(|master| ["--master", master]));
                // Neither a metastore in the working directory nor a server.
                for setting in ["sql.catalogImplementation=in-memory", "ui.enabled=false", "log.level=ERROR"] {
                    command.args(["--conf", &format!("spark.{setting}")]);
                }
                answer(
                    command.args(["-S", "-f"]).arg(file.path()),
                    "install Spark (pip install pyspark), name its spark-sql with --spark, or print the SQL with --sql",
                )
            }
        }
    }

    fn spark(&self) -> PathBuf {
        let of_home = || Some(PathBuf::from(std::env::var_os("SPARK_HOME")?).join("bin/spark-sql"));
        self.spark.clone().or_else(of_home).unwrap_or_else(|| PathBuf::from("spark-sql"))
    }
}

/// What a program answers. `install` says what to do if it is not there.
fn answer(command: &mut Command, install: &str) -> anyhow::Result<Answer> {
    let program = Path::new(command.get_program()).display().to_string();
    let (mut out, mut err) = (printed_by_it()?, printed_by_it()?);
    command.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(err.try_clone()?);
    let status = match supervise::run(command, |_| ()) {
        Err(error) if error.downcast_ref::<Failure>().is_some_and(|failure| failure.status == exit::NOT_FOUND) => {
            bail!("there is no {program}; {install}")
        }
        Err(error) => bail!("{}", exit::sentence(&error)),
        Ok(status) => status,
    };
    if status > exit::SIGNAL_BASE {
        bail!("{program} was stopped before it answered (status {status})");
    }
    if status != 0 {
        match error_in(&read(&mut err)?) {
            Some(error) => bail!("{program} did not answer: {}", printable(error)),
            None => bail!("{program} did not answer (status {status})"),
        }
    }
    Answer::parse(&read(&mut out)?).with_context(|| format!("{program} gave no answer"))
}

fn printed_by_it() -> anyhow::Result<File> {
    tempfile::tempfile().context("cannot make a temporary file")
}

fn read(file: &mut File) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).context("cannot read a temporary file")?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The last line that names an error, or else the last one. Behind it may be a plan, a stack, or where in the question it is.
fn error_in(text: &str) -> Option<&str> {
    let is_error = |line: &&str| line.starts_with('[') || line.contains("Error: ") || line.contains("Exception: ");
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    lines().rfind(is_error).or_else(|| lines().next_back()).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line() {
        let spark = "26/11/30 02:29:46 WARN Utils: x\n[TABLE_OR_VIEW_NOT_FOUND] No such view.\nVerify it; line 1 pos 14;\n'Project [*]\n\n";
        assert_eq!(error_in(spark), Some("[TABLE_OR_VIEW_NOT_FOUND] No such view."));
        let duckdb = "Catalog Error: no table x!\nDid you mean y?\n\nLINE 1: select\n        ^\n";
        assert_eq!(error_in(duckdb), Some("Catalog Error: no table x!"));
        assert_eq!(error_in("JAVA_HOME is not set\n"), Some("JAVA_HOME is not set"));
        assert_eq!(error_in("\n"), None);
    }
}
