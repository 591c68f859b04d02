//! The format of pprof: gzipped Protocol Buffers, with the meaning of `profile.proto`.

use std::io::{self, Write};

use analysis::call_tree::Label;
use analysis::weighted::WeightedStack;
use flate2::{Compression, GzBuilder};
use rustc_hash::FxHashMap;
use trace::file::Kind;

use crate::frame::Frame;
use crate::profiles::{Measure, Profiles, Subject};
use crate::protobuf::{Message, Texts, signed};

/// What the header of our gzip files says, at the place where comments stand.
const COMMENT: &str = "martini pprof";

/// Bytes of the header in front of that.
const COMMENT_AT: usize = 10;

/// Files of this format that are ours.
pub const PPROF: Kind = Kind {
    name: "pprof profile",
    is_begun_by: |head| {
        head.starts_with(&[0x1f, 0x8b]) && head.get(COMMENT_AT..).is_some_and(|at| at.starts_with(COMMENT.as_bytes()))
    },
};

/// What a profile is of: the kinds of its values, each with a unit, and which stacks have the first and the second two.
struct Shape {
    values: &'static [(&'static str, &'static str)],
    subjects: &'static [Subject],
    period: (&'static str, &'static str),
}

fn shape(measure: Measure) -> Shape {
    match measure.subject() {
        Subject::Allocated | Subject::Live => Shape {
            values: &[
                ("alloc_objects", "count"),
                ("alloc_space", "bytes"),
                ("inuse_objects", "count"),
                ("inuse_space", "bytes"),
            ],
            subjects: &[Subject::Allocated, Subject::Live],
            period: ("space", "bytes"),
        },
        Subject::Cpu => Shape {
            values: &[("samples", "count"), ("cpu", "nanoseconds")],
            subjects: &[Subject::Cpu],
            period: ("cpu", "nanoseconds"),
        },
        Subject::Wall => Shape {
            values: &[("samples", "count"), ("wall", "nanoseconds")],
            subjects: &[Subject::Wall],
            period: ("wall", "nanoseconds"),
        },
        Subject::Locks => Shape {
            values: &[("contentions", "count"), ("delay", "nanoseconds")],
            subjects: &[Subject::Locks],
            period: ("contentions", "count"),
        },
        Subject::Waits => Shape {
            values: &[("waits", "count"), ("delay", "nanoseconds")],
            subjects: &[Subject::Waits],
            period: ("waits", "count"),
        },
        Subject::Calls => Shape {
            values: &[("calls", "count"), ("base", "nanoseconds")],
            subjects: &[Subject::Calls],
            period: ("calls", "count"),
        },
    }
}

/// The value that is shown first.
fn shown_first(measure: Measure) -> &'static str {
    match measure {
        Measure::Bytes => "alloc_space",
        Measure::Objects => "alloc_objects",
        Measure::LiveBytes => "inuse_space",
        Measure::LiveObjects => "inuse_objects",
        Measure::Cpu => "cpu",
        Measure::Wall => "wall",
        Measure::LockCount => "contentions",
        Measure::LockWait | Measure::OtherWait => "delay",
        Measure::CallTime => "base",
        Measure::CallCount => "calls",
    }
}

/// A kind of value and its unit.
fn value_type<'a>(texts: &mut Texts<'a>, (kind, unit): (&'a str, &'a str)) -> Message {
    let mut message = Message::default();
    message.int(1, texts.of(kind));
    message.int(2, texts.of(unit));
    message
}

fn label<'a>(texts: &mut Texts<'a>, key: &'a str, value: &'a str) -> Message {
    let mut message = Message::default();
    message.int(1, texts.of(key));
    message.int(2, texts.of(value));
    message
}

/// Methods and lines, each once.
#[derive(Default)]
struct Places<'a> {
    lines: FxHashMap<Label<'a>, u64>,
    functions: FxHashMap<(u64, u64, u64), u64>,
    /// The messages that define them.
    defined: Message,
}

impl<'a> Places<'a> {
    fn of(&mut self, label: Label<'a>, texts: &mut Texts<'a>) -> u64 {
        if let Some(&known) = self.lines.get(&label) {
            return known;
        }
        let frame = Frame::of(&label);
        let system_name = format!("{}{}", frame.name, frame.signature);
        let names = (texts.of(frame.name), texts.of(system_name), texts.of(frame.file));
        let new = self.functions.len() as u64 + 1;
        let function = *self.functions.entry(names).or_insert(new);
        if function == new {
            let mut message = Message::default();
            message.int(1, function);
            message.int(2, names.0);
            message.int(3, names.1);
            message.int(4, names.2);
            self.defined.message(5, &message);
        }
        let mut line = Message::default();
        line.int(1, function);
        line.int(2, frame.line.map_or(0, u64::from));
        let id = self.lines.len() as u64 + 1;
        let mut location = Message::default();
        location.int(1, id);
        location.message(4, &line);
        self.defined.message(4, &location);
        self.lines.insert(label, id);
        id
    }
}

/// What samples are one by.
type Key<'s, 'a> = (&'s [Label<'a>], Option<&'a str>, Option<&'a str>);

/// Writes the profile that has a measure, and shows that first: of objects all four numbers, of waits and samples two.
///
/// # Errors
/// It cannot be written.
pub fn pprof(profiles: &Profiles<'_>, measure: Measure, out: &mut impl Write) -> io::Result<()> {
    let mut zip = GzBuilder::new().comment(COMMENT).write(out, Compression::default());
    zip.write_all(&profile(profiles, measure))?;
    zip.finish()?.flush()
}

fn profile(profiles: &Profiles<'_>, measure: Measure) -> Vec<u8> {
    let shape = shape(measure);
    let mut texts = Texts::new();
    let mut places = Places::default();
    let mut whole = Message::default();
    for &value in shape.values {
        whole.message(1, &value_type(&mut texts, value));
    }
    for (key, values) in samples(profiles, &shape) {
        let (frames, thread, class) = key;
        let mut sample = Message::default();
        sample.packed(1, frames.iter().map(|&frame| places.of(frame, &mut texts)).collect::<Vec<_>>());
        sample.packed(2, values[..shape.values.len()].iter().copied());
        for (key, value) in [("thread", thread), ("class", class)] {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                sample.message(3, &label(&mut texts, key, value));
            }
        }
        whole.message(2, &sample);
    }
    whole.int(9, signed(profiles.begin.0));
    whole.int(10, signed(profiles.length.0));
    whole.message(11, &value_type(&mut texts, shape.period));
    whole.int(12, profiles.period(measure.subject()));
    whole.int(14, texts.of(shown_first(measure)));
    texts.write(6, &mut whole);
    let mut bytes = whole.into_bytes();
    // In which order parts of a message stand does not matter.
    bytes.extend(places.defined.into_bytes());
    bytes
}

/// The numbers of each stack, thread and class, in the order in which they come first.
fn samples<'s, 'a>(profiles: &'s Profiles<'a>, shape: &Shape) -> Vec<(Key<'s, 'a>, [u64; 4])> {
    let mut samples: Vec<(Key<'s, 'a>, [u64; 4])> = Vec::new();
    let mut index: FxHashMap<Key<'s, 'a>, usize> = FxHashMap::default();
    for (at, &subject) in shape.subjects.iter().enumerate() {
        for WeightedStack { thread, class, frames, count, weight } in profiles.stacks(subject) {
            let key = (frames.as_slice(), *thread, *class);
            let row = *index.entry(key).or_insert_with(|| {
                samples.push((key, [0; 4]));
                samples.len() - 1
            });
            for (sum, number) in samples[row].1[2 * at..].iter_mut().zip([count, weight]) {
                *sum = signed(sum.saturating_add(*number));
            }
        }
    }
    samples
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn objects_that_live_are_in_the_sample_of_those_that_were_allocated() {
        let stack = |class, count, weight| WeightedStack {
            thread: Some("main"),
            class: Some(class),
            frames: vec![Label::Code("a"), Label::Code("b")],
            count,
            weight,
        };
        let profiles = Profiles {
            allocated: vec![stack("X", 3, 48), stack("Y", 1, 16), stack("X", 1, u64::MAX)],
            live: vec![stack("Z", 5, 80), stack("X", 2, 32)],
            ..Profiles::default()
        };
        let samples: Vec<_> = samples(&profiles, &shape(Measure::Bytes))
            .into_iter()
            .map(|((_, _, class), values)| (class.unwrap(), values))
            .collect();
        let most = i64::MAX as u64;
        assert_eq!(samples, [("X", [4, most, 2, 32]), ("Y", [1, 16, 0, 0]), ("Z", [0, 0, 5, 80])]);
    }

    #[test]
    fn a_file_is_gzip_and_says_that_it_is_ours() {
        let mut out = Vec::new();
        pprof(&Profiles::default(), Measure::Cpu, &mut out).unwrap();
        assert!((PPROF.is_begun_by)(&out));
        assert!(!(PPROF.is_begun_by)(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0, b'm']));
        let mut bytes = Vec::new();
        GzDecoder::new(&out[..]).read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, profile(&Profiles::default(), Measure::Cpu));
        assert!(String::from_utf8_lossy(&bytes).contains("nanoseconds"));
    }
}
