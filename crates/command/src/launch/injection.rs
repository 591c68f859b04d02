//! Puts the agent into the command line or the environment of the program to profile.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::process::Command;

use crate::launch::carried;

/// The environment variable whose words every JVM adds to its command line.
pub(crate) const TOOL_OPTIONS: &str = "JAVA_TOOL_OPTIONS";

/// Another, whose words the program `java` adds.
const LAUNCHER_OPTIONS: &str = "JDK_JAVA_OPTIONS";

/// How the agent gets into the JVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Injection {
    /// As the first argument of `java`: the JVM prints nothing about it.
    Argument,
    /// Through `JAVA_TOOL_OPTIONS`, for launchers whose command line is not the JVM's. The JVM prints one line about it.
    Environment,
}

impl Injection {
    /// The injection of a program: `java` by any path, or anything else that starts JVMs.
    pub(crate) fn of(program: &OsStr) -> Self {
        match Path::new(program).file_name() {
            Some(name) if name == "java" => Injection::Argument,
            _ => Injection::Environment,
        }
    }
}

/// What a JVM needs to know the lines of all instructions of its compiled code, instead of those of some.
const LINES_OF_COMPILED_CODE: [&str; 2] = ["-XX:+UnlockDiagnosticVMOptions", DEBUG_NON_SAFEPOINTS];
const DEBUG_NON_SAFEPOINTS: &str = "-XX:+DebugNonSafepoints";

/// What is put into a JVM.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Injected<'a> {
    /// The agent.
    pub(crate) agent: &'a Path,
    /// Its options.
    pub(crate) options: &'a str,
    /// The JVM is to know the lines of compiled code, unless the user says something of that.
    pub(crate) lines: bool,
}

/// The command that runs `program` with `arguments` under the agent. It takes the place of agents that [`inherited`] finds.
pub(crate) fn command(program: &OsStr, arguments: &[OsString], injected: &Injected<'_>) -> Command {
    let mut command = Command::new(program);
    let mut agent_argument = OsString::from("-agentpath:");
    agent_argument.push(injected.agent);
    agent_argument.push("=");
    agent_argument.push(injected.options);
    let environment = [TOOL_OPTIONS, LAUNCHER_OPTIONS].map(std::env::var_os);
    let is_decided = arguments.iter().chain(environment.iter().flatten()).any(|words| decides_lines(words));
    let flags: &[&str] = if injected.lines && !is_decided { &LINES_OF_COMPILED_CODE } else { &[] };
    let others = inherited();
    match Injection::of(program) {
        Injection::Argument => {
            command.arg(agent_argument).args(flags).args(arguments);
            leave(&mut command, others);
        }
        Injection::Environment => {
            command.args(arguments);
            let existing = others.or_else(|| std::env::var_os(TOOL_OPTIONS));
            let words = flags.iter().map(OsStr::new).chain([agent_argument.as_os_str()]);
            command.env(TOOL_OPTIONS, words.fold(existing.unwrap_or_default(), appended));
        }
    }
    command
}

/// The command that runs `program` with `arguments` and no agent of Martini's.
pub(crate) fn without_agent(program: &OsStr, arguments: &[OsString]) -> Command {
    let mut command = Command::new(program);
    leave(command.args(arguments), inherited());
    command
}

/// Leaves `others` in `JAVA_TOOL_OPTIONS`, if something is to be taken out.
fn leave(command: &mut Command, others: Option<OsString>) {
    match others {
        Some(others) if others.is_empty() => drop(command.env_remove(TOOL_OPTIONS)),
        Some(others) => drop(command.env(TOOL_OPTIONS, others)),
        None => {}
    }
}

/// If an agent of Martini's is in `JAVA_TOOL_OPTIONS` already, as in a program under `martini run`: what else is there.
pub(crate) fn inherited() -> Option<OsString> {
    without_agents(std::env::var_os(TOOL_OPTIONS)?.as_encoded_bytes()).map(OsString::from_vec)
}

/// The words that load no agent of Martini's, as they were quoted; `None` if all are such.
fn without_agents(words: &[u8]) -> Option<Vec<u8>> {
    let (mut kept, mut at, mut found) = (Vec::new(), 0, false);
    while at < words.len() {
        let start = at;
        let mut word = Vec::new();
        let mut quote = None;
        while let Some(&byte) = words.get(at).filter(|byte| quote.is_some() || !is_space(**byte)) {
            match quote {
                Some(open) if byte == open => quote = None,
                None if matches!(byte, b'"' | b'\'') => quote = Some(byte),
                _ => word.push(byte),
            }
            at += 1;
        }
        if is_agent(&word) {
            found = true;
        } else if at > start {
            kept.extend(if kept.is_empty() { &b""[..] } else { b" " });
            kept.extend(&words[start..at]);
        }
        at += 1;
    }
    found.then_some(kept)
}

/// Whether a word loads an agent of Martini's, whatever it is built as.
fn is_agent(word: &[u8]) -> bool {
    let Some(agent) = word.strip_prefix(b"-agentpath:") else { return false };
    let path = agent.split(|&byte| byte == b'=').next().unwrap_or_default();
    path.rsplit(|&byte| byte == b'/').next() == Some(carried::NAME.as_bytes())
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

/// Whether words of a command line say whether the lines of compiled code are to be known.
fn decides_lines(words: &OsStr) -> bool {
    let name = &DEBUG_NON_SAFEPOINTS.as_bytes()["-XX:+".len()..];
    words.as_encoded_bytes().windows(name.len()).any(|part| part == name)
}

fn appended(mut words: OsString, word: &OsStr) -> OsString {
    if !words.is_empty() {
        words.push(" ");
    }
    words.push(quoted(word));
    words
}

/// Quotes a word for HotSpot's reader of option variables: white space separates, `"` and `'` quote each other and white space,
/// and there is no escape character.
fn quoted(word: &OsStr) -> OsString {
    let bytes = word.as_encoded_bytes();
    if !bytes.iter().any(|&byte| is_space(byte) || matches!(byte, b'"' | b'\'')) {
        return word.to_owned();
    }
    let mut text = Vec::with_capacity(bytes.len() + 2);
    for part in bytes.split_inclusive(|&byte| byte == b'"') {
        let plain = part.strip_suffix(b"\"").unwrap_or(part);
        if !plain.is_empty() {
            text.push(b'"');
            text.extend_from_slice(plain);
            text.push(b'"');
        }
        if plain.len() < part.len() {
            text.extend_from_slice(b"'\"'");
        }
    }
    OsString::from_vec(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_the_jvm_reads_them() {
        for (word, expected) in [
            ("plain", "plain"),
            ("with space", "\"with space\""),
            ("tab\there", "\"tab\there\""),
            ("it's", "\"it's\""),
            ("say \"hi\"", "\"say \"'\"'\"hi\"'\"'"),
            ("\"", "'\"'"),
        ] {
            let line = appended("-Xmx1g".into(), OsStr::new(word)).into_string().unwrap();
            assert_eq!(line, format!("-Xmx1g {expected}"));
        }
    }

    #[test]
    fn an_agent_of_ours_is_taken_out_and_nothing_else() {
        let agent = "\"-agentpath:/a b/libmartini.so=file=x y.trcxml\"";
        for (words, left) in [
            (format!("-Xmx1g {agent} '-Da=b c'"), Some("-Xmx1g '-Da=b c'")),
            (format!("-agentpath:/m/libmartini.so=heap=vm  {agent}"), Some("")),
            ("-Xmx1g -agentpath:/x/libother.so=/libmartini.so".into(), None),
            (String::new(), None),
        ] {
            let left_over = without_agents(words.as_bytes()).map(|left| String::from_utf8(left).unwrap());
            assert_eq!(left_over.as_deref(), left, "{words}");
        }
    }

    #[test]
    fn lines_of_compiled_code_are_known_unless_the_user_decides() {
        let injected = Injected { agent: Path::new("/m/libmartini.so"), options: "cpu=10ms", lines: true };
        let of = |arguments: &[&str]| {
            let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
            let command = command(OsStr::new("java"), &arguments, &injected);
            command.get_args().map(|argument| argument.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        let [unlock, lines] = LINES_OF_COMPILED_CODE;
        assert_eq!(of(&["Main"]), ["-agentpath:/m/libmartini.so=cpu=10ms", unlock, lines, "Main"]);
        assert_eq!(of(&["-XX:-DebugNonSafepoints", "Main"])[1..], ["-XX:-DebugNonSafepoints", "Main"]);
        let maven = command(OsStr::new("mvn"), &[], &injected);
        let words = maven.get_envs().next().unwrap().1.unwrap().to_string_lossy().into_owned();
        assert!(words.ends_with(&format!("{unlock} {lines} -agentpath:/m/libmartini.so=cpu=10ms")), "{words}");
    }
}
