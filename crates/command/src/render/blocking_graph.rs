//! Who blocks whom, as a graph in Graphviz' language.

use std::collections::HashSet;
use std::io::{self, Write};

use analysis::locks::{LockReport, LockRow, LockSubject};

use crate::render::human::{counted, duration, printable};

/// Writes the graph of some pairs of threads: an arrow leads from who waits to who owns.
pub(crate) fn write(pairs: &[LockRow<'_>], report: &LockReport, out: &mut impl Write) -> io::Result<()> {
    let deadlocks = report.deadlocks();
    let circle: HashSet<(String, String)> = deadlocks
        .iter()
        .flat_map(|deadlock| &deadlock.members)
        .filter_map(|member| Some((member.thread.to_string(), member.owner.as_ref()?.0.to_string())))
        .collect();
    let most = pairs.iter().map(|row| row.contended.total().0).max().unwrap_or(0).max(1);
    writeln!(out, "digraph \"who blocks whom\" {{")?;
    writeln!(out, "  rankdir=LR;")?;
    writeln!(out, "  node [shape=box, style=rounded, fontname=\"sans-serif\"];")?;
    writeln!(out, "  edge [fontname=\"sans-serif\", fontsize=10];")?;
    for row in pairs {
        let LockSubject::Pair { waiter, owner, class } = row.subject else { continue };
        let waiter = waiter.to_string();
        let owner = owner.map_or_else(|| "(unknown)".to_owned(), |owner| owner.to_string());
        let mut label =
            format!("{} in {}", duration(row.contended.total()), counted(row.contended.count(), "wait", "waits"),);
        if let Some(class) = class {
            label.push('\n');
            label.push_str(class);
        }
        // From 1 to 6 by the share in the time.
        let width = 1.0 + 5.0 * row.contended.total().0 as f64 / most as f64;
        let colour = if circle.contains(&(waiter.clone(), owner.clone())) { ", color=red, fontcolor=red" } else { "" };
        let (waiter, owner, label) = (quoted(&waiter), quoted(&owner), quoted(&label));
        writeln!(out, "  {waiter} -> {owner} [label={label}, penwidth={width:.1}{colour}];")?;
    }
    writeln!(out, "}}")
}

/// A text as a quoted word of the language. A backslash means something in it.
fn quoted(text: &str) -> String {
    let lines: Vec<String> =
        text.split('\n').map(|line| printable(line).replace('\\', "\\\\").replace('"', "\\\"")).collect();
    format!("\"{}\"", lines.join("\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_quotes() {
        assert_eq!(quoted("a\"b\\"), r#""a\"b\\""#);
        assert_eq!(quoted("1 ms\nx"), r#""1 ms\nx""#);
        assert_eq!(quoted("\x1b[1m"), r#""\\u{1b}[1m""#);
    }
}
