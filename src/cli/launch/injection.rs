//! Puts the agent into the command line or the environment of the program to profile.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

/// The environment variable whose words every JVM adds to its command line.
pub(crate) const TOOL_OPTIONS: &str = "JAVA_TOOL_OPTIONS";

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

/// The command that runs `program` with `arguments` under the agent.
pub(crate) fn command(program: &OsStr, arguments: &[OsString], agent: &Path, options: &str) -> Command {
    let mut command = Command::new(program);
    let mut agent_argument = OsString::from("-agentpath:");
    agent_argument.push(agent);
    agent_argument.push("=");
    agent_argument.push(options);
    match Injection::of(program) {
        Injection::Argument => {
            command.arg(agent_argument).args(arguments);
        }
        Injection::Environment => {
            command.args(arguments);
            command.env(TOOL_OPTIONS, appended(std::env::var_os(TOOL_OPTIONS), &agent_argument));
        }
    }
    command
}

fn appended(existing: Option<OsString>, word: &OsStr) -> OsString {
    let mut words = existing.unwrap_or_default();
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
    if !bytes.iter().any(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | 0x0b)) {
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
    std::os::unix::ffi::OsStringExt::from_vec(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HotSpot's `Arguments::parse_options_buffer`, as far as it matters here.
    fn words_as_the_jvm_reads_them(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        let mut input = text.chars().peekable();
        loop {
            while input.next_if(|c| c.is_ascii_whitespace()).is_some() {}
            if input.peek().is_none() {
                return words;
            }
            let mut word = String::new();
            while let Some(c) = input.next_if(|c| !c.is_ascii_whitespace()) {
                if c == '"' || c == '\'' {
                    word.extend(input.by_ref().take_while(|&inner| inner != c));
                } else {
                    word.push(c);
                }
            }
            words.push(word);
        }
    }

    #[test]
    fn the_jvm_reads_back_what_was_quoted() {
        for word in ["plain", "with space", "it's", "say \"hi\"", "'\"'\"", "\"", "tab\there", "a b'c\"d e\"\""] {
            let line = appended(Some("-Xmx1g".into()), OsStr::new(word)).into_string().unwrap();
            assert_eq!(words_as_the_jvm_reads_them(&line), ["-Xmx1g", word], "{line}");
        }
    }

    #[test]
    fn java_gets_an_argument_and_everything_else_the_environment() {
        let agent = Path::new("/m/libmartini.so");
        let java = command(OsStr::new("/opt/jdk/bin/java"), &["-jar".into(), "a.jar".into()], agent, "heap=events");
        let arguments: Vec<&OsStr> = java.get_args().collect();
        assert_eq!(arguments, ["-agentpath:/m/libmartini.so=heap=events", "-jar", "a.jar"]);
        assert_eq!(java.get_envs().count(), 0);

        let maven = command(OsStr::new("mvn"), &["test".into()], agent, "heap=events");
        assert_eq!(maven.get_args().collect::<Vec<_>>(), ["test"]);
        let (name, value) = maven.get_envs().next().unwrap();
        assert_eq!(name, TOOL_OPTIONS);
        assert!(value.unwrap().to_string_lossy().ends_with("-agentpath:/m/libmartini.so=heap=events"));
    }
}
