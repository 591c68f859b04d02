//! Pushes traces to what teams have for profiles: a collector of OpenTelemetry, a Pyroscope server. The agent opens no socket; this does.

mod http;
mod queue;

use std::fmt;
use std::io;
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
            Protocol::Otlp => rejected(&answer),
            Protocol::Pyroscope => None,
        }))
    }
}

/// What an `ExportProfilesServiceResponse` says of profiles that the collector did not take.
fn rejected(answer: &[u8]) -> Option<String> {
    let fields = |bytes: &[u8]| -> Vec<(u64, Vec<u8>)> {
        let (mut rest, mut fields) = (bytes, Vec::new());
        // What cannot be read is not said: it was no such message.
        while let Ok((tag, value)) = field(&mut rest) {
            fields.push((tag >> 3, value));
        }
        fields
    };
    let (_, partial) = fields(answer).into_iter().find(|(number, _)| *number == 1)?;
    let partial = fields(&partial);
    let of = |number: u64| partial.iter().find(|(known, _)| *known == number).map(|(_, value)| value);
    let count = of(1).and_then(|value| number(&mut &value[..]).ok()).unwrap_or_default();
    let why = of(2).map(|text| String::from_utf8_lossy(text).into_owned()).unwrap_or_default();
    (count > 0 || !why.is_empty()).then(|| format!("{count} profiles were rejected: {why}"))
}

/// The next field of a message of Protocol Buffers: its tag, and its bytes.
fn field(rest: &mut &[u8]) -> io::Result<(u64, Vec<u8>)> {
    let cut = || io::Error::from(io::ErrorKind::UnexpectedEof);
    let tag = number(rest)?;
    let length = match tag & 7 {
        0 => rest.iter().position(|byte| byte & 0x80 == 0).ok_or_else(cut)? + 1,
        1 => 8,
        2 => usize::try_from(number(rest)?).map_err(|_| cut())?,
        5 => 4,
        _ => return Err(cut()),
    };
    let (value, behind) = rest.split_at_checked(length).ok_or_else(cut)?;
    *rest = behind;
    Ok((tag, value.to_vec()))
}

fn number(rest: &mut &[u8]) -> io::Result<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, behind) = rest.split_first().ok_or(io::ErrorKind::UnexpectedEof)?;
        *rest = behind;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(io::ErrorKind::InvalidData.into())
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

    #[test]
    fn an_answer_says_what_was_rejected() {
        assert_eq!(rejected(&[]), None);
        assert_eq!(rejected(&[0x0a, 0]), None);
        let partial = [0x0a, 7, 0x08, 0x96, 0x01, 0x12, 2, b'n', b'o'];
        assert_eq!(rejected(&partial).as_deref(), Some("150 profiles were rejected: no"));
        for cut in 1..partial.len() {
            rejected(&partial[..cut]);
        }
        assert_eq!(rejected(b"{\"partialSuccess\":{}}"), None);
    }
}
