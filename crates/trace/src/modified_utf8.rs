//! The encoding in which JVMTI and class files hand out names.
//!
//! Modified UTF-8 writes U+0000 as `C0 80` and characters beyond U+FFFF as two surrogates of three
//! bytes each; names may hold surrogates without a partner. A Rust string cannot, so they are
//! spelled `\ud800`, as the writer spells them.

use crate::escape::{is_surrogate, spelled_unit, spelling};

/// The text of a modified UTF-8 name.
///
/// Never fails: an unpaired surrogate becomes its spelling, and a backslash that would make literal
/// text look like one becomes `\u005c`, so different names stay different. Bytes that are no
/// modified UTF-8 at all, which a JVM does not deliver, become U+FFFD.
pub fn decode(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\\') => text.to_owned(),
        _ => decode_units(bytes),
    }
}

fn decode_units(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((unit, width)) = next_unit(rest) {
        if unit == u16::from(b'\\') && looks_spelled(rest) {
            text.push_str("\\u005c");
        } else if !is_surrogate(unit) {
            text.extend(char::from_u32(unit.into()));
        } else if let Some((low, low_width)) = next_unit(&rest[width..])
            && let Some(Ok(character)) = char::decode_utf16([unit, low]).next()
        {
            text.push(character);
            rest = &rest[width + low_width..];
            continue;
        } else {
            text.extend(spelling(unit).map(char::from));
        }
        rest = &rest[width..];
    }
    text
}

/// Whether a literal backslash begins what a reader would take for a spelling of ours.
fn looks_spelled(bytes: &[u8]) -> bool {
    spelled_unit(bytes).is_some_and(|unit| is_surrogate(unit) || unit == u16::from(b'\\'))
}

/// The first UTF-16 code unit and how many bytes it takes.
fn next_unit(bytes: &[u8]) -> Option<(u16, usize)> {
    let continues = |byte: u8| byte & 0xC0 == 0x80;
    let low = |byte: u8| u16::from(byte & 0x3F);
    Some(match *bytes {
        [] => return None,
        [first @ ..0x80, ..] => (first.into(), 1),
        [first @ 0xC0..0xE0, a, ..] if continues(a) => (u16::from(first & 0x1F) << 6 | low(a), 2),
        [first @ 0xE0..0xF0, a, b, ..] if continues(a) && continues(b) => {
            (u16::from(first & 0x0F) << 12 | low(a) << 6 | low(b), 3)
        }
        _ => (0xFFFD, 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encode(units: impl IntoIterator<Item = u16>) -> Vec<u8> {
        let mut bytes = Vec::new();
        for unit in units {
            let [a, b, c] = [unit >> 12, unit >> 6 & 0x3F, unit & 0x3F].map(|part| part as u8);
            match unit {
                1..0x80 => bytes.push(unit as u8),
                0 | 0x80..0x800 => bytes.extend([0xC0 | (unit >> 6) as u8, 0x80 | c]),
                _ => bytes.extend([0xE0 | a, 0x80 | b, 0x80 | c]),
            }
        }
        bytes
    }

    #[test]
    fn what_java_allows() {
        for (bytes, text) in [
            (&b"plain"[..], "plain"),
            (b"", ""),
            (b"a\xC0\x80b", "a\0b"),
            ("ü漢".as_bytes(), "ü漢"),
            (b"\xED\xA0\xBD\xED\xB8\x80", "😀"),
            (b"x\xED\xA0\x80y", "x\\ud800y"),
            (b"\xED\xB8\x80\xED\xA0\xBD", "\\ude00\\ud83d"),
            (b"\xED\xA0\xBD\xED\xA0\xBD\xED\xB8\x80", "\\ud83d😀"),
            (b"\\ud800", "\\u005cud800"),
            (b"\\u0041 \\x", "\\u0041 \\x"),
        ] {
            assert_eq!(decode(bytes), text);
        }
    }

    #[test]
    fn broken_bytes_become_replacement_characters() {
        assert_eq!(decode(b"a\xFFb\x80"), "a\u{FFFD}b\u{FFFD}");
        assert_eq!(decode(b"\xE0\x80"), "\u{FFFD}\u{FFFD}");
        assert_eq!(decode(b"\xC3"), "\u{FFFD}");
    }

    proptest! {
        #[test]
        fn texts_come_back(text in r"[^\\]*") {
            prop_assert_eq!(decode(&encode(text.encode_utf16())), text);
        }

        #[test]
        fn different_names_stay_different(
            a in prop::collection::vec(prop_oneof![0xD7FFu16..0xE001, any::<u16>()], 0..6),
            b in prop::collection::vec(prop_oneof![0xD7FFu16..0xE001, any::<u16>()], 0..6),
            spelled in r"(\\|u|005c|d800|\\ud800){0,6}",
        ) {
            let literal: Vec<u16> = spelled.encode_utf16().chain(b.iter().copied()).collect();
            prop_assert_eq!(decode(&encode(a.clone())) == decode(&encode(literal.clone())), a == literal);
        }

        #[test]
        fn arbitrary_bytes_never_fail(bytes: Vec<u8>) {
            decode(&bytes);
        }
    }
}
