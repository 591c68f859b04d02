//! Which of several things that overlap a moment belongs to, so that their times add up to the whole.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use trace::time::{Nanos, Time};

/// From when until when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) since: Time,
    pub(super) until: Time,
}

impl Span {
    /// From a time on, for so long.
    pub(super) fn of(since: Time, length: Nanos) -> Span {
        Span { since, until: Time(since.0.saturating_add(length.0)) }
    }

    pub(super) fn length(self) -> Nanos {
        self.until.since(self.since)
    }

    /// The part of it that lies in another one, if there is any.
    pub(super) fn within(self, other: Span) -> Option<Span> {
        let both = Span { since: self.since.max(other.since), until: self.until.min(other.until) };
        (both.since < both.until).then_some(both)
    }
}

/// What a moment belongs to if it lies in several: the first of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Layer {
    /// Whatever happens in them is theirs.
    Initialiser,
    Wait,
    Collection,
    Safepoint,
}

/// Of things of one layer a moment belongs to the one that began last, which is inside of the others.
type Rank = (Layer, Reverse<Time>, usize);

fn rank(index: usize, layer: Layer, span: Span) -> Rank {
    (layer, Reverse(span.since), index)
}

/// How much of a window belongs to each thing; and how much to none.
pub(super) fn own_times(window: Span, things: &[(Layer, Span)]) -> (Vec<Nanos>, Nanos) {
    let mut own = vec![Nanos(0); things.len()];
    let mut changes: Vec<(Time, bool, usize)> = Vec::with_capacity(2 * things.len());
    for (index, (_, span)) in things.iter().enumerate() {
        if let Some(span) = span.within(window) {
            changes.extend([(span.since, true, index), (span.until, false, index)]);
        }
    }
    changes.sort_unstable();
    let (mut open, mut before, mut covered) = (BTreeSet::<Rank>::new(), window.since, 0);
    for (time, begins, index) in changes {
        if let Some(&(_, _, first)) = open.first() {
            let length = time.since(before).0;
            own[first].0 += length;
            covered += length;
        }
        before = time;
        let (layer, span) = things[index];
        match begins {
            true => open.insert(rank(index, layer, span)),
            false => open.remove(&rank(index, layer, span)),
        };
    }
    (own, Nanos(window.length().0 - covered))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Looks at each moment between two ends.
    fn naive(window: Span, things: &[(Layer, Span)]) -> (Vec<Nanos>, Nanos) {
        let mut own = vec![Nanos(0); things.len()];
        let mut free = 0;
        for moment in window.since.0..window.until.0 {
            let holds = |span: &Span| span.since.0 <= moment && moment < span.until.0;
            let here = things.iter().enumerate().filter(|(_, (_, span))| holds(span));
            match here.min_by_key(|&(index, &(layer, span))| rank(index, layer, span)) {
                Some((index, _)) => own[index].0 += 1,
                None => free += 1,
            }
        }
        (own, Nanos(free))
    }

    #[test]
    fn what_is_inside_has_its_time() {
        let span = |since, until| Span { since: Time(since), until: Time(until) };
        let things = [
            (Layer::Wait, span(10, 50)),
            (Layer::Wait, span(20, 30)),
            (Layer::Initialiser, span(45, 70)),
            (Layer::Collection, span(0, 15)),
            (Layer::Safepoint, span(200, 300)),
        ];
        let (own, free) = own_times(span(5, 100), &things);
        assert_eq!((own, free), ([25, 10, 25, 5, 0].map(Nanos).to_vec(), Nanos(30)));
    }

    proptest! {
        #[test]
        fn times_are_those_of_each_moment(
            window in (0_u64..60, 0_u64..60),
            things in proptest::collection::vec((0_usize..4, 0_u64..100, 0_u64..40), 0..30),
        ) {
            let window = Span::of(Time(window.0), Nanos(window.1));
            let layers = [Layer::Initialiser, Layer::Wait, Layer::Collection, Layer::Safepoint];
            let things: Vec<_> = things.iter().map(|&(layer, since, length)| (layers[layer], Span::of(Time(since), Nanos(length)))).collect();
            let (own, free) = own_times(window, &things);
            prop_assert_eq!(own.iter().map(|own| own.0).sum::<u64>() + free.0, window.length().0);
            prop_assert_eq!((own, free), naive(window, &things));
        }
    }
}
