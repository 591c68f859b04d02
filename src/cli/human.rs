//! Numbers as people read them. JSON gets the exact ones.

use std::path::Path;

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

/// `1 object`, `2,000 objects`: a count with its noun, `plural` being the noun's plural.
pub(crate) fn counted(number: u64, singular: &str, plural: &str) -> String {
    format!("{} {}", count(number), if number == 1 { singular } else { plural })
}

/// A path as a word of a shell's command line, quoted where it has to be.
pub(crate) fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+:,@%".contains(c);
    if text.chars().all(plain) && !text.is_empty() { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
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
