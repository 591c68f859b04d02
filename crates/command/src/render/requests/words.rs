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
    let where_it_went = match kind {
        PartKind::Rest if row.ready.is_none() => "without a processor: input, output, page faults, or others had it",
        kind => where_it_went(kind),
    };
    format!("{}{error} ({share}) of {took} {where_it_went}{most}", duration(time))
}

fn where_it_went(kind: PartKind) -> &'static str {
    match kind {
        PartKind::Initialisers => "in static initialisers",
        PartKind::Cpu(Work::Loading) => "loading and linking classes",
        PartKind::Cpu(Work::Exceptions) => "making exceptions",
        PartKind::Cpu(Work::Interpreted) => "in interpreted code",
        PartKind::Cpu(Work::Compiled) => "in compiled code",
        PartKind::Cpu(Work::Native) => "in native code",
        PartKind::Cpu(Work::Other) => "in code that is not known",
        PartKind::UndividedCpu => "on a processor, where too few samples say what it did",
        PartKind::Monitors => "waiting for monitors",
        PartKind::Locks => "waiting for locks of java.util.concurrent",
        PartKind::Notification => "in Object.wait",
        PartKind::Parked => "parked",
        PartKind::Sleeping => "asleep",
        PartKind::Collections => "stopped for collections",
        PartKind::Safepoints => "stopped at safepoints",
        PartKind::Ready => "ready to run, without a processor",
        PartKind::Rest => "without a processor, in no wait that was recorded: input, output, page faults",
    }
}

/// What had most of a part.
fn most(row: &RequestRow<'_>, kind: PartKind) -> Option<String> {
    match kind {
        PartKind::Initialisers => {
            let first = row.initialisers.first()?;
            let by = first.caused_by.map_or(String::new(), |at| format!(", caused by {at}"));
            Some(format!("{} of it in that of {}{by}", duration(first.own), first.class))
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
