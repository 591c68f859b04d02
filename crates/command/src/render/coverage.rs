//! How complete a trace is, in one or two lines and as JSON.

use std::io::{self, Write};

use analysis::coverage::{Calibration, Coverage, Millionths, WhyUnknown};
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use crate::render::human::{bytes, count, counted, printable};
use crate::render::page::Page;

/// Writes how complete a trace is, in one or two sentences.
pub(crate) fn write(coverage: &Coverage, out: &mut Page<'_>) -> io::Result<()> {
    sentences(coverage).iter().try_for_each(|sentence| {
        let sentence = out.behind("coverage:", sentence);
        writeln!(out, "{}{sentence}", "coverage:".bold())
    })
}

/// How complete a trace is: one sentence, and a second one where the JIT removed objects that sites counted.
fn sentences(coverage: &Coverage) -> Vec<String> {
    if let Some(calibration) = &coverage.calibration {
        return vec![sampled(calibration, coverage.why_unknown == Some(WhyUnknown::Window))];
    }
    let Some(seen) = coverage.seen() else { return vec![unknown(coverage)] };
    let verb = if coverage.is_counted { "counted" } else { "in the trace" };
    let mut sentence = format!(
        "{} of the {} that the JVM accounted for are {verb}, {} missing",
        percent(seen),
        counted(coverage.accounted, "byte", "bytes"),
        match coverage.missing {
            0 => "none is".to_owned(),
            1 => "1 is".to_owned(),
            missing => format!("{} are", count(missing)),
        }
    );
    if coverage.is_late && coverage.missing > 0 {
        sentence.push_str(" (calls in progress when the recording began are not seen)");
    }
    if let Some(uncounted) = coverage.uncounted.as_ref().filter(|_| coverage.missing > 0) {
        sentence.push_str(&format!(
            "; samples found {} ± {} that were not counted, most of it {}",
            bytes(uncounted.bytes),
            bytes(uncounted.error),
            printable(&uncounted.class)
        ));
    }
    if let Some(worst) = &coverage.worst {
        let thread = printable(&worst.thread);
        sentence.push_str(&format!("; lowest coverage of any thread over 10 MB: {thread:?}, {}", percent(worst.seen)));
    }
    let mut sentences = vec![sentence];
    if coverage.excess > 0 {
        sentences.push(match coverage.is_counted {
            true => format!(
                "of the {} that sites executed, the JIT removed at least {} ({})",
                bytes(coverage.reported),
                bytes(coverage.excess),
                percent(Millionths::of(coverage.excess, coverage.reported))
            ),
            false => {
                let excess = counted(coverage.excess, "byte is", "bytes are");
                format!("{excess} in the trace that the JVM did not account for")
            }
        });
    }
    sentences
}

/// The sentence for a trace of samples, or for a part of it.
fn sampled(calibration: &Calibration, is_part: bool) -> String {
    let mut sentence = format!("estimated from {}", counted(calibration.samples, "sampled object", "sampled objects"));
    if is_part {
        sentence.push_str(", not scaled to the JVM's accounts, because only part of the trace is selected");
        return sentence;
    }
    if calibration.accounted > 0 {
        let scale = calibration.accounted as f64 / (calibration.estimated as f64).max(1.0);
        let scales = match calibration.scales {
            Some((lowest, highest)) if lowest < highest => format!("{lowest:.2} to {highest:.2}"),
            _ => format!("{scale:.2}"),
        };
        sentence.push_str(&format!(
            "; scaled by {scales} to the JVM's exact per-thread accounts (threads with fewer than 100 samples are scaled \
             together)"
        ));
    }
    if calibration.unsampled > 0 {
        sentence.push_str(&format!("; {} of threads without a sample is left out", bytes(calibration.unsampled)));
    }
    if calibration.uncalibrated > 0 {
        sentence
            .push_str(&format!("; {} of threads without an account is not scaled", bytes(calibration.uncalibrated)));
    }
    sentence
}

/// The sentence for a trace whose coverage is not known.
fn unknown(coverage: &Coverage) -> String {
    let reason = coverage.why_unknown.as_ref().map(reason).unwrap_or_default();
    let known = match coverage.accounted {
        0 => String::new(),
        accounted => format!(
            "; of the threads with an account, {} of {} are in the trace",
            bytes(accounted.saturating_sub(coverage.missing)),
            bytes(accounted)
        ),
    };
    format!("unknown: {reason}{known}")
}

/// The sentence for a trace that is less complete than required; `None` if it is complete enough.
pub(crate) fn shortfall(coverage: &Coverage, required: f64) -> Option<String> {
    match coverage.has(required) {
        Some(true) => None,
        Some(false) => Some(format!(
            "{} of what the JVM accounted for is missing, and the VM's own allocations explain only {} of it; \
             --require-exact asks for {required} % of the rest",
            bytes(coverage.missing),
            bytes(coverage.of_the_vm())
        )),
        None => {
            let reason = coverage.why_unknown.as_ref().map(reason).unwrap_or_default();
            Some(format!("--require-exact asks for {required} %, but the coverage is unknown: {reason}"))
        }
    }
}

/// The coverage as JSON; `seen_percent` is null where it is not known, with the reason in `why_unknown`.
pub(crate) fn json(coverage: &Coverage) -> Value {
    json!({
        "seen_percent": coverage.seen().map(Millionths::percent),
        "reported_bytes": coverage.reported,
        "accounted_bytes": coverage.accounted,
        "missing_bytes": coverage.missing,
        "excess_bytes": coverage.excess,
        "unknown_threads": coverage.unknown_threads,
        "unknown_bytes": coverage.unknown_bytes,
        "worst_thread": coverage.worst.as_ref().map(|worst| json!({
            "name": worst.thread, "seen_percent": worst.seen.percent(),
        })),
        "uncounted": coverage.uncounted.as_ref().map(|uncounted| json!({
            "bytes": uncounted.bytes, "error_bytes": uncounted.error, "largest_class": uncounted.class,
        })),
        "why_unknown": coverage.why_unknown.as_ref().map(reason),
        "calibration": coverage.calibration.as_ref().map(|calibration| json!({
            "samples": calibration.samples,
            "estimated_bytes": calibration.estimated,
            "accounted_bytes": calibration.accounted,
            "unsampled_bytes": calibration.unsampled,
            "uncalibrated_bytes": calibration.uncalibrated,
            "lowest_scale": calibration.scales.map(|(lowest, _)| lowest),
            "highest_scale": calibration.scales.map(|(_, highest)| highest),
        })),
    })
}

/// Two decimals, rounded down.
pub(crate) fn percent(part: Millionths) -> String {
    format!("{}.{:02} %", part.0 / 10_000, part.0 / 100 % 100)
}

fn reason(why: &WhyUnknown) -> String {
    match why {
        WhyUnknown::Window => {
            "only a part of the trace counts (--from, --to), and the JVM accounts the whole".to_owned()
        }
        WhyUnknown::Sampled => "objects were sampled, not counted".to_owned(),
        WhyUnknown::NoAccounts => "the trace does not hold what the JVM accounted to its threads".to_owned(),
        WhyUnknown::Unavailable(reason) => format!("the JVM's accounting could not be used, {reason}"),
        WhyUnknown::CutOff => "the trace was cut off".to_owned(),
        WhyUnknown::Limited => "the trace was ended at its limit".to_owned(),
        WhyUnknown::Dropped => "events were left out, since the trace could not be written in time".to_owned(),
        WhyUnknown::Filtered => "filters leave classes out of the trace, and the JVM accounts all".to_owned(),
        WhyUnknown::UnknownThreads(threads) => {
            format!("the JVM gave no account of {}", counted(*threads, "thread", "threads"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coverage(reported: u64, accounted: u64) -> Coverage {
        let mut coverage = Coverage::default();
        coverage.add("main", reported, Some(accounted));
        coverage
    }

    #[test]
    fn a_single_missing_byte_is_shown() {
        let sentences = sentences(&coverage(99_999_999, 100_000_000));
        let expected = "99.99 % of the 100,000,000 bytes that the JVM accounted for are in the trace, 1 is missing; lowest \
                        coverage of any thread over 10 MB: \"main\", 99.99 %";
        assert_eq!(sentences, [expected]);
    }

    #[test]
    fn what_ran_before_a_late_recording_is_a_reason() {
        let late = Coverage { is_late: true, ..coverage(99, 100) };
        let expected = "99.00 % of the 100 bytes that the JVM accounted for are in the trace, 1 is missing (calls in progress when the \
                        recording began are not seen)";
        assert_eq!(sentences(&late), [expected]);
    }

    #[test]
    fn samples_are_said_to_be_scaled() {
        let calibration = Calibration {
            samples: 2_345,
            estimated: 1000,
            accounted: 990,
            unsampled: 2048,
            uncalibrated: 0,
            scales: Some((0.98, 1.03)),
        };
        let sampled = Coverage { calibration: Some(calibration), ..Coverage::default() };
        assert_eq!(
            sentences(&sampled),
            [
                "estimated from 2,345 sampled objects; scaled by 0.98 to 1.03 to the JVM's exact per-thread accounts (threads \
                 with fewer than 100 samples are scaled together); 2.0 KiB of threads without a sample is left out"
            ]
        );
    }

    #[test]
    fn excess_bytes_are_shown() {
        let sentences = sentences(&coverage(101, 100));
        assert_eq!(sentences[1], "1 byte is in the trace that the JVM did not account for");
    }

    #[test]
    fn what_the_jit_removed_stands_apart() {
        let mut coverage = coverage(300, 100);
        coverage.is_counted = true;
        let sentences = sentences(&coverage);
        assert_eq!(sentences[0], "100.00 % of the 100 bytes that the JVM accounted for are counted, none is missing");
        assert_eq!(sentences[1], "of the 300 B that sites executed, the JIT removed at least 200 B (66.66 %)");
    }

    #[test]
    fn too_little_and_unknown_are_both_a_shortfall() {
        assert_eq!(shortfall(&coverage(999_000, 1_000_000), 99.9), None);
        let short = shortfall(&coverage(900_000, 1_000_000), 99.9).unwrap();
        let expected = "97.7 KiB of what the JVM accounted for is missing, and the VM's own allocations explain only 64.0 KiB of it; \
                        --require-exact asks for 99.9 % of the rest";
        assert_eq!(short, expected);
        let mut unknown = coverage(1000, 1000);
        unknown.mark_unknown(WhyUnknown::CutOff);
        let short = shortfall(&unknown, 50.0).unwrap();
        assert_eq!(short, "--require-exact asks for 50 %, but the coverage is unknown: the trace was cut off");
        assert_eq!(json(&unknown)["seen_percent"], Value::Null);
        assert_eq!(json(&unknown)["why_unknown"], "the trace was cut off");
    }
}
