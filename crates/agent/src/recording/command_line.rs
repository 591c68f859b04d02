//! What was typed for this very JVM: the agents on the command line of its process. Those of `JAVA_TOOL_OPTIONS`,
//! `JDK_JAVA_OPTIONS`, `_JAVA_OPTIONS`, option files and the JNI invocation interface are not there.

use std::fs;
use std::os::unix::ffi::OsStringExt;

/// The agents of Martini's on a command line: their options.
#[derive(Debug)]
pub(super) struct CommandLine {
    agents: Vec<Vec<u8>>,
}

impl CommandLine {
    /// If the system does not show it, nothing was typed.
    pub(super) fn of_this_process() -> CommandLine {
        CommandLine::parse(&fs::read("/proc/self/cmdline").unwrap_or_default())
    }

    fn parse(words: &[u8]) -> CommandLine {
        let agents = words.split(|&byte| byte == 0).filter_map(|word| {
            let agent = word.strip_prefix(b"-agentpath:").or_else(|| word.strip_prefix(b"-agentlib:"))?;
            let end = agent.iter().position(|&byte| byte == b'=').unwrap_or(agent.len());
            let name = agent[..end].rsplit(|&byte| byte == b'/').next()?;
            let is_ours = name == b"libmartini.so" || name == b"martini";
            is_ours.then(|| agent.get(end + 1..).unwrap_or_default().to_owned())
        });
        CommandLine { agents: agents.collect() }
    }

    /// Whether an agent with these options is there.
    pub(super) fn has_agent(&self, options: &str) -> bool {
        self.agents.iter().any(|agent| agent == options.as_bytes())
    }

    /// How many are there.
    pub(super) fn number_of_agents(&self) -> usize {
        self.agents.len()
    }
}

/// Variables whose words the VM or its launcher puts in front of those that were typed.
const VARIABLES: [&str; 3] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];

const DEBUGGERS: [&[u8]; 2] = [b"-agentlib:jdwp", b"-Xrunjdwp"];

/// Options with which a JVM writes an archive of classes, or the list of what goes into one.
const ARCHIVES: [&[u8]; 7] = [
    b"-Xshare:dump",
    b"-XX:ArchiveClassesAtExit=",
    b"-XX:AOTCacheOutput=",
    b"-XX:AOTMode=record",
    b"-XX:AOTMode=create",
    b"-XX:+RecordDynamicDumpInfo",
    b"-XX:DumpLoadedClassList=",
];

/// Whether this JVM starts with a debugger's agent, as far as the command line and the environment show.
pub(super) fn has_debugger() -> bool {
    has_word(&DEBUGGERS)
}

/// Whether this JVM writes an archive of classes or a list for one, as far as the command line and the environment show.
pub(super) fn writes_archive() -> bool {
    has_word(&ARCHIVES)
}

fn has_word(beginnings: &[&[u8]]) -> bool {
    let typed = fs::read("/proc/self/cmdline").unwrap_or_default();
    let given = VARIABLES.iter().filter_map(std::env::var_os).map(|words| words.into_vec());
    is_among(beginnings, &typed, 0) || given.into_iter().any(|words| is_among(beginnings, &words, b' '))
}

fn is_among(beginnings: &[&[u8]], words: &[u8], between: u8) -> bool {
    words.split(|&byte| byte == between).any(|word| beginnings.iter().any(|beginning| word.starts_with(beginning)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debuggers_are_seen() {
        assert!(is_among(&DEBUGGERS, b"java\0-agentlib:jdwp=transport=dt_socket,server=y\0Main\0", 0));
        assert!(is_among(&DEBUGGERS, b"-Xmx1g -Xrunjdwp:server=y", b' '));
        assert!(!is_among(&DEBUGGERS, b"java\0-jar\0jdwp.jar\0", 0));
    }

    #[test]
    fn only_agents_of_ours_count() {
        let line = CommandLine::parse(
            b"java\0-agentpath:/opt/m/libmartini.so=file=a=b.x,heap=vm\0-agentlib:martini\0-agentpath:/x/other.so=file=y\0Main\0",
        );
        assert_eq!(line.number_of_agents(), 2);
        assert!(line.has_agent("file=a=b.x,heap=vm") && line.has_agent("") && !line.has_agent("file=y"));
        assert_eq!(CommandLine::parse(b"").number_of_agents(), 0);
    }
}
