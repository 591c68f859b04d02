//! Numbers, texts and events as they stand in a chunk.

/// Appends a number: seven bits in each byte, the lowest first; the ninth byte has eight.
pub(super) fn number(out: &mut Vec<u8>, mut value: u64) {
    for _ in 0..8 {
        if value < 0x80 {
            break;
        }
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a truth value.
pub(super) fn flag(out: &mut Vec<u8>, value: bool) {
    out.push(u8::from(value));
}

/// Appends a text.
pub(super) fn text(out: &mut Vec<u8>, text: &str) {
    if text.is_empty() {
        out.push(EMPTY);
        return;
    }
    out.push(UTF8);
    number(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

const EMPTY: u8 = 1;
const UTF8: u8 = 3;

/// Appends an event: its size, which counts itself, its type, and what `body` holds.
pub(super) fn event(out: &mut Vec<u8>, kind: u64, body: &[u8]) {
    let mut head = Vec::new();
    number(&mut head, kind);
    let rest = (head.len() + body.len()) as u64;
    let length = (1..).find(|&length| length_of(rest + length) == length).expect("a size has a length");
    number(out, rest + length);
    out.extend_from_slice(&head);
    out.extend_from_slice(body);
}

fn length_of(value: u64) -> u64 {
    let mut bytes = Vec::new();
    number(&mut bytes, value);
    bytes.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_one_to_nine_bytes() {
        let of = |value| {
            let mut out = Vec::new();
            number(&mut out, value);
            out
        };
        assert_eq!(of(0), [0]);
        assert_eq!(of(0x7f), [0x7f]);
        assert_eq!(of(0x80), [0x80, 1]);
        assert_eq!(of(u64::MAX), [0xff; 9]);
    }

    #[test]
    fn the_size_of_an_event_counts_itself() {
        for length in [0, 1, 124, 125, 126, 127, 128, 16_379, 16_380, 16_381, 16_382, 70_000] {
            let mut out = Vec::new();
            event(&mut out, 100, &vec![7; length]);
            let mut size = Vec::new();
            number(&mut size, out.len() as u64);
            assert_eq!(out[..size.len()], size, "{length}");
            assert_eq!(out[size.len()], 100, "{length}");
            assert_eq!(out.len(), size.len() + 1 + length);
        }
    }
}
