//! The sampled objects that are followed, within bounded memory.
//!
//! A sample is followed with a chance that is 1 until memory is full. Then the chance is halved: each that is followed stays with
//! a probability of 1/2, and new ones come with the new chance. So all samples that live have had the same chance, whenever they
//! were taken and whatever has died between. (To replace a random one, as Algorithm R does, is not uniform with deaths: nobody sees
//! those of samples that are not followed.) When most of them are dead the chance of new ones is doubled; that of older ones stays, and
//! each stands for the inverse of its own chance.

use jvmti::jni_sys::jweak;

use super::super::samples::SampleKey;
use agent_base::ids::GcNumber;
use agent_base::random::Random;

/// A chance of 1, halved so many times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Chance(pub(super) u8);

impl Chance {
    /// As a number from 0 to 1.
    pub(super) fn probability(self) -> f64 {
        0.5_f64.powi(self.0.into())
    }

    pub(super) fn halved(self) -> Chance {
        Chance(self.0.saturating_add(1))
    }

    fn doubled(self) -> Chance {
        Chance(self.0.saturating_sub(1))
    }
}

/// A sampled object that is followed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Followed {
    pub(super) weak: jweak,
    pub(super) key: SampleKey,
    /// The probability with which it was sampled.
    pub(super) sampled: f64,
    pub(super) size: u64,
    /// Collections before it was taken.
    pub(super) since: GcNumber,
    /// With which it came, and has stayed.
    pub(super) chance: Chance,
}

// SAFETY: JNI lets every thread use a weak global reference.
unsafe impl Send for Followed {}

impl Followed {
    /// The probability of being sampled and of being followed since.
    pub(super) fn probability(&self) -> f64 {
        self.sampled * self.chance.probability()
    }
}

/// What is followed.
#[derive(Debug)]
pub(super) struct Reservoir {
    objects: Vec<Followed>,
    most: usize,
    random: Random,
}

impl Reservoir {
    /// Has room for so many.
    pub(super) fn new(most: usize, random: Random) -> Reservoir {
        Reservoir { objects: Vec::new(), most, random }
    }

    /// All that are followed.
    pub(super) fn objects(&self) -> &[Followed] {
        &self.objects
    }

    /// Forgets those of which `forget` says so; it has deleted their references.
    pub(super) fn retain(&mut self, mut forget: impl FnMut(&Followed) -> bool) {
        self.objects.retain(|object| !forget(object));
    }

    /// Takes all out; their room is free then.
    pub(super) fn take(&mut self) -> Vec<Followed> {
        std::mem::take(&mut self.objects)
    }

    /// Takes new ones. There may be too many then, until there is room made.
    pub(super) fn add(&mut self, new: Vec<Followed>) {
        self.objects.extend(new);
    }

    /// Makes room for as many as `reserve`, and calls `delete` with those that have to go. Returns the chance of those that come next,
    /// which was `chance` so far.
    pub(super) fn make_room(
        &mut self,
        mut chance: Chance,
        reserve: usize,
        mut delete: impl FnMut(&Followed),
    ) -> Chance {
        let room = self.most - reserve;
        if self.objects.len() > room {
            self.thin(chance, &mut delete);
        }
        while self.objects.len() > room {
            chance = chance.halved();
            self.thin(chance, &mut delete);
        }
        // What is there then has had at most that chance.
        if self.objects.len() < self.most / 4 { chance.doubled() } else { chance }
    }

    /// Leaves of each as many as if it had come with that chance.
    fn thin(&mut self, chance: Chance, delete: &mut impl FnMut(&Followed)) {
        let random = &mut self.random;
        self.objects.retain_mut(|object| {
            if object.chance >= chance {
                return true;
            }
            let stays = random.happens(chance.probability() / object.chance.probability());
            object.chance = chance;
            if !stays {
                delete(object);
            }
            stays
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_base::ids::{AllocationSite, ClassIndex, StackIndex};

    const STREAMS: usize = 3000;
    const SAMPLES: usize = 1000;
    const MOST: usize = 64;

    fn object(number: usize, chance: Chance) -> Followed {
        let site = AllocationSite { class: ClassIndex(1), location: None };
        let key = SampleKey { site, stack: StackIndex(0), thread: None };
        let weak = std::ptr::without_provenance_mut(number);
        Followed { weak, key, sampled: 1.0, size: 1 << 20, since: GcNumber(0), chance }
    }

    /// Whether a sample is dead when another comes.
    type Dies<'d> = &'d dyn Fn(usize, usize) -> bool;

    /// A stream of samples that come one by one: calls `followed` with those that are at the end, and their probabilities.
    fn stream(seed: u64, dies: Dies<'_>, followed: &mut dyn FnMut(usize, f64)) {
        let mut reservoir = Reservoir::new(MOST, Random::seeded(seed));
        let mut coins = Random::seeded(seed ^ 0x5555);
        let (mut chance, mut new, mut deleted) = (Chance::default(), Vec::new(), 0);
        let mut came = 0;
        for number in 0..SAMPLES {
            if coins.happens(chance.probability()) {
                new.push(object(number, chance));
                came += 1;
            }
            if number % 8 == 7 {
                reservoir.retain(|object| {
                    let is_dead = dies(object.weak.addr(), number);
                    deleted += usize::from(is_dead);
                    is_dead
                });
                reservoir.add(std::mem::take(&mut new));
                chance = reservoir.make_room(chance, 8, |_| deleted += 1);
                assert!(reservoir.objects().len() <= MOST - 8);
            }
        }
        assert_eq!(reservoir.objects().len() + new.len() + deleted, came);
        reservoir.objects().iter().for_each(|object| followed(object.weak.addr(), object.chance.probability()));
    }

    /// The same for Algorithm R, with the next sample in the place of one that died.
    fn stream_of_algorithm_r(seed: u64, dies: Dies<'_>, followed: &mut dyn FnMut(usize, f64)) {
        let mut random = Random::seeded(seed);
        let mut kept: Vec<usize> = Vec::new();
        for number in 0..SAMPLES {
            kept.retain(|&kept| !dies(kept, number));
            if kept.len() < MOST {
                kept.push(number);
            } else if random.happens(MOST as f64 / (number + 1) as f64) {
                let place = (0..MOST - 1).find(|&place| random.happens(1.0 / (MOST - place) as f64));
                kept[place.unwrap_or(MOST - 1)] = number;
            }
        }
        let living = (0..SAMPLES).filter(|&number| !dies(number, SAMPLES - 1)).count();
        let share = kept.len() as f64 / living as f64;
        kept.into_iter().filter(|&number| !dies(number, SAMPLES - 1)).for_each(|number| followed(number, share));
    }

    /// What each tenth of the samples that live at the end stands for, against their number, in terms of its variance.
    fn chi_square(stream: impl Fn(u64, Dies<'_>, &mut dyn FnMut(usize, f64)), dies: Dies<'_>) -> f64 {
        let tenth = |number: usize| number * 10 / SAMPLES;
        let (mut sums, mut variances, mut living) = ([0.0; 10], [0.0; 10], [0.0; 10]);
        for number in (0..SAMPLES).filter(|&number| !dies(number, SAMPLES - 1)) {
            living[tenth(number)] += STREAMS as f64;
        }
        for seed in 0..STREAMS {
            stream(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(2 * seed as u64 + 1), dies, &mut |number, probability| {
                let weight = 1.0 / probability;
                sums[tenth(number)] += weight;
                variances[tenth(number)] += weight * (weight - 1.0);
            });
        }
        let terms = (0..10).filter(|&tenth| living[tenth] > 0.0);
        terms.map(|tenth| (sums[tenth] - living[tenth]).powi(2) / variances[tenth].max(1.0)).sum()
    }

    /// For ten degrees of freedom it is larger than that once in ten million.
    const LARGE: f64 = 52.0;

    /// All of the first half die at once.
    fn half_dies(number: usize, now: usize) -> bool {
        number < SAMPLES / 2 && now > SAMPLES * 3 / 4
    }

    #[test]
    fn each_sample_has_the_same_chance_whatever_dies_between() {
        let nothing = chi_square(stream, &|_, _| false);
        assert!(nothing < LARGE, "{nothing}");
        let half = chi_square(stream, &half_dies);
        assert!(half < LARGE, "{half}");
        // Nine of ten die a moment after they came.
        let most = chi_square(stream, &|number, now| number % 10 != 3 && now > number + 20);
        assert!(most < LARGE, "{most}");
    }

    #[test]
    fn the_test_finds_what_is_not_uniform() {
        let nothing = chi_square(stream_of_algorithm_r, &|_, _| false);
        assert!(nothing < LARGE, "{nothing}");
        let half = chi_square(stream_of_algorithm_r, &half_dies);
        assert!(half > 10.0 * LARGE, "{half}");
    }

    #[test]
    fn chances_come_back_when_most_are_dead() {
        let mut reservoir = Reservoir::new(MOST, Random::seeded(7));
        reservoir.add((0..200).map(|number| object(number, Chance(0))).collect());
        let mut chance = reservoir.make_room(Chance(0), 8, |_| ());
        assert!(chance >= Chance(1) && reservoir.objects().iter().all(|object| object.chance == chance));
        reservoir.retain(|_| true);
        while chance > Chance(0) {
            let before = std::mem::replace(&mut chance, Chance(0));
            chance = reservoir.make_room(before, 8, |_| ());
            assert_eq!(chance, Chance(before.0 - 1));
        }
        assert_eq!(reservoir.make_room(chance, 8, |_| ()), Chance(0));
    }
}
