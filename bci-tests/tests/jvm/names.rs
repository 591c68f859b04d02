//! Names that are hard to write down, and class files of every version.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::Path;
use std::process::Command;

use bci_tests::jdk::Jdk;
use bci_tests::martini;
use bci_tests::process;
use bci_tests::profiled::Profiled;
use bci_tests::recorded::Recorded;
use bci_tests::suite::Suite;
use hprof::read::{Reader, Record};
use trace::modified_utf8;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(every_name_and_version);
    suite.each_jdk(names_of_a_dump_can_be_asked_for);
}

/// The internal names of the classes in a dump.
fn loaded(dump: &Path) -> HashSet<String> {
    let mut reader = Reader::new(File::open(dump).expect("it is there")).expect("a dump");
    let (mut texts, mut loaded) = (HashMap::new(), HashSet::new());
    while let Some(record) = reader.next_record().expect("the dump is whole") {
        match record {
            Record::Name { id, text } => drop(texts.insert(id, modified_utf8::decode(text))),
            Record::LoadClass { name, .. } => loaded.extend(texts.get(&name).cloned()),
            _ => {}
        }
    }
    loaded
}

/// Of the JVM's own dumps, which have names as class files do.
fn names_of_a_dump_can_be_asked_for(jdk: &Jdk) {
    let ran = Profiled::on(jdk).options("dump=end,heap=counts").main("hostile.Main").run();
    let dump = ran.dir.join("app-1.hprof");
    let out = ran.out();
    let hard = |name: &&str| name.contains("\\ud8") || name.contains("\\ude");
    let names: Vec<&str> = out.lines().filter_map(|line| line.strip_prefix("class\t")?.split('\t').nth(1)).collect();
    let there = loaded(&dump);
    // The loaders of some are gone, on JDK 17 of all.
    let hard = names.into_iter().filter(hard).map(unescape).filter(|name| there.contains(&name.replace('.', "/")));
    let hard: Vec<String> = hard.collect();
    assert!(!hard.is_empty() || jdk.feature == 17, "{out}");
    for name in hard {
        let mut heap = Command::new(&martini::built().command);
        let shown = process::run(heap.arg("heap").arg(&dump).args(["--class", &name])).success();
        assert!(!shown.out().contains('\u{fffd}'), "{}", shown.out());
    }
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
