//! Where text goes, and how wide it may be: names that do not fit are shortened where that costs least, in their packages.

use std::io::{self, Write};
use std::ops::Range;

use rustix::termios::{Winsize, tcgetwinsize};

/// Columns of a page that is no terminal, unless the environment or `--wide` says otherwise.
const COLUMNS: usize = 80;

/// How names of files end that look like a package and a class's name.
const FILE_ENDINGS: [&str; 9] = ["so", "jar", "trcxml", "hprof", "jfr", "html", "txt", "log", "json"];

/// Numbers and names take this at least.
const NARROWEST: usize = 40;

/// The flag of commands that print tables.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct PageArguments {
    /// Print names in full, however long; without it text is as wide as the environment variable COLUMNS says, or the terminal is, or 80 columns
    #[arg(long)]
    wide: bool,
}

/// How wide a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Width(pub(crate) usize);

impl Width {
    /// As wide as the environment says, or the terminal is.
    pub(crate) fn usual() -> Self {
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        Width(columns.or_else(terminal).unwrap_or(COLUMNS).max(NARROWEST))
    }

    /// What is left beside something.
    pub(crate) fn beside(self, taken: usize) -> usize {
        self.0.saturating_sub(taken)
    }
}

/// How wide the terminal is that shows our output; `None` if there is none.
fn terminal() -> Option<usize> {
    let columns = |size: Result<Winsize, _>| size.ok().map(|size| size.ws_col).filter(|&columns| columns > 0);
    columns(tcgetwinsize(io::stdout())).or_else(|| columns(tcgetwinsize(io::stderr()))).map(usize::from)
}

impl PageArguments {
    /// How wide a page is to be.
    pub(crate) fn width(self) -> Width {
        if self.wide { Width(usize::MAX) } else { Width::usual() }
    }
}

/// Something to write text to, as wide as it may be.
pub(crate) struct Page<'a> {
    out: &'a mut dyn Write,
    width: Width,
}

impl<'a> Page<'a> {
    /// A page of some width.
    pub(crate) fn new(out: &'a mut dyn Write, width: Width) -> Self {
        Page { out, width }
    }

    /// How wide it is.
    pub(crate) fn width(&self) -> Width {
        self.width
    }

    /// A text that fits into a line behind `indent` columns: with packages shortened, and if that is not enough, without its
    /// beginning.
    pub(crate) fn fit(&self, indent: usize, text: &str) -> String {
        let room = self.width.beside(indent);
        let text = shorten_packages(text, room);
        match text.chars().count() {
            length if length > room => format!("…{}", text.chars().skip(length + 1 - room).collect::<String>()),
            _ => text,
        }
    }

    /// The same of a label and a name, of which the label keeps its beginning if there is room for both.
    pub(crate) fn fit_behind(&self, indent: usize, label: &str, name: &str) -> String {
        /// A name without its beginning says nothing if it is shorter.
        const SHORTEST: usize = 24;
        let (room, text) = (self.width.beside(indent), format!("{label}{name}"));
        let short = shorten_packages(label, 0);
        let taken = indent + short.chars().count();
        let is_short = shorten_packages(&text, room).chars().count() <= room;
        match is_short || self.width.beside(taken) < SHORTEST {
            true => self.fit(indent, &text),
            false => format!("{short}{}", self.fit(taken, name)),
        }
    }

    /// A sentence in lines behind `indent` columns: with packages shortened, and if that is not enough, broken between words.
    pub(crate) fn sentence(&self, indent: usize, text: &str) -> String {
        let text = shorten_packages(text, self.width.beside(indent));
        format!("{:indent$}{}", "", self.flow(indent, indent, &text))
    }

    /// Writes a sentence in lines behind `indent` columns, as [`sentence`](Self::sentence) has it.
    pub(crate) fn write_sentence(&mut self, indent: usize, text: &str) -> io::Result<()> {
        let text = self.sentence(indent, text);
        writeln!(self, "{text}")
    }

    /// A command behind a label, as it can be pasted into a shell: where it does not fit, the line ends in a backslash.
    pub(crate) fn command(&self, label: &str, words: &[String]) -> String {
        /// Columns of what goes on in the next line.
        const END: &str = " \\";
        let (mut text, mut taken) = (String::new(), label.chars().count());
        let indent = taken - label.trim_start().len() + 4;
        for (at, word) in words.iter().enumerate() {
            let letters = word.chars().count();
            if at > 0 && self.width.beside(taken + 1 + END.len()) < letters {
                text.push_str(&format!("{END}\n{:indent$}{word}", ""));
                taken = indent + letters;
            } else {
                text.push_str(&format!(" {word}"));
                taken += 1 + letters;
            }
        }
        text
    }

    /// What stands behind a label, a space first, broken between words.
    pub(crate) fn behind(&self, label: &str, text: &str) -> String {
        self.flow(0, label.chars().count(), &format!(" {text}"))
    }

    /// Words in lines, of which the first has some columns taken.
    fn flow(&self, indent: usize, taken: usize, text: &str) -> String {
        /// How much further lines are indented.
        const FURTHER: usize = 4;
        let (mut lines, mut taken) = (String::new(), taken);
        for (at, word) in words(text).into_iter().enumerate() {
            let word = self.fit(indent + FURTHER, &word);
            let letters = word.chars().count();
            if at > 0 && self.width.beside(taken + 1) < letters {
                taken = indent + FURTHER;
                lines.push_str(&format!("\n{:taken$}", ""));
            } else if at > 0 {
                lines.push(' ');
                taken += 1;
            }
            lines.push_str(&word);
            taken += letters;
        }
        lines
    }
}

/// The words of a text. A number and the word behind it, which may be its unit, count as one.
fn words(text: &str) -> Vec<String> {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let is_number = |word: &str| is_digit(word.trim_start_matches('(').chars().next()) && is_digit(word.chars().last());
    let mut words: Vec<String> = Vec::new();
    let mut is_behind_number = false;
    for word in text.split(' ') {
        match words.last_mut().filter(|_| is_behind_number) {
            Some(number) => {
                number.push(' ');
                number.push_str(word);
            }
            None => words.push(word.to_owned()),
        }
        is_behind_number = is_number(word);
    }
    words
}

impl Write for Page<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A text with packages shortened to their first letters, from the left on, as many as it takes to be no longer than `room`.
pub(crate) fn shorten_packages(text: &str, room: usize) -> String {
    let mut short = String::with_capacity(text.len());
    let (mut length, mut copied) = (text.chars().count(), 0);
    for package in packages(text) {
        if length <= room {
            break;
        }
        let letter = text[package.clone()].chars().next().map_or(0, char::len_utf8);
        short.push_str(&text[copied..package.start + letter]);
        length -= text[package.clone()].chars().count() - 1;
        copied = package.end;
    }
    short.push_str(&text[copied..]);
    short
}

/// Where the packages of a text are: what begins a word, in small letters, with a dot behind it, and again behind that dot. A text in quotes
/// is a program's.
fn packages(text: &str) -> Vec<Range<usize>> {
    let mut packages = Vec::new();
    let (mut start, mut is_package) = (0, true);
    for (at, c) in text.char_indices() {
        match c {
            '"' => break,
            ' ' => (start, is_package) = (at + 1, true),
            '(' if at == start => start = at + 1,
            '.' if is_package && ends_file_name(&text[at + 1..]) => is_package = false,
            // At the end of a sentence there is nothing behind it.
            '.' if is_package && at > start && !text[at + 1..].starts_with(' ') && at + 1 < text.len() => {
                packages.push(start..at);
                start = at + 1;
            }
            _ => is_package &= if at == start { c.is_lowercase() } else { c.is_alphanumeric() || c == '_' },
        }
    }
    packages
}

/// Does a text begin with the last part of a file's name, as in `libjvm.so`? That is no package.
fn ends_file_name(text: &str) -> bool {
    let part = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let behind = &text[part.len()..];
    // The number of a version, as in `libc.so.6`.
    let is_version = behind.strip_prefix('.').is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()));
    FILE_ENDINGS.contains(&part) && (is_version || !behind.starts_with(['.', '(']))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: &str =
        "org.springframework.beans.factory.support.DefaultListableBeanFactory.createBean(Factory.java:542)";

    fn page<T>(width: usize, show: impl Fn(&Page<'_>) -> T) -> T {
        show(&Page::new(&mut io::sink(), Width(width)))
    }

    #[test]
    fn packages_are_shortened_from_the_left_as_far_as_needed() {
        for (room, short) in [
            (200, FRAME),
            (FRAME.len(), FRAME),
            (96, "o.springframework.beans.factory.support.DefaultListableBeanFactory.createBean(Factory.java:542)"),
            (80, "o.s.b.factory.support.DefaultListableBeanFactory.createBean(Factory.java:542)"),
            (10, "o.s.b.f.s.DefaultListableBeanFactory.createBean(Factory.java:542)"),
        ] {
            assert_eq!(shorten_packages(FRAME, room), short, "{room}");
        }
    }

    #[test]
    fn only_packages_are_shortened() {
        for (text, short) in [
            ("java.lang.String at demo.Main.run(main.kt:7)", "j.l.String at d.Main.run(main.kt:7)"),
            ("java.util.Map$Entry[]", "j.u.Map$Entry[]"),
            ("Main.run", "Main.run"),
            ("org.example", "o.example"),
            ("ünï.code.Ä", "ü.c.Ä"),
            ("class a.b.C \"see java.lang.String\"", "class a.b.C \"see java.lang.String\""),
            ("http-nio.exec", "http-nio.exec"),
            ("it has no libjvm.so; see app.trcxml", "it has no libjvm.so; see app.trcxml"),
            ("demo.so.Main of app.jar", "d.s.Main of app.jar"),
            ("read in libc.so.6 by demo.Main", "read in libc.so.6 by d.Main"),
            ("worker-1 <- worker-2 (demo.Cache)", "worker-1 <- worker-2 (d.Cache)"),
            ("...", "..."),
            ("it never releases them. Most", "it never releases them. Most"),
            ("all of one age.", "all of one age."),
            ("", ""),
        ] {
            assert_eq!(shorten_packages(text, 0), short);
        }
    }

    #[test]
    fn what_is_still_too_long_loses_its_beginning() {
        assert_eq!(page(50, |page| page.fit(10, FRAME)), "…eanFactory.createBean(Factory.java:542)");
        assert_eq!(page(50, |page| page.fit(0, "demo.Main")), "demo.Main");
        assert_eq!(page(usize::MAX, |page| page.fit(10, FRAME)), FRAME);
        let label = "30.7 % java.lang.String in ";
        let shown = "30.7 % j.l.String in …tableBeanFactory.createBean(Factory.java:542)";
        assert_eq!(page(75, |page| page.fit_behind(8, label, FRAME)), shown);
        assert_eq!(page(40, |page| page.fit_behind(8, label, FRAME)), "…ry.createBean(Factory.java:542)");
        assert_eq!(page(99, |page| page.fit_behind(8, "byte[] in ", "demo.Main")), "byte[] in demo.Main");
    }

    #[test]
    fn commands_go_on_behind_a_backslash() {
        let words: Vec<String> = "martini stats app.trcxml --in demo.Main.run".split(' ').map(str::to_owned).collect();
        let command = |width| page(width, |page| page.command("  next:", &words));
        assert_eq!(command(80), " martini stats app.trcxml --in demo.Main.run");
        assert_eq!(command(40), " martini stats app.trcxml --in \\\n      demo.Main.run");
    }

    #[test]
    fn sentences_go_on_in_the_next_line() {
        let lines =
            page(40, |page| page.sentence(2, "main: blocked for 3.20 s for demo.orders.Ledger @1234, owned by worker"));
        assert_eq!(lines, "  main: blocked for 3.20 s for\n      d.o.Ledger @1234, owned by worker");
        let path = "folder/".repeat(9);
        assert_eq!(page(40, |page| page.behind(&path, "(1.5 KiB)")), "\n    (1.5 KiB)");
        assert_eq!(page(40, |page| page.behind("note:", "it was cut off")), " it was cut off");
        let percent = page(40, |page| page.behind("coverage:", "of all bytes, the worst 99.99 %"));
        assert_eq!(percent, " of all bytes, the worst\n    99.99 %");
    }
}
