//! Pushes traces to what teams have for profiles: a collector of OpenTelemetry, a Pyroscope server. The agent opens no socket; this does.

mod http;
mod queue;

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, bail};
use fleet::ContentId;

use crate::input::everything::Everything;
use crate::input::reading;
use crate::redact::Redactor;
use crate::render::notes;

pub(crate) use http::Unanswered;
pub(crate) use queue::Queue;

/// Where traces are pushed, such as `otlp:http://collector:4318`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Destination {
    protocol: Protocol,
    url: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    /// OTLP/HTTP, with the profiles of release 1.10.0, which the protocol calls development version 1.
    Otlp,
    /// The service `push.v1.PusherService`, by the Connect protocol.
    Pyroscope,
}

impl Protocol {
    const ALL: [Protocol; 2] = [Protocol::Otlp, Protocol::Pyroscope];

    fn word(self) -> &'static str {
        match self {
            Protocol::Otlp => "otlp",
            Protocol::Pyroscope => "pyroscope",
        }
    }
}

/// What became of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    /// It was taken, but for what is said.
    Taken(Option<String>),
    /// It has nothing that could be pushed.
    Nothing,
}

impl FromStr for Destination {
    type Err = String;

    fn from_str(text: &str) -> Result<Destination, String> {
        let parts = text
            .split_once(':')
            .and_then(|(word, url)| Some((Protocol::ALL.into_iter().find(|protocol| protocol.word() == word)?, url)));
        let Some((protocol, url)) = parts else {
            return Err("it is otlp:URL or pyroscope:URL, such as otlp:http://collector:4318".to_owned());
        };
        let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
        let Some((host, path)) = rest.map(|rest| rest.split_at(rest.find('/').unwrap_or(rest.len()))) else {
            return Err(format!("'{url}' is no URL that begins with http:// or https://"));
        };
        if host.is_empty() || url.contains(|c: char| c.is_whitespace() || c == '?' || c == '#') {
            return Err(format!("'{url}' is no URL of a server"));
        }
        if host.contains('@') {
            return Err(format!("others can see a command line: put credentials into {}", http::HEADERS));
        }
        let base = url.trim_end_matches('/');
        let url = match protocol {
            Protocol::Otlp if path.trim_matches('/').is_empty() => format!("{base}/v1development/profiles"),
            Protocol::Otlp => url.to_owned(),
            Protocol::Pyroscope => format!("{base}/push.v1.PusherService/Push"),
        };
        Ok(Destination { protocol, url })
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url)
    }
}

impl Destination {
    /// Whether a text is meant for one, right or wrong.
    pub(crate) fn is_meant(text: &str) -> bool {
        text.split_once(':').is_some_and(|(word, _)| Protocol::ALL.iter().any(|protocol| protocol.word() == word))
    }

    /// Pushes all numbers of a trace, without the names that a redactor takes out. What the trace misses is said by the `say` that is given.
    ///
    /// # Errors
    /// The trace cannot be read or is not at its end; or [`Unanswered`]: the server did not take it.
    pub(crate) fn push(&self, path: &Path, redactor: Option<&Redactor>, say: impl Fn(&str)) -> anyhow::Result<Pushed> {
        let copy = redactor.map(|redactor| redactor.temporary(path)).transpose()?;
        let read = copy.as_ref().map_or(path, |copy| copy.path());
        let reading = reading::trace(read, Everything::new(false))?;
        if reading.is_growing {
            bail!("{} is still being written; push it when its recording has ended", path.display());
        }
        notes::completeness(&reading).iter().for_each(|sentence| say(sentence));
        let profiles = reading.report.profiles();
        if profiles.first().is_none() {
            return Ok(Pushed::Nothing);
        }
        let body = match self.protocol {
            Protocol::Otlp => export::otlp(&profiles),
            Protocol::Pyroscope => {
                let (id, _) = ContentId::of_file(path).with_context(|| format!("cannot read {}", path.display()))?;
                export::pyroscope(&profiles, id.into())?
            }
        };
        let answer = http::post(&self.url, self.protocol == Protocol::Otlp, &body)?;
        Ok(Pushed::Taken(match self.protocol {
            Protocol::Otlp => export::rejected(&answer),
            Protocol::Pyroscope => None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_have_the_paths_of_their_protocols() {
        for (text, url) in [
            ("otlp:http://c:4318", "http://c:4318/v1development/profiles"),
            ("otlp:http://c:4318/", "http://c:4318/v1development/profiles"),
            ("otlp:https://o/api/org/v1/profiles", "https://o/api/org/v1/profiles"),
            ("pyroscope:http://p:4040/", "http://p:4040/push.v1.PusherService/Push"),
            ("pyroscope:https://p/team", "https://p/team/push.v1.PusherService/Push"),
        ] {
            assert_eq!(text.parse::<Destination>().unwrap().to_string(), url);
        }
        for text in ["", "traces", "otlp:", "otlp:c:4318", "http://c", "pyroscope:http://", "otlp:http://a b"] {
            assert!(text.parse::<Destination>().is_err(), "{text}");
        }
        let refusal = "otlp:https://me:secret@c".parse::<Destination>().unwrap_err();
        assert!(refusal.contains("MARTINI_PUSH_HEADERS") && !refusal.contains("secret"), "{refusal}");
        assert!(Destination::is_meant("otlp:x") && !Destination::is_meant("traces") && !Destination::is_meant("a:b"));
    }
}
