//! What a JVM says to a request.

/// Its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// 0: it did what was asked.
    pub status: i32,
    /// What came of it.
    pub text: String,
}

/// What an answer to `load` means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Loaded {
    /// The agent was loaded and is content.
    Yes,
    /// The JVM loads no agents.
    Forbidden,
    /// It was not, or is not content: why.
    No(String),
}

impl Answer {
    /// Reads an answer: a line with the status, then text.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Answer> {
        let text = String::from_utf8_lossy(bytes);
        let (status, text) = text.split_once('\n').unwrap_or((&text, ""));
        Some(Answer { status: status.trim().parse().ok()?, text: text.to_owned() })
    }

    /// What an answer to `load` means. From JDK 21 on the status is 0 even if the library was not loaded, so that only the agent's own
    /// code counts; JDK 8 writes it as a bare number.
    pub(crate) fn loaded(&self) -> Loaded {
        let text = self.text.trim();
        let code = text.lines().find_map(|line| {
            let line = line.trim();
            line.strip_prefix("return code:").unwrap_or(line).trim().parse::<i32>().ok()
        });
        match code {
            Some(0) if self.status == 0 => Loaded::Yes,
            _ if text.contains("Dynamic agent loading is not enabled") => Loaded::Forbidden,
            _ if text.is_empty() => Loaded::No(format!("it gives no reason (status {})", self.status)),
            Some(code) if code != 0 => Loaded::No(format!("the agent ended with {code}; see what the JVM printed")),
            _ => Loaded::No(text.lines().map(str::trim).collect::<Vec<_>>().join(" ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn loaded(bytes: &str) -> Loaded {
        Answer::parse(bytes.as_bytes()).unwrap().loaded()
    }

    #[test]
    fn the_answers_of_all_releases_are_understood() {
        // JDK 8; 9 to 20; 21 and newer.
        for yes in ["0\n0\n", "0\nreturn code: 0\n", "0\nreturn code: 0"] {
            assert_eq!(loaded(yes), Loaded::Yes, "{yes}");
        }
        let missing = "/x.so was not loaded.\n/x.so: cannot open shared object file";
        for status in ["0", "-1", "100"] {
            let no = Loaded::No("/x.so was not loaded. /x.so: cannot open shared object file".to_owned());
            assert_eq!(loaded(&format!("{status}\n{missing}\n")), no);
        }
        assert!(matches!(loaded("0\nreturn code: -1\n"), Loaded::No(why) if why.contains("-1")));
        assert!(matches!(loaded("100\n"), Loaded::No(why) if why.contains("100")));
        let forbidden =
            "-1\nDynamic agent loading is not enabled. Use -XX:+EnableDynamicAgentLoading to launch target VM.";
        assert_eq!(loaded(forbidden), Loaded::Forbidden);
    }

    #[test]
    fn what_has_no_status_is_no_answer() {
        for bytes in [&b""[..], b"\n", b"OK\n", b"return code: 0\n", b"99999999999\n"] {
            assert_eq!(Answer::parse(bytes), None);
        }
    }

    proptest! {
        #[test]
        fn no_answer_breaks_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Some(answer) = Answer::parse(&bytes) {
                let _ = answer.loaded();
            }
        }

        #[test]
        fn only_a_code_of_0_is_success(status in any::<i32>(), code in any::<i32>()) {
            let answer = format!("{status}\nreturn code: {code}\n");
            prop_assert_eq!(loaded(&answer) == Loaded::Yes, status == 0 && code == 0);
        }
    }
}
