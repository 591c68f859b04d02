//! What threads did lately: kept until requests have ended of which it may be a part.
//!
//! A request is in the trace once it has ended, so its waits and samples are there before it. Memory is bounded: if there is too much, each
//! thread keeps its share of what is newest, and what was forgotten is known by its time.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use trace::time::{Nanos, Time};

use super::overlap::Span;
use super::split::PartKind;
use super::work::Work;
use crate::stacks::StackIndex;
use crate::symbols::{ClassIndex, ThreadIndex};

/// So much is kept of all threads: some 90 MB.
const MOST: usize = 1 << 20;
/// So many threads that have ended are kept.
const MOST_ENDED: usize = 50_000;
/// And for so long: their last requests may be in the trace some seconds later.
const KEPT: Nanos = Nanos(10_000_000_000);

/// Something that a thread did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deed {
    pub(super) span: Span,
    pub(super) stack: Option<StackIndex>,
    pub(super) what: What,
}

/// What it was.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// It ran a static initialiser, of the class with this number.
    Initialiser { class: u32, runs_on: bool },
    /// It waited, of one of the kinds in [`PartKind::WAITS`].
    Wait {
        kind: PartKind,
        class: Option<ClassIndex>,
        owner: Option<(ThreadIndex, Option<StackIndex>)>,
        seen_each: Nanos,
    },
    /// It was on a processor, for so much time.
    Sample { work: Work, cpu: Nanos },
}

#[derive(Clone, Debug, Default)]
struct Track {
    deeds: VecDeque<Deed>,
    /// What had ended by then may be missing.
    forgotten: Time,
}

/// What all threads did lately.
#[derive(Clone, Debug, Default)]
pub(super) struct Recent {
    tracks: FxHashMap<ThreadIndex, Track>,
    deeds: usize,
    ended: VecDeque<(Time, ThreadIndex)>,
    /// When the last of the threads that are gone had ended.
    gone: Time,
}

impl Recent {
    pub(super) fn add(&mut self, thread: ThreadIndex, deed: Deed) {
        self.tracks.entry(thread).or_default().deeds.push_back(deed);
        self.deeds += 1;
        if self.deeds > MOST {
            self.forget(MOST / (2 * self.tracks.len()));
        }
    }

    /// Leaves each thread no more than its newest.
    fn forget(&mut self, most: usize) {
        self.deeds = 0;
        for track in self.tracks.values_mut() {
            let old = track.deeds.len().saturating_sub(most);
            for deed in track.deeds.drain(..old) {
                track.forgotten = track.forgotten.max(deed.span.until);
            }
            track.deeds.shrink_to(most);
            self.deeds += track.deeds.len();
        }
    }

    /// A thread has ended.
    pub(super) fn end(&mut self, thread: ThreadIndex, now: Time) {
        if self.tracks.contains_key(&thread) {
            self.ended.push_back((now, thread));
        }
        let is_over = |&(ended, _): &(Time, ThreadIndex)| now.since(ended) > KEPT;
        while self.ended.len() > MOST_ENDED || self.ended.front().is_some_and(is_over) {
            let Some((ended, thread)) = self.ended.pop_front() else { break };
            self.gone = self.gone.max(ended);
            self.deeds -= self.tracks.remove(&thread).map_or(0, |track| track.deeds.len());
        }
    }

    /// What a thread did in a window of time, with the part that lies in it; and whether that is all.
    pub(super) fn of(&self, thread: ThreadIndex, window: Span) -> (Vec<Deed>, bool) {
        let Some(track) = self.tracks.get(&thread) else { return (Vec::new(), window.until > self.gone) };
        let is_in = |deed: &&Deed| match deed.what {
            What::Sample { .. } => window.since <= deed.span.since && deed.span.since < window.until,
            _ => deed.span.within(window).is_some(),
        };
        (track.deeds.iter().filter(is_in).copied().collect(), window.since >= track.forgotten)
    }

    /// Ends a document: its threads are no more.
    pub(super) fn end_document(&mut self) {
        *self = Recent::default();
    }
}

/// Times in which all threads were stopped, the last ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Stops {
    spans: VecDeque<Span>,
    forgotten: Time,
}

/// So many stops are kept.
const MOST_STOPS: usize = 1 << 16;

impl Stops {
    pub(super) fn add(&mut self, span: Span) {
        self.spans.push_back(span);
        if self.spans.len() > MOST_STOPS
            && let Some(old) = self.spans.pop_front()
        {
            self.forgotten = self.forgotten.max(old.until);
        }
    }

    /// Those in a window, and whether that is all.
    pub(super) fn of(&self, window: Span) -> (impl Iterator<Item = Span>, bool) {
        let spans = self.spans.iter().copied().filter(move |span| span.within(window).is_some());
        (spans, window.since >= self.forgotten)
    }
}

#[cfg(test)]
mod tests {
    use trace::ids::ThreadId;

    use super::*;
    use crate::symbols::Symbols;

    fn sample(at: u64) -> Deed {
        let what = What::Sample { work: Work::Other, cpu: Nanos(1) };
        Deed { span: Span::of(Time(at), Nanos(0)), stack: None, what }
    }

    fn window(since: u64, until: u64) -> Span {
        Span { since: Time(since), until: Time(until) }
    }

    #[test]
    fn a_busy_thread_makes_no_other_forget() {
        let mut symbols = Symbols::default();
        let [busy, quiet] = [1, 2].map(|id| symbols.thread(ThreadId(id)));
        let mut recent = Recent::default();
        recent.add(quiet, sample(5));
        for at in 0..MOST as u64 + 10 {
            recent.add(busy, sample(at));
        }
        assert!(recent.deeds <= MOST);
        let (found, is_all) = recent.of(quiet, window(0, 10));
        assert!(found.len() == 1 && is_all);
        assert!(!recent.of(busy, window(0, 10)).1);
        let last = MOST as u64;
        let (found, is_all) = recent.of(busy, window(last - 10, last));
        assert!(found.len() == 10 && is_all);
    }

    #[test]
    fn threads_that_have_ended_are_kept_for_a_while() {
        let mut symbols = Symbols::default();
        let mut recent = Recent::default();
        let threads: Vec<_> = (0..3).map(|id| symbols.thread(ThreadId(id))).collect();
        for (at, &thread) in [0, 1, KEPT.0 + 1].into_iter().zip(&threads) {
            recent.add(thread, sample(at));
            recent.end(thread, Time(at));
        }
        assert_eq!(recent.of(threads[0], window(0, 1)).0.len(), 0);
        // Nobody knows what it did.
        assert!(!recent.of(threads[0], window(0, 0)).1 && recent.of(threads[0], window(0, 1)).1);
        assert_eq!(recent.of(threads[1], window(0, 2)).0.len(), 1);
        assert_eq!(recent.deeds, 2);
    }

    #[test]
    fn old_stops_are_forgotten() {
        let mut stops = Stops::default();
        (0..MOST_STOPS as u64 + 1).for_each(|at| stops.add(Span::of(Time(at * 10), Nanos(5))));
        assert!(!stops.of(window(0, 100)).1);
        let (found, is_all) = stops.of(window(20, 40));
        assert!(found.count() == 2 && is_all);
    }
}
