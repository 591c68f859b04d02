//! Names that are hard to write down, and class files of every version.

use bci_tests::jdk::Jdk;
use bci_tests::profiled::Profiled;
use bci_tests::recorded::Recorded;
use bci_tests::suite::Suite;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(every_name_and_version);
}

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

fn every_name_and_version(jdk: &Jdk) {
    let without = Profiled::on(jdk).without_agent().main("hostile.Main").run();
    let profiled = Profiled::on(jdk).options("allocsites=true,stack=4").both_schemas().main("hostile.Main");
    let with = profiled.run_and_read::<Recorded>();
    assert_eq!(with.out(), without.out());
    assert_eq!(with.err(), without.err());

    let objects = with.trace.by_class();
    let (mut classes, mut threads) = (0, 0);
    for line in without.out().lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields[..] {
            ["class", count, "odd.long*"] => {
                let is_long = |name: &str| name.starts_with("odd.long") && !name.ends_with("[]");
                let (name, &made) = objects.iter().find(|(name, _)| is_long(name)).expect(line);
                assert!(name.chars().count() >= 20_000);
                assert_eq!(made.to_string(), count);
            }
            ["class", count, name] => {
                let made = objects.get(unescape(name).as_str()).copied().unwrap_or_default();
                assert_eq!(made.to_string(), count, "class {name:?}");
                classes += 1;
            }
            ["thread", name] => {
                assert!(with.trace.threads.contains(&unescape(name)), "thread {name:?}");
                threads += 1;
            }
            _ => assert_eq!(line, "done"),
        }
    }
    assert!(classes > 45 && threads > 35, "{classes} classes, {threads} threads");
}
