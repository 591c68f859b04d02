//! Stacks: for every object the frames that an exception would have shown there, whatever the JVM had made of the methods.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use bci_tests::jdk::{self, Jdk};
use bci_tests::schema::{self, Schema};
use bci_tests::workdir::Workdir;
use bci_tests::{java, martini, process};
use trace::model::Element;
use trace::reader::{Event, TraceReader};

const DEPTH: usize = 8;
const ROUNDS: u64 = 60_000;

type Counts = BTreeMap<Vec<String>, u64>;

/// What goes through one class before the other is loaded goes through that one afterwards.
fn same_for_both(frame: &str) -> String {
    frame.replace("$Later.go:31", "$Straight.go:24")
}

/// What the program says, by the frames that the trace has.
fn said(out: &str) -> Counts {
    let mut counts = Counts::new();
    for line in out.lines() {
        let mut words = line.split(' ');
        let number: u64 = words.next().and_then(|word| word.parse().ok()).expect("a number");
        *counts.entry(words.take(DEPTH).map(same_for_both).collect()).or_default() += number;
    }
    counts.retain(|_, number| *number > 0);
    counts
}

/// Markers by stack, and the number of stacks that were mistaken for others.
fn found(path: &Path) -> (Counts, Option<u64>) {
    let (mut classes, mut methods, mut stacks) = (HashMap::new(), HashMap::new(), HashMap::new());
    let (mut counts, mut mistaken) = (Counts::new(), None);
    let mut reader = TraceReader::open(path).expect("the trace is there");
    while let Some(event) = reader.next_event().expect("the trace can be read") {
        let Event::Element { element, .. } = event else { continue };
        match element {
            Element::ClassDef(class) => drop(classes.insert(class.class_id, class.name.into_owned())),
            Element::MethodDef(method) => {
                let name = format!("{}.{}", classes[&method.class], method.name);
                methods.insert(method.method_id, name);
            }
            Element::StackDef(stack) => {
                let frames =
                    stack.frames.0.iter().map(|f| same_for_both(&format!("{}:{}", methods[&f.method], f.line)));
                stacks.insert(stack.stack_id, frames.collect::<Vec<_>>());
            }
            Element::ObjAlloc(object) if classes[&object.class] == "stacks.Main$Marker" => {
                let stack = object.stack.map(|stack| stacks[&stack].clone()).unwrap_or_default();
                *counts.entry(stack).or_default() += 1;
            }
            Element::MartiniCount(count) if count.key == "stackCache.mismatches" => mistaken = Some(count.value),
            _ => {}
        }
    }
    (counts, mistaken)
}

#[track_caller]
fn check(jdk: &Jdk, flags: &[&str], options: &str, kind: &str) {
    let dir = Workdir::new();
    let file = dir.join("stacks.trcxml");
    let agent = martini::built().agent_path(&format!("file={},stack={DEPTH},{options}", file.display()));
    let rounds = ROUNDS.to_string();
    let ran = process::run(&mut java::with_agent(jdk, flags, Some(agent), "stacks.Main", &[&rounds, kind])).success();
    schema::check(&file, Schema::Strict);
    let said = said(&ran.out());
    let (found, mistaken) = found(&file);
    assert_eq!(found.values().sum::<u64>(), ROUNDS, "JDK {jdk} {flags:?} {options} {kind}");
    let other: Vec<_> = found.iter().filter(|(stack, number)| said.get(*stack) != Some(number)).take(3).collect();
    assert!(found == said, "JDK {jdk} {flags:?} {options} {kind}: {other:#?}");
    assert_eq!(mistaken, Some(0), "JDK {jdk} {flags:?} {options} {kind}");
}

#[test]
fn of_platform_threads() {
    for jdk in jdk::each_feature() {
        for flags in [&[][..], &["-Xint"], &["-XX:TieredStopAtLevel=1"], &["-XX:-TieredCompilation", "-Xmx32m"]] {
            check(jdk, flags, "heap=events", "platform");
        }
        check(jdk, &[], "heap=events,include=stacks.*", "platform");
    }
}

/// Their frames leave the stack when they yield, and come back bit by bit.
#[test]
fn of_virtual_threads() {
    for jdk in jdk::each_feature().into_iter().filter(|jdk| jdk.feature >= 21) {
        for flags in [&[][..], &["-XX:TieredStopAtLevel=1"]] {
            check(jdk, flags, "heap=events", "virtual");
        }
    }
}
