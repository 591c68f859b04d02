//! How complete a trace is, in one or two lines and as JSON.

use analysis::truth::{Doubt, Millionths, Truth};
use serde_json::{Value, json};

use super::human::{bytes, count, counted, printable};

/// What stands in front of the lines.
pub(crate) const LABEL: &str = "truth:";

/// The truth about a trace: one sentence, and a second one where the JIT has removed what sites executed.
pub(crate) fn sentences(truth: &Truth) -> Vec<String> {
    let mut sentences = Vec::new();
    let Some(seen) = truth.seen() else {
        let reason = truth.doubt.as_ref().map(doubt).unwrap_or_default();
        let known = match truth.accounted {
            0 => String::new(),
            accounted => format!(
                "; of the threads that are accounted, {} of {} are in it",
                bytes(accounted.saturating_sub(truth.missing)),
                bytes(accounted)
            ),
        };
        sentences.push(format!("how complete the trace is cannot be told: {reason}{known}"));
        return sentences;
    };
    let verb = if truth.is_counted { "counted" } else { "in the trace" };
    let mut sentence = format!(
        "{} of the {} that the JVM accounted are {verb}, {} missing",
        percent(seen),
        counted(truth.accounted, "byte", "bytes"),
        match truth.missing {
            0 => "none is".to_owned(),
            1 => "1 is".to_owned(),
            missing => format!("{} are", count(missing)),
        }
    );
    if let Some(worst) = &truth.worst {
        let thread = printable(&worst.thread);
        sentence.push_str(&format!("; the worst thread above 10 MB is {thread:?} with {}", percent(worst.seen)));
    }
    sentences.push(sentence);
    if truth.excess > 0 {
        sentences.push(match truth.is_counted {
            true => format!(
                "of the {} that sites executed, the JIT removed {} at least ({})",
                bytes(truth.reported),
                bytes(truth.excess),
                percent(Millionths::of(truth.excess, truth.reported))
            ),
            false => {
                let excess = counted(truth.excess, "byte is", "bytes are");
                format!("{excess} in the trace that the JVM did not account")
            }
        });
    }
    sentences
}

/// The sentence for a trace that is not as complete as it has to be; `None` if it is.
pub(crate) fn shortfall(truth: &Truth, required: f64) -> Option<String> {
    match truth.seen() {
        Some(seen) if seen.percent() >= required => None,
        Some(seen) => Some(format!(
            "{} of what the JVM accounted are in the trace, but --require-exact asks for {required} %",
            percent(seen)
        )),
        None => {
            let reason = truth.doubt.as_ref().map(doubt).unwrap_or_default();
            Some(format!(
                "--require-exact asks for {required} %, but how complete the trace is cannot be told: {reason}"
            ))
        }
    }
}

/// The truth as JSON; `seen_percent` is null where it cannot be told, with the reason in `doubt`.
pub(crate) fn json(truth: &Truth) -> Value {
    json!({
        "seen_percent": truth.seen().map(Millionths::percent),
        "reported_bytes": truth.reported,
        "accounted_bytes": truth.accounted,
        "missing_bytes": truth.missing,
        "excess_bytes": truth.excess,
        "unknown_threads": truth.unknown_threads,
        "unknown_bytes": truth.unknown_bytes,
        "worst_thread": truth.worst.as_ref().map(|worst| json!({
            "name": worst.thread, "seen_percent": worst.seen.percent(),
        })),
        "doubt": truth.doubt.as_ref().map(doubt),
    })
}

/// Two decimals, rounded down.
pub(crate) fn percent(part: Millionths) -> String {
    format!("{}.{:02} %", part.0 / 10_000, part.0 / 100 % 100)
}

fn doubt(doubt: &Doubt) -> String {
    match doubt {
        Doubt::NoAccounts => "it does not hold what the JVM accounted to its threads".to_owned(),
        Doubt::Unavailable(reason) => format!("the JVM's accounting could not be used, {reason}"),
        Doubt::CutOff => "it was cut off".to_owned(),
        Doubt::Limited => "it was ended at its limit".to_owned(),
        Doubt::Filtered => "filters leave classes out of it, and the JVM accounts all".to_owned(),
        Doubt::UnknownThreads(threads) => {
            format!("the JVM did not say what it accounts to {}", counted(*threads, "thread", "threads"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn truth(reported: u64, accounted: u64) -> Truth {
        let mut truth = Truth::default();
        truth.add("main", reported, Some(accounted));
        truth
    }

    #[test]
    fn a_single_missing_byte_is_told() {
        let sentences = sentences(&truth(99_999_999, 100_000_000));
        let expected = "99.99 % of the 100,000,000 bytes that the JVM accounted are in the trace, 1 is missing; the worst \
                        thread above 10 MB is \"main\" with 99.99 %";
        assert_eq!(sentences, [expected]);
    }

    #[test]
    fn what_is_too_much_is_told() {
        let told = sentences(&truth(101, 100));
        assert_eq!(told[1], "1 byte is in the trace that the JVM did not account");
    }

    #[test]
    fn what_the_jit_removed_stands_apart() {
        let mut truth = truth(300, 100);
        truth.is_counted = true;
        let told = sentences(&truth);
        assert_eq!(told[0], "100.00 % of the 100 bytes that the JVM accounted are counted, none is missing");
        assert_eq!(told[1], "of the 300 B that sites executed, the JIT removed 200 B at least (66.66 %)");
    }

    #[test]
    fn too_little_and_unknown_are_both_a_shortfall() {
        assert_eq!(shortfall(&truth(999, 1000), 99.9), None);
        let short = shortfall(&truth(998, 1000), 99.9).unwrap();
        assert_eq!(short, "99.80 % of what the JVM accounted are in the trace, but --require-exact asks for 99.9 %");
        let mut unknown = truth(1000, 1000);
        unknown.add_doubt(Doubt::CutOff);
        let short = shortfall(&unknown, 50.0).unwrap();
        assert_eq!(
            short,
            "--require-exact asks for 50 %, but how complete the trace is cannot be told: it was cut off"
        );
        assert_eq!(json(&unknown)["seen_percent"], Value::Null);
        assert_eq!(json(&unknown)["doubt"], "it was cut off");
    }
}
