//! What the agent and the command say to each other: a request in the agent's options, an answer in a file.

/// What the agent is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// A recording, with the agent's options.
    Start,
    /// Its end.
    Stop,
    /// What it does.
    Status,
    /// What it could do in this JVM.
    Check,
    /// The counts so far, and what is alive.
    Snapshot,
    /// A heap dump beside the trace.
    Dump,
    /// Other values of options.
    Set,
}

impl Request {
    /// The agent's word for it.
    pub fn word(self) -> &'static str {
        match self {
            Request::Start => "start",
            Request::Stop => "stop",
            Request::Status => "status",
            Request::Check => "check",
            Request::Snapshot => "snapshot",
            Request::Dump => "dump",
            Request::Set => "set",
        }
    }
}

/// The agent's answer: keys and values, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentAnswer(Vec<(String, String)>);

/// What a file holds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// No whole answer yet.
    Unfinished,
    Ok(AgentAnswer),
    /// The agent's sentence.
    Error(String),
    /// The same; the request may be taken a moment later.
    Busy(String),
}

impl AgentAnswer {
    /// The first value of a key.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// What the agent does without, or could not do: a sentence each.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.pairs().filter(|&(key, _)| key == "note").map(|(_, sentence)| sentence)
    }

    /// All of them.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

impl Reply {
    /// Reads what is there: `ok`, `error SENTENCE` or `busy SENTENCE`, lines `key value`, and `end`.
    pub(crate) fn parse(bytes: &[u8]) -> Reply {
        let text = String::from_utf8_lossy(bytes);
        let Some(text) = text.strip_suffix('\n') else { return Reply::Unfinished };
        let mut lines: Vec<&str> = text.split('\n').collect();
        if lines.len() < 2 || lines.pop() != Some("end") {
            return Reply::Unfinished;
        }
        let first = lines.remove(0);
        let pairs = lines.iter().map(|line| {
            let (key, value) = line.split_once(' ').unwrap_or((line, ""));
            (key.to_owned(), value.to_owned())
        });
        match first {
            "ok" => Reply::Ok(AgentAnswer(pairs.collect())),
            first => match first.strip_prefix("busy ") {
                Some(sentence) => Reply::Busy(sentence.to_owned()),
                None => Reply::Error(first.strip_prefix("error ").unwrap_or(first).to_owned()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_answer_is_whole_with_its_last_line() {
        let whole = "ok\nrecording yes\noptions cpu=10ms,file=/a b\nempty\nend\n";
        let Reply::Ok(answer) = Reply::parse(whole.as_bytes()) else { panic!("it is whole") };
        assert_eq!(answer.value("recording"), Some("yes"));
        assert_eq!(answer.value("options"), Some("cpu=10ms,file=/a b"));
        assert_eq!(answer.value("empty"), Some(""));
        assert_eq!((answer.value("x"), answer.pairs().count()), (None, 3));
        for length in 0..whole.len() {
            assert_eq!(Reply::parse(&whole.as_bytes()[..length]), Reply::Unfinished, "{length}");
        }
        let error = Reply::parse(b"error nothing is recorded; start it\nend\n");
        assert_eq!(error, Reply::Error("nothing is recorded; start it".to_owned()));
        assert_eq!(Reply::parse(b"busy ask again\nend\n"), Reply::Busy("ask again".to_owned()));
    }

    proptest! {
        #[test]
        fn no_answer_breaks_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Reply::parse(&bytes);
            let _ = Reply::parse(&[b"ok\n", &bytes[..], b"\nend\n"].concat());
        }
    }
}
