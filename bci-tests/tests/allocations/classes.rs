//! Classes: exact counts of those that are unloaded, fail, or never get ready; and in which module each is.

use std::collections::BTreeMap;

use bci_tests::counted::Counted;
use bci_tests::jdk::Jdk;
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::read::TraceData;
use bci_tests::suite::Suite;
use trace::model::Element;

pub(crate) fn tests(suite: &mut Suite) {
    let ways = [("serial", "-XX:+UseSerialGC"), ("g1", "-XX:+UseG1GC"), ("interpreted", "-Xint")];
    suite.each_jdk_and(&ways, unloaded_failing_and_unprepared_classes_are_counted_exactly);
    let ways: [(&str, (Heap, &'static [&'static str])); 2] =
        [("counts", (Heap::Counts, &[])), ("checked", (Heap::Events, &["-Xcheck:jni"]))];
    suite.each_jdk_and(&ways, classes_are_in_the_module_that_the_jvm_says);
}

/// The site of this class may run for the first time just before the class that has it is unloaded.
const LATE: &str = "fates.Plugin$Late";

fn unloaded_failing_and_unprepared_classes_are_counted_exactly(jdk: &Jdk, flag: &str) {
    let profiled = Profiled::on(jdk).heap(Heap::Counts).flags(&[flag, "-Xmx64m"]).main("fates.Main");
    let ran = profiled.run_and_read::<Counted>();
    let trace = &ran.trace;
    let out = ran.out();
    let mut made: BTreeMap<&str, u64> = out
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(class, number)| (class, number.parse().expect("a number")))
        .collect();
    assert_eq!(made.remove("failed"), Some(3 * 5 + 50));
    assert_eq!(made.len(), 6, "{made:?}");
    let counted = |class: &str| {
        // Reflection makes the plugins, by the VM at first.
        let of_class = trace.sites.iter().filter(|(site, _)| site.class == class);
        of_class.map(|(_, sum)| sum.instances).sum::<u64>()
    };
    let unknown = trace.counts.get(&("events.lost".into(), "site not found".into())).copied().unwrap_or(0);
    for (class, number) in made {
        let unknown = if class == LATE { unknown } else { 0 };
        assert_eq!(counted(class) + unknown, number, "{class}, {unknown} unknown");
    }
    assert_eq!(counted("fates.Main$Broken"), 0);
}

/// The module of each class.
#[derive(Debug, Default)]
struct Modules(BTreeMap<String, Option<String>>);

impl TraceData for Modules {
    fn element(&mut self, element: &Element<'_>) {
        if let Element::ClassDef(class) = element {
            self.0.insert(class.name.to_string(), class.module.as_deref().map(str::to_owned));
        }
    }
}

fn classes_are_in_the_module_that_the_jvm_says(jdk: &Jdk, (heap, flags): (Heap, &'static [&'static str])) {
    let profiled = Profiled::on(jdk).heap(heap).flags(flags);
    let modules = profiled.main("fates.Main").run_and_read::<Modules>().trace.0;
    let of = |name: &str| modules.get(name).unwrap_or_else(|| panic!("no {name} in {modules:?}")).as_deref();
    assert_eq!(of("java.lang.String"), Some("java.base"));
    assert_eq!((of("byte[]"), of("java.lang.Object[]")), (Some("java.base"), Some("java.base")));
    let own = modules.iter().filter(|(name, _)| name.starts_with("fates."));
    assert!(own.clone().count() > 2 && own.clone().all(|(_, module)| module.is_none()), "{modules:?}");
    let in_jdk = modules.iter().filter(|(name, _)| name.starts_with("java."));
    assert!(in_jdk.clone().count() > 20 && in_jdk.clone().all(|(_, module)| module.is_some()), "{modules:?}");
}
