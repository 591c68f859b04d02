//! Whose recording it is: service, release, host and pod.

use analysis::allocations::Origin;
use trace::command_line::{CommandLine, WITH_VALUE};

/// The release of a recording of which none is known.
const UNKNOWN: &str = "unknown";
/// Where OpenTelemetry's agent is told the name of the service.
const SERVICE_PROPERTY: &str = "-Dotel.service.name=";

/// What a recording is filed under.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// The service; by default that which the trace names, or the command line of the JVM: `otel.service.name`, its jar or its main class.
    pub service: Option<String>,
    /// Its release; by default that which the trace names.
    pub release: Option<String>,
    /// The machine; by default that which the trace names.
    pub host: Option<String>,
    /// The pod or container; by default that which the trace names.
    pub pod: Option<String>,
}

/// Labels with the defaults that a trace gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The service; `unknown` if nothing names it.
    pub service: String,
    /// Its release; `unknown` if nothing names it.
    pub release: String,
    /// The machine.
    pub host: Option<String>,
    /// The pod or container.
    pub pod: Option<String>,
}

impl Labels {
    /// The labels of a recording of which a trace says that.
    pub fn resolve(&self, origin: Option<&Origin>) -> Resolved {
        let recorded = origin.cloned().unwrap_or_default();
        let or = |given: &Option<String>, recorded: Option<String>| given.clone().or(recorded);
        let service = or(&self.service, recorded.service).or_else(|| service(&recorded.command));
        Resolved {
            service: service.unwrap_or_else(|| UNKNOWN.to_owned()),
            release: or(&self.release, recorded.release).unwrap_or_else(|| UNKNOWN.to_owned()),
            host: or(&self.host, Some(recorded.host).filter(|host| !host.is_empty())),
            pod: or(&self.pod, recorded.pod),
        }
    }
}

/// The service that a command line names.
fn service(command: &str) -> Option<String> {
    let Ok(CommandLine(words)) = command.parse::<CommandLine>();
    let mut words = words.iter().skip(1);
    let mut program = None;
    while let Some(word) = words.next() {
        if let Some(name) = word.strip_prefix(SERVICE_PROPERTY) {
            return Some(name.to_owned());
        }
        if word == "-jar" {
            let file = words.next()?.rsplit('/').next().unwrap_or_default();
            program = program.or_else(|| Some(file.strip_suffix(".jar").unwrap_or(file)));
        } else if word == "-m" || word == "--module" {
            program = program.or(words.next().map(String::as_str));
        } else if WITH_VALUE.contains(&word.as_str()) {
            words.next();
        } else if !word.starts_with('-') && !word.starts_with('@') {
            program = program.or(Some(word));
        }
        if program.is_some() {
            break;
        }
    }
    program.filter(|name| !name.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_names_its_service() {
        for (command, expected) in [
            ("/jdk/bin/java -Xmx1g -cp a.jar:b.jar com.acme.Main --port 80", Some("com.acme.Main")),
            ("java -jar /opt/shop-1.4.jar server", Some("shop-1.4")),
            ("java -Dotel.service.name=shop -jar /opt/shop-1.4.jar", Some("shop")),
            ("java --patch-module a=b.jar -m shop/com.acme.Main", Some("shop/com.acme.Main")),
            ("java -m shop/com.acme.Main", Some("shop/com.acme.Main")),
            ("java -version", None),
            ("", None),
        ] {
            assert_eq!(service(command).as_deref(), expected, "{command}");
        }
    }

    #[test]
    fn what_is_said_goes_before_what_is_recorded() {
        let origin = Origin { host: "node-1".into(), command: "java a.Main".into(), ..Origin::default() };
        let labels = Labels { service: Some("shop".into()), pod: Some("shop-0".into()), ..Labels::default() };
        let resolved = labels.resolve(Some(&origin));
        assert_eq!((&*resolved.service, &*resolved.release), ("shop", "unknown"));
        assert_eq!((resolved.host.as_deref(), resolved.pod.as_deref()), (Some("node-1"), Some("shop-0")));
        assert_eq!(Labels::default().resolve(Some(&origin)).service, "a.Main");
        let labelled = Origin { service: Some("till".into()), release: Some("2".into()), ..origin };
        let [given, recorded] = [&labels, &Labels::default()].map(|labels| labels.resolve(Some(&labelled)));
        assert_eq!([given.service, recorded.service], ["shop", "till"]);
        assert_eq!([given.release, recorded.release], ["2", "2"]);
        assert_eq!(Labels::default().resolve(None).service, "unknown");
    }
}
