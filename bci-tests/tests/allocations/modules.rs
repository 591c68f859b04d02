//! In which module a class is: as the JVM says, and nothing for the class path.

use std::collections::BTreeMap;

use bci_tests::jdk::Jdk;
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::read::TraceData;
use bci_tests::suite::Suite;
use trace::model::Element;

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

pub(crate) fn tests(suite: &mut Suite) {
    let ways: [(&str, (Heap, &'static [&'static str])); 2] =
        [("counts", (Heap::Counts, &[])), ("checked", (Heap::Events, &["-Xcheck:jni"]))];
    suite.each_jdk_and(&ways, classes_are_in_the_module_that_the_jvm_says);
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
