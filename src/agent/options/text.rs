//! How options are spelled: pairs between commas, and sizes.

use super::{OPTIONS, OptionError};

/// Writes one `key=value` so that [`parse`](super::parse()) reads it back: a comma inside a value is doubled.
pub fn format_pair(key: &str, value: &str) -> String {
    format!("{key}={}", value.replace(',', ",,"))
}

/// Splits at single commas; a doubled comma is a comma of the value.
pub(super) fn split(given: &str) -> Result<Vec<(String, String)>, OptionError> {
    let mut parts = vec![String::new()];
    let mut chars = given.chars().peekable();
    while let Some(c) = chars.next() {
        if c != ',' {
            parts.last_mut().expect("never empty").push(c);
        } else if chars.next_if_eq(&',').is_some() {
            parts.last_mut().expect("never empty").push(',');
        } else {
            parts.push(String::new());
        }
    }
    parts
        .into_iter()
        .filter(|p| !p.is_empty())
        .map(|p| match p.split_once('=') {
            Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
            None => Err(match OPTIONS.iter().any(|o| o.name == p) {
                true => OptionError::NoValue(p),
                false => OptionError::Unknown(p),
            }),
        })
        .collect()
}

/// The number of bytes in a size such as 64m.
pub(super) fn parse_size(text: &str) -> Option<usize> {
    let (digits, shift) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 10),
        b'm' | b'M' => (&text[..text.len() - 1], 20),
        b'g' | b'G' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let number: usize = digits.parse().ok().filter(|n| *n > 0)?;
    number.checked_mul(1 << shift)
}
