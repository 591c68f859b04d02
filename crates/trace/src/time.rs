//! Points in time as a trace writes them: seconds since 1970 with exactly nine fraction digits.

use std::fmt;

use crate::attribute::{self, Attribute};

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Nanoseconds since 1 January 1970 UTC.
///
/// A `u64` holds them until the year 2554; an `f64` of seconds could not hold nanoseconds at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// A length of time in nanoseconds, written like a [`Time`] (`overhead="0.000105000"`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Time {
    /// Nanoseconds from `earlier` to `self`; 0 if `earlier` is the later one.
    pub fn since(self, earlier: Time) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
}

/// Reads `[0-9]+(\.[0-9]{1,9})?`; `None` for anything else and for what a `u64` cannot hold.
fn parse(text: &[u8]) -> Option<u64> {
    let (seconds, fraction) = match memchr::memchr(b'.', text) {
        Some(point) => (&text[..point], &text[point + 1..]),
        None => return attribute::parse_u64(text)?.checked_mul(NANOS_PER_SECOND),
    };
    if fraction.len() > 9 {
        return None;
    }
    let mut nanos = attribute::parse_u64(fraction)?;
    for _ in fraction.len()..9 {
        nanos *= 10;
    }
    attribute::parse_u64(seconds)?.checked_mul(NANOS_PER_SECOND)?.checked_add(nanos)
}

/// Reads a time with nine digits behind the point, as we write it; see [`Attribute::read_usual`].
fn usual(text: &[u8]) -> Option<(u64, &[u8])> {
    // So many seconds and their nanoseconds a `u64` holds.
    let (seconds, fraction) = attribute::digits(text, 10);
    let fraction = fraction.strip_prefix(b".").filter(|_| fraction.len() < text.len())?;
    let (nanos, rest) = attribute::digits(fraction, 9);
    let rest = rest.strip_prefix(b"\"").filter(|_| fraction.len() - rest.len() == 9)?;
    Some((seconds * NANOS_PER_SECOND + nanos, rest))
}

fn write(nanos: u64, out: &mut Vec<u8>) {
    attribute::write_u64(nanos / NANOS_PER_SECOND, out);
    // A leading 1 keeps the zeros behind it, and gives way to the point.
    let fraction = (NANOS_PER_SECOND + nanos % NANOS_PER_SECOND) as u32;
    let mut digits = itoa::Buffer::new();
    out.push(b'.');
    out.extend_from_slice(&digits.format(fraction).as_bytes()[1..]);
}

macro_rules! nanoseconds {
    ($name:ident) => {
        impl Attribute<'_> for $name {
            const SCHEMA_TYPE: &'static str = "Time";

            fn write(&self, out: &mut Vec<u8>) {
                write(self.0, out);
            }

            fn read(text: &str) -> Option<Self> {
                parse(text.as_bytes()).map(Self)
            }

            fn read_usual(text: &[u8]) -> Option<(Self, &[u8])> {
                usual(text).map(|(nanos, rest)| (Self(nanos), rest))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}.{:09}", self.0 / NANOS_PER_SECOND, self.0 % NANOS_PER_SECOND)
            }
        }
    };
}

nanoseconds!(Time);
nanoseconds!(Nanos);

#[cfg(test)]
mod tests {
    use super::*;

    fn written(nanos: u64) -> String {
        let mut out = Vec::new();
        Time(nanos).write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn nine_digits_always() {
        assert_eq!(written(1_174_403_458_364_512_920), "1174403458.364512920");
        assert_eq!(written(0), "0.000000000");
        assert_eq!(written(5), "0.000000005");
        assert_eq!(written(u64::MAX), "18446744073.709551615");
        assert_eq!(Time(u64::MAX).to_string(), written(u64::MAX));
        assert_eq!(Nanos(105_000).to_string(), "0.000105000");
    }

    #[test]
    fn reads_fewer_digits() {
        assert_eq!(Time::read("12"), Some(Time(12_000_000_000)));
        assert_eq!(Time::read("12.5"), Some(Time(12_500_000_000)));
        assert_eq!(Time::read("12.000000001"), Some(Time(12_000_000_001)));
        assert_eq!(Time::read("18446744073.709551615"), Some(Time(u64::MAX)));
    }

    #[test]
    fn refuses_what_is_not_a_time() {
        for text in [
            "",
            ".",
            "1.",
            ".5",
            "-1",
            "1.0000000001",
            "1.2.3",
            "1e9",
            " 1",
            "18446744073.709551616",
            "99999999999999999999",
        ] {
            assert_eq!(Time::read(text), None, "{text}");
        }
    }
}
