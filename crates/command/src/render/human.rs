//! Numbers as people read them. JSON gets the exact ones.

use std::path::Path;

use trace::command_line::quoted;
use trace::time::Nanos;

/// A count with its thousands apart: `1,234,567`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A size with one decimal, in the largest binary unit that leaves at least one whole: `1,000 B`, `1.5 KiB`, `3.0 GiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut size = bytes as f64 / 1024.0;
    let mut unit = 0;
    // 1023.95 would be rounded to "1024.0".
    while size >= 1023.95 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    format!("{size:.1} {}", UNITS[unit])
}

/// A length of time with three or more digits: `0 s`, `12.3 us`, `1.25 ms`, `950 ms`, `3.20 s`, `1,234 s`.
pub(crate) fn duration(nanos: Nanos) -> String {
    const UNITS: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
    if nanos.0 == 0 {
        return "0 s".to_owned();
    }
    let length = nanos.0 as f64;
    // 999.5 would be rounded to "1000".
    let (unit, one) = UNITS.into_iter().find(|(_, one)| length / one < 999.5).unwrap_or(UNITS[3]);
    let number = length / one;
    if number >= 999.5 {
        return format!("{} {unit}", count(number.round() as u64));
    }
    let decimals = match number {
        _ if unit == "ns" => 0,
        number if number < 9.995 => 2,
        number if number < 99.95 => 1,
        _ => 0,
    };
    format!("{number:.decimals$} {unit}")
}

/// A part of a whole in percent: `0.3 %`, `31 %`; none of nothing.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    share(if whole == 0 { 0.0 } else { part as f64 / whole as f64 })
}

/// A part of a whole in percent, always with one decimal; none of nothing.
pub(crate) fn tenths(part: u64, whole: u64) -> String {
    format!("{:.1} %", if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 })
}

/// A share in percent, with a decimal where whole numbers would not do.
pub(crate) fn share(share: f64) -> String {
    let percent = share * 100.0;
    // 9.95 would be rounded to "10.0".
    if percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// `1 object`, `2,000 objects`: a count with its noun, `plural` being the noun's plural.
pub(crate) fn counted(number: u64, singular: &str, plural: &str) -> String {
    format!("{} {}", count(number), if number == 1 { singular } else { plural })
}

/// A path as a word of a shell's command line, quoted where it has to be.
pub(crate) fn shell_word(path: &Path) -> String {
    quoted(&path.display().to_string())
}

/// A name that cannot break a table or speak to the terminal: control characters are spelled out.
pub(crate) fn printable(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_control() {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_their_thousands_apart() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1000, "1,000"), (123_456, "123,456"), (u64::MAX, "18,446,744,073,709,551,615")]
        {
            assert_eq!(count(number), text);
        }
    }

    #[test]
    fn sizes_never_show_a_full_unit_as_1024() {
        for (size, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (1_048_575, "1.0 MiB"),
            (1_048_576, "1.0 MiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(bytes(size), text);
        }
    }

    #[test]
    fn lengths_of_time_have_three_digits() {
        for (nanos, text) in [
            (0, "0 s"),
            (7, "7 ns"),
            (999, "999 ns"),
            (1000, "1.00 us"),
            (9_995, "10.0 us"),
            (12_345, "12.3 us"),
            (999_499, "999 us"),
            (999_500, "1.00 ms"),
            (950_000_000, "950 ms"),
            (3_200_000_000, "3.20 s"),
            (1_234_000_000_000, "1,234 s"),
            (u64::MAX, "18,446,744,074 s"),
        ] {
            assert_eq!(duration(Nanos(nanos)), text);
        }
    }

    #[test]
    fn shares_have_two_digits() {
        for (part, whole, text) in
            [(0, 0, "0.0 %"), (3, 1000, "0.3 %"), (1, 3, "33 %"), (996, 10_000, "10 %"), (5, 5, "100 %")]
        {
            assert_eq!(percent(part, whole), text);
        }
    }

    #[test]
    fn nouns_agree_with_their_counts() {
        assert_eq!(counted(1, "class", "classes"), "1 class");
        assert_eq!(counted(2000, "class", "classes"), "2,000 classes");
    }

    #[test]
    fn paths_can_be_pasted_into_a_shell() {
        assert_eq!(shell_word(Path::new("/tmp/martini-4711.trcxml")), "/tmp/martini-4711.trcxml");
        assert_eq!(shell_word(Path::new("a b")), "'a b'");
        assert_eq!(shell_word(Path::new("it's")), r"'it'\''s'");
    }

    #[test]
    fn names_cannot_break_lines_or_colour_the_terminal() {
        assert_eq!(printable("work\ner \x1b[31mred"), r"work\ner \u{1b}[31mred");
        assert_eq!(printable("Ünïcode-漢"), "Ünïcode-漢");
    }
}
