//! TPTP's spelling of the options.

use super::error::OptionError;
use super::pairs::split;
use super::resolved::HeapMode;

/// The trace, if none is named.
pub(crate) const DEFAULT_FILE: &str = "trace.trcxml";

/// Whether the options are spelled so.
pub(crate) fn is_spelling_of(given: &str) -> bool {
    given == "JPIAgent" || given.starts_with("JPIAgent:") || given.starts_with("JPIAgent;")
}

/// Translates the TPTP spelling into ours.
pub(crate) fn pairs(given: &str) -> Result<Vec<(String, String)>, OptionError> {
    let mut pairs = Vec::new();
    let mut parts = given.split(';');
    let agent = parts.next().unwrap_or_default();
    let mut standalone = false;
    for (key, value) in split(agent.strip_prefix("JPIAgent").unwrap_or(agent).trim_start_matches(':'))? {
        match (key.as_str(), value.as_str()) {
            ("server", "standalone") => standalone = true,
            ("server", _) => return Err(OptionError::Tptp(format!("server={value}"), "write server=standalone")),
            ("file" | "filters", _) => pairs.push((key, value)),
            ("format", "xml") => {}
            _ => return Err(OptionError::Tptp(format!("{key}={value}"), "leave it out")),
        }
    }
    if !standalone {
        return Err(OptionError::Tptp(
            "JPIAgent".into(),
            "there is no Agent Controller; write JPIAgent:server=standalone,...",
        ));
    }
    let mut heap = false;
    let mut locks = false;
    for profiler in parts {
        let (name, arguments) = profiler.split_once(':').unwrap_or((profiler, ""));
        match name {
            "HeapProf" if !heap => heap = true,
            "ThreadProf" if !locks => locks = true,
            "HeapProf" | "ThreadProf" => return Err(OptionError::Tptp(name.to_owned(), "name it once")),
            _ => return Err(OptionError::Tptp(name.to_owned(), "Martini has HeapProf and ThreadProf")),
        }
        for (key, value) in split(arguments)? {
            match key.as_str() {
                "allocsites" if name == "HeapProf" => pairs.push((key, value)),
                _ => return Err(OptionError::Tptp(format!("{key}={value}"), "leave it out")),
            }
        }
    }
    if !heap && !locks {
        return Err(OptionError::Tptp("JPIAgent".into(), "name a profiler, as in ...;HeapProf:allocsites=true"));
    }
    pairs.push(("heap".into(), if heap { HeapMode::Events } else { HeapMode::Off }.as_str().to_owned()));
    pairs.push(("locks".into(), if locks { "on" } else { "off" }.to_owned()));
    Ok(pairs)
}
