//! How much something may cost: `20 MiB`, `1,000`, `150 ms`, `baseline`, `baseline + 2 %`, `baseline + 10 KiB`.

use crate::ledger::Measure;

/// A bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// So much, in the unit of the measure.
    AtMost(u64),
    /// What the baseline has, and so much more: a part of it, and a number in the unit of the measure.
    Baseline {
        /// 0.02 for 2 %.
        part: f64,
        /// In the unit of the measure.
        more: u64,
    },
}

impl Limit {
    /// Reads a bound of a measure.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn parse(text: &str, measure: Measure) -> Result<Limit, String> {
        let text = text.trim();
        let Some(rest) = text.strip_prefix("baseline") else {
            return amount(text, measure).map(Limit::AtMost);
        };
        let rest = rest.trim();
        if rest.is_empty() {
            return Ok(Limit::Baseline { part: 0.0, more: 0 });
        }
        let more = rest.strip_prefix('+').ok_or("write baseline + 2 %, or baseline + 10 KiB")?.trim();
        match more.strip_suffix('%') {
            Some(percent) => match percent.trim().parse::<f64>() {
                Ok(percent) if (0.0..=1e6).contains(&percent) => Ok(Limit::Baseline { part: percent / 100.0, more: 0 }),
                _ => Err(format!("{percent} is no percentage")),
            },
            None => Ok(Limit::Baseline { part: 0.0, more: amount(more, measure)? }),
        }
    }

    /// Whether it is known only with a baseline.
    pub fn needs_baseline(self) -> bool {
        matches!(self, Limit::Baseline { .. })
    }

    /// The bound, with what the baseline has; `None` if it has nothing.
    pub fn of(self, baseline: Option<u64>) -> Option<u64> {
        match self {
            Limit::AtMost(most) => Some(most),
            Limit::Baseline { part, more } => baseline
                .map(|known| (known as f64 * (1.0 + part)).floor() as u64)
                .map(|limit| limit.saturating_add(more)),
        }
    }
}

/// An amount of a measure: a number with a unit, `20 MiB` for bytes and `150 ms` for times, or a count.
///
/// # Errors
/// A sentence that says what is wrong.
pub fn amount(text: &str, measure: Measure) -> Result<u64, String> {
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',')).unwrap_or(text.len());
    let (number, unit) = (text[..digits].replace(',', ""), text[digits..].trim());
    let units: &[(&str, f64)] = match measure {
        Measure::Bytes | Measure::Live | Measure::Retained => &[
            ("", 1.0),
            ("B", 1.0),
            ("KiB", 1024.0),
            ("MiB", 1_048_576.0),
            ("GiB", 1_073_741_824.0),
            ("kB", 1e3),
            ("MB", 1e6),
            ("GB", 1e9),
        ],
        Measure::Cpu | Measure::Blocked | Measure::Time => {
            &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 6e10)]
        }
        Measure::Objects | Measure::Waits | Measure::Calls => &[("", 1.0)],
    };
    let known = || units.iter().map(|(name, _)| *name).filter(|name| !name.is_empty()).collect::<Vec<_>>().join(", ");
    let factor = match units.iter().find(|(name, _)| *name == unit) {
        Some((_, factor)) => factor,
        None if unit.is_empty() => return Err(format!("'{text}' has no unit; known are {}", known())),
        None if known().is_empty() => return Err(format!("'{text}' is no number")),
        None => return Err(format!("'{unit}' is no unit of {}; known are {}", measure.word(), known())),
    };
    match number.parse::<f64>() {
        Ok(number) if number * factor < 1e18 => Ok((number * factor).round() as u64),
        _ => Err(format!("'{text}' is no number")),
    }
}
