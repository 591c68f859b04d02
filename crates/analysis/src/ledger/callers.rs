//! Whose code had the objects made that a method of a library makes.

use rustc_hash::FxHashMap;

use super::{Place, Unit};
use crate::allocations::{AllocationReport, By, SiteNames, Subject};

/// Bytes by the place that makes the objects and by the line of the reader's own code that called it, where samples say so.
#[derive(Clone, Debug, Default)]
pub struct Callers(FxHashMap<Place, FxHashMap<Place, f64>>);

impl Callers {
    /// Those of a trace; `own` names the reader's own code.
    pub fn of(report: &AllocationReport, own: &SiteNames, unit: Unit) -> Callers {
        let mut callers = Callers::default();
        for line in report.code(By::Line, own, |_| true) {
            let Subject::Line(Some(caller)) = line.row.subject else { continue };
            let caller = Place::of(caller, Unit::Line);
            for inside in &line.inside {
                let Some(at) = inside.at else { continue };
                let of_place = callers.0.entry(Place::of(at, unit)).or_default();
                *of_place.entry(caller.clone()).or_default() += inside.bytes as f64;
            }
        }
        callers
    }

    /// Makes all amounts so many times as large.
    pub fn scale(&mut self, factor: f64) {
        self.0.values_mut().flat_map(FxHashMap::values_mut).for_each(|bytes| *bytes *= factor);
    }

    /// How much more the callers of a place had allocated in the runs after a change than in those before it: the largest difference
    /// first.
    pub fn changes(place: &Place, before: &[&Callers], after: &[&Callers]) -> Vec<(Place, f64)> {
        let mut changes: FxHashMap<&Place, f64> = FxHashMap::default();
        for (side, sign) in [(before, -1.0), (after, 1.0)] {
            for (caller, bytes) in side.iter().filter_map(|run| run.0.get(place)).flatten() {
                *changes.entry(caller).or_default() += sign * bytes / side.len() as f64;
            }
        }
        let mut changes: Vec<_> = changes.into_iter().map(|(caller, bytes)| (caller.clone(), bytes)).collect();
        changes.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then_with(|| a.0.cmp(&b.0)));
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_have_the_difference_of_the_means() {
        let run = |bytes: &[(&str, f64)]| {
            let of_place = bytes.iter().map(|&(caller, bytes)| (Place::named(caller), bytes)).collect();
            Callers([(Place::named("lib.Copy"), of_place)].into_iter().collect())
        };
        let (one, two, three) = (run(&[("a.A", 10.0), ("a.B", 5.0)]), run(&[("a.A", 20.0)]), run(&[("a.A", 12.0)]));
        let changes = Callers::changes(&Place::named("lib.Copy"), &[&one, &two], &[&three]);
        assert_eq!(changes, [(Place::named("a.A"), -3.0), (Place::named("a.B"), -2.5)]);
        assert_eq!(Callers::changes(&Place::named("lib.None"), &[&one], &[&two]), []);
    }
}
