//! What flags of several commands mean: `--filter`, `--in`, `--top`, and numbers.

use std::io;
use std::path::Path;

use analysis::allocations::Location;
use attach::Jvm;
use trace::filter::Pattern;
use trace::names;

use crate::commands::closest;
use crate::render::page::{Page, Width};

/// Does a class match a filter?
pub(crate) fn selects_class(filter: &[Pattern], class: &str) -> bool {
    filter.is_empty() || filter.iter().any(|pattern| pattern.matches_class(class))
}

/// Does the code of a site match a filter: its class, class and method as in `com.acme.Main.run`, or all that tables show of it?
pub(crate) fn selects_site(filter: &[Pattern], at: &Location<'_>) -> bool {
    let method = format!("{}.{}", at.class, names::jvm_method_name(at.method));
    let row = at.to_string();
    filter.iter().any(|pattern| pattern.matches(at.class) || pattern.matches(&method) || pattern.matches(&row))
}

/// By which names `--in` may select the code of a site.
pub(crate) fn names_of(at: &Location<'_>) -> [String; 2] {
    [at.class.to_owned(), format!("{}.{}", at.class, names::jvm_method_name(at.method))]
}

/// Notes on standard error each pattern of `--filter` that none of the classes matches.
pub(crate) fn note_unmatched<'a>(path: &Path, filter: &[Pattern], classes: impl Iterator<Item = &'a str> + Clone) {
    for pattern in filter {
        if !classes.clone().any(|class| pattern.matches_class(class)) {
            let close = closest::hint(&pattern.to_string(), classes.clone());
            note(path, &format!("no class matches --filter '{pattern}'{close}"));
        }
    }
}

/// Notes on standard error what a flag does not do with a file.
pub(crate) fn note(path: &Path, sentence: &str) {
    let label = format!("martini: {}:", path.display());
    let sentence = Page::new(&mut io::sink(), Width::usual()).behind(&label, sentence);
    anstream::eprintln!("{label}{sentence}");
}

/// A whole number on the command line.
pub(crate) fn whole_number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "give an integer of 0 or more, such as 20".to_owned())
}

/// A process on the command line: its id, or the main class or jar of the only JVM that runs it.
pub(crate) fn process_id(text: &str) -> Result<u32, String> {
    if text.bytes().all(|c| c.is_ascii_digit()) {
        return text.parse().map_err(|_| "no process has this number; see martini ps".to_owned());
    }
    let jvms = attach::list();
    let running: Vec<&Jvm> =
        jvms.iter().filter(|jvm| jvm.command.as_deref().is_some_and(|command| runs(command, text))).collect();
    match running[..] {
        [] => Err("no JVM runs this main class or jar; see martini ps".to_owned()),
        [jvm] => Ok(jvm.process.pid().0),
        _ => {
            let pids: Vec<String> = running.iter().map(|jvm| jvm.process.pid().to_string()).collect();
            Err(format!("several JVMs run it, give the number of one: {}", pids.join(", ")))
        }
    }
}

/// Whether a command, as `martini ps` shows it, is of a main class or jar of this name: in full, or without packages or folders.
fn runs(command: &str, name: &str) -> bool {
    let main = command.split_whitespace().next().unwrap_or_default();
    let file = main.rsplit('/').next().unwrap_or_default();
    let stem = file.strip_suffix(".jar");
    let class = if stem.is_some() { None } else { main.rsplit(['.', '/']).next() };
    [Some(main), Some(file), stem, class].contains(&Some(name))
}

/// How many rows `--top` lets be shown; 0 stands for all.
pub(crate) fn row_limit(top: Option<usize>, default: usize) -> usize {
    match top.unwrap_or(default) {
        0 => usize::MAX,
        top => top,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jvm_is_called_by_its_main_class_or_jar() {
        for (command, name, is_it) in [
            ("com.acme.Main --port 80", "com.acme.Main", true),
            ("com.acme.Main --port 80", "Main", true),
            ("com.acme.Main --port 80", "--port", false),
            ("/opt/app.jar x", "app.jar", true),
            ("/opt/app.jar x", "app", true),
            ("/opt/app.jar x", "jar", false),
            ("com.acme.Main", "ain", false),
        ] {
            assert_eq!(runs(command, name), is_it, "{command}: {name}");
        }
    }
}
