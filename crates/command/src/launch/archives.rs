//! Whether a command line has a JVM write an archive of classes (CDS, AOT cache). From JDK 13 on a JVM that does exits with an error
//! beside any agent, before it calls it: the agent has to stay away.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use trace::command_line::WITH_VALUE;

/// Variables whose words a JVM or its launcher puts in front of those that were typed, or behind.
const VARIABLES: [&str; 3] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];

/// What makes a JVM write an archive, or the list for one. Where a flag is set twice the last one counts, but nobody switches one of these off.
const WRITING: [&str; 8] = [
    "-Xshare:dump",
    "-XX:ArchiveClassesAtExit=",
    "-XX:+RecordDynamicDumpInfo",
    "-XX:+DynamicDumpSharedSpaces",
    "-XX:DumpLoadedClassList=",
    "-XX:AOTCacheOutput=",
    "-XX:AOTMode=record",
    "-XX:AOTMode=create",
];

/// What makes a JVM write its archive anew where that does not fit. Without, it uses the archive, or goes on without one.
const RENEWING: &str = "-XX:+AutoCreateSharedArchive";
const NOT_RENEWING: &str = "-XX:-AutoCreateSharedArchive";

/// What a command line of `java` does to an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Archive {
    /// It uses one, if any.
    Used,
    /// It writes one anew where that does not fit; with these arguments it does not.
    Renewed(Vec<OsString>),
    /// It writes one, because of this option.
    Written(String),
}

impl Archive {
    /// Of `java` with these arguments, in this process's environment.
    pub(crate) fn of(arguments: &[OsString]) -> Archive {
        let (options, end) = options(arguments);
        let variables = VARIABLES.iter().filter_map(std::env::var_os).flat_map(|text| split(&text));
        // The launcher reads files that its own variable names, too.
        let mut words: Vec<String> = variables
            .flat_map(|word| match word.strip_prefix('@') {
                Some(file) => in_file(OsStr::new(file)),
                None => vec![word],
            })
            .collect();
        for argument in options {
            match argument.as_bytes().strip_prefix(b"@") {
                Some(file) => words.extend(in_file(OsStr::from_bytes(file))),
                None => words.push(argument.to_string_lossy().into_owned()),
            }
        }
        let of_files: Vec<String> = words.iter().flat_map(|word| named_file(word)).collect();
        words.extend(of_files);
        if let Some(writing) = words.iter().find(|word| WRITING.iter().any(|beginning| word.starts_with(beginning))) {
            return Archive::Written(writing.clone());
        }
        if !words.iter().any(|word| word == RENEWING) {
            return Archive::Used;
        }
        // The last one counts. A JVM would complain of an archive that is not there unless it is to make it.
        let is_missing = |word: &&OsString| {
            let archive = word.as_bytes().strip_prefix(b"-XX:SharedArchiveFile=");
            archive.is_some_and(|file| !Path::new(OsStr::from_bytes(file)).exists())
        };
        let options = arguments[..end].iter().filter(|word| !is_missing(word)).cloned();
        Archive::Renewed(options.chain([NOT_RENEWING.into()]).chain(arguments[end..].iter().cloned()).collect())
    }
}

/// How many words of a command line of `java` are options: those in front of the program's name.
pub(crate) fn options_end(arguments: &[OsString]) -> usize {
    options(arguments).1
}

/// The options of the JVM, without the values of those that take one as a word of its own, and how many words stand in front of the
/// program's name.
fn options(arguments: &[OsString]) -> (Vec<&OsString>, usize) {
    let (mut options, mut at) = (Vec::new(), 0);
    while let Some(word) = arguments.get(at) {
        let bytes = word.as_bytes();
        let is_program =
            matches!(bytes, b"-jar" | b"-m" | b"--module") || !bytes.starts_with(b"-") && !bytes.starts_with(b"@");
        if is_program {
            return (options, at);
        }
        options.push(word);
        at += if WITH_VALUE.iter().any(|option| option.as_bytes() == bytes) { 2 } else { 1 };
    }
    (options, arguments.len())
}

fn split(text: &OsStr) -> Vec<String> {
    // A backslash at the end of a line of an argument file continues it without the blanks that follow.
    let mut lines = text.to_string_lossy().replace("\r\n", "\n");
    while let Some(at) = lines.find("\\\n") {
        let rest = lines[at + 2..].trim_start().to_owned();
        lines.truncate(at);
        lines.push_str(&rest);
    }
    lines.split_whitespace().map(|word| word.replace(['"', '\''], "")).collect()
}

fn in_file(file: &OsStr) -> Vec<String> {
    fs::read(file).map(|text| split(OsStr::from_bytes(&text))).unwrap_or_default()
}

/// The words of the file that an option names: of flags without their beginning, or of options.
fn named_file(word: &str) -> Vec<String> {
    let flags = word.strip_prefix("-XX:Flags=").map(|file| in_file(OsStr::new(file)));
    let flags = flags.into_iter().flatten().map(|flag| format!("-XX:{flag}"));
    let options = word.strip_prefix("-XX:VMOptionsFile=").map(|file| in_file(OsStr::new(file)));
    flags.chain(options.into_iter().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Archive {
        Archive::of(&words.iter().map(OsString::from).collect::<Vec<_>>())
    }

    fn written(word: &str) -> Archive {
        Archive::Written(word.into())
    }

    #[test]
    fn options_count_and_arguments_of_the_program_do_not() {
        assert_eq!(of(&["-Xshare:dump"]), written("-Xshare:dump"));
        assert_eq!(of(&["-cp", "a.jar", "-XX:AOTMode=record", "Main"]), written("-XX:AOTMode=record"));
        assert_eq!(of(&["-XX:AOTMode=on", "-Xshare:auto", "Main"]), Archive::Used);
        assert_eq!(of(&["-cp", "-Xshare:dump", "Main", "-Xshare:dump"]), Archive::Used);
        assert_eq!(of(&["-jar", "a.jar", "-XX:ArchiveClassesAtExit=x"]), Archive::Used);
    }

    #[test]
    fn options_in_files_count() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let words = file("words", "-cp 'a.jar'\n\"-XX:ArchiveClassesAtExit=x y\"");
        let flags = file("flags", "+UseSerialGC\nAOTCacheOutput=x.aot\n");
        assert_eq!(of(&[&format!("@{words}"), "Main"]), written("-XX:ArchiveClassesAtExit=x"));
        let continued = file("continued", "-cp a.jar\n\"-XX:ArchiveClassesAt\\\n   Exit=x\"\n");
        assert_eq!(of(&[&format!("@{continued}"), "Main"]), written("-XX:ArchiveClassesAtExit=x"));
        assert_eq!(of(&[&format!("-XX:VMOptionsFile={words}"), "Main"]), written("-XX:ArchiveClassesAtExit=x"));
        assert_eq!(of(&[&format!("-XX:Flags={flags}"), "Main"]), written("-XX:AOTCacheOutput=x.aot"));
    }

    #[test]
    fn an_archive_that_would_be_made_anew_is_only_used() {
        let renewed = |words: &[&str]| Archive::Renewed(words.iter().map(OsString::from).collect());
        let missing = "-XX:SharedArchiveFile=/nowhere/a.jsa";
        assert_eq!(
            of(&[RENEWING, missing, "-cp", "x", "Main", "y"]),
            renewed(&[RENEWING, "-cp", "x", NOT_RENEWING, "Main", "y"])
        );
        let there = "-XX:SharedArchiveFile=/proc/self/exe";
        assert_eq!(of(&[RENEWING, there, "Main"]), renewed(&[RENEWING, there, NOT_RENEWING, "Main"]));
    }
}
