//! Slices of a track, inside each other, as beginnings and ends in the order of time.

use trace::time::Time;

use crate::protobuf::Message;

/// A slice. An end ends what has begun last.
#[derive(Debug)]
pub(super) struct Slice {
    pub(super) since: Time,
    pub(super) until: Time,
    pub(super) begin: Message,
}

/// Calls `write` for each beginning, with the slice, and for each end.
pub(super) fn in_order(mut slices: Vec<Slice>, mut write: impl FnMut(Time, Option<Slice>)) {
    // The one inside ends first, and so it comes first where both are the same.
    slices.reverse();
    slices.sort_by_key(|slice| (slice.since, std::cmp::Reverse(slice.until)));
    let mut open: Vec<Time> = Vec::new();
    for mut slice in slices {
        while let Some(until) = open.pop_if(|until| *until <= slice.since) {
            write(until, None);
        }
        // Clocks that go back must not make it end what is around it.
        slice.until = open.last().map_or(slice.until, |&outer| slice.until.min(outer));
        open.push(slice.until);
        write(slice.since, Some(slice));
    }
    while let Some(until) = open.pop() {
        write(until, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_come_before_beginnings_and_a_slice_ends_with_the_one_around_it() {
        let slice = |(since, until)| Slice { since: Time(since), until: Time(until), begin: Message::default() };
        let mut written = Vec::new();
        let slices = [(5, 7), (4, 9), (9, 9), (9, 12), (20, 30), (25, 40)].map(slice);
        in_order(slices.into(), |time, begins| written.push((time.0, begins.is_some())));
        let (begin, end) = (|time| (time, true), |time| (time, false));
        let expected = [
            [begin(4), begin(5), end(7), end(9)],
            // The one without length is inside of the one that begins with it.
            [begin(9), begin(9), end(9), end(12)],
            [begin(20), begin(25), end(30), end(30)],
        ];
        assert_eq!(written, expected.concat());
    }
}
