//! The signal "profiles" of OpenTelemetry: a message `opentelemetry.proto.profiles.v1development.ProfilesData`, as release 1.10.0 of
//! opentelemetry-proto describes it.
//!
//! The signal is experimental: a later release may give the fields other numbers, and then this is written anew.

mod answer;
mod dictionary;

use analysis::call_tree::Label;
use rustc_hash::FxHashMap;
use trace::file::Kind;

use crate::profiles::{Measure, Profiles, Subject};
use crate::protobuf::{Message, signed};
pub use answer::rejected;
use dictionary::Dictionary;

/// Who says that it made the profiles.
const SCOPE: &str = "martini";

/// Files of this format that are ours.
pub const OTLP: Kind = Kind { name: "OpenTelemetry profile", is_begun_by: is_ours };

/// Begins with a message in a message, and that with our name.
fn is_ours(head: &[u8]) -> bool {
    let inner = |head: &[u8], tag: u8| -> Option<usize> {
        let length = head.get(1..)?.iter().position(|byte| byte & 0x80 == 0)?;
        (head[0] == tag).then_some(length + 2)
    };
    let mut scope = Message::default();
    scope.message(1, &self::scope());
    let resource = inner(head, 0x0a);
    let scoped = resource.and_then(|at| Some(at + inner(&head[at..], 0x12)?));
    scoped.is_some_and(|at| head[at..].starts_with(&scope.into_bytes()))
}

fn scope() -> Message {
    let mut scope = Message::default();
    scope.text(1, SCOPE);
    scope.text(2, env!("CARGO_PKG_VERSION"));
    scope
}

/// The kind of a number and its unit; a message holds all of them, so no two are called the same.
fn value_type(measure: Measure) -> (&'static str, &'static str) {
    match measure {
        Measure::Bytes => ("alloc_space", "bytes"),
        Measure::Objects => ("alloc_objects", "count"),
        Measure::LiveBytes => ("inuse_space", "bytes"),
        Measure::LiveObjects => ("inuse_objects", "count"),
        Measure::Cpu => ("cpu", "nanoseconds"),
        Measure::Wall => ("wall", "nanoseconds"),
        Measure::LockWait => ("delay", "nanoseconds"),
        Measure::LockCount => ("contentions", "count"),
        Measure::OtherWait => ("other_wait", "nanoseconds"),
        Measure::CallTime => ("base", "nanoseconds"),
        Measure::CallCount => ("calls", "count"),
    }
}

/// What is sampled, if anything is.
fn period_type(subject: Subject) -> Option<(&'static str, &'static str)> {
    match subject {
        Subject::Allocated | Subject::Live => Some(("space", "bytes")),
        Subject::Cpu => Some(("cpu", "nanoseconds")),
        Subject::Wall => Some(("wall", "nanoseconds")),
        Subject::Locks | Subject::Waits | Subject::Calls => None,
    }
}

/// All numbers of a trace: a profile for each kind.
pub fn otlp(profiles: &Profiles<'_>) -> Vec<u8> {
    let mut dictionary = Dictionary::new();
    let mut scoped = Message::default();
    scoped.message(1, &scope());
    for measure in Measure::ALL {
        if !profiles.stacks(measure.subject()).is_empty() {
            scoped.message(2, &profile(profiles, measure, &mut dictionary));
        }
    }
    let (mut resource, mut whole) = (Message::default(), Message::default());
    // Behind it: what a file begins with says that it is ours.
    resource.message(2, &scoped);
    resource.message(1, &described(&profiles.resource));
    whole.message(1, &resource);
    whole.message(2, &dictionary.into_message());
    whole.into_bytes()
}

/// Whose profiles they are.
fn described(attributes: &[(&str, String)]) -> Message {
    let mut resource = Message::default();
    for (key, value) in attributes {
        let (mut attribute, mut text) = (Message::default(), Message::default());
        text.text(1, value);
        attribute.text(1, key);
        attribute.message(2, &text);
        resource.message(1, &attribute);
    }
    resource
}

/// What samples are one by.
type Key<'s, 'a> = (&'s [Label<'a>], Option<&'a str>, Option<&'a str>);

fn profile<'a>(profiles: &Profiles<'a>, measure: Measure, dictionary: &mut Dictionary<'a>) -> Message {
    let subject = measure.subject();
    let mut sums: Vec<(Key<'_, 'a>, u64)> = Vec::new();
    let mut index: FxHashMap<Key<'_, 'a>, usize> = FxHashMap::default();
    for stack in profiles.stacks(subject) {
        let key = (stack.frames.as_slice(), stack.thread, stack.class);
        let row = *index.entry(key).or_insert_with(|| {
            sums.push((key, 0));
            sums.len() - 1
        });
        sums[row].1 = signed(sums[row].1.saturating_add(measure.of(stack)));
    }
    let mut message = Message::default();
    message.message(1, &dictionary.value_type(value_type(measure)));
    for ((frames, thread, class), value) in sums {
        let mut sample = Message::default();
        sample.int(1, dictionary.stack(frames));
        let said = [("thread.name", thread), ("class", class)].into_iter().filter_map(|(key, text)| Some((key, text?)));
        let said = said.filter(|(_, text)| !text.is_empty());
        sample.packed(2, said.map(|(key, text)| dictionary.attribute(key, text)).collect::<Vec<_>>());
        sample.packed(4, [value]);
        message.message(2, &sample);
    }
    message.fixed64(3, profiles.begin.0);
    message.int(4, profiles.length.0);
    let period = profiles.period(subject);
    if let Some(kind) = period_type(subject).filter(|_| period > 1) {
        message.message(5, &dictionary.value_type(kind));
        message.int(6, signed(period));
    }
    message
}

#[cfg(test)]
mod tests {
    use analysis::weighted::WeightedStack;

    use super::*;

    #[test]
    fn a_file_says_that_it_is_ours_however_long_it_is() {
        let stack = |at: u64| WeightedStack {
            thread: Some("main"),
            class: None,
            frames: vec![Label::Code("a"); at as usize + 1],
            count: 1,
            weight: at,
        };
        for length in [0, 1, 10, 1_000] {
            let profiles = Profiles { cpu: (0..length).map(stack).collect(), ..Profiles::default() };
            let bytes = otlp(&profiles);
            assert!((OTLP.is_begun_by)(&bytes[..bytes.len().min(64)]), "{length}");
            for cut in 0..20 {
                assert!(!(OTLP.is_begun_by)(&bytes[..cut]), "{cut}");
            }
        }
        assert!(!(OTLP.is_begun_by)(&[0x0a, 0x80, 0x80]));
    }

    #[test]
    fn stacks_that_are_the_same_are_one_sample() {
        let stack = |class, weight| WeightedStack {
            thread: Some("main"),
            class: Some(class),
            frames: vec![Label::Code("a")],
            count: 1,
            weight,
        };
        let one = Profiles { allocated: vec![stack("X", 48)], ..Profiles::default() };
        let split = Profiles { allocated: vec![stack("X", 16), stack("X", 32)], ..Profiles::default() };
        let bytes = |profiles| profile(profiles, Measure::Bytes, &mut Dictionary::new()).into_bytes();
        assert_eq!(bytes(&one), bytes(&split));
        let most = Profiles { allocated: vec![stack("X", u64::MAX), stack("X", 1)], ..Profiles::default() };
        assert_ne!(bytes(&one), bytes(&most));
    }
}
