//! Classes that came out of no archive: where each came from, and about what they cost.
//!
//! The JVM has no time of a single class, but sums, which the trace has some times a second. What they grew by between two readings is
//! spread evenly over the classes that were loaded meanwhile.

use rustc_hash::FxHashMap;
use trace::model::ClassLoad;
use trace::time::Nanos;

use super::report::{CLASSES, Cause, WarmUpReport};

/// So many classes are kept.
const MOST: usize = 1 << 18;
/// What loading a class costs.
const COSTS: [Cause; 3] = [Cause::Load, Cause::Link, Cause::Verify];

/// Those of a trace, in the order of the JVM's log.
#[derive(Clone, Debug, Default)]
pub(super) struct Loads {
    all: Vec<Load>,
    sources: FxHashMap<Box<str>, u32>,
    /// Those that are not kept.
    more: u64,
}

#[derive(Clone, Debug)]
struct Load {
    at: Nanos,
    source: u32,
    class: Box<str>,
}

/// Where classes came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ClassSource<'a> {
    /// A jar or a folder.
    File(&'a str),
    /// The JDK's own image: the module, if the JVM says which.
    Jdk(&'a str),
    /// Code of the program or of the JDK made them as it ran.
    Generated,
}

impl ClassSource<'_> {
    /// What the JVM's log calls the source of a class.
    fn of(logged: &str) -> ClassSource<'_> {
        if let Some(module) = logged.strip_prefix("jrt:/") {
            ClassSource::Jdk(module)
        } else if logged.ends_with("/lib/modules") {
            ClassSource::Jdk("")
        } else if logged.contains('/') {
            ClassSource::File(logged.strip_prefix("file:").unwrap_or(logged))
        } else {
            ClassSource::Generated
        }
    }
}

/// Classes from one source.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadRow<'a> {
    /// Where they came from.
    pub source: ClassSource<'a>,
    /// How many.
    pub classes: u64,
    /// About what loading, linking and verifying them took; `None` if the JVM has no sums.
    pub cost: Option<Nanos>,
    /// How many each package has, the most first.
    pub packages: Vec<(&'a str, u64)>,
}

impl Loads {
    pub(super) fn add(&mut self, load: &ClassLoad<'_>, at: Nanos) {
        if self.all.len() >= MOST {
            self.more += 1;
            return;
        }
        let next = self.sources.len() as u32;
        let source = match self.sources.get(&*load.source) {
            Some(&known) => known,
            None => *self.sources.entry((&*load.source).into()).or_insert(next),
        };
        self.all.push(Load { at, source, class: (&*load.class).into() });
    }
}

/// The package of a class, as the JVM logs its name.
fn package(class: &str) -> &str {
    // Behind a slash stands the number of a hidden class.
    let class = class.split('/').next().unwrap_or(class);
    class.rsplit_once('.').map_or("", |(package, _)| package)
}

#[derive(Default)]
struct Group<'a> {
    classes: u64,
    nanos: f64,
    packages: FxHashMap<&'a str, u64>,
}

impl WarmUpReport {
    /// Whether the trace says of single classes where they came from.
    pub fn has_loads(&self) -> bool {
        !self.stats().loads.all.is_empty()
    }

    /// Classes that were loaded while recording and came out of no archive, by source; the most expensive first.
    pub fn loads(&self) -> Vec<LoadRow<'_>> {
        let loads = &self.stats().loads;
        let mut sources = vec![ClassSource::Generated; loads.sources.len()];
        for (logged, &index) in &loads.sources {
            sources[index as usize] = ClassSource::of(logged);
        }
        let costs = self.costs();
        let mut groups: FxHashMap<ClassSource<'_>, Group<'_>> = FxHashMap::default();
        for (load, nanos) in loads.all.iter().zip(costs) {
            let group = groups.entry(sources[load.source as usize]).or_default();
            group.classes += 1;
            group.nanos += nanos;
            *group.packages.entry(package(&load.class)).or_default() += 1;
        }
        let has_sums = self.has_counters();
        let mut rows: Vec<_> = groups
            .into_iter()
            .map(|(source, group)| {
                let mut packages: Vec<_> = group.packages.into_iter().collect();
                packages.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
                let cost = has_sums.then_some(Nanos(group.nanos as u64));
                LoadRow { source, classes: group.classes, cost, packages }
            })
            .collect();
        rows.sort_by(|a, b| (b.cost, b.classes).cmp(&(a.cost, a.classes)).then_with(|| a.source.cmp(&b.source)));
        rows
    }

    /// Classes that are in no row: too many.
    pub fn loads_left_out(&self) -> u64 {
        self.stats().loads.more
    }

    /// About what each class cost, in nanoseconds.
    fn costs(&self) -> Vec<f64> {
        let loads = &self.stats().loads.all;
        let names = COSTS.iter().flat_map(|cause| cause.counters()).copied();
        let readings = self.stats().counters.times(names.chain(CLASSES));
        let sum = |at: Nanos| COSTS.iter().map(|&cause| self.causes_until(at).of(cause).0).sum::<u64>();
        let interval = |at: Nanos| readings.partition_point(|&reading| reading < at);
        let mut classes = vec![0_u64; readings.len() + 1];
        loads.iter().for_each(|load| classes[interval(load.at)] += 1);
        let sums: Vec<u64> = readings.iter().map(|&at| sum(at)).collect();
        let share = |at: Nanos| {
            let interval = interval(at);
            // What was before the first reading is not known, nor what came behind the last one.
            let (Some(before), Some(&until)) = (interval.checked_sub(1), sums.get(interval)) else { return 0.0 };
            until.saturating_sub(sums[before]) as f64 / classes[interval] as f64
        };
        loads.iter().map(|load| share(load.at)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_told_apart() {
        assert_eq!(ClassSource::of("jrt:/java.base"), ClassSource::Jdk("java.base"));
        assert_eq!(ClassSource::of("/opt/jdk/lib/modules"), ClassSource::Jdk(""));
        assert_eq!(ClassSource::of("file:/app/app.jar"), ClassSource::File("/app/app.jar"));
        assert_eq!(
            ClassSource::of("jar:file:/app.jar!/BOOT-INF/lib/x.jar!/"),
            ClassSource::File("jar:file:/app.jar!/BOOT-INF/lib/x.jar!/")
        );
        assert_eq!(ClassSource::of("__JVM_LookupDefineClass__"), ClassSource::Generated);
        assert_eq!(ClassSource::of("app.Rules"), ClassSource::Generated);
    }

    #[test]
    fn packages_are_those_of_names() {
        assert_eq!(package("app.rules.Rules$$Lambda/0x0000000044040000"), "app.rules");
        assert_eq!(package("Main"), "");
    }
}
