//! What the processors were used for, as findings of `martini explain`.

use analysis::cpu::CpuSubject;
use analysis::explain::{Busy, CpuUse};
use serde_json::{Value, json};

use crate::render::allocation_json;
use crate::render::human::{self, duration, percent};

/// What took how much, in a sentence.
pub(super) fn head(found: &CpuUse<'_>) -> String {
    let share = match found.error.0 {
        0 => human::share(found.share()),
        _ => format!("{} ± {}", human::share(found.share()), human::share(found.share_error())),
    };
    let what = match found.what {
        Busy::Line(at) => format!("at {at}"),
        Busy::Collector => "in threads that collect garbage".to_owned(),
        Busy::Compiler => "in threads that compile".to_owned(),
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
            vec!["the program makes more garbage than its heap has room for, or the heap is full".to_owned()]
        }
        Busy::Compiler => vec!["the JVM is not warm yet, or compiles the same code again and again".to_owned()],
        Busy::Kernel => vec!["reading and writing, locks, memory: the tree says who calls it".to_owned()],
        Busy::Lost => vec!["the shares of lines may be too low by that".to_owned()],
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
            Busy::Line(at) => allocation_json::location(at),
            _ => Value::Null,
        },
        "nanos": found.time.0,
        "error_nanos": found.error.0,
        "share": found.share(),
        "share_error": found.share_error(),
        "inside": found.inside.map(|inside| inside.subject.to_string()),
    })
}
