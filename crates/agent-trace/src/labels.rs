//! What a trace is filed under: options say it, or the environment of the process.

use std::collections::HashMap;
use std::fs;

use agent_options::Labels;

/// Keys and values for the header of a trace.
pub(super) fn of_process(given: &Labels) -> Vec<(&'static str, String)> {
    // Not by `getenv`: another thread may change the environment meanwhile.
    of(given, &Environment::of(&fs::read("/proc/self/environ").unwrap_or_default()))
}

fn of(given: &Labels, environment: &Environment) -> Vec<(&'static str, String)> {
    let Labels { service, release, pod } = given.clone();
    let service =
        service.or_else(|| environment.get("OTEL_SERVICE_NAME")).or_else(|| environment.resource("service.name"));
    let release = release.or_else(|| environment.resource("service.version"));
    let in_kubernetes = || environment.get("KUBERNETES_SERVICE_HOST");
    let pod = pod
        .or_else(|| environment.resource("k8s.pod.name"))
        .or_else(|| environment.get("POD_NAME"))
        .or_else(|| in_kubernetes().and_then(|_| environment.get("HOSTNAME")));
    let labels = [("service", service), ("release", release), ("pod", pod)];
    labels.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

/// The variables with which a process was started.
struct Environment(HashMap<String, String>);

impl Environment {
    /// From `NAME=value`, each ended by NUL.
    fn of(bytes: &[u8]) -> Environment {
        let text = String::from_utf8_lossy(bytes);
        let variables = text.split('\0').filter_map(|variable| variable.split_once('='));
        Environment(variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// A variable that is not empty.
    fn get(&self, name: &str) -> Option<String> {
        self.0.get(name).filter(|value| !value.is_empty()).cloned()
    }

    /// An attribute of OpenTelemetry's resource: `key=value,key=value`, values percent-encoded.
    fn resource(&self, key: &str) -> Option<String> {
        let attributes = self.0.get("OTEL_RESOURCE_ATTRIBUTES")?;
        let pairs = attributes.split(',').filter_map(|pair| pair.split_once('='));
        let value = pairs.filter(|(name, _)| name.trim() == key).map(|(_, value)| value.trim()).next_back()?;
        Some(decoded(value)).filter(|value| !value.is_empty())
    }
}

/// Percent-encoded text (RFC 3986, section 2.1); what is encoded wrongly stays as it is.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let digits = behind.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let code = || u8::from_str_radix(std::str::from_utf8(digits?).ok()?, 16).ok();
        let code = if *first == b'%' { code() } else { None };
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(given: Labels, environment: &str) -> String {
        let labels = of(&given, &Environment::of(environment.replace(' ', "\0").as_bytes()));
        labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn options_say_it_or_the_environment() {
        let nothing = Labels::default;
        assert_eq!(labels(nothing(), "PATH=/bin"), "");
        assert_eq!(labels(nothing(), "OTEL_SERVICE_NAME=a OTEL_RESOURCE_ATTRIBUTES=service.name=b"), "service=a");
        let resource = "OTEL_RESOURCE_ATTRIBUTES=service.name=my%20shop,service.version=1.4%,k8s.pod.name=shop-0";
        assert_eq!(labels(nothing(), resource), "service=my shop release=1.4% pod=shop-0");
        assert_eq!(labels(nothing(), "OTEL_SERVICE_NAME= HOSTNAME=h"), "");
        assert_eq!(labels(nothing(), "KUBERNETES_SERVICE_HOST=10.0.0.1 HOSTNAME=h"), "pod=h");
        assert_eq!(labels(nothing(), "KUBERNETES_SERVICE_HOST=10.0.0.1 HOSTNAME=h POD_NAME=p"), "pod=p");
        let given = Labels { service: Some("s".into()), release: Some("2".into()), pod: None };
        assert_eq!(labels(given, resource), "service=s release=2 pod=shop-0");
    }
}
