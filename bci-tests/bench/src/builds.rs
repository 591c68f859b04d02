//! This build of the agent, and perhaps another one that runs beside it.

use std::path::Path;

use bci_tests::jdk::Jdk;
use serde_json::{Value, json};

use crate::alternate::Outcome;
use crate::built::{self, Built};
use crate::variant::Variant;

/// The builds that are measured.
pub(crate) struct Builds {
    pub(crate) this: Built,
    other: Option<Built>,
}

/// A variant with one of the builds.
#[derive(Clone)]
pub(crate) struct Candidate<'a> {
    pub(crate) name: String,
    pub(crate) variant: &'a Variant,
    pub(crate) built: &'a Built,
}

/// What all candidates did on a JDK, each run as `run` says.
pub(crate) fn to_json<T>(
    jdk: &Jdk,
    candidates: &[Candidate<'_>],
    outcomes: &[Outcome<T>],
    run: fn(&T) -> Value,
) -> Value {
    let variants = candidates.iter().zip(outcomes).map(|(candidate, outcome)| {
        let runs: Vec<Value> = outcome.runs.iter().map(run).collect();
        json!({ "variant": candidate.name, "runs": runs, "failed": outcome.failure })
    });
    json!({ "jdk": { "build": jdk.build, "vendor": jdk.vendor }, "variants": variants.collect::<Vec<_>>() })
}

impl Builds {
    /// Builds this one; `other` is the library of the other one.
    pub(crate) fn new(other: Option<&Path>) -> Result<Self, String> {
        let this = built::build()?;
        let other = other.map(|library| {
            // Runs have a folder of their own: a relative path would lead elsewhere from there.
            let martini = library.canonicalize().map_err(|e| format!("{}: {e}", library.display()))?;
            Ok::<_, String>(Built { martini, ..this.clone() })
        });
        Ok(Self { other: other.transpose()?, this })
    }

    /// The variants in their order, those with Martini once for each build, beside each other.
    pub(crate) fn candidates<'a>(&'a self, variants: impl IntoIterator<Item = &'a Variant>) -> Vec<Candidate<'a>> {
        let mut candidates = Vec::new();
        for variant in variants {
            candidates.push(Candidate { name: variant.name.to_owned(), variant, built: &self.this });
            if let Some(other) = self.other.as_ref().filter(|_| variant.is_martini()) {
                candidates.push(Candidate { name: format!("{}, other build", variant.name), variant, built: other });
            }
        }
        candidates
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variant::Agent;

    #[test]
    fn only_martini_runs_with_both_builds() {
        let built = |name: &str| Built {
            martini: name.into(),
            classes: "classes".into(),
            traces: "traces".into(),
            target: "target".into(),
        };
        let variants = [Variant::new("none", Agent::None), Variant::new("counts", Agent::MartiniToDisk("heap=counts"))];
        let names = |other: Option<Built>| {
            let builds = Builds { this: built("this"), other };
            let candidates = builds.candidates(&variants);
            candidates.into_iter().map(|c| (c.name, c.built.martini.clone())).collect::<Vec<_>>()
        };
        let row = |name: &str, library: &str| (name.to_owned(), library.into());
        assert_eq!(names(None), [row("none", "this"), row("counts", "this")]);
        let both = [row("none", "this"), row("counts", "this"), row("counts, other build", "before")];
        assert_eq!(names(Some(built("before"))), both);
    }
}
