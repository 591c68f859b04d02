//! Writes dumps of threads.

use trace::model::{Record, ThreadDump};

use super::{Dump, ThreadDumps};
use agent_trace::{Document, Section};

/// An element has no more of the text, so that readers need not keep much.
const PART: usize = 1 << 20;

/// Writes the dumps that were taken.
pub(super) struct ThreadDumpSection(pub(super) &'static ThreadDumps);

impl Section for ThreadDumpSection {
    fn turn(&mut self, document: &mut Document) {
        for Dump { time, text, owners } in std::mem::take(&mut *self.0.taken.lock()) {
            if document.is_full() {
                return document.core.count_lost("thread dumps in a full trace", 1);
            }
            let time = document.core.clock.time(time);
            let mut owners = Some(owners).filter(|owners| !owners.is_empty());
            for part in parts(&text) {
                let element = ThreadDump { time, owners: owners.take().map(Into::into), text: part.into() };
                document.emit(|out| element.write(out));
            }
        }
    }
}

/// A text in parts of whole lines; a line that is longer than a part is one of its own.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let limit = (0..=PART.min(rest.len())).rev().find(|&at| rest.is_char_boundary(at)).unwrap_or(0);
        let end = match rest[..limit].rfind('\n') {
            _ if rest.len() <= PART => rest.len(),
            Some(end) => end + 1,
            None => rest[limit..].find('\n').map_or(rest.len(), |end| limit + end + 1),
        };
        let (part, behind) = rest.split_at(end);
        rest = behind;
        (!part.is_empty()).then_some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_divided_between_lines() {
        let line = format!("{}\n", "ä".repeat(300));
        let long = "x".repeat(PART + 7);
        let text = [&line.repeat(4000)[..], &long, "\n", &line].concat();
        let parts: Vec<&str> = parts(&text).collect();
        assert_eq!(parts.concat(), text);
        assert!(parts.len() >= 4 && parts.iter().all(|part| part.ends_with('\n')));
        assert!(parts.iter().all(|part| part.len() <= PART || part.starts_with('x')));
        assert_eq!(super::parts("").count(), 0);
        assert_eq!(super::parts("a\nb").collect::<Vec<_>>(), ["a\nb"]);
    }
}
