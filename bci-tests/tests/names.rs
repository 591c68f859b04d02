//! Names that are hard to write down, and class files of every version.

use bci_tests::java;
use bci_tests::jdk;
use bci_tests::martini;
use bci_tests::process;
use bci_tests::recorded::Recorded;
use bci_tests::schema::{self, Schema};
use bci_tests::workdir::Workdir;

/// The program's `\uXXXX` as the text of a trace's model. Unpaired surrogates, which no Rust string can hold, keep that
/// spelling there, and a backslash before what would look like one is spelled too.
fn unescape(printed: &str) -> String {
    let mut units: Vec<u16> = Vec::new();
    let mut rest = printed;
    while let Some(at) = rest.find(r"\u") {
        units.extend(rest[..at].encode_utf16());
        let unit = u16::from_str_radix(&rest[at + 2..at + 6], 16).expect("the program writes four digits");
        rest = &rest[at + 6..];
        if unit == u16::from(b'\\') && rest.starts_with("ud800") {
            units.extend(r"\u005c".encode_utf16());
        } else {
            units.push(unit);
        }
    }
    units.extend(rest.encode_utf16());
    let spelled = |e: std::char::DecodeUtf16Error| format!("\\u{:04x}", e.unpaired_surrogate());
    char::decode_utf16(units).map(|unit| unit.map_or_else(spelled, String::from)).collect()
}

#[test]
fn every_name_and_version() {
    for jdk in jdk::each_feature() {
        let dir = Workdir::new();
        let file = dir.join("hostile.trcxml");
        let agent = martini::built().agent_path(&format!("file={},allocsites=true,stack=4", file.display()));
        let without = process::run(&mut java::program(jdk, &[], "hostile.Main", &[])).success();
        let with = process::run(&mut java::with_agent(jdk, &[], Some(agent), "hostile.Main", &[])).success();
        assert_eq!(with.out(), without.out(), "JDK {jdk}");
        assert_eq!(with.err(), without.err(), "JDK {jdk}");
        schema::check(&file, Schema::Strict);
        schema::check(&file, Schema::Lenient);
        schema::validate(&file);

        let trace = Recorded::read(&file);
        let objects = trace.by_class();
        let (mut classes, mut threads) = (0, 0);
        for line in without.out().lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            match fields[..] {
                ["class", count, "odd.long*"] => {
                    let (name, &made) = objects
                        .iter()
                        .find(|(name, _)| name.starts_with("odd.long") && !name.ends_with("[]"))
                        .expect(line);
                    assert!(name.chars().count() >= 20_000);
                    assert_eq!(made.to_string(), count);
                }
                ["class", count, name] => {
                    let made = objects.get(unescape(name).as_str()).copied().unwrap_or_default();
                    assert_eq!(made.to_string(), count, "JDK {jdk}: class {name:?}");
                    classes += 1;
                }
                ["thread", name] => {
                    assert!(trace.threads.contains(&unescape(name)), "JDK {jdk}: thread {name:?}");
                    threads += 1;
                }
                _ => assert_eq!(line, "done"),
            }
        }
        assert!(classes > 45 && threads > 35, "JDK {jdk}: {classes} classes, {threads} threads");
    }
}
