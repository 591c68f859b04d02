//! Which filter patterns have matched a class: one that has a typing error records nothing, and nobody would notice.

use std::sync::atomic::{AtomicBool, Ordering};

use trace::filter::{FilterSet, Rule};
use trace::model::FilterMode;

/// For each rule of a filter list, whether it decided about a class.
#[derive(Debug)]
pub struct MatchedFilters(Box<[AtomicBool]>);

impl MatchedFilters {
    pub(super) fn none_of(filters: &FilterSet) -> MatchedFilters {
        MatchedFilters(filters.rules().iter().map(|_| AtomicBool::new(false)).collect())
    }

    /// Whether the filters let a class through.
    pub(super) fn includes(&self, filters: &FilterSet, name: &str) -> bool {
        filters.deciding(name).is_none_or(|rule| {
            self.0[rule].store(true, Ordering::Relaxed);
            filters.rules()[rule].mode == FilterMode::Include
        })
    }

    /// The rules that no class has matched, without those for all classes.
    pub fn unmatched<'f>(&self, filters: &'f FilterSet) -> impl Iterator<Item = &'f Rule> {
        let rules = filters.rules().iter().zip(&self.0);
        rules.filter(|(rule, matched)| !rule.class.is_any() && !matched.load(Ordering::Relaxed)).map(|(rule, _)| rule)
    }

    /// If there are patterns for what to record and no class has matched any: all of them, as they are typed.
    pub fn of_nothing(&self, filters: &FilterSet) -> Option<String> {
        let includes = |rule: &&Rule| rule.mode == FilterMode::Include;
        let unmatched: Vec<&Rule> = self.unmatched(filters).filter(includes).collect();
        let is_none_matched = unmatched.len() == filters.rules().iter().filter(includes).count();
        let typed: Vec<String> = unmatched.iter().map(|rule| format!("include={}", rule.class)).collect();
        (is_none_matched && !typed.is_empty()).then(|| typed.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn patterns_without_a_class_are_known() {
        let text = "com.acme.* * INCLUDE\njava.util.* * INCLUDE\njava.* * EXCLUDE\n* * EXCLUDE";
        let filters = FilterSet::parse(text, Path::new("filters")).unwrap();
        let matched = MatchedFilters::none_of(&filters);
        let unmatched = || matched.unmatched(&filters).map(|rule| rule.class.to_string()).collect::<Vec<_>>();
        assert_eq!(unmatched(), ["com.acme.*", "java.util.*", "java.*"]);
        assert!(!matched.includes(&filters, "java.lang.String") && !matched.includes(&filters, "demo.Main"));
        assert_eq!(matched.of_nothing(&filters).as_deref(), Some("include=com.acme.*, include=java.util.*"));
        assert!(matched.includes(&filters, "java.util.Map$Entry[]"));
        assert_eq!((unmatched(), matched.of_nothing(&filters)), (vec!["com.acme.*".to_owned()], None));
        let none = FilterSet::default();
        assert_eq!(MatchedFilters::none_of(&none).of_nothing(&none), None);
    }
}
