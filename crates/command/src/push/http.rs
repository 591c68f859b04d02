//! One request by HTTP.

use std::env;
use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

/// The variable that holds headers for each request, as in `Authorization=Basic bWU6c2VjcmV0,X-Scope-OrgID=team`: others cannot see it.
pub(super) const HEADERS: &str = "MARTINI_PUSH_HEADERS";

/// The most that an answer may hold; more is not read.
const LONGEST_ANSWER: u64 = 64 << 10;

/// A server that did not take what it was sent.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{url} {what}")]
pub(crate) struct Unanswered {
    url: String,
    what: String,
    /// It may take it later.
    pub(crate) is_passing: bool,
}

/// Posts a message of Protocol Buffers; `otlp`: as OTLP says. The answer.
///
/// # Errors
/// [`Unanswered`]; or headers of the environment are not as they should be.
pub(super) fn post(url: &str, otlp: bool, body: &[u8]) -> anyhow::Result<Vec<u8>> {
    const LONGEST: Duration = Duration::from_secs(30);
    const CONNECT: Duration = Duration::from_secs(10);
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(LONGEST))
        .timeout_connect(Some(CONNECT))
        .http_status_as_error(false)
        .max_redirects(0)
        .user_agent(concat!("martini/", env!("CARGO_PKG_VERSION")))
        .build();
    let mut request = ureq::Agent::new_with_config(config).post(url);
    for (name, value) in headers(&env::var(HEADERS).unwrap_or_default())? {
        request = request.header(name, value);
    }
    let sent = if otlp {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(body)?;
        let request = request.header("Content-Type", "application/x-protobuf").header("Content-Encoding", "gzip");
        request.header("OTLP-Profiles-Development-Version", "1").send(&packed.finish()?)
    } else {
        // Profiles are packed in it.
        request.header("Content-Type", "application/proto").header("Connect-Protocol-Version", "1").send(body)
    };
    let unanswered = |what, is_passing| Unanswered { url: url.to_owned(), what, is_passing };
    let mut response = match sent {
        Ok(response) => response,
        Err(error) => {
            let is_passing = !matches!(error, ureq::Error::BadUri(_) | ureq::Error::Http(_));
            return Err(unanswered(format!("cannot be reached: {error}"), is_passing).into());
        }
    };
    let status = response.status().as_u16();
    let answer = response.body_mut().with_config().limit(LONGEST_ANSWER).read_to_vec().unwrap_or_default();
    if response.status().is_success() {
        return Ok(answer);
    }
    let said: String = String::from_utf8_lossy(&answer).chars().filter(|c| !c.is_control()).take(200).collect();
    Err(unanswered(format!("answered {status}: {said}"), matches!(status, 408 | 429 | 500..)).into())
}

/// Headers, separated by commas.
fn headers(text: &str) -> anyhow::Result<Vec<(&str, &str)>> {
    let parts = text.split(',').filter(|part| !part.trim().is_empty()).map(|part| {
        let pair = part.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
        let is_sound = |text: &str| text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        // What is wrong may be a secret, so it is not shown.
        pair.filter(|(name, value)| !name.is_empty() && !name.contains(' ') && is_sound(name) && is_sound(value))
            .ok_or_else(|| anyhow::anyhow!("{HEADERS} is not as in name=value,name=value"))
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_pairs() {
        let pairs = headers("Authorization=Basic bWU6eA==, X-Scope-OrgID=team,").unwrap();
        assert_eq!(pairs, [("Authorization", "Basic bWU6eA=="), ("X-Scope-OrgID", "team")]);
        assert_eq!(headers("").unwrap(), []);
        for text in ["secret", "=secret", "a b=secret", "a=sec\nret"] {
            let error = headers(text).unwrap_err().to_string();
            assert_eq!(error, "MARTINI_PUSH_HEADERS is not as in name=value,name=value", "{text}");
        }
    }
}
