//! Formats the lines of a lock log.

use std::io::Write;

use crate::attribute::write_u64;
use crate::escape::{is_surrogate, spelled_unit, spelling};
use crate::time::Nanos;

use super::{LockEventKind, WallClock};

/// Appends the first line of a log.
pub fn write_start(time: &WallClock, out: &mut Vec<u8>) {
    // A vector takes everything.
    let _ = writeln!(out, "{time}");
}

/// Appends the line of an event. Allocates nothing but what `out` needs to grow.
///
/// `frames` are pairs of class and method, innermost first; classes are named as in a trace (`p.A$1`, a hidden class
/// `p.C/0x7f`), methods as in the JVM (`<init>`).
pub fn write_event<'a>(
    since_start: Nanos,
    kind: LockEventKind,
    thread: &str,
    frames: impl IntoIterator<Item = (&'a str, &'a str)>,
    out: &mut Vec<u8>,
) {
    write_u64(since_start.0, out);
    out.push(b' ');
    out.extend_from_slice(kind.as_str().as_bytes());
    out.extend_from_slice(b" [");
    spell(thread, |_| false, out);
    out.push(b']');
    for (class, method) in frames {
        out.extend_from_slice(b" L");
        let from = out.len();
        spell(class, |byte| matches!(byte, b' ' | b']'), out);
        swap_separators(&mut out[from..]);
        out.extend_from_slice(b";#");
        spell(method, |byte| byte == b']', out);
    }
    out.push(b'\n');
}

/// From `p.C/0x7f` to `p/C.0x7f`, the JVM's own form, and back.
pub(super) fn swap_separators(name: &mut [u8]) {
    for byte in name {
        match byte {
            b'.' => *byte = b'/',
            b'/' => *byte = b'.',
            _ => {}
        }
    }
}

/// Appends a text with control characters, and what else is said, spelled out.
fn spell(text: &str, also: impl Fn(u8) -> bool, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let mut copied = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        // What would be read as a spelling has to be one; surrogates are spelled in the text already.
        let is_spelled = || byte == b'\\' && spelled_unit(&bytes[at..]).is_some_and(|unit| !is_surrogate(unit));
        if byte.is_ascii_control() || also(byte) || is_spelled() {
            out.extend_from_slice(&bytes[copied..at]);
            out.extend_from_slice(&spelling(u16::from(byte)));
            copied = at + 1;
        }
    }
    out.extend_from_slice(&bytes[copied..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(thread: &str, frames: &[(&str, &str)]) -> String {
        let mut out = Vec::new();
        write_event(Nanos(1_205_331), LockEventKind::Try, thread, frames.iter().copied(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_are_those_of_tradition() {
        let frames = [("demo.Queue", "take"), ("demo.Worker$1", "<init>"), ("java.lang.Thread", "run")];
        assert_eq!(
            line("worker 1", &frames),
            "1205331 TRY [worker 1] Ldemo/Queue;#take Ldemo/Worker$1;#<init> Ljava/lang/Thread;#run\n"
        );
        assert_eq!(line("", &[]), "1205331 TRY []\n");
        assert_eq!(line("t", &[("p.C/0x7f", "run")]), "1205331 TRY [t] Lp/C.0x7f;#run\n");
    }

    #[test]
    fn what_would_break_a_line_is_spelled() {
        assert_eq!(line("a]b\n[c\\u000a", &[]), "1205331 TRY [a]b\\u000a[c\\u005cu000a]\n");
        assert_eq!(
            line("t", &[("p.A B]", "should Log in]")]),
            "1205331 TRY [t] Lp/A\\u0020B\\u005d;#should Log in\\u005d\n"
        );
    }
}
