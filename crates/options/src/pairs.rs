//! An option string in Martini's own spelling: names and values, joined by commas.

use super::error::OptionError;
use super::table::require;

/// Writes one `name=value` so that [`parse`](super::parse()) reads it back: a comma inside a value is doubled.
pub fn format_pair(name: &str, value: &str) -> String {
    format!("{name}={}", value.replace(',', ",,"))
}

/// Splits at single commas; a doubled comma is a comma of the value.
pub(crate) fn split(given: &str) -> Result<Vec<(String, String)>, OptionError> {
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
        .filter(|part| !part.is_empty())
        .map(|part| match part.split_once('=') {
            Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
            None => Err(match require(&part) {
                Ok(spec) => OptionError::NoValue { takes: spec.takes(), name: part },
                Err(unknown) => unknown,
            }),
        })
        .collect()
}
