//! Two dumps side by side.

use std::io::Write;
use std::path::PathBuf;

use analysis::heap_dump::{Change, ClassRow, difference};
use owo_colors::OwoColorize;
use serde_json::json;

use super::{Arguments, Column};
use crate::commands::per_file::print_json;
use crate::commands::selection::note_unmatched;
use crate::render::human;
use crate::render::page::Page;
use crate::render::table::Table;

pub(crate) fn show(
    arguments: &Arguments,
    [(before_path, before), (after_path, after)]: [(PathBuf, Vec<ClassRow>); 2],
    out: &mut Page<'_>,
) -> anyhow::Result<()> {
    let classes = before.iter().chain(&after).map(|row| row.class.as_str());
    note_unmatched(&after_path, &arguments.filter, classes);
    let mut changes = difference(before, after);
    changes.retain(|change| arguments.selects(&change.class));
    let all = changes.len();
    let grown = |change: &Change| match arguments.sort {
        Column::Instances => signed(change.before.instances, change.after.instances),
        Column::Shallow => signed(change.before.shallow, change.after.shallow),
        Column::Retained => signed(change.before.retained, change.after.retained),
        Column::Name => 0,
    };
    changes.sort_by(|a, b| grown(b).cmp(&grown(a)).then_with(|| a.class.cmp(&b.class)));
    changes.truncate(arguments.top());
    if arguments.json {
        let row = |row: &ClassRow| json!({ "instances": row.instances, "shallow_bytes": row.shallow, "retained_bytes": row.retained });
        let rows = changes
            .iter()
            .map(|change| json!({ "class": change.class, "before": row(&change.before), "after": row(&change.after) }));
        let paths = (before_path.display().to_string(), after_path.display().to_string());
        return print_json(
            "heap",
            &json!({ "before": paths.0, "after": paths.1, "classes": rows.collect::<Vec<_>>() }),
            out,
        );
    }
    writeln!(out, "{} compared with {}", after_path.display().bold(), before_path.display().bold())?;
    writeln!(out)?;
    let mut table = Table::new(vec!["instances", "shallow", "retained", "now", "class"]);
    for change in &changes {
        let Change { class, before, after } = change;
        table.push(vec![
            plus(signed(before.instances, after.instances), human::count),
            plus(signed(before.shallow, after.shallow), human::bytes),
            plus(signed(before.retained, after.retained), human::bytes),
            human::count(after.instances),
            human::printable(class),
        ]);
    }
    table.write_top(all - changes.len(), out)?;
    Ok(())
}

fn signed(before: u64, after: u64) -> i128 {
    i128::from(after) - i128::from(before)
}

/// A change with its sign.
fn plus(change: i128, text: impl Fn(u64) -> String) -> String {
    let size = text(u64::try_from(change.unsigned_abs()).unwrap_or(u64::MAX));
    match change.signum() {
        0 => "0".to_owned(),
        1 => format!("+{size}"),
        _ => format!("-{size}"),
    }
}
