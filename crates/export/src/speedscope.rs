//! The format of speedscope: a list of frames, and profiles whose stacks are numbers of these.

use std::io::{self, Write};

use analysis::call_tree::Label;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use trace::file::Kind;

use crate::frame::{Frame, thread_name};
use crate::profiles::{Measure, Profiles};

const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

/// What a file begins with.
const BEGINNING: &str = "{\"exporter\":\"martini ";

/// Files of this format that are ours.
pub const SPEEDSCOPE: Kind =
    Kind { name: "speedscope profile", is_begun_by: |head| head.starts_with(BEGINNING.as_bytes()) };

/// A frame that several stacks share.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Shared<'a> {
    Thread(&'a str),
    Code(Label<'a>),
    Class(&'a str),
}

impl Shared<'_> {
    fn json(&self) -> Value {
        match self {
            Shared::Thread(name) => json!({ "name": name }),
            Shared::Class(name) => json!({ "name": Label::Class(name).to_string() }),
            Shared::Code(label) => {
                let Frame { name, file, line, .. } = Frame::of(label);
                let mut frame = json!({ "name": name });
                if !file.is_empty() {
                    frame["file"] = file.into();
                }
                if let Some(line) = line {
                    frame["line"] = line.into();
                }
                frame
            }
        }
    }
}

/// Writes a profile for each number that the trace has. `name` is what the file is called by.
///
/// # Errors
/// They cannot be written.
pub fn speedscope(profiles: &Profiles<'_>, name: &str, threads: bool, out: &mut impl Write) -> io::Result<()> {
    let mut frames: Vec<Shared<'_>> = Vec::new();
    let mut index: FxHashMap<Shared<'_>, usize> = FxHashMap::default();
    let mut all = Vec::new();
    for measure in Measure::ALL {
        let stacks = profiles.stacks(measure.subject());
        if stacks.is_empty() {
            continue;
        }
        let (mut samples, mut weights, mut sum) = (Vec::new(), Vec::new(), 0_u64);
        for stack in stacks.iter().filter(|stack| measure.of(stack) > 0) {
            let thread = threads.then(|| Shared::Thread(thread_name(stack.thread)));
            let code = stack.frames.iter().rev().map(|&label| Shared::Code(label));
            let path = thread.into_iter().chain(code).chain(stack.class.map(Shared::Class));
            let path = path.map(|frame| {
                *index.entry(frame).or_insert_with(|| {
                    frames.push(frame);
                    frames.len() - 1
                })
            });
            samples.push(path.collect::<Vec<usize>>());
            weights.push(measure.of(stack));
            sum = sum.saturating_add(measure.of(stack));
        }
        all.push(json!({
            "type": "sampled",
            "name": measure.title(),
            "unit": unit(measure),
            "startValue": 0,
            "endValue": sum,
            "samples": samples,
            "weights": weights,
        }));
    }
    let frames: Vec<Value> = frames.iter().map(Shared::json).collect();
    let text = |value: &Value| serde_json::to_string(value).map_err(io::Error::from);
    write!(out, "{BEGINNING}{}\",\"$schema\":\"{SCHEMA}\",", env!("CARGO_PKG_VERSION"))?;
    write!(out, "\"name\":{},\"activeProfileIndex\":0,", text(&name.into())?)?;
    writeln!(out, "\"shared\":{},\"profiles\":{}}}", text(&json!({ "frames": frames }))?, text(&all.into())?)
}

fn unit(measure: Measure) -> &'static str {
    match measure {
        Measure::Bytes | Measure::LiveBytes => "bytes",
        Measure::Objects | Measure::LiveObjects | Measure::LockCount | Measure::CallCount => "none",
        Measure::Cpu | Measure::Wall | Measure::LockWait | Measure::OtherWait | Measure::CallTime => "nanoseconds",
    }
}

#[cfg(test)]
mod tests {
    use analysis::weighted::WeightedStack;

    use super::*;

    #[test]
    fn a_profile_for_each_number_and_each_frame_once() {
        let stack = |thread, class| WeightedStack {
            thread: Some(thread),
            class,
            frames: vec![Label::Code("in\"\u{1}"), Label::Code("out")],
            count: 2,
            weight: 5,
        };
        let profiles = Profiles {
            allocated: vec![stack("a", Some("X")), stack("b", Some("X"))],
            cpu: vec![stack("a", None)],
            ..Profiles::default()
        };
        let written = |threads| -> Value {
            let mut out = Vec::new();
            speedscope(&profiles, "a \"name\"", threads, &mut out).unwrap();
            assert!((SPEEDSCOPE.is_begun_by)(&out[..64]));
            serde_json::from_slice(&out).unwrap()
        };
        let plain = written(false);
        assert_eq!(plain["shared"]["frames"], json!([{"name": "out"}, {"name": "in\"\u{1}"}, {"name": "X"}]));
        let kinds: Vec<(&Value, &Value, &Value)> = (0..3)
            .map(|at| &plain["profiles"][at])
            .map(|profile| (&profile["name"], &profile["unit"], &profile["endValue"]))
            .collect();
        let of = |name: &str, unit: &str, sum: u64| (json!(name), json!(unit), json!(sum));
        let expected =
            [of("Bytes allocated", "bytes", 10), of("Objects allocated", "none", 4), of("CPU time", "nanoseconds", 5)];
        assert_eq!(kinds, expected.iter().map(|(a, b, c)| (a, b, c)).collect::<Vec<_>>());
        assert_eq!(plain["profiles"][0]["samples"], json!([[0, 1, 2], [0, 1, 2]]));
        assert_eq!(written(true)["profiles"][0]["samples"], json!([[0, 1, 2, 3], [4, 1, 2, 3]]));
    }

    #[test]
    fn a_trace_with_nothing_gives_an_empty_file_of_the_format() {
        let mut out = Vec::new();
        speedscope(&Profiles::default(), "", false, &mut out).unwrap();
        let empty: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!((&empty["profiles"], &empty["shared"]["frames"]), (&json!([]), &json!([])));
    }
}
