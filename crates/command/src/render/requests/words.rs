//! Why a request was slow, in a sentence.

use std::path::Path;

use analysis::allocations::Location;
use analysis::requests::{PartKind, RequestRow, Work};
use trace::time::Nanos;

use super::name;
use crate::render::human::{duration, percent, shell_word};

/// Where most of a request's time went, and what had most of that.
pub(crate) fn why(row: &RequestRow<'_>) -> String {
    let took = duration(row.took);
    let Some(kind) = row.largest() else { return format!("it took {took}") };
    let part = row.split.parts.iter().find(|part| part.kind == kind);
    let error = part.map_or(Nanos(0), |part| part.error);
    let error = if error.0 > 0 { format!(" ± {}", duration(error)) } else { String::new() };
    let time = row.part(kind);
    let share = percent(time.0, row.took.0);
    let most = most(row, kind).map_or(String::new(), |most| format!(", {most}"));
    format!("{}{error} ({share}) of {took} {}{most}", duration(time), where_it_went(kind))
}

fn where_it_went(kind: PartKind) -> &'static str {
    match kind {
        PartKind::Initialisers => "went on static initialisers",
        PartKind::Cpu(work) => match work {
            Work::Loading => "went on loading and linking classes",
            Work::Exceptions => "went on making exceptions",
            Work::Interpreted => "ran in the interpreter",
            Work::Compiled => "ran compiled code",
            Work::Native => "ran native code",
            Work::Other => "ran code that is not known",
        },
        PartKind::UndividedCpu => "ran on a processor, on too few samples to say what",
        PartKind::Monitors => "it waited for monitors",
        PartKind::Locks => "it waited for locks of java.util.concurrent",
        PartKind::Notification => "it was in Object.wait",
        PartKind::Parked => "it was parked",
        PartKind::Sleeping => "it slept",
        PartKind::Collections => "it was stopped for collections",
        PartKind::Safepoints => "it was stopped at safepoints",
        PartKind::Ready => "it was ready, but had no processor",
        PartKind::Rest => "it had no processor and was in no recorded wait: input, output, page faults",
    }
}

/// What had most of a part.
fn most(row: &RequestRow<'_>, kind: PartKind) -> Option<String> {
    match kind {
        PartKind::Initialisers => {
            let first = row.initialisers.first()?;
            let by = first.caused_by.map_or(String::new(), |at| format!(", caused by {at}"));
            Some(format!("{} of it on that of {}{by}", duration(first.own), first.class))
        }
        PartKind::Cpu(work) => {
            let most = row.code.iter().find(|code| code.work == work && !code.in_initialiser)?;
            Some(format!("most often at {}", most.at?))
        }
        kind => {
            let wait = row.waits.iter().find(|wait| wait.kind == kind)?;
            let of = wait.class.map_or(String::new(), |class| format!(" for {class}"));
            let owner = wait.owner.map_or(String::new(), |owner| format!(", owned by {owner}"));
            Some(format!("{} of it{of}{}{owner}{}", duration(wait.time), at(wait.at), at(wait.owner_at)))
        }
    }
}

fn at(at: Option<Location<'_>>) -> String {
    at.map_or(String::new(), |at| format!(" at {at}"))
}

/// The command that shows more of a request, in words of a shell's command line.
pub(crate) fn next(path: &Path, row: &RequestRow<'_>) -> Vec<String> {
    let words = ["martini", "requests", &shell_word(path), "--request", &shell_word(Path::new(&name(row)))];
    words.map(str::to_owned).to_vec()
}
