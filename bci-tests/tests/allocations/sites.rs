//! Allocation sites: the right method and line for every object, however deep the stack and long the chain of
//! constructors.

use std::collections::BTreeMap;
use std::fs;

use bci_tests::jdk::Jdk;
use bci_tests::profiled::Profiled;
use bci_tests::suite::Suite;

const DEPTHS: u64 = 24;

pub(crate) fn tests(suite: &mut Suite) {
    let depths = [("without_stack", ""), ("stack_4", "stack=4"), ("stack_7", "stack=7"), ("stack_64", "stack=64")];
    suite.each_jdk_and(&depths, every_depth_and_every_way_to_allocate);
}

/// The value of an attribute; empty if the element has none of that name.
fn attribute<'a>(line: &'a str, name: &str) -> &'a str {
    let start = format!(" {name}=\"");
    line.split_once(start.as_str()).and_then(|(_, rest)| rest.split_once('"')).map_or("", |(value, _)| value)
}

/// Objects by class, method and line, for classes of the test program.
fn sites(trace: &str) -> BTreeMap<(String, String, String), u64> {
    let (mut classes, mut methods, mut found) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for line in trace.lines() {
        if line.starts_with("<classDef ") {
            classes.insert(attribute(line, "classId"), attribute(line, "name"));
        } else if line.starts_with("<methodDef ") {
            let name = format!("{}.{}", classes[attribute(line, "classIdRef")], attribute(line, "name"));
            methods.insert(attribute(line, "methodId"), name);
        } else if line.starts_with("<objAlloc ") {
            let class = classes[attribute(line, "classIdRef")];
            let method = methods.get(attribute(line, "methodIdRef")).map_or("none", String::as_str);
            if method == "java.util.jar.Manifest.read" && attribute(line, "size") == "528" {
                // Not every JDK has lines for its own classes.
                *found.entry((class.to_owned(), method.to_owned(), String::new())).or_default() += 1;
            } else if class.starts_with("sites.") || attribute(line, "size") == "98776" {
                *found
                    .entry((class.to_owned(), method.to_owned(), attribute(line, "lineNumber").to_owned()))
                    .or_default() += 1;
            }
        }
    }
    found
}

fn every_depth_and_every_way_to_allocate(jdk: &Jdk, stack: &str) {
    let expected: BTreeMap<_, _> = [
        ("byte[]", "java.util.jar.Manifest.read", "", 1),
        ("double[]", "sites.Main.at", "40", DEPTHS),
        ("sites.Main$Base[]", "sites.Main.at", "41", DEPTHS),
        ("sites.Main$Chained", "sites.Main.at", "42", DEPTHS),
        ("sites.Main$Nested", "sites.Main$Chained.-init-", "19", DEPTHS),
        ("sites.Main$Base[][]", "sites.Main.at", "43", DEPTHS),
        ("sites.Main$Base[]", "sites.Main.at", "43", DEPTHS * 2),
        ("sites.Main$Tree", "sites.Main.at", "44", DEPTHS),
        ("sites.Main$Tree", "sites.Main$Tree.-init-", "29", DEPTHS * 3),
    ]
    .map(|(class, method, line, count)| ((class.to_owned(), method.to_owned(), line.to_owned()), count))
    .into();
    let ran = Profiled::on(jdk).options("allocsites=true").options(stack).main("sites.Main").run();
    let trace = fs::read_to_string(&ran.file).expect("the trace is there");
    assert_eq!(sites(&trace), expected);
}
