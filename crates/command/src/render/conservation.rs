//! How samples add up to the CPU clocks of the threads: the truth line of samples, and as JSON.

use std::io::{self, Write};

use analysis::cpu::{Conservation, LostTime, WhyUnknown};
use owo_colors::OwoColorize;
use serde_json::{Value, json};
use trace::time::Nanos;

use crate::render::human::{counted, duration, printable};
use crate::render::page::Page;

/// A smaller part than one in so many is not worth words.
const NEGLIGIBLE: u64 = 1_000;

/// More reasons are one.
const MOST_REASONS: usize = 3;

/// Writes how samples add up, in a sentence.
pub(crate) fn write(conservation: &Conservation, out: &mut Page<'_>) -> io::Result<()> {
    if conservation.why_unknown == Some(WhyUnknown::NotOfClocks) && conservation.reasons.is_empty() {
        return Ok(());
    }
    let sentence = out.behind("samples:", &sentence(conservation));
    writeln!(out, "{}{sentence}", "samples:".bold())
}

fn sentence(conservation: &Conservation) -> String {
    let of_clocks = |part: Nanos| conservation.of_clocks(part).map(percent);
    let reasons = reasons(conservation);
    let (found, lost) = (conservation.found, conservation.lost);
    let both = Nanos(found.0.saturating_add(lost.0));
    let Some(((found, lost), both)) = of_clocks(found).zip(of_clocks(lost)).zip(of_clocks(both)) else {
        let lost = percent(conservation.lost_share());
        return format!("{lost} without a stack{reasons}{}", unknown(conservation));
    };
    let clocks = duration(conservation.clocks);
    let mut sentence = format!(
        "{found} of the {clocks} of CPU time by the threads' clocks, {lost} more without a stack{reasons}, {both} in all"
    );
    if let Some(worst) = &conservation.worst {
        let share = percent(worst.sampled.0 as f64 / worst.clock.0 as f64);
        sentence.push_str(&format!("; furthest off of any thread over 1 s: {:?}, {share}", printable(&worst.thread)));
    }
    if conservation.not_seen.0 > conservation.clocks.0 / NEGLIGIBLE {
        sentence.push_str(&format!("; {} in threads that were never sampled", duration(conservation.not_seen)));
    }
    if conservation.threads_without_clock > 0 {
        let threads = counted(conservation.threads_without_clock, "thread", "threads");
        sentence.push_str(&format!("; {} in {threads} whose clock is unknown", duration(conservation.without_clock)));
    }
    sentence
}

/// Why stacks were lost, in parentheses; nothing if none was.
fn reasons(conservation: &Conservation) -> String {
    let all = conservation.reasons.iter().fold(0_u64, |sum, reason| sum.saturating_add(reason.time.0));
    if all == 0 {
        return String::new();
    }
    let text =
        |reason: &LostTime| format!("{} {}", printable(&reason.reason), percent(reason.time.0 as f64 / all as f64));
    match &conservation.reasons[..] {
        [one] => format!(" ({})", printable(&one.reason)),
        many => {
            let mut texts: Vec<String> = many.iter().take(MOST_REASONS).map(text).collect();
            if many.len() > MOST_REASONS {
                texts.push(format!("{} more reasons", many.len() - MOST_REASONS));
            }
            format!(" ({})", texts.join(", "))
        }
    }
}

fn unknown(conservation: &Conservation) -> String {
    let why = match conservation.why_unknown {
        Some(WhyUnknown::Window) => "only part of the trace is selected (--from, --to), and the clocks cover all of it",
        Some(WhyUnknown::Selected) => "only some stacks are selected (--in), and the clocks cover all",
        Some(WhyUnknown::CutOff) => "the trace was cut off before the clocks, which are written at its end",
        Some(WhyUnknown::NoClocks) => "the trace has no CPU clocks of threads",
        Some(WhyUnknown::NotOfClocks) | None => return String::new(),
    };
    format!("; not compared with the CPU clocks, because {why}")
}

/// Two decimals where a whole is nearly there, one elsewhere.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if (99.0..101.0).contains(&percent) && percent != 100.0 {
        format!("{percent:.2} %")
    } else {
        format!("{percent:.1} %")
    }
}

/// How samples add up, with exact numbers.
pub(crate) fn json(conservation: &Conservation) -> Value {
    json!({
        "clock_nanos": conservation.clocks.0,
        "found_nanos": conservation.found.0,
        "lost_nanos": conservation.lost.0,
        "lost": conservation.reasons.iter().map(|reason| json!({
            "reason": reason.reason, "samples": reason.samples, "nanos": reason.time.0,
        })).collect::<Vec<_>>(),
        "not_seen_nanos": conservation.not_seen.0,
        "without_clock_nanos": conservation.without_clock.0,
        "threads_without_clock": conservation.threads_without_clock,
        "worst_thread": conservation.worst.as_ref().map(|worst| json!({
            "name": worst.thread, "sampled_nanos": worst.sampled.0, "clock_nanos": worst.clock.0,
        })),
        "why_unknown": conservation.why_unknown.map(|why| match why {
            WhyUnknown::Window => "window",
            WhyUnknown::Selected => "selected",
            WhyUnknown::NotOfClocks => "not_of_clocks",
            WhyUnknown::CutOff => "cut_off",
            WhyUnknown::NoClocks => "no_clocks",
        }),
    })
}

#[cfg(test)]
mod tests {
    use analysis::cpu::WorstThread;

    use super::*;

    #[test]
    fn samples_and_losses_are_held_against_the_clocks() {
        let lost = |reason: &str, time| LostTime { reason: reason.to_owned(), samples: 1, time: Nanos(time) };
        let mut conservation = Conservation {
            clocks: Nanos(10_000_000_000),
            found: Nanos(9_870_000_000),
            lost: Nanos(120_000_000),
            reasons: vec![lost("in a stub", 90_000_000), lost("frame not known", 30_000_000)],
            worst: Some(WorstThread {
                thread: "main".to_owned(),
                sampled: Nanos(1_900_000_000),
                clock: Nanos(2_000_000_000),
            }),
            ..Conservation::default()
        };
        assert_eq!(
            sentence(&conservation),
            "98.7 % of the 10.0 s of CPU time by the threads' clocks, 1.2 % more without a stack (in a stub 75.0 %, frame \
             not known 25.0 %), 99.90 % in all; furthest off of any thread over 1 s: \"main\", 95.0 %"
        );
        conservation.why_unknown = Some(WhyUnknown::NoClocks);
        assert_eq!(
            sentence(&conservation),
            "1.2 % without a stack (in a stub 75.0 %, frame not known 25.0 %); not compared with the CPU clocks, because \
             the trace has no CPU clocks of threads"
        );
    }
}
