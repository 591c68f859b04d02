//! What a collector answers to profiles that it is sent.

use std::iter;

/// What an `ExportProfilesServiceResponse` says of profiles that the collector did not take. What cannot be read is not said: it was no such
/// message.
pub fn rejected(answer: &[u8]) -> Option<String> {
    let (_, partial) = fields(answer).find(|(number, _)| *number == 1)?;
    let of = |number: u64| fields(partial).find(|(known, _)| *known == number).map(|(_, value)| value);
    let count = of(1).and_then(|value| varint(&mut &value[..])).unwrap_or_default();
    let why = of(2).map(String::from_utf8_lossy).unwrap_or_default();
    (count > 0 || !why.is_empty()).then(|| format!("{count} profiles were rejected: {why}"))
}

/// The fields of a message of Protocol Buffers, up to where it cannot be read: the number of each, and its bytes.
fn fields(mut rest: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    iter::from_fn(move || {
        let tag = varint(&mut rest)?;
        let length = match tag & 7 {
            0 => rest.iter().position(|byte| byte & 0x80 == 0)? + 1,
            1 => 8,
            2 => usize::try_from(varint(&mut rest)?).ok()?,
            5 => 4,
            _ => return None,
        };
        let (value, behind) = rest.split_at_checked(length)?;
        rest = behind;
        Some((tag >> 3, value))
    })
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, behind) = rest.split_first()?;
        *rest = behind;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_what_was_rejected() {
        assert_eq!(rejected(&[]), None);
        assert_eq!(rejected(&[0x0a, 0]), None);
        let partial = [0x0a, 7, 0x08, 0x96, 0x01, 0x12, 2, b'n', b'o'];
        assert_eq!(rejected(&partial).as_deref(), Some("150 profiles were rejected: no"));
        for cut in 1..partial.len() {
            rejected(&partial[..cut]);
        }
        assert_eq!(rejected(b"{\"partialSuccess\":{}}"), None);
    }
}
