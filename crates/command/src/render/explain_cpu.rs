//! What the processors were used for, as findings of `martini explain`.

use analysis::cpu::CpuSubject;
use analysis::explain::{Busy, CpuUse};
use serde_json::{Value, json};

use crate::render::human::{self, duration, percent};
use crate::render::view::location;

/// What took how much, in a sentence.
pub(super) fn head(found: &CpuUse<'_>) -> String {
    let share = match found.error.0 {
        0 => human::share(found.share()),
        _ => format!("{} ± {}", human::share(found.share()), human::share(found.share_error())),
    };
    let what = match found.what {
        Busy::Line(at) => format!("at {at}"),
        Busy::Collector => "in GC threads".to_owned(),
        Busy::Compiler => "in JIT compiler threads".to_owned(),
        Busy::Kernel => "in the kernel".to_owned(),
        Busy::Lost => "without a stack".to_owned(),
    };
    format!("{} ({share} of all) {what}", duration(found.time))
}

/// What that means.
pub(super) fn sentences(found: &CpuUse<'_>) -> Vec<String> {
    match found.what {
        Busy::Line(at) => {
            let itself = CpuSubject::Method(at.class, at.method);
            let inside = found.inside.filter(|inside| inside.subject != itself);
            inside
                .map(|inside| format!("{} of it in {}", percent(inside.time.0, found.time.0), inside.subject))
                .into_iter()
                .collect()
        }
        Busy::Collector => {
            vec!["the program allocates too much for its heap, or the heap is nearly full".to_owned()]
        }
        Busy::Compiler => vec!["the JVM is still warming up, or compiles the same code repeatedly".to_owned()],
        Busy::Kernel => vec!["I/O, locks or memory management: the tree shows the callers".to_owned()],
        Busy::Lost => vec!["shares of lines may be too low by this much".to_owned()],
    }
}

/// The same with exact numbers.
pub(super) fn json(found: &CpuUse<'_>) -> Value {
    json!({
        "kind": "cpu",
        "what": match found.what {
            Busy::Line(_) => "line",
            Busy::Collector => "collector",
            Busy::Compiler => "compiler",
            Busy::Kernel => "kernel",
            Busy::Lost => "lost",
        },
        "at": match &found.what {
            Busy::Line(at) => location(at),
            _ => Value::Null,
        },
        "nanos": found.time.0,
        "error_nanos": found.error.0,
        "share": found.share(),
        "share_error": found.share_error(),
        "inside": found.inside.map(|inside| inside.subject.to_string()),
    })
}
