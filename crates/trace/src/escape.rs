//! The one place that decides how a text stands in an attribute.
//!
//! Two layers, both undone by the reader:
//!
//! 1. XML's own: `& < > " '` become the predefined entities; tab, line feed and carriage return
//!    become character references, because attribute normalization would turn them into spaces.
//! 2. Characters that XML 1.0 forbids altogether, but Java names may hold, are spelled `\uXXXX`
//!    (four lower-case hex digits). A backslash that already stands before `u` and four hex digits
//!    is spelled `\u005c`, so that nothing is ambiguous.
//!
//! A Rust string cannot hold an unpaired surrogate, so a string of the model holds it spelled
//! (`\ud800`), which is how [`modified_utf8`](crate::modified_utf8) delivers it. Such a spelling
//! passes through both directions unchanged.

use std::borrow::Cow;

/// Whether a byte may need more than copying. 0xEF begins U+FFFE and U+FFFF (and many more).
const SPECIAL: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = true;
        byte += 1;
    }
    table[b'&' as usize] = true;
    table[b'<' as usize] = true;
    table[b'>' as usize] = true;
    table[b'"' as usize] = true;
    table[b'\'' as usize] = true;
    table[b'\\' as usize] = true;
    table[0xEF] = true;
    table
};

/// Appends `text` as it stands between the quotes of an attribute.
pub(crate) fn escape(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let mut copied = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if !SPECIAL[usize::from(byte)] {
            continue;
        }
        let spelled;
        let (replacement, width): (&[u8], usize) = match byte {
            b'&' => (b"&amp;", 1),
            b'<' => (b"&lt;", 1),
            b'>' => (b"&gt;", 1),
            b'"' => (b"&quot;", 1),
            b'\'' => (b"&apos;", 1),
            b'\t' => (b"&#9;", 1),
            b'\n' => (b"&#10;", 1),
            b'\r' => (b"&#13;", 1),
            b'\\' => match spelled_unit(&bytes[at..]) {
                Some(unit) if !is_surrogate(unit) => (b"\\u005c", 1),
                _ => continue,
            },
            0xEF => match bytes[at + 1..] {
                [0xBF, last @ (0xBE | 0xBF), ..] => {
                    spelled = spelling(0xFF40 + u16::from(last));
                    (&spelled, 3)
                }
                _ => continue,
            },
            control => {
                spelled = spelling(u16::from(control));
                (&spelled, 1)
            }
        };
        out.extend_from_slice(&bytes[copied..at]);
        out.extend_from_slice(replacement);
        copied = at + width;
    }
    out.extend_from_slice(&bytes[copied..]);
}

/// The text that `raw` spells; `None` if it refers to an entity that XML does not predefine, or to
/// no character. Entities are never expanded twice, so they cannot blow up.
pub(crate) fn unescape(raw: &str) -> Option<Cow<'_, str>> {
    if memchr::memchr2(b'&', b'\\', raw.as_bytes()).is_none() {
        return Some(Cow::Borrowed(raw));
    }
    let resolved = quick_xml::escape::unescape(raw).ok()?;
    Some(match resolved {
        Cow::Borrowed(text) => unspell(text),
        Cow::Owned(text) => match unspell(&text) {
            Cow::Owned(text) => Cow::Owned(text),
            Cow::Borrowed(_) => Cow::Owned(text),
        },
    })
}

/// Replaces each `\uXXXX` by its character, but for surrogates.
pub(crate) fn unspell(text: &str) -> Cow<'_, str> {
    let mut result = String::new();
    let mut copied = 0;
    let mut from = 0;
    while let Some(found) = memchr::memchr(b'\\', &text.as_bytes()[from..]) {
        let at = from + found;
        // `char::from_u32` is `None` for surrogates exactly.
        match spelled_unit(&text.as_bytes()[at..]).and_then(|unit| char::from_u32(unit.into())) {
            Some(character) => {
                result.push_str(&text[copied..at]);
                result.push(character);
                copied = at + 6;
                from = copied;
            }
            None => from = at + 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    result.push_str(&text[copied..]);
    Cow::Owned(result)
}

/// The UTF-16 code unit that `\uXXXX` at the start of `bytes` spells.
pub(crate) fn spelled_unit(bytes: &[u8]) -> Option<u16> {
    let [b'\\', b'u', digits @ ..] = bytes else {
        return None;
    };
    digits.get(..4)?.iter().try_fold(0, |unit: u16, &digit| {
        let value = char::from(digit).to_digit(16)?;
        Some(unit << 4 | value as u16)
    })
}

/// `\uXXXX` for a UTF-16 code unit.
pub(crate) fn spelling(unit: u16) -> [u8; 6] {
    let digit = |shift: u16| b"0123456789abcdef"[usize::from(unit >> shift & 0xF)];
    [b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]
}

/// Whether a UTF-16 code unit is half of a pair.
pub(crate) fn is_surrogate(unit: u16) -> bool {
    (0xD800..0xE000).contains(&unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn escaped(text: &str) -> String {
        let mut out = Vec::new();
        escape(text, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn spellings() {
        for (text, raw) in [
            ("", ""),
            ("plain ü 漢 😀", "plain ü 漢 😀"),
            ("a & <b> \"c\" 'd'", "a &amp; &lt;b&gt; &quot;c&quot; &apos;d&apos;"),
            ("\t\n\r", "&#9;&#10;&#13;"),
            ("\0\u{1}\u{1f}", "\\u0000\\u0001\\u001f"),
            ("\u{fffe}x\u{ffff}", "\\ufffex\\uffff"),
            ("\u{fffd}\u{f000}", "\u{fffd}\u{f000}"),
            ("C:\\users\\u12", "C:\\users\\u12"),
            ("\\u0041", "\\u005cu0041"),
            ("\\\\u0041", "\\\\u005cu0041"),
            ("\\ud800", "\\ud800"),
            ("\\u005cud800", "\\u005cu005cud800"),
        ] {
            assert_eq!(escaped(text), raw);
            assert_eq!(unescape(raw).as_deref(), Some(text));
        }
    }

    #[test]
    fn foreign_spellings_are_read() {
        assert_eq!(unescape("&#x41;&#66;\\u00E9").as_deref(), Some("ABé"));
    }

    #[test]
    fn unknown_entities_are_refused() {
        for raw in ["&bomb;", "&", "&amp", "&#0;", "&#xD800;", "&#x110000;", "&#;"] {
            assert_eq!(unescape(raw), None, "{raw}");
        }
    }

    proptest! {
        #[test]
        fn any_text_comes_back(text in r"(\PC|\pC|\\u|[0-9a-f]{4}|\\u[0-9a-f]{4}|[&;#<])*") {
            let raw = escaped(&text);
            prop_assert!(!raw.contains(['<', '>', '"', '\'']));
            let forbidden = |c: char| c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}');
            prop_assert!(!raw.contains(forbidden), "{raw:?}");
            let read = unescape(&raw);
            prop_assert_eq!(read.as_deref(), Some(text.as_str()));
        }
    }
}
