//! Views of one trace that show the same numbers: what survived a collection, in `explain`, `stats`, `tree --live` and the report.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::about_file;

/// All views say the same of the classes that pile up at a line, which `explain` has found, and of what no collection has met.
pub(crate) fn views_agree(trace: &Path, growth: &Value) {
    let json = |command: &str, arguments: &[&str]| {
        let out = about_file(command, trace, &[arguments, &["--json"]].concat()).success().out;
        serde_json::from_str::<Value>(&out).expect("JSON")["traces"][0].take()
    };
    let stats = json("stats", &["--by", "site", "--top", "0"]);
    let leaks = leaks(trace);
    let at = &growth["at"];
    for found in rows(&growth["classes"]) {
        let class = found["class"].as_str().expect("a class");
        let sites =
            rows(&stats["tables"]["site"]).filter(|row| row["class"] == class && row["site"]["line"] == at["line"]);
        let survived = sum(sites, "survived_bytes");
        agree(found["survived_bytes"].as_u64(), survived, &format!("stats of {class}: {stats:#}"));
        let line =
            format!("{class} at {}.{}({}:{})", text(at, "class"), text(at, "method"), text(at, "source"), at["line"]);
        let rows = rows(&leaks["site"]["rows"]).filter(|row| row["text"] == line.as_str());
        agree(Some(sum(rows, "survived_bytes")), survived, &format!("the report of {line}: {leaks:#}"));
        let tree = json("tree", &["--live", "--cut", "0", "--filter", class]);
        agree(Some(in_tree(&tree).at(at)), survived, &format!("the tree of {class}: {tree:#}"));
    }
    let tree = json("tree", &["--live", "--cut", "0"]);
    let since = stats["sum"]["active_bytes"].as_u64().zip(stats["sum"]["survived_bytes"].as_u64());
    agree(since.map(|(active, survived)| active - survived), in_tree(&tree).since_collection, &format!("{tree:#}"));
}

/// The report's Leaks view.
fn leaks(trace: &Path) -> Value {
    let page = trace.with_extension("html");
    about_file("report", trace, &["--output", page.to_str().expect("a path")]).success();
    let page = fs::read_to_string(page).expect("a report");
    let (_, data) = page.split_once("id=\"data\">").expect("the data of a report");
    let (data, _) = data.split_once("</script>").expect("its end");
    serde_json::from_str::<Value>(data).expect("JSON")["leaks"].take()
}

/// A tree of what lives.
struct LiveTree<'t> {
    /// Nodes that are not below that of what no collection has met.
    survived: Vec<&'t Value>,
    /// Bytes of the others.
    since_collection: u64,
}

fn in_tree(tree: &Value) -> LiveTree<'_> {
    let mut found = LiveTree { survived: Vec::new(), since_collection: 0 };
    let mut apart = None;
    for node in rows(&tree["nodes"]) {
        let depth = node["depth"].as_u64().expect("a depth");
        apart = apart.filter(|&above| depth > above);
        if node["kind"] == "since_collection" {
            apart = Some(depth);
            found.since_collection += node["weight"].as_u64().expect("bytes");
        } else if apart.is_none() {
            found.survived.push(node);
        }
    }
    found
}

impl LiveTree<'_> {
    /// Bytes that were allocated at a line, or below it.
    fn at(&self, line: &Value) -> u64 {
        sum(self.survived.iter().copied().filter(|node| node["at"] == *line), "weight")
    }
}

fn rows(table: &Value) -> impl Iterator<Item = &Value> {
    table.as_array().unwrap_or_else(|| panic!("no rows: {table}")).iter()
}

fn sum<'r>(rows: impl Iterator<Item = &'r Value>, field: &str) -> u64 {
    rows.map(|row| row[field].as_u64().unwrap_or_else(|| panic!("no {field}: {row}"))).sum()
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_else(|| panic!("no {field}: {value}"))
}

/// The same, but for what is rounded for each age and stack.
fn agree(one: Option<u64>, other: u64, what: &str) {
    let one = one.unwrap_or_else(|| panic!("nothing: {what}"));
    assert!(one.abs_diff(other) <= other / 1000, "{one} and {other}: {what}");
}
