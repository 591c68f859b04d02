//! What native code makes by JNI is counted, at the line that called it, and native code gets what it gets without us.

use std::collections::BTreeMap;

use bci_tests::counted::Counted;
use bci_tests::jdk::Jdk;
use bci_tests::martini::profile_folder;
use bci_tests::profiled::{Heap, Profiled, Ran};
use bci_tests::suite::Suite;

const ROUNDS: u64 = 1000;

pub(crate) fn tests(suite: &mut Suite) {
    let flags = [("default", ""), ("checked", "-Xcheck:jni"), ("interpreted", "-Xint")];
    suite.each_jdk_and(&flags, objects_of_native_code_are_counted);
}

fn program<'a>(jdk: &'a Jdk, flag: &str) -> Profiled<'a> {
    let library = native_code::library(&profile_folder());
    let library = library.to_str().expect("the target folder has a name in UTF-8");
    let flags: Vec<&str> = ["-XX:-DoEscapeAnalysis", flag].into_iter().filter(|flag| !flag.is_empty()).collect();
    Profiled::on(jdk).flags(&flags).main("natives.Main").args(&[library, &ROUNDS.to_string()])
}

fn objects_of_native_code_are_counted(jdk: &Jdk, flag: &str) {
    let bare = program(jdk, flag).without_agent().run();
    let ran: Ran<Counted> = program(jdk, flag).heap(Heap::Counts).run_and_read();
    assert_eq!(ran.out(), bare.out());
    assert!(bare.out().contains("7 1.5 2.5 123456789012 \u{e4} 3 4 x true 28.0 100null7 1.5"), "{}", bare.out());

    let both = ROUNDS * 2;
    let mut expected = BTreeMap::from([
        (("natives.Main$Made", 24), both),
        (("natives.Main$Made", 25), both),
        (("java.lang.String", 25), both),
        (("byte[]", 25), both),
        (("natives.Main$Made", 26), both),
        (("java.lang.String", 26), both),
        (("byte[]", 26), both),
        (("java.lang.String", 29), both * 3),
        (("byte[]", 29), both * 3),
    ]);
    let arrays =
        ["boolean[]", "byte[]", "char[]", "short[]", "int[]", "long[]", "float[]", "double[]", "natives.Main[]"];
    expected.extend(arrays.map(|array| ((array, 30), both)));
    let found: BTreeMap<(&str, i64), u64> = ran
        .trace
        .sites
        .iter()
        .filter(|(site, _)| site.from_vm && site.method == "natives.Main.make")
        .map(|(site, sum)| ((&*site.class, site.line), sum.instances))
        .collect();
    assert_eq!(found, expected);

    // The JVM's account has no byte less, and of this thread nearly none more.
    let other = &ran.trace.threads["other"];
    let accounted = other.vm_bytes.expect("the JVM says it");
    assert!(other.bytes <= accounted && accounted - other.bytes < 16 << 10, "{} of {accounted}", other.bytes);
}
