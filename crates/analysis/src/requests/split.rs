//! The wall time of a request in parts that add up to it exactly.
//!
//! What is known by its begin and end comes first: initialisers, waits, stops of the JVM. Of the rest the CPU time is known, exact, and
//! samples divide it. What is left is time in which the thread had no processor, for no reason that was recorded.

use trace::time::Nanos;

use super::work::Work;
use crate::call_tree::{Spread, error};
use crate::explain::LEAST_SAMPLES;
use crate::weighted::Rounding;

/// What a part of a request's time went on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PartKind {
    /// Static initialisers, with all that happens in them.
    Initialisers,
    /// On a processor, outside of initialisers.
    Cpu(Work),
    /// On a processor, outside of initialisers; too few samples say what it did there.
    UndividedCpu,
    /// Waiting for monitors.
    Monitors,
    /// Waiting for locks of `java.util.concurrent`.
    Locks,
    /// In `Object.wait`.
    Notification,
    /// Parked for something else than a lock.
    Parked,
    /// In `Thread.sleep`.
    Sleeping,
    /// Stopped for a collection, outside of waits.
    Collections,
    /// Stopped for another operation of the JVM.
    Safepoints,
    /// Ready to run, but without a processor.
    Ready,
    /// None of these.
    Rest,
}

impl PartKind {
    /// The kinds of waits.
    pub const WAITS: [PartKind; 5] =
        [PartKind::Monitors, PartKind::Locks, PartKind::Notification, PartKind::Parked, PartKind::Sleeping];

    /// The place of a wait in these.
    fn wait_index(self) -> Option<usize> {
        PartKind::WAITS.iter().position(|&kind| kind == self)
    }

    /// All of them, in the order of tables.
    pub fn all() -> impl Iterator<Item = PartKind> {
        let work = Work::ALL.map(PartKind::Cpu);
        let stops = [PartKind::Collections, PartKind::Safepoints, PartKind::Ready, PartKind::Rest];
        [PartKind::Initialisers]
            .into_iter()
            .chain(work)
            .chain([PartKind::UndividedCpu])
            .chain(PartKind::WAITS)
            .chain(stops)
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            PartKind::Initialisers => "initialisers",
            PartKind::Cpu(work) => work.as_str(),
            PartKind::UndividedCpu => "cpu",
            PartKind::Monitors => "monitors",
            PartKind::Locks => "locks",
            PartKind::Notification => "waiting",
            PartKind::Parked => "parked",
            PartKind::Sleeping => "sleeping",
            PartKind::Collections => "collections",
            PartKind::Safepoints => "safepoints",
            PartKind::Ready => "ready",
            PartKind::Rest => "rest",
        }
    }
}

/// A part of a request's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it went on.
    pub kind: PartKind,
    /// How much.
    pub time: Nanos,
    /// How far that may be off with a confidence of 95 %; 0 if it is known as well as its begin and end are.
    pub error: Nanos,
}

/// A time, and the square of its standard error.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Estimated {
    pub(super) time: Nanos,
    pub(super) variance: f64,
}

/// What is known of a request.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub(super) took: Nanos,
    /// What belongs to initialisers.
    pub(super) initialisers: Nanos,
    /// Waits, in the order of [`PartKind::WAITS`].
    pub(super) waits: [Estimated; PartKind::WAITS.len()],
    pub(super) collections: Nanos,
    pub(super) safepoints: Nanos,
    /// For how long its thread was on a processor.
    pub(super) cpu: Option<Nanos>,
    pub(super) ready: Option<Nanos>,
    /// Samples of CPU time in initialisers.
    pub(super) inside: Spread,
    /// Those outside, in the order of [`Work::ALL`].
    pub(super) outside: [Spread; Work::ALL.len()],
}

impl Known {
    /// Adds a wait of a kind; it may have been seen by looks so far apart.
    pub(super) fn wait(&mut self, kind: PartKind, time: Nanos, seen_each: Nanos) {
        if let Some(index) = kind.wait_index() {
            let sum = &mut self.waits[index];
            sum.time.0 += time.0;
            sum.variance += (seen_each.0 as f64).powi(2);
        }
    }
}

/// A request's time in parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// The parts that are not 0; they add up to the time that the request took.
    pub parts: Vec<Part>,
    /// CPU time for which there is no room beside the waits and stops: at least so much of it was used in these, as to try for a lock before
    /// and after waiting for it. It is in no part.
    pub cpu_in_waits: Nanos,
    /// The CPU time is not known, neither exact nor by enough samples, so that it is in the rest.
    pub is_cpu_unknown: bool,
}

impl Split {
    pub(super) fn new(known: &Known) -> Split {
        let mut split = Split::default();
        split.add(PartKind::Initialisers, known.initialisers, 0);
        let waited: u64 = known.waits.iter().map(|wait| wait.time.0).sum();
        let covered = known.initialisers.0 + waited + known.collections.0 + known.safepoints.0;
        // These are lengths of what has no moment in common.
        let free = known.took.0.saturating_sub(covered);
        let cpu = split.cpu(known, free);
        for (kind, wait) in PartKind::WAITS.into_iter().zip(known.waits) {
            split.add(kind, wait.time, error(wait.variance));
        }
        split.add(PartKind::Collections, known.collections, 0);
        split.add(PartKind::Safepoints, known.safepoints, 0);
        let left = free - cpu;
        let ready = known.ready.map_or(0, |ready| ready.0.min(left));
        // Some of it may lie in what is known by its begin and end: a thread that is woken has to get a processor, too.
        let surely = known.ready.map_or(0, |ready| ready.0.saturating_sub(covered)).min(ready);
        split.add(PartKind::Ready, Nanos(ready), ready - surely);
        split.add(PartKind::Rest, Nanos(left - ready), 0);
        split
    }

    fn add(&mut self, kind: PartKind, time: Nanos, error: u64) {
        if time.0 > 0 {
            self.parts.push(Part { kind, time, error: Nanos(error) });
        }
    }

    /// Adds the parts of the CPU time outside of initialisers, for which there is so much room; gives back how much that is.
    fn cpu(&mut self, known: &Known, free: u64) -> u64 {
        let mut outside = Spread::default();
        known.outside.iter().for_each(|spread| outside.add(spread));
        let Some((time, off)) = cpu_outside(known, &outside, free) else {
            self.is_cpu_unknown = true;
            return 0;
        };
        let placed = time.min(free);
        if let Some(cpu) = known.cpu {
            self.cpu_in_waits = Nanos(cpu.0.saturating_sub(known.initialisers.0).saturating_sub(free));
        }
        if !are_enough(&outside) {
            self.add(PartKind::UndividedCpu, Nanos(placed), off);
            return placed;
        }
        let mut rounding = Rounding::default();
        for (work, spread) in Work::ALL.into_iter().zip(&known.outside) {
            let share = spread.weight / outside.weight;
            let part = rounding.next(share * placed as f64);
            let of_share = error((placed as f64).powi(2) * outside.variance_of_share(spread)) as f64;
            let off = of_share.hypot(share * off as f64) as u64;
            self.add(PartKind::Cpu(work), Nanos(part), off);
        }
        placed
    }
}

/// Whether samples say how something is divided.
fn are_enough(samples: &Spread) -> bool {
    samples.samples >= LEAST_SAMPLES && samples.weight > 0.0
}

/// How much CPU time was used outside of initialisers, and how far that may be off.
fn cpu_outside(known: &Known, outside: &Spread, free: u64) -> Option<(u64, u64)> {
    let mut all = *outside;
    all.add(&known.inside);
    match known.cpu {
        Some(cpu) if known.initialisers.0 == 0 => Some((cpu.0, 0)),
        Some(cpu) => {
            // No more was used in initialisers than they took.
            let least = cpu.0.saturating_sub(known.initialisers.0).min(free);
            let most = cpu.0.min(free);
            if !are_enough(&all) {
                return Some((least, most - least));
            }
            let time = (cpu.0 as f64 * outside.weight / all.weight).round() as u64;
            let off = error((cpu.0 as f64).powi(2) * all.variance_of_share(outside));
            Some((time.clamp(least, most), off.min(most - least)))
        }
        None if are_enough(outside) => Some((outside.weight.round() as u64, error(outside.variance))),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn samples(count: u64, each: u64) -> Spread {
        let weight = each as f64;
        Spread { samples: count, weight: count as f64 * weight, variance: count as f64 * weight * weight }
    }

    fn part(split: &Split, kind: PartKind) -> (u64, u64) {
        split.parts.iter().find(|part| part.kind == kind).map_or((0, 0), |part| (part.time.0, part.error.0))
    }

    #[test]
    fn exact_cpu_time_is_divided_by_samples() {
        let mut known = Known { took: Nanos(1000), cpu: Some(Nanos(800)), ..Known::default() };
        known.outside[Work::Interpreted as usize] = samples(30, 10);
        known.outside[Work::Compiled as usize] = samples(10, 10);
        let split = Split::new(&known);
        let (interpreted, off) = part(&split, PartKind::Cpu(Work::Interpreted));
        // Two standard errors of 3/4 of 40 samples.
        assert!(interpreted == 600 && (100..120).contains(&off), "{split:?}");
        assert_eq!(part(&split, PartKind::Cpu(Work::Compiled)).0, 200);
        assert_eq!(part(&split, PartKind::Rest), (200, 0));
        known.outside = Default::default();
        known.outside[0] = samples(LEAST_SAMPLES - 1, 10);
        assert_eq!(part(&Split::new(&known), PartKind::UndividedCpu), (800, 0));
    }

    #[test]
    fn what_initialisers_used_is_theirs() {
        let mut known =
            Known { took: Nanos(1000), initialisers: Nanos(600), cpu: Some(Nanos(700)), ..Known::default() };
        // Without samples it is known within limits: between 100 and 400.
        assert_eq!(part(&Split::new(&known), PartKind::UndividedCpu), (100, 300));
        known.inside = samples(40, 10);
        known.outside[Work::Loading as usize] = samples(30, 10);
        let (loading, off) = part(&Split::new(&known), PartKind::Cpu(Work::Loading));
        assert!(loading == 300 && (50..120).contains(&off), "{loading} {off}");
    }

    #[test]
    fn cpu_time_in_waits_is_said_and_in_no_part() {
        let mut known = Known { took: Nanos(1000), cpu: Some(Nanos(300)), ..Known::default() };
        known.waits[0].time = Nanos(900);
        let split = Split::new(&known);
        assert_eq!((part(&split, PartKind::UndividedCpu).0, split.cpu_in_waits), (100, Nanos(200)));
        assert_eq!(part(&split, PartKind::Rest), (0, 0));
    }

    #[test]
    fn without_cpu_time_samples_say_what_it_was_if_they_are_enough() {
        let mut known = Known { took: Nanos(1000), ..Known::default() };
        known.outside[Work::Native as usize] = samples(20, 10);
        let split = Split::new(&known);
        assert_eq!(part(&split, PartKind::Cpu(Work::Native)).0, 200);
        known.outside[Work::Native as usize] = samples(2, 10);
        let split = Split::new(&known);
        assert!(split.is_cpu_unknown && part(&split, PartKind::Rest) == (1000, 0), "{split:?}");
    }

    #[test]
    fn a_thread_that_is_woken_may_have_been_ready_in_its_wait() {
        let mut known = Known { took: Nanos(1000), cpu: Some(Nanos(100)), ready: Some(Nanos(250)), ..Known::default() };
        assert_eq!(part(&Split::new(&known), PartKind::Ready), (250, 0));
        known.waits[3].time = Nanos(200);
        let split = Split::new(&known);
        assert_eq!((part(&split, PartKind::Ready), part(&split, PartKind::Rest)), ((250, 200), (450, 0)));
    }

    proptest! {
        #[test]
        fn parts_add_up_to_the_whole(
            took in 0_u64..10_000_000_000,
            shares in proptest::collection::vec(0.0_f64..0.2, 8),
            cpu in proptest::option::of(0_u64..10_000_000_000),
            ready in proptest::option::of(0_u64..10_000_000_000),
            counts in proptest::collection::vec((0_u64..60, 0_u64..20_000_000), 7),
        ) {
            let mut left = took;
            let mut next = |at: usize| {
                let part = ((took as f64 * shares[at]) as u64).min(left);
                left -= part;
                Nanos(part)
            };
            let mut known = Known { took: Nanos(took), cpu: cpu.map(Nanos), ready: ready.map(Nanos), ..Known::default() };
            known.initialisers = next(0);
            known.collections = next(1);
            known.safepoints = next(2);
            for (at, wait) in known.waits.iter_mut().enumerate() {
                wait.time = next(3 + at);
            }
            known.inside = samples(counts[0].0, counts[0].1);
            for (at, spread) in known.outside.iter_mut().enumerate() {
                *spread = samples(counts[1 + at].0, counts[1 + at].1);
            }
            let split = Split::new(&known);
            prop_assert_eq!(split.parts.iter().map(|part| part.time.0).sum::<u64>(), took, "{:?}", split);
            prop_assert!(split.parts.iter().all(|part| part.time.0 > 0));
        }
    }
}
