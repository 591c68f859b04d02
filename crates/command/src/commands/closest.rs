//! What somebody may have meant who names nothing that is there.

/// Of names the one that differs from what is wanted in packages, in capital letters or in a few letters only; as a part of a sentence that
/// says so, or nothing.
pub(crate) fn hint<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
    let close = closest(wanted, names);
    close.map_or_else(String::new, |name| format!("; did you mean {name}?"))
}

fn closest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted: Vec<char> = wanted.trim_matches('*').trim_end_matches('.').to_lowercase().chars().collect();
    let parts = wanted.iter().filter(|&&c| is_border(c)).count();
    let most = (wanted.len() / 4).max(1);
    let scored = names.filter_map(|name| {
        // As many of the last parts as are wanted.
        let begin = name.rmatch_indices(is_border).nth(parts).map_or(0, |(at, _)| at + 1);
        let end: Vec<char> = name[begin..].to_lowercase().chars().collect();
        let distance = if end.len().abs_diff(wanted.len()) <= most { distance(&wanted, &end) } else { usize::MAX };
        (distance <= most).then_some((distance, name))
    });
    scored.min().map(|(_, name)| name)
}

fn is_border(c: char) -> bool {
    matches!(c, '.' | '$' | '/')
}

/// How many letters are to be put in, left out or changed (Levenshtein's distance).
fn distance(one: &[char], other: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, a) in one.iter().enumerate() {
        let mut before = std::mem::replace(&mut row[0], at + 1);
        for (column, b) in other.iter().enumerate() {
            let changed = before + usize::from(a != b);
            before = row[column + 1];
            row[column + 1] = changed.min(before + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_close_is_suggested() {
        let names = ["com.acme.Main", "com.acme.Main.run", "com.acme.Shop$Cart", "java.lang.String"];
        let close = |wanted: &str| closest(wanted, names.into_iter());
        assert_eq!(close("Main"), Some("com.acme.Main"));
        assert_eq!(close("main.rnu"), Some("com.acme.Main.run"));
        assert_eq!(close("org.acme.Main"), Some("com.acme.Main"));
        assert_eq!(close("Shop.Cart"), Some("com.acme.Shop$Cart"));
        assert_eq!(close("Strin*"), Some("java.lang.String"));
        assert_eq!(close("com.acme.Order"), None);
        assert_eq!(hint("Mian", names.into_iter()), "");
        assert_eq!(hint("Strnig2", std::iter::empty()), "");
        assert_eq!((distance(&['a'], &[]), distance(&['a', 'b'], &['b'])), (1, 1));
    }
}
