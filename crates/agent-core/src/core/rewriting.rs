//! What was rewritten, and what was left as it was. It is written at the end of the trace.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use agent_base::mutex::Mutex;
use classfile::Rewritten;
use trace::modified_utf8::decode;
use trace::names::class_name;

/// So many names are kept of what is refused for one reason.
const NAMES: usize = 3;

/// Numbers of classes, and of what stayed as it was, by reason.
#[derive(Default)]
pub struct RewritingCounts {
    rewritten: AtomicU64,
    redefined: AtomicU64,
    refused: Mutex<BTreeMap<String, Refused>>,
}

/// What stayed as it was for one reason.
#[derive(Default)]
struct Refused {
    number: u64,
    /// The first of them.
    names: Vec<String>,
}

impl RewritingCounts {
    /// Counts classes that the VM has loaded once more.
    pub fn redefine(&self, classes: usize) {
        self.redefined.fetch_add(classes as u64, Ordering::Relaxed);
    }

    /// How many classes the VM has loaded once more, each time.
    pub fn redefined(&self) -> u64 {
        self.redefined.load(Ordering::Relaxed)
    }

    /// Counts something that is left as it was.
    pub fn refuse(&self, reason: &str) {
        self.refused.lock().entry(reason.to_owned()).or_default().number += 1;
    }

    fn refuse_method(&self, reason: String, name: impl FnOnce() -> String) {
        let mut refused = self.refused.lock();
        let refused = refused.entry(reason).or_default();
        refused.number += 1;
        if refused.names.len() < NAMES {
            let name = name();
            // A class may be rewritten again and again.
            if !refused.names.contains(&name) {
                refused.names.push(name);
            }
        }
    }

    /// Counts what the rewriter did to the class of that name, modified UTF-8, and returns the bytes that it made.
    pub fn note(&self, class: &[u8], rewritten: Rewritten<'_>) -> Option<Vec<u8>> {
        self.note_further(class, rewritten, false)
    }

    /// The same for a class that may have been rewritten, and counted, before.
    pub fn note_further(&self, class: &[u8], rewritten: Rewritten<'_>, is_counted: bool) -> Option<Vec<u8>> {
        for refused in &rewritten.refused {
            let name = || format!("{}.{}", class_name(&decode(class)), decode(refused.name));
            self.refuse_method(format!("method: {}", refused.reason), name);
        }
        if rewritten.bytes.is_some() && !is_counted {
            self.rewritten.fetch_add(1, Ordering::Relaxed);
        }
        rewritten.bytes
    }

    /// Classes that were rewritten.
    pub fn rewritten(&self) -> u64 {
        self.rewritten.load(Ordering::Relaxed)
    }

    /// What was left as it was: the reason, with the first names, and the number.
    pub fn refused(&self) -> Vec<(String, u64)> {
        let said = |(reason, Refused { number, names }): (&String, &Refused)| {
            let others = if *number > names.len() as u64 { " and others" } else { "" };
            let named = if names.is_empty() { String::new() } else { format!(": {}{others}", names.join(", ")) };
            (format!("{reason}{named}"), *number)
        };
        self.refused.lock().iter().map(said).collect()
    }
}

#[cfg(test)]
mod tests {
    use classfile::{Refusal, Refused as Method};

    use super::*;

    #[test]
    fn the_first_methods_are_named() {
        let counts = RewritingCounts::default();
        let note = |name: &'static [u8]| {
            let refused = vec![Method { name, descriptor: b"()V", reason: Refusal::CodeTooLarge }];
            counts.note(b"a/B", Rewritten { bytes: None, inserted_sites: 0, refused });
        };
        let reason = format!("method: {}", Refusal::CodeTooLarge);
        for name in [&b"c"[..], b"d", b"c"] {
            note(name);
        }
        counts.refuse("class: no memory for it");
        let class = ("class: no memory for it".to_owned(), 1);
        assert_eq!(counts.refused(), [class.clone(), (format!("{reason}: a.B.c, a.B.d and others"), 3)]);
        note(b"e");
        note(b"f");
        assert_eq!(counts.refused(), [class, (format!("{reason}: a.B.c, a.B.d, a.B.e and others"), 5)]);
    }
}
