//! Days of the calendar, by which the files of a store are kept apart.

use std::fmt;

use trace::time::Time;

const NANOS_PER_DAY: u64 = 86_400_000_000_000;

/// A day in UTC. Its `Display` is `2026-11-29`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Date {
    /// Days since 1 January 1970.
    days: i64,
}

impl Date {
    /// The day of a time.
    pub fn of(time: Time) -> Date {
        Date { days: (time.0 / NANOS_PER_DAY) as i64 }
    }

    /// So many days before.
    pub fn earlier(self, days: u32) -> Date {
        Date { days: self.days - i64::from(days) }
    }

    /// How many days it is later than another.
    pub fn days_since(self, earlier: Date) -> i64 {
        self.days - earlier.days
    }

    /// The date of a text like `2026-11-29`.
    pub(crate) fn parse(text: &str) -> Option<Date> {
        let mut parts = text.splitn(3, '-').map(|part| part.parse::<i64>().ok());
        let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
        // Years begin with March, so that the leap day is the last one (Hinnant, "chrono-compatible low-level date algorithms").
        let year = if month <= 2 { year - 1 } else { year };
        let (era, month) = (year.div_euclid(400), (month + 9) % 12);
        let (of_era, of_year) = (year.rem_euclid(400), (153 * month + 2) / 5 + day - 1);
        let date = Date { days: era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468 };
        (date.to_string() == text).then_some(date)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = self.days + 719_468;
        let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        let date = |seconds: u64| Date::of(Time(seconds * 1_000_000_000)).to_string();
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(951_782_400), "2000-02-29");
        assert_eq!(date(1_795_996_799), "2026-11-29");
        assert_eq!(Date::of(Time(u64::MAX)).to_string(), "2554-07-21");
        assert_eq!(Date::parse("2026-11-29").unwrap().earlier(90).to_string(), "2026-08-31");
    }

    #[test]
    fn a_date_is_read_as_it_is_written() {
        for days in (0..213_000).step_by(13) {
            let date = Date { days };
            assert_eq!(Date::parse(&date.to_string()), Some(date));
        }
        for text in ["", "2026-11", "2026-13-01", "2026-02-30", "2026-1-1", "x"] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
    }
}
