//! The first line of a lock log: when it began.

use std::fmt;

/// A local time, in a zone that is not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WallClock {
    /// Year, 0 to 9999.
    pub year: u16,
    /// Month, from 1.
    pub month: u8,
    /// Day of the month, from 1.
    pub day: u8,
    /// Hour, 0 to 23.
    pub hour: u8,
    /// Minute, 0 to 59.
    pub minute: u8,
    /// Second, 0 to 60: there are leap seconds.
    pub second: u8,
    /// Thousandth of the second.
    pub milli: u16,
}

/// Whether a file begins with the first line of a log of ours.
pub fn begins(head: &[u8]) -> bool {
    head.split(|&byte| byte == b'\n').next().is_some_and(|line| WallClock::parse(line).is_some())
}

impl WallClock {
    /// Reads `YYYY/MM/DD HH:MM:SS.mmm`, and nothing else.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        const FORM: &[u8] = b"0000/00/00 00:00:00.000";
        let fits = |(&byte, &form): (&u8, &u8)| if form == b'0' { byte.is_ascii_digit() } else { byte == form };
        if text.len() != FORM.len() || !text.iter().zip(FORM).all(fits) {
            return None;
        }
        let number = |from: usize, to: usize| {
            text[from..to].iter().fold(0, |value: u16, digit| value * 10 + u16::from(digit - b'0'))
        };
        // Two digits fit into a byte.
        let two = |from: usize| number(from, from + 2) as u8;
        let clock = WallClock {
            year: number(0, 4),
            month: two(5),
            day: two(8),
            hour: two(11),
            minute: two(14),
            second: two(17),
            milli: number(20, 23),
        };
        let is_time = (1..=12).contains(&clock.month)
            && (1..=31).contains(&clock.day)
            && clock.hour < 24
            && clock.minute < 60
            && clock.second <= 60;
        is_time.then_some(clock)
    }
}

impl fmt::Display for WallClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WallClock { year, month, day, hour, minute, second, milli } = self;
        write!(f, "{year:04}/{month:02}/{day:02} {hour:02}:{minute:02}:{second:02}.{milli:03}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_one_form_is_read() {
        let text = "2011/03/14 15:09:26.535";
        let clock = WallClock::parse(text.as_bytes()).unwrap();
        assert_eq!((clock.year, clock.month, clock.day, clock.milli), (2011, 3, 14, 535));
        assert_eq!(clock.to_string(), text);
        for other in [
            "",
            "2011/03/14 15:09:26",
            "2011/03/14 15:09:26.5350",
            "2011-03-14 15:09:26.535",
            "2011/03/14T15:09:26.535",
            "2011/13/14 15:09:26.535",
            "2011/00/14 15:09:26.535",
            "2011/03/32 15:09:26.535",
            "2011/03/14 24:09:26.535",
            "2011/03/14 15:60:26.535",
            "2011/03/14 15:09:61.535",
            "2011/03/14 15:09:-1.535",
        ] {
            assert_eq!(WallClock::parse(other.as_bytes()), None, "{other}");
        }
    }
}
