//! What a request's time is divided by: which initialisers, which waits, which code.

use rustc_hash::FxHashMap;
use trace::time::{Nanos, Time};

use super::overlap::{Layer, Span, own_times};
use super::recent::{Deed, What};
use super::split::{Known, PartKind, Split};
use super::work::Work;
use crate::call_tree::Spread;
use crate::stacks::StackIndex;
use crate::symbols::{ClassIndex, ThreadIndex};

/// So many initialisers, waits and stacks of a request are kept: those of most time.
const MOST: usize = 200;

/// Initialisers that ran in a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Initialised {
    pub(super) class: u32,
    /// When it began.
    pub(super) since: Time,
    /// In the request, without others inside of it.
    pub(super) own: Nanos,
    /// All of it, in the request or not.
    pub(super) total: Nanos,
    pub(super) runs_on: bool,
    pub(super) stack: Option<StackIndex>,
}

/// What waits have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct WaitKey {
    pub(super) kind: PartKind,
    pub(super) class: Option<ClassIndex>,
    pub(super) stack: Option<StackIndex>,
    pub(super) owner: Option<(ThreadIndex, Option<StackIndex>)>,
}

/// Waits in a request that have all that in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waited {
    pub(super) key: WaitKey,
    pub(super) waits: u64,
    /// In the request.
    pub(super) time: Nanos,
    pub(super) longest: Nanos,
}

/// Samples of CPU time in a request with one stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampled {
    pub(super) work: Work,
    /// In an initialiser.
    pub(super) inside: bool,
    pub(super) stack: Option<StackIndex>,
    pub(super) samples: u64,
    pub(super) cpu: Nanos,
}

/// A request's time, and what it is divided by; all with the most time first.
#[derive(Clone, Debug, Default)]
pub(super) struct Details {
    pub(super) split: Split,
    pub(super) initialised: Vec<Initialised>,
    pub(super) waited: Vec<Waited>,
    pub(super) sampled: Vec<Sampled>,
}

impl Details {
    /// Of what a request's thread did, and of the times in which all threads were stopped.
    pub(super) fn new(
        window: Span,
        cpu: Option<Nanos>,
        ready: Option<Nanos>,
        deeds: &[Deed],
        stops: &[(Layer, Span)],
    ) -> Details {
        let mut known = Known { took: window.length(), cpu, ready, ..Known::default() };
        let lasting: Vec<&Deed> = deeds.iter().filter(|deed| !matches!(deed.what, What::Sample { .. })).collect();
        let layer = |deed: &&Deed| match deed.what {
            What::Initialiser { .. } => (Layer::Initialiser, deed.span),
            _ => (Layer::Wait, deed.span),
        };
        let things: Vec<_> = lasting.iter().map(layer).chain(stops.iter().copied()).collect();
        let (own, _) = own_times(window, &things);
        for (own, (layer, _)) in own.iter().zip(&things) {
            match layer {
                Layer::Collection => known.collections.0 += own.0,
                Layer::Safepoint => known.safepoints.0 += own.0,
                Layer::Initialiser | Layer::Wait => {}
            }
        }
        let mut details = Details::default();
        let mut waited: FxHashMap<WaitKey, Waited> = FxHashMap::default();
        for (deed, &own) in lasting.iter().zip(&own) {
            match deed.what {
                What::Initialiser { class, runs_on } => {
                    known.initialisers.0 += own.0;
                    let (since, total) = (deed.span.since, deed.span.length());
                    details.initialised.push(Initialised { class, since, own, total, runs_on, stack: deed.stack });
                }
                What::Wait { kind, class, owner, seen_each } if own.0 > 0 => {
                    known.wait(kind, own, seen_each);
                    let key = WaitKey { kind, class, stack: deed.stack, owner };
                    let all = waited.entry(key).or_insert(Waited { key, waits: 0, time: Nanos(0), longest: Nanos(0) });
                    all.waits += 1;
                    all.time.0 += own.0;
                    all.longest = all.longest.max(own);
                }
                What::Wait { .. } | What::Sample { .. } => {}
            }
        }
        details.waited = waited.into_values().collect();
        details.sample(deeds, &mut known);
        details.split = Split::new(&known);
        details.keep_most();
        details
    }

    /// Adds up the samples of CPU time.
    fn sample(&mut self, deeds: &[Deed], known: &mut Known) {
        let mut initialisers: Vec<Span> =
            deeds.iter().filter(|deed| matches!(deed.what, What::Initialiser { .. })).map(|deed| deed.span).collect();
        join(&mut initialisers);
        let mut sampled: FxHashMap<(Work, bool, Option<StackIndex>), Sampled> = FxHashMap::default();
        for deed in deeds {
            let What::Sample { work, cpu } = deed.what else { continue };
            let at = deed.span.since;
            let before = initialisers.partition_point(|span| span.since <= at);
            let inside = before.checked_sub(1).is_some_and(|last| at < initialisers[last].until);
            let spread = if inside { &mut known.inside } else { &mut known.outside[work as usize] };
            let weight = cpu.0 as f64;
            spread.add(&Spread { samples: 1, weight, variance: weight * weight });
            let new = Sampled { work, inside, stack: deed.stack, samples: 0, cpu: Nanos(0) };
            let sum = sampled.entry((work, inside, deed.stack)).or_insert(new);
            sum.samples += 1;
            sum.cpu.0 = sum.cpu.0.saturating_add(cpu.0);
        }
        self.sampled = sampled.into_values().collect();
    }

    fn keep_most(&mut self) {
        let rank = |stack: Option<StackIndex>| stack.map(StackIndex::rank);
        self.initialised.sort_by(|a, b| (b.own, b.total).cmp(&(a.own, a.total)).then(a.since.cmp(&b.since)));
        let order = |waited: &Waited| {
            let owner = waited.key.owner.map(|(owner, stack)| (owner.rank(), rank(stack)));
            (rank(waited.key.stack), owner, waited.key.kind)
        };
        self.waited.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| order(a).cmp(&order(b))));
        self.sampled
            .sort_by(|a, b| b.cpu.cmp(&a.cpu).then_with(|| (rank(a.stack), a.work).cmp(&(rank(b.stack), b.work))));
        self.initialised.truncate(MOST);
        self.waited.truncate(MOST);
        self.sampled.truncate(MOST);
    }
}

/// Makes one of spans that overlap, in order.
fn join(spans: &mut Vec<Span>) {
    spans.sort_by_key(|span| (span.since, span.until));
    spans.dedup_by(|next, kept| {
        let overlap = next.since <= kept.until;
        if overlap {
            kept.until = kept.until.max(next.until);
        }
        overlap
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(since: u64, until: u64) -> Span {
        Span { since: Time(since), until: Time(until) }
    }

    fn deed(span: Span, what: What) -> Deed {
        Deed { span, stack: None, what }
    }

    #[test]
    fn what_happens_in_an_initialiser_is_its_own() {
        let initialiser = |class, since, until| deed(span(since, until), What::Initialiser { class, runs_on: false });
        let wait = |since, until| {
            deed(
                span(since, until),
                What::Wait { kind: PartKind::Monitors, class: None, owner: None, seen_each: Nanos(0) },
            )
        };
        let sample = |at| deed(span(at, at), What::Sample { work: Work::Compiled, cpu: Nanos(5) });
        let mut deeds = vec![initialiser(1, 10, 60), initialiser(2, 20, 40), wait(30, 70), wait(90, 200)];
        deeds.extend([15, 25, 75, 80].map(sample));
        let stops = [(Layer::Collection, span(50, 80))];
        let details = Details::new(span(0, 100), Some(Nanos(40)), None, &deeds, &stops);
        let part = |kind| details.split.parts.iter().find(|part| part.kind == kind).map_or(0, |part| part.time.0);
        assert_eq!([PartKind::Initialisers, PartKind::Monitors, PartKind::Collections].map(part), [50, 20, 10]);
        let owns: Vec<_> = details.initialised.iter().map(|one| (one.class, one.own.0, one.total.0)).collect();
        assert_eq!(owns, [(1, 30, 50), (2, 20, 20)]);
        let [waited] = details.waited[..] else { panic!("{:?}", details.waited) };
        assert_eq!((waited.waits, waited.time, waited.longest), (2, Nanos(20), Nanos(10)));
        let sampled: Vec<_> = details.sampled.iter().map(|one| (one.inside, one.samples)).collect();
        assert!(sampled.contains(&(true, 2)) && sampled.contains(&(false, 2)), "{sampled:?}");
        assert_eq!(details.split.parts.iter().map(|part| part.time.0).sum::<u64>(), 100);
    }
}
