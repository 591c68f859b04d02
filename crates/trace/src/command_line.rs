//! The command line of a program, as it is kept in a trace: one text that can be pasted into a shell.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// Options of the launcher `java` whose value is the next word.
pub const WITH_VALUE: [&str; 14] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--limit-modules",
    "--add-reads",
    "--add-exports",
    "--add-opens",
    "--patch-module",
    "--enable-native-access",
    "--source",
];

/// The words of a command line. Its `Display` quotes them where a shell needs it, and `FromStr` takes such a text apart again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine(pub Vec<String>);

impl CommandLine {
    /// The command line of a process, as `/proc/PID/cmdline` has it, without the agent of Martini that is in it.
    pub fn of_process(words: &[u8]) -> Self {
        let words = words.strip_suffix(b"\0").unwrap_or(words);
        let words = words.split(|&byte| byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
        CommandLine(words.filter(|word| !is_agent(word)).collect())
    }
}

fn is_agent(word: &str) -> bool {
    let library = word.strip_prefix("-agentpath:").and_then(|rest| rest.split('=').next());
    library.is_some_and(|path| path.rsplit('/').next().is_some_and(|file| file.contains("martini")))
}

/// A word as a shell takes it for one.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:,@%".contains(c);
    if word.chars().all(is_plain) && !word.is_empty() {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.0.iter().map(|word| quoted(word)).collect();
        f.write_str(&words.join(" "))
    }
}

impl FromStr for CommandLine {
    type Err = Infallible;

    /// Splits at blanks that are neither between single quotes nor behind a backslash.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let (mut words, mut word, mut is_quoted) = (Vec::new(), None::<String>, false);
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '\'' => {
                    is_quoted = !is_quoted;
                    word.get_or_insert_default();
                }
                '\\' if !is_quoted => word.get_or_insert_default().extend(chars.next()),
                ' ' if !is_quoted => words.extend(word.take()),
                c => word.get_or_insert_default().push(c),
            }
        }
        words.extend(word);
        Ok(CommandLine(words))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_agent_is_no_part_of_a_command() {
        let line = CommandLine::of_process(b"java\0-agentpath:/a/libmartini.so=heap=counts\0-cp\0a b\0Main\0\0");
        assert_eq!(line.to_string(), "java -cp 'a b' Main ''");
        assert_eq!(CommandLine::of_process(b"java\0-agentpath:/martini/other.so\0").0.len(), 2);
    }

    proptest! {
        #[test]
        fn words_survive(words in proptest::collection::vec("[a '\\\\\"$\n]{0,6}", 0..6)) {
            let line = CommandLine(words);
            prop_assert_eq!(line.to_string().parse(), Ok(line));
        }
    }
}
