//! What flags of `martini stats` do not do with a trace.

use std::path::Path;
use std::slice;

use analysis::allocations::{AllocationReport, By, Location, Naming, Subject};
use clap::ValueEnum;
use trace::filter::Pattern;

use super::Arguments;
use super::objects::Names;
use crate::commands::closest;
use crate::commands::selection::{names_of, note, note_unmatched, selects_site};
use crate::render::allocations::{ObjectColumn, TableKind, how_to_record};

/// Notes each flag that has no effect on this trace.
pub(super) fn note_without_effect(arguments: &Arguments, path: &Path, report: &AllocationReport, names: &Names) {
    if !report.has_objects() {
        // That nothing is there is noted already.
        return;
    }
    if !arguments.filter.is_empty() {
        let classes = report.rows(By::Class, |_| true);
        let names = classes.iter().filter_map(|row| match row.subject {
            Subject::Class(name) => Some(name),
            _ => None,
        });
        note_unmatched(path, &arguments.filter, names);
    }
    if arguments.by.is_some() && arguments.shows_accounts(report) {
        for (flag, is_given) in [
            ("--in", !arguments.code.is_empty()),
            ("--filter", !arguments.filter.is_empty()),
            ("--caller", !arguments.caller.is_empty()),
            ("--own", !arguments.own.is_empty()),
        ] {
            if is_given {
                note(path, &format!("{flag} does not apply to thread accounts{}", without_samples(report)));
            }
        }
        return;
    }
    note_unmatched_code(arguments, path, report, names);
    for (flag, patterns) in [("--caller", &arguments.caller), ("--own", &arguments.own)] {
        if !patterns.is_empty() && !report.has_stacks() {
            let how = how_to_record(report);
            note(path, &format!("{flag} has no effect without call stacks; record them with martini run {how}"));
        }
    }
    if let Some((column, missing)) =
        arguments.sort.and_then(|column| Some((column, TableKind::of(report).lacks(column)?)))
    {
        let column = column.to_possible_value().expect("no column is hidden");
        note(path, &format!("--sort {} has no effect: {missing}", column.get_name()));
    }
}

/// Whether rows of samples are sorted by the time on the stack; notes a column that these have not.
pub(super) fn by_total(sort: Option<ObjectColumn>, path: &Path) -> bool {
    match sort {
        None => false,
        Some(ObjectColumn::Total) => true,
        Some(column) => {
            let column = column.to_possible_value().expect("no column is hidden");
            note(path, &format!("--sort {} has no effect on samples; --sort total does", column.get_name()));
            false
        }
    }
}

/// By which number rows of calls are sorted, and their names if two have the same; notes a column that these have not.
pub(super) fn call_column(sort: Option<ObjectColumn>, path: &Path) -> ObjectColumn {
    match sort {
        None => ObjectColumn::Base,
        Some(known @ (ObjectColumn::Base | ObjectColumn::Cumulative | ObjectColumn::Calls | ObjectColumn::Name)) => {
            known
        }
        Some(column) => {
            let column = column.to_possible_value().expect("no column is hidden");
            let columns = "--sort base, cumulative, calls or name does";
            note(path, &format!("--sort {} has no effect on calls; {columns}", column.get_name()));
            ObjectColumn::Base
        }
    }
}

fn without_samples(report: &AllocationReport) -> String {
    match report.has_samples() {
        true => String::new(),
        false => {
            ", all that heap=counts records per thread without callers; record callers with martini run --callers 16k"
                .to_owned()
        }
    }
}

/// Notes each pattern of `--in` that no site matches.
fn note_unmatched_code(arguments: &Arguments, path: &Path, report: &AllocationReport, names: &Names) {
    if arguments.code.is_empty() {
        return;
    }
    if !report.has_sites() {
        let sentence = "--in has no effect without allocation sites; record them with martini run --allocsites";
        return note(path, sentence);
    }
    let innermost = report.site_names(&Naming::Innermost);
    let rows = [&innermost, &names.code].map(|names| report.rows_named(By::Line, names, |_| true));
    let matches = |pattern: &Pattern, at: &Location<'_>| selects_site(slice::from_ref(pattern), at);
    for pattern in &arguments.code {
        let is_matched = rows.iter().flatten().any(|row| match &row.subject {
            Subject::Line(Some(at)) => matches(pattern, at),
            _ => false,
        });
        if !is_matched {
            let lines = rows.iter().flatten().filter_map(|row| match &row.subject {
                Subject::Line(Some(at)) => Some(names_of(at)),
                _ => None,
            });
            let names: Vec<String> = lines.flatten().collect();
            let close = closest::hint(&pattern.to_string(), names.iter().map(String::as_str));
            note(path, &format!("no allocating code matches --in '{pattern}'{close}"));
        }
    }
}
