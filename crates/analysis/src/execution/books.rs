//! Where finished calls are added up, for all threads.

use rustc_hash::FxHashMap;
use trace::names;
use trace::time::Nanos;

use super::CallSelection;
use super::faults::Faults;
use super::nodes::Nodes;
use super::subject::{Key, PackageIndex, Totals, add};
use crate::location::Location;
use crate::symbols::{ClassIndex, SiteIndex, Symbols, ThreadIndex};

/// What has to be known of a method for each of its calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Method {
    class: ClassIndex,
    package: PackageIndex,
    /// It is of the code whose calls count.
    pub(super) is_inside: bool,
    /// Its calls stand in tables.
    pub(super) is_shown: bool,
}

impl Method {
    /// What a call on a thread is added up for.
    pub(super) fn keys(&self, site: SiteIndex, thread: ThreadIndex) -> [Key; 4] {
        [Key::Method(site), Key::Class(self.class), Key::Package(self.package), Key::Thread(thread)]
    }
}

/// The sums of all calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Books {
    methods: FxHashMap<SiteIndex, Method>,
    packages: FxHashMap<Box<str>, PackageIndex>,
    pub(super) totals: FxHashMap<Key, Totals>,
    pub(super) nodes: Nodes,
    pub(super) faults: Faults,
    /// What the profiler says that it took itself, and what of it was taken off calls.
    pub(super) overhead: (Nanos, Nanos),
}

impl Books {
    /// Learns what a method is.
    pub(super) fn learn(&mut self, site: SiteIndex, symbols: &Symbols, selection: &CallSelection) {
        let packages = &mut self.packages;
        self.methods.entry(site).or_insert_with(|| {
            let at = symbols.location(site);
            let name = names::package(at.class);
            let next = PackageIndex(packages.len() as u32);
            let package = match packages.get(name) {
                Some(&known) => known,
                None => *packages.entry(name.into()).or_insert(next),
            };
            Method {
                class: symbols.method_name(symbols.site_name(site).method).class,
                package,
                is_inside: selection.is_inside(&at),
                is_shown: selection.is_shown(&at),
            }
        });
    }

    /// What is known of a method that was learnt.
    pub(super) fn method(&self, site: SiteIndex) -> Option<Method> {
        self.methods.get(&site).copied()
    }

    /// Adds the time of the outermost of several calls, each inside the one before.
    pub(super) fn add_outermost(&mut self, key: Key, time: Nanos) {
        add(&mut self.totals.entry(key).or_default().cumulative, time);
    }

    /// The names of all packages, by their numbers.
    pub(super) fn package_names(&self) -> FxHashMap<PackageIndex, &str> {
        self.packages.iter().map(|(name, &package)| (package, &**name)).collect()
    }
}

impl CallSelection {
    fn is_inside(&self, at: &Location<'_>) -> bool {
        let name = format!("{}.{}", at.class, names::jvm_method_name(at.method));
        let is_one = |text: &str| self.code.iter().any(|pattern| pattern.matches(text));
        self.code.is_empty() || is_one(at.class) || is_one(&name) || is_one(&at.to_string())
    }

    fn is_shown(&self, at: &Location<'_>) -> bool {
        self.classes.is_empty() || self.classes.iter().any(|pattern| pattern.matches_class(at.class))
    }
}
