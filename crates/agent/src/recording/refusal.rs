//! Why a JVM is not profiled, and whether it stops for that.

use trace::file;

use super::command_line::CommandLine;
use agent_base::message::message;

/// Why a JVM is not profiled: a sentence each.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// What the options ask for is wrong.
    Options(String),
    /// This JVM, or what else happens on the machine.
    Circumstances(String),
    /// The JVM has the agent already.
    Twice,
}

impl Refusal {
    /// The file of that option cannot be written.
    pub(super) fn of_file(refusal: &file::Refusal, option: &str) -> Refusal {
        let sentence = format!("{refusal}; choose another {option}=PATH (%p becomes the process id)");
        match refusal {
            file::Refusal::Name(_) => Refusal::Options(sentence),
            file::Refusal::Machine(_) => Refusal::Circumstances(sentence),
        }
    }

    /// What is wrong.
    pub(super) fn sentence(&self) -> &str {
        match self {
            Refusal::Options(sentence) | Refusal::Circumstances(sentence) => sentence,
            Refusal::Twice => "the agent is loaded twice",
        }
    }

    /// Says it in one line. True if the JVM is to stop: only what somebody typed wrongly for this very JVM stops it. An agent that
    /// it inherited, by `JAVA_TOOL_OPTIONS` for example, was typed for another command, and nobody may be there to read what it says.
    pub(super) fn stops(&self, given: &str) -> bool {
        let line = CommandLine::of_this_process();
        let (stops, sentence) = match self {
            Refusal::Options(sentence) => (line.has_agent(given), sentence.as_str()),
            Refusal::Circumstances(sentence) => (false, sentence.as_str()),
            Refusal::Twice if line.number_of_agents() > 1 => (true, "the agent is loaded twice; remove one -agentpath"),
            Refusal::Twice => {
                message("the agent is loaded twice; the first one profiles this JVM, this one does nothing");
                return false;
            }
        };
        message(&if stops { sentence.to_owned() } else { format!("this JVM is not profiled: {sentence}") });
        stops
    }
}

impl From<String> for Refusal {
    fn from(sentence: String) -> Refusal {
        Refusal::Circumstances(sentence)
    }
}
