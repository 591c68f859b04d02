//! How one attribute value is written as text and read again.
//!
//! Every field of the model has a type that implements [`Attribute`]; the table in `model` joins
//! fields to elements and attribute names.

use std::borrow::Cow;

use crate::escape;
use crate::ids::Id;

/// A type that can stand between the quotes of an attribute.
pub(crate) trait Attribute<'a>: Sized {
    /// What the schemas call its form.
    const SCHEMA_TYPE: &'static str;

    /// Appends the value, escaped, without quotes.
    fn write(&self, out: &mut Vec<u8>);

    /// The value that `raw` spells, or `None` if it spells none.
    ///
    /// `raw` is the text between the quotes, still escaped: only texts pay for resolving entities,
    /// numbers are parsed where they lie.
    fn read(raw: &'a str) -> Option<Self>;

    /// The value at the beginning of `text`, and what stands behind its quote; `None` unless it is written in the usual way, which is
    /// that of our own writer. What it gives is what [`read`](Self::read) gives, for less time.
    fn read_usual(text: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (raw, rest) = plain(text)?;
        Some((Self::read(raw)?, rest))
    }

    /// Takes each id in the value.
    fn each_id(&self, _take: &mut impl FnMut(Id)) {}

    /// Takes the value if it is a text.
    fn each_text(&mut self, _take: &mut impl FnMut(&mut Cow<'a, str>)) {}
}

/// The text up to a quote, and what stands behind it; `None` if there is no quote, or something before it that a tag of the usual shape does
/// not hold: `<`, a control character, or what is not ASCII.
fn plain(text: &[u8]) -> Option<(&str, &[u8])> {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'<';
    let (raw, rest) = text.split_at(text.iter().position(|&byte| !is_plain(byte))?);
    Some((std::str::from_utf8(raw).ok()?, rest.strip_prefix(b"\"")?))
}

/// A number of at most 19 digits, which cannot overflow, and what stands behind its quote.
pub(crate) fn usual_u64(text: &[u8]) -> Option<(u64, &[u8])> {
    let (value, rest) = digits(text, 19);
    let rest = rest.strip_prefix(b"\"").filter(|_| rest.len() < text.len())?;
    Some((value, rest))
}

/// What the digits at the beginning of a text are, up to `most` of them, and what follows.
pub(crate) fn digits(text: &[u8], most: usize) -> (u64, &[u8]) {
    let mut value: u64 = 0;
    for (at, &byte) in text.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 || at == most {
            return (value, &text[at..]);
        }
        value = value * 10 + u64::from(digit);
    }
    (value, &[])
}

/// Reads an unsigned decimal number; `None` for anything else and for what a `u64` cannot hold.
pub(crate) fn parse_u64(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let mut value: u64 = 0;
    // 19 digits cannot overflow, and hardly any number is longer.
    let (safe, rest) = text.split_at(text.len().min(19));
    for &byte in safe {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    for &byte in rest {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

pub(crate) fn write_u64(value: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

impl Attribute<'_> for u64 {
    const SCHEMA_TYPE: &'static str = "xs:unsignedLong";

    fn write(&self, out: &mut Vec<u8>) {
        write_u64(*self, out);
    }

    fn read(raw: &str) -> Option<Self> {
        parse_u64(raw.as_bytes())
    }

    fn read_usual(text: &[u8]) -> Option<(Self, &[u8])> {
        usual_u64(text)
    }
}

impl Attribute<'_> for i64 {
    const SCHEMA_TYPE: &'static str = "xs:int";

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(itoa::Buffer::new().format(*self).as_bytes());
    }

    fn read(raw: &str) -> Option<Self> {
        match raw.as_bytes() {
            [b'-', digits @ ..] => 0i64.checked_sub_unsigned(parse_u64(digits)?),
            digits => parse_u64(digits)?.try_into().ok(),
        }
    }

    fn read_usual(text: &[u8]) -> Option<(Self, &[u8])> {
        match text.strip_prefix(b"-") {
            Some(digits) => usual_u64(digits).and_then(|(value, rest)| Some((0i64.checked_sub_unsigned(value)?, rest))),
            None => usual_u64(text).and_then(|(value, rest)| Some((value.try_into().ok()?, rest))),
        }
    }
}

impl<'a> Attribute<'a> for Cow<'a, str> {
    const SCHEMA_TYPE: &'static str = "xs:string";

    fn write(&self, out: &mut Vec<u8>) {
        escape::escape(self, out);
    }

    fn read(raw: &'a str) -> Option<Self> {
        escape::unescape(raw)
    }

    fn each_text(&mut self, take: &mut impl FnMut(&mut Cow<'a, str>)) {
        take(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsigned_numbers() {
        assert_eq!(u64::read("0"), Some(0));
        assert_eq!(u64::read("007"), Some(7));
        assert_eq!(u64::read("18446744073709551615"), Some(u64::MAX));
        assert_eq!(u64::read("018446744073709551615"), Some(u64::MAX));
        for text in ["", "-1", "+1", "1 ", "0x1", "18446744073709551616", "1:", "1/"] {
            assert_eq!(u64::read(text), None, "{text}");
        }
    }

    #[test]
    fn signed_numbers() {
        assert_eq!(i64::read("-480"), Some(-480));
        assert_eq!(i64::read("60"), Some(60));
        assert_eq!(i64::read("-9223372036854775808"), Some(i64::MIN));
        for text in ["", "-", "--1", "+1", "9223372036854775808", "-9223372036854775809"] {
            assert_eq!(i64::read(text), None, "{text}");
        }
        let mut out = Vec::new();
        (-480i64).write(&mut out);
        assert_eq!(out, b"-480");
    }
}
