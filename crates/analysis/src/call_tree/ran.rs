//! How the code of a frame ran.

use trace::model::FrameType;

/// How the code of a frame ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ran {
    /// By the interpreter.
    Interpreted,
    /// As code of C1.
    C1,
    /// As code of C2, or of another optimising compiler.
    C2,
    /// Compiled into its caller.
    Inlined,
    /// It is a native method.
    Native,
}

impl Ran {
    /// All of them.
    pub const ALL: [Ran; 5] = [Ran::Interpreted, Ran::C1, Ran::C2, Ran::Inlined, Ran::Native];

    /// As a mark behind a frame.
    pub fn mark(self) -> &'static str {
        match self {
            Ran::Interpreted => "int",
            Ran::C1 => "c1",
            Ran::C2 => "c2",
            Ran::Inlined => "inl",
            Ran::Native => "nat",
        }
    }
}

impl From<FrameType> for Ran {
    fn from(kind: FrameType) -> Ran {
        match kind {
            FrameType::Interpreted => Ran::Interpreted,
            FrameType::C1(_) => Ran::C1,
            FrameType::C2 => Ran::C2,
            FrameType::Inlined => Ran::Inlined,
            FrameType::Native => Ran::Native,
        }
    }
}

/// How much of a node's weight ran how. What is not known is in none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RanWeights([f64; Ran::ALL.len()]);

impl RanWeights {
    /// Adds weight that ran so.
    pub(crate) fn add(&mut self, ran: Ran, weight: f64) {
        self.0[ran as usize] += weight;
    }

    /// The weight that ran so.
    pub fn of(&self, ran: Ran) -> f64 {
        self.0[ran as usize]
    }

    /// How most of it ran: each that makes a part of `share` or more of what is known, the largest first.
    pub fn most(&self, share: f64) -> Vec<Ran> {
        let least = self.0.iter().sum::<f64>() * share;
        let mut most: Vec<Ran> =
            Ran::ALL.into_iter().filter(|&ran| self.of(ran) > 0.0 && self.of(ran) >= least).collect();
        most.sort_by(|&a, &b| self.of(b).total_cmp(&self.of(a)));
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ran_most_is_named_first_and_traces_of_others_not_at_all() {
        let mut weights = RanWeights::default();
        assert_eq!(weights.most(0.1), []);
        for (ran, weight) in [(Ran::C1, 30.0), (Ran::C2, 65.0), (Ran::Interpreted, 5.0)] {
            weights.add(ran, weight);
        }
        assert_eq!(weights.most(0.1), [Ran::C2, Ran::C1]);
        assert_eq!(weights.most(0.0), [Ran::C2, Ran::C1, Ran::Interpreted]);
    }

    #[test]
    fn each_has_a_place_of_its_own() {
        for (at, ran) in Ran::ALL.into_iter().enumerate() {
            assert_eq!(ran as usize, at);
        }
    }
}
