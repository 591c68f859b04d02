//! What a Pyroscope server is pushed: a message `push.v1.PushRequest`, whose profiles are in the format of pprof.

use std::io;

use crate::pprof::pprof;
use crate::profiles::{Measure, Profiles};
use crate::protobuf::Message;

/// Kinds of profiles by the names that Pyroscope's own clients give them, and a number that each has if there is something of it.
const KINDS: [(&str, &[Measure]); 6] = [
    ("memory", &[Measure::Bytes, Measure::LiveBytes]),
    ("process_cpu", &[Measure::Cpu]),
    ("wall", &[Measure::Wall]),
    ("mutex", &[Measure::LockWait]),
    ("wait", &[Measure::OtherWait]),
    ("calls", &[Measure::CallTime]),
];

/// All numbers of a trace: a series for each kind of profile; empty if there are none. The same trace gives profiles of the same ids.
///
/// # Errors
/// A profile cannot be packed.
pub fn pyroscope(profiles: &Profiles<'_>, trace: u128) -> io::Result<Vec<u8>> {
    let mut request = Message::default();
    for (at, (name, measures)) in (0..).zip(KINDS) {
        let Some(measure) = measures.iter().find(|measure| !profiles.stacks(measure.subject()).is_empty()) else {
            continue;
        };
        let mut series = Message::default();
        // What is pushed is what happened in the time of the profile, and no sum from which the one before is to be taken.
        for (key, value) in [("__name__", name), ("__delta__", "false")] {
            series.message(1, &label(key, value));
        }
        for (key, value) in &profiles.resource {
            series.message(1, &label(&key.replace('.', "_"), value));
        }
        let mut sample = Message::default();
        let mut packed = Vec::new();
        pprof(profiles, *measure, &mut packed)?;
        sample.bytes(1, &packed);
        sample.text(2, &uuid(trace ^ at));
        series.message(2, &sample);
        request.message(1, &series);
    }
    Ok(request.into_bytes())
}

fn label(key: &str, value: &str) -> Message {
    let mut label = Message::default();
    label.text(1, key);
    label.text(2, value);
    label
}

/// An id as RFC 9562 writes it, of the version that leaves it to us what it is made of.
fn uuid(id: u128) -> String {
    let id = id & !(0xf << 76) & !(0x3 << 62) | 0x8 << 76 | 0x2 << 62;
    let digits = format!("{id:032x}");
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use analysis::call_tree::Label;
    use analysis::weighted::WeightedStack;

    use super::*;

    #[test]
    fn ids_are_uuids() {
        assert_eq!(uuid(0), "00000000-0000-8000-8000-000000000000");
        assert_eq!(uuid(u128::MAX), "ffffffff-ffff-8fff-bfff-ffffffffffff");
    }

    #[test]
    fn a_series_for_what_there_is_something_of() {
        assert_eq!(pyroscope(&Profiles::default(), 1).unwrap(), b"");
        let stack = WeightedStack { thread: None, class: None, frames: vec![Label::Code("a")], count: 1, weight: 8 };
        let resource = vec![("service.name", "shop".to_owned())];
        let profiles = Profiles { live: vec![stack.clone()], cpu: vec![stack], resource, ..Profiles::default() };
        let bytes = pyroscope(&profiles, 1).unwrap();
        let has = |text: &[u8]| bytes.windows(text.len()).filter(|window| *window == text).count();
        assert_eq!([has(b"memory"), has(b"process_cpu"), has(b"wall"), has(b"service_name")], [1, 1, 0, 2]);
        assert_eq!(bytes, pyroscope(&profiles, 1).unwrap());
        assert_ne!(bytes, pyroscope(&profiles, 2).unwrap());
    }
}
