//! From raw options to [`Options`].

use trace::filter::{FilterSet, Pattern, Rule};
use trace::model::FilterMode;

use super::draft::Draft;
use super::error::OptionError;
use super::kind::Refusal;
use super::resolved::{HeapMode, Options};
use super::spec::{Need, OptionSpec};
use super::table::require;

/// Takes options one after the other, and settles what they mean together.
#[derive(Debug, Default)]
pub(crate) struct Resolver {
    draft: Draft,
    /// What was given, each with the name by which it was.
    given: Vec<(&'static OptionSpec, &'static str)>,
}

impl Resolver {
    /// Takes the next option.
    pub(crate) fn take(&mut self, name: &str, value: &str) -> Result<(), OptionError> {
        let spec = require(name)?;
        let spelling = spec.old.iter().find(|&&old| old == name).unwrap_or(&spec.name);
        let before = self.given.iter().find(|(given, _)| given.name == spec.name);
        match before {
            Some(&(_, first)) if !spec.is_repeatable() => {
                let old = [first, spelling].into_iter().find(|&given| given != spec.name);
                return Err(match old {
                    Some(old) if first != *spelling => OptionError::TwiceByOldSpelling { name: spec.name, old },
                    _ => OptionError::Twice(spelling),
                });
            }
            _ => self.given.push((spec, spelling)),
        }
        spec.kind.apply(value, &mut self.draft).map_err(|refusal| match refusal {
            Refusal::NotOfKind => {
                OptionError::BadValue { name: name.to_owned(), value: value.to_owned(), takes: spec.takes() }
            }
            Refusal::NoPattern(problem) => OptionError::BadPattern { name: spec.name, problem },
        })
    }

    /// Settles what depends on several options.
    pub(crate) fn finish(self) -> Result<Options, OptionError> {
        let Resolver { draft, given } = self;
        let Draft { mut options, heap, locks_wanted, locks, filter_file } = draft;
        let is_other_wanted = options.sampled_bytes.is_some()
            || options.samples.any()
            || options.warm_up
            || options.requests.any()
            || options.readiness.is_some();
        options.heap = heap.unwrap_or(if is_other_wanted { HeapMode::Off } else { HeapMode::default() });
        if locks_wanted.unwrap_or(locks.juc || locks.log.is_some()) {
            options.locks = Some(locks);
            options.heap = heap.unwrap_or(HeapMode::Off);
        }
        if options.heap != HeapMode::Counts
            && let Some((_, spelling)) = given.iter().find(|(spec, _)| spec.needs == Need::Counts)
        {
            let objects = given.iter().find(|(spec, _)| spec.needs == Need::Objects);
            return Err(match objects {
                Some((_, objects)) if heap.is_none() => OptionError::CountsWithObjects { counts: spelling, objects },
                _ => OptionError::NeedsCounts(spelling),
            });
        }
        if options.heap != HeapMode::Counts
            && options.sampled_bytes.is_none()
            && let Some((_, spelling)) = given.iter().find(|(spec, _)| spec.needs == Need::Totals)
        {
            return Err(OptionError::NeedsTotals(spelling));
        }
        if options.sampled_bytes.is_some() && matches!(options.heap, HeapMode::Vm | HeapMode::Events) {
            return Err(OptionError::SampledWithObjects(options.heap.as_str()));
        }
        let from_file = match filter_file {
            Some(path) => FilterSet::load(&path).map_err(|e| OptionError::FilterFile(e.to_string()))?,
            None => FilterSet::default(),
        };
        // Patterns that end with one to include mean "and nothing else"; a filter file says so itself.
        let last = options.filters.rules().last().map(|rule| rule.mode);
        if last == Some(FilterMode::Include) && from_file.rules().is_empty() {
            options.filters.push(Rule::for_classes(Pattern::any(), FilterMode::Exclude));
        }
        from_file.rules().iter().for_each(|rule| options.filters.push(rule.clone()));
        Ok(options)
    }
}
