//! What an engine answers. Each prints tables in its own way, so all are made to print JSON.

use serde_json::{Map, Value};

use crate::questions::Engine;

/// Stands before the names of the columns. What engines print for other statements comes before it.
const MARK: &str = "martini answers";

/// The statements by which an engine prints the answer to a question, as [`Answer::parse`] reads it. They go behind the
/// [views](crate::questions::views).
pub fn printed(engine: Engine, question: &str) -> String {
    let question = question.trim_end().trim_end_matches(';');
    let (create, columns, row) = match engine {
        Engine::Duckdb => ("create", "select column_name from (describe martini_answer)", "to_json(martini_answer)"),
        Engine::Spark => {
            ("create temporary", "describe martini_answer", "to_json(struct(*), map('ignoreNullFields', 'false'))")
        }
    };
    // A question may end in a comment.
    format!(
        "{create} view martini_answer as\n{question}\n;\nselect '{MARK}';\n{columns};\nselect {row} from martini_answer;\n"
    )
}

/// The rows of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// A value per column.
    pub rows: Vec<Vec<Value>>,
}

/// What an engine printed is no answer.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// There are no columns.
    #[error("there is no answer in what it printed")]
    Missing,
    /// A row is no JSON, which has no infinite numbers.
    #[error("row {number} of the answer cannot be read")]
    Row {
        /// Which, from 1.
        number: usize,
        /// Why.
        source: serde_json::Error,
    },
}

impl Answer {
    /// Reads what an engine printed.
    ///
    /// # Errors
    /// It is no answer.
    pub fn parse(text: &str) -> Result<Answer, AnswerError> {
        let mut lines = text.lines().skip_while(|line| *line != MARK).skip(1).peekable();
        let mut columns = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with('{')) {
            // Spark says more than the name, and fills it up with spaces.
            columns.extend(line.split('\t').next().map(|name| name.trim_end().to_owned()));
        }
        if columns.is_empty() {
            return Err(AnswerError::Missing);
        }
        let row = |(index, line)| {
            let mut row: Map<String, Value> =
                serde_json::from_str(line).map_err(|source| AnswerError::Row { number: index + 1, source })?;
            Ok(columns.iter().map(|column| row.remove(column).unwrap_or_default()).collect())
        };
        let rows = lines.enumerate().map(row).collect::<Result<_, _>>()?;
        Ok(Answer { columns, rows })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_engines_give_the_same_rows() {
        let rows = "{\"b\":9007199254740993,\"a\":null}\n{\"b\":-1.5,\"a\":\"x\\ty\"}\n";
        let spark = format!("spark.sql.x\tfalse\n{MARK}\na         \tstring   \t     \nb   \tbigint\t\n{rows}");
        let answer = Answer::parse(&spark).unwrap();
        assert_eq!(answer.columns, ["a", "b"]);
        assert_eq!(answer.rows, [[Value::Null, json!(9007199254740993_i64)], [json!("x\ty"), json!(-1.5)]]);
        assert_eq!(Answer::parse(&format!("{MARK}\na\nb\n{rows}")).unwrap(), answer);
        assert_eq!(Answer::parse(&format!("{MARK}\na\n")).unwrap().rows, Vec::<Vec<Value>>::new());
    }

    #[test]
    fn what_is_no_answer_is_said() {
        let said = |text: &str| Answer::parse(text).unwrap_err().to_string();
        assert_eq!(said("a\n{}"), "there is no answer in what it printed");
        assert_eq!(said(&format!("{MARK}\na\n{{\"a\":1}}\n{{\"a\":NaN}}")), "row 2 of the answer cannot be read");
    }

    #[test]
    fn a_question_may_end_in_a_comment_or_semicolon() {
        let text = printed(Engine::Duckdb, "select 1;\n");
        assert!(text.starts_with("create view martini_answer as\nselect 1\n;\n"), "{text}");
        assert!(printed(Engine::Spark, "select 1 -- one").contains("select 1 -- one\n;\n"));
    }
}
