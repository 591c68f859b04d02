//! Names, and what stands for them.

use std::borrow::Cow;
use std::str::FromStr;

use ring::hmac;

/// The names that must not be seen: all that begin so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern(String);

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Pattern, String> {
        let start = text.strip_suffix('*').filter(|start| start.chars().any(is_of_name) && !start.contains(['*', '/']));
        start
            .map(|start| Pattern(start.to_owned()))
            .ok_or_else(|| format!("'{text}' is not the beginning of names with a * behind it, such as com.acme.*"))
    }
}

/// Replaces names by what stands for them: for each of its parts, as package, class and method are, a hash of the name up to it.
/// So what is in one package, class or outer class still is, wherever the name stands and however it is written.
#[derive(Clone, Debug)]
pub(super) struct Names {
    /// Beginnings of names, with points and with slashes.
    starts: Vec<String>,
    key: hmac::Key,
}

impl Names {
    pub(super) fn new(patterns: &[Pattern], key: &[u8]) -> Names {
        let starts = patterns.iter().flat_map(|Pattern(start)| [start.clone(), start.replace('.', "/")]);
        let mut starts: Vec<String> = starts.collect();
        starts.sort();
        starts.dedup();
        Names { starts, key: hmac::Key::new(hmac::HMAC_SHA256, key) }
    }

    /// Whether a name must not be seen.
    pub(super) fn has(&self, name: &str) -> bool {
        self.starts.iter().any(|start| name.starts_with(start))
    }

    /// A text without such names, wherever they stand in it.
    pub(super) fn without<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut out = String::new();
        let mut rest = text;
        while let Some((at, start)) = self.first(rest) {
            let end = at + start + rest[at + start..].find(|c| !is_of_name(c)).unwrap_or(rest.len() - at - start);
            out.push_str(&rest[..at]);
            self.append(&mut String::new(), &rest[at..end], &mut out);
            rest = &rest[end..];
            // As in a dump of threads: `(Order.java:12)`.
            if let Some((file, behind)) = rest.strip_prefix('(').and_then(|place| place.split_once(')'))
                && let Some((_, kind)) =
                    file.split_once('.').filter(|_| file.chars().all(|c| c == ':' || is_of_name(c)))
            {
                out.push_str("(_.");
                out.push_str(kind);
                out.push(')');
                rest = behind;
            }
        }
        if out.is_empty() && rest.len() == text.len() {
            return Cow::Borrowed(text);
        }
        out.push_str(rest);
        Cow::Owned(out)
    }

    /// What stands for a whole name.
    pub(super) fn of(&self, name: &str) -> String {
        let mut out = String::new();
        self.append(&mut String::new(), name, &mut out);
        out
    }

    /// What stands for a field or method of a class; names that the JVM gives stay.
    pub(super) fn of_member(&self, class: &str, name: &str) -> String {
        if name.starts_with(['-', '<']) {
            return name.to_owned();
        }
        let (mut path, mut out) = (path_of(class), String::new());
        self.append(&mut path, name, &mut out);
        out
    }

    /// What stands for the source file of a class.
    pub(super) fn of_file(&self, class: &str, file: &str) -> String {
        let (name, kind) = file.rsplit_once('.').unwrap_or((file, ""));
        let mut path = class.rsplit_once('.').map_or_else(String::new, |(package, _)| path_of(package));
        let mut out = String::new();
        self.append(&mut path, name, &mut out);
        if !kind.is_empty() {
            out.push('.');
            out.push_str(kind);
        }
        out
    }

    /// The first such name in a text: where it is, and how long its beginning.
    fn first(&self, text: &str) -> Option<(usize, usize)> {
        let found = self.starts.iter().filter_map(|start| Some((text.find(start.as_str())?, start.len())));
        found.min_by_key(|&(at, length)| (at, std::cmp::Reverse(length)))
    }

    /// Appends what stands for a name behind that path, and makes the path longer by it.
    fn append(&self, path: &mut String, name: &str, out: &mut String) {
        let mut was_empty = false;
        for part in name.split_inclusive(SEPARATORS) {
            let (part, separator) = match part.strip_suffix(SEPARATORS) {
                Some(text) => (text, &part[text.len()..]),
                None => (part, ""),
            };
            if !part.is_empty() {
                path.push('.');
                path.push_str(part);
            }
            match part {
                "" => {}
                _ if is_generated(part, was_empty) => out.push_str(part),
                _ => self.hash(path, out),
            }
            was_empty = part.is_empty();
            out.push_str(separator);
        }
    }

    /// Appends 40 bits that stand for a path, as a name that Java would take.
    fn hash(&self, path: &str, out: &mut String) {
        const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
        let tag = hmac::sign(&self.key, path.as_bytes());
        let bits = tag.as_ref()[..5].iter().fold(0_u64, |bits, &byte| bits << 8 | u64::from(byte));
        out.push('x');
        out.extend((0..8).map(|at| char::from(LETTERS[(bits >> (35 - 5 * at)) as usize & 31])));
    }
}

/// What is between the parts of names, in class files, in source and in what the JVM prints.
const SEPARATORS: [char; 4] = ['.', '/', '$', ':'];

/// The path of a whole name: its parts, whatever is between them.
fn path_of(name: &str) -> String {
    name.split(SEPARATORS).filter(|part| !part.is_empty()).fold(String::new(), |path, part| path + "." + part)
}

/// Whether the compiler or the JVM gave a part its name: a number, an address, what a lambda is.
fn is_generated(part: &str, is_behind_two_dollars: bool) -> bool {
    let is_address = part.strip_prefix("0x").is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
    part.bytes().all(|byte| byte.is_ascii_digit())
        || is_address
        || part == "lambda"
        || (is_behind_two_dollars && part == "Lambda")
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || SEPARATORS.contains(&c) || !c.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(patterns: &[&str]) -> Names {
        let patterns: Vec<Pattern> = patterns.iter().map(|pattern| pattern.parse().unwrap()).collect();
        Names::new(&patterns, b"key")
    }

    #[test]
    fn patterns_are_beginnings() {
        for text in ["", "*", "com.acme.Order", "*.acme", "com.*.acme", "com/acme/*", ".*"] {
            assert_eq!(text.parse::<Pattern>().is_ok(), text == ".*", "{text}");
        }
        assert!(names(&["com.acme.*"]).has("com.acme.Order") && !names(&["com.acme.*"]).has("com.acmed.Order"));
    }

    #[test]
    fn a_name_is_the_same_wherever_it_stands() {
        let names = names(&["com.acme.*"]);
        let class = names.of("com.acme.shop.Order$Line");
        let parts: Vec<&str> = class.split(['.', '$']).collect();
        assert_eq!(parts.len(), 5);
        assert!(parts.iter().all(|part| part.len() == 9 && part.starts_with('x')), "{class}");
        let slashes = class.replace('.', "/");
        let method = names.of_member("com.acme.shop.Order$Line", "add");
        for (text, expected) in [
            ("com.acme.shop.Order$Line".to_owned(), class.clone()),
            ("(I[Lcom/acme/shop/Order$Line;J)V".to_owned(), format!("(I[L{slashes};J)V")),
            ("com.acme.shop.Order$Line.add".to_owned(), format!("{class}.{method}")),
            ("com.acme.shop.Order$Line::add (12 bytes)".to_owned(), format!("{class}::{method} (12 bytes)")),
            (
                "\tat app//com.acme.shop.Order$Line.add(Order.java:12)\n\tat a.B.c(B.java:1)".to_owned(),
                format!("\tat app//{class}.{method}(_.java:12)\n\tat a.B.c(B.java:1)"),
            ),
            ("java -Dcom.acme.shop=1 a.Main".to_owned(), format!("java -D{}=1 a.Main", names.of("com.acme.shop"))),
            ("acme".to_owned(), "acme".to_owned()),
        ] {
            assert_eq!(names.without(&text), expected);
        }
        assert_eq!(names.of_file("com.acme.shop.Order$Line", "Order.java"), format!("{}.java", parts[3]));
        let lambda = names.of("com.acme.App$$Lambda/0x00007f12");
        assert!(lambda.ends_with("$$Lambda/0x00007f12") && lambda.starts_with(parts[0]), "{lambda}");
        assert!(names.of_member("com.acme.App", "lambda$place$0").starts_with("lambda$x"));
        assert_eq!(names.of_member("com.acme.App", "-init-"), "-init-");
        assert_ne!(class, Names::new(&["com.acme.*".parse().unwrap()], b"other").of("com.acme.shop.Order$Line"));
    }

    #[test]
    fn nothing_of_a_name_is_left_whatever_is_around_it() {
        let names = names(&["com.acme.*", "com.acme.shop.*", "till*"]);
        for before in ["", "L", "[[L", "x.com.acm", "com.acm", "-D", "é", "com/acme/.", "((a.b)", "tilltill"] {
            for name in ["com.acme.Secret", "com/acme/shop/Secret$In", "com.acme.Größe$Secret", "tillSecret"] {
                for behind in ["", ";I)V", "(Secret.java:1)", "(Secret.kt)", " (", "(no file", "()", "::Secret", "é"] {
                    let without = names.without(&format!("{before}{name}{behind}")).into_owned();
                    let is_clean = ["Secret", "com.acme", "com/acme/shop", "till", "Größe"]
                        .iter()
                        .all(|part| !without.contains(part));
                    assert!(is_clean, "{before}{name}{behind}: {without}");
                }
            }
        }
    }
}
