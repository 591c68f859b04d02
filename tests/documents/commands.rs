//! What `martini help` knows.

use std::collections::BTreeMap;
use std::process::Command;

/// The flags of each subcommand, and whether each takes a value as a word of its own.
pub(crate) struct Commands(BTreeMap<String, BTreeMap<String, bool>>);

/// A command line of `martini` in a document.
pub(crate) struct Line<'a> {
    pub(crate) command: &'a str,
    pub(crate) words: Vec<&'a str>,
}

impl Commands {
    pub(crate) fn of_martini() -> Self {
        let names = help(&[]);
        let names = names.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
        let names = names.take_while(|line| !line.is_empty());
        // A longer indentation continues the line before.
        let names = names.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        let names: Vec<&str> = names.filter_map(|line| line.split_whitespace().next()).collect();
        assert!(names.len() > 5, "{names:?}");
        let flags = |name: &str| if name == "help" { BTreeMap::new() } else { flags(&help(&[name])) };
        let mut commands: BTreeMap<_, _> = names.into_iter().map(|name| (name.to_owned(), flags(name))).collect();
        commands.insert(String::new(), self::flags(&help(&[])));
        Commands(commands)
    }

    pub(crate) fn any_has(&self, flag: &str) -> bool {
        self.0.values().any(|flags| flags.contains_key(flag))
    }

    /// What does not exist of a command line.
    pub(crate) fn complaints(&self, line: &Line<'_>) -> Vec<String> {
        let Some(flags) = self.0.get(line.command) else {
            return vec![format!("there is no command martini {}", line.command)];
        };
        let mut complaints = Vec::new();
        let mut words = line.words.iter();
        while let Some(&word) = words.next() {
            if word == "--" {
                break;
            }
            if !word.starts_with('-') || word == "-" {
                // What follows belongs to the program that is run.
                if line.command == "run" {
                    break;
                }
                continue;
            }
            let flag = word.split('=').next().unwrap_or(word);
            match flags.get(flag) {
                None => complaints.push(format!("martini {} has no {flag}", line.command)),
                Some(true) if !word.contains('=') => drop(words.next()),
                Some(_) => {}
            }
        }
        complaints
    }
}

fn help(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_martini")).args(arguments).arg("--help").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Flags stand at the beginning of a line: `-q, --quiet`, `--top <N>`, `--live[=<true|false>]`.
fn flags(help: &str) -> BTreeMap<String, bool> {
    let mut flags = BTreeMap::new();
    for line in help.lines().map(str::trim_start).filter(|line| line.starts_with('-')) {
        for part in line.split(", ") {
            let name: String = part.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
            if name.len() > 1 && name.starts_with('-') {
                flags.insert(name.clone(), part[name.len()..].starts_with(" <"));
            }
        }
    }
    flags
}

/// The command lines in a piece of code: behind `martini` as a word of its own, and behind cargo's `--`.
pub(crate) fn lines(code: &str) -> Vec<Line<'_>> {
    let code = code.trim_start_matches("$ ").trim();
    let code = code.split(" # ").next().unwrap_or(code);
    let mut lines = Vec::new();
    for part in code.split(['|', ';', '&', '>']) {
        let mut words = part.split_whitespace().peekable();
        let begins = match words.next() {
            Some("martini") => true,
            // `cargo run --release -- demo` runs martini, unless another package is named.
            Some("cargo") if words.peek() == Some(&"run") => {
                let rest: Vec<&str> = words.by_ref().take_while(|word| *word != "--").collect();
                !rest.iter().any(|word| matches!(*word, "-p" | "--manifest-path" | "--bin" | "--example"))
            }
            _ => false,
        };
        if !begins {
            continue;
        }
        let is_command = |word: &str| word.starts_with(|c: char| c.is_ascii_lowercase());
        let command = words.next_if(|word| is_command(word)).unwrap_or("");
        lines.push(Line { command, words: words.collect() });
    }
    lines
}
