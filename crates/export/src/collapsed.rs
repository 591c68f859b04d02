//! A line `frame;frame;frame weight` for each stack, outermost first, as programs that draw flame graphs take it.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::frame::thread_name;
use crate::profiles::{Measure, Profiles};

/// Writes the stacks with one of their numbers. At the end of each is the class of the objects, or of the lock.
///
/// # Errors
/// They cannot be written.
pub fn collapsed(profiles: &Profiles<'_>, measure: Measure, threads: bool, out: &mut impl Write) -> io::Result<()> {
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for stack in profiles.stacks(measure.subject()) {
        let thread = threads.then(|| part(thread_name(stack.thread)));
        let frames = stack.frames.iter().rev().map(|frame| part(&frame.to_string()));
        let class = stack.class.map(part);
        let line: Vec<String> = thread.into_iter().chain(frames).chain(class).collect();
        let sum = lines.entry(line.join(";")).or_default();
        *sum = sum.saturating_add(measure.of(stack));
    }
    lines.iter().filter(|(_, weight)| **weight > 0).try_for_each(|(line, weight)| writeln!(out, "{line} {weight}"))
}

/// A name that is a part of one line.
fn part(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            ';' => text.push(','),
            // Some readers split at these, too.
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => text.extend(c.escape_default()),
            c => text.push(c),
        }
    }
    if text.is_empty() { "(unnamed)".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use analysis::call_tree::Label;
    use analysis::weighted::WeightedStack;

    use super::*;

    #[test]
    fn names_of_every_kind_stay_in_one_part_of_one_line() {
        let stack = |class, count| WeightedStack {
            thread: Some("a;b\nc"),
            class: Some(class),
            frames: vec![Label::Code("in\"ner 7"), Label::Code("")],
            count,
            weight: 10 * count,
        };
        let allocated = vec![stack("x;\u{2028}", 3), stack("", 1), stack("x;\u{2028}", 4), stack("none", 0)];
        let profiles = Profiles { allocated, ..Profiles::default() };
        let text = |measure, threads| {
            let mut out = Vec::new();
            collapsed(&profiles, measure, threads, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            text(Measure::Bytes, false),
            "(unnamed);in\"ner 7;(unnamed) 10\n(unnamed);in\"ner 7;x,\\u{2028} 70\n"
        );
        assert_eq!(text(Measure::Objects, true).lines().last(), Some("a,b\\nc;(unnamed);in\"ner 7;x,\\u{2028} 7"));
        assert_eq!(text(Measure::Cpu, false), "");
    }
}
