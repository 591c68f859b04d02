//! Stacks: for every object the frames that an exception would have shown there, whatever the JVM had made of the methods.

use std::collections::{BTreeMap, HashMap};

use bci_tests::jdk::{Collector, Jdk};
use bci_tests::profiled::{Heap, Profiled, is_safe_mode};
use bci_tests::read::TraceData;
use bci_tests::suite::Suite;
use trace::ids::{ClassId, MethodId, StackId};
use trace::model::Element;

const DEPTH: usize = 8;
const ROUNDS: u64 = 60_000;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk_and(
        &[
            ("compiled", (&[][..], "heap=events")),
            ("interpreted", (&["-Xint"], "heap=events")),
            ("c1", (&["-XX:TieredStopAtLevel=1"], "heap=events")),
            ("c2_in_little_memory", (&["-XX:-TieredCompilation", "-Xmx32m"], "heap=events")),
            ("filtered", (&[], "heap=events,include=stacks.*")),
            ("by_jvmti", (&[], "heap=vm,stacks=jvmti")),
            ("without_internals", (&[], "heap=vm,internals=off")),
        ],
        of_platform_threads,
    );
    if !is_safe_mode() {
        suite.each_jdk_and_collector(where_other_code_was);
        suite.each_jdk_and_collector(where_other_classes_were);
    }
    suite.versions(21..).each_and(&[("compiled", &[][..]), ("c1", &["-XX:TieredStopAtLevel=1"])], of_virtual_threads);
    suite.jdks(21..).each_and(&[("events", Heap::Events), ("vm", Heap::Vm)], while_virtual_threads_come_and_go);
}

type Counts = BTreeMap<Vec<String>, u64>;

/// What goes through one class before the other is loaded goes through that one afterwards.
fn same_for_both(frame: &str) -> String {
    frame.replace("$Later.go:31", "$Straight.go:24")
}

/// What the program prints, by the frames that the trace has.
fn printed(out: &str) -> Counts {
    let mut counts = Counts::new();
    for line in out.lines() {
        let mut words = line.split(' ');
        let number: u64 = words.next().and_then(|word| word.parse().ok()).expect("a number");
        *counts.entry(words.take(DEPTH).map(same_for_both).collect()).or_default() += number;
    }
    counts.retain(|_, number| *number > 0);
    counts
}

/// Markers by stack, the number of stacks that were compared with the VM's, and of those that were taken for others.
#[derive(Default)]
struct Found {
    counts: Counts,
    /// Objects with `DEPTH` frames, and how many the trace says there are.
    full: u64,
    said_full: Option<u64>,
    compared: Option<u64>,
    mismatches: Option<u64>,
    lost: u64,
    classes: HashMap<ClassId, String>,
    methods: HashMap<MethodId, String>,
    stacks: HashMap<StackId, Vec<String>>,
}

impl TraceData for Found {
    fn element(&mut self, element: &Element<'_>) {
        match element {
            Element::ClassDef(class) => drop(self.classes.insert(class.class_id, class.name.to_string())),
            Element::MethodDef(method) => {
                let name = format!("{}.{}", self.classes[&method.class], method.name);
                self.methods.insert(method.method_id, name);
            }
            Element::StackDef(stack) => {
                let frames = stack.frames.0.iter();
                let frames = frames.map(|f| same_for_both(&format!("{}:{}", self.methods[&f.method], f.line)));
                self.stacks.insert(stack.stack_id, frames.collect::<Vec<_>>());
            }
            Element::MartiniCount(count) if count.key == "stacks.full" => self.said_full = Some(count.value),
            Element::ObjAlloc(object) => {
                let stack = object.stack.map(|stack| self.stacks[&stack].clone()).unwrap_or_default();
                self.full += u64::from(stack.len() == DEPTH);
                if self.classes[&object.class] == "stacks.Main$Marker" {
                    *self.counts.entry(stack).or_default() += 1;
                }
            }
            Element::MartiniCount(count) if count.key == "events.lost" => self.lost += count.value,
            Element::MartiniCount(count) if count.key == "stackCache.compared" => self.compared = Some(count.value),
            Element::MartiniCount(count) if count.key == "stackCache.mismatches" => self.mismatches = Some(count.value),
            _ => {}
        }
    }
}

#[track_caller]
fn check(profiled: Profiled<'_>, options: &str, kind: &str) {
    let rounds = ROUNDS.to_string();
    let is_by_jvmti = is_safe_mode() || options.contains("stacks=jvmti") || options.contains("internals=off");
    let profiled = profiled.options(options).option("stack", DEPTH).main("stacks.Main").args(&[&rounds, kind]);
    let ran = profiled.run_and_read::<Found>();
    let (printed, found) = (printed(&ran.out()), &ran.trace.counts);
    assert_eq!(found.values().sum::<u64>(), ROUNDS);
    let other: Vec<_> = found.iter().filter(|(stack, number)| printed.get(*stack) != Some(number)).take(3).collect();
    assert!(*found == printed, "{other:#?}");
    assert!(ran.trace.full > 0 && ran.trace.said_full == Some(ran.trace.full));
    // What is not found by return addresses is not compared.
    assert_eq!(ran.trace.mismatches, (!is_by_jvmti).then_some(0));
}

fn of_platform_threads(jdk: &Jdk, (flags, options): (&[&str], &str)) {
    check(Profiled::on(jdk).flags(flags), options, "platform");
}

/// Their frames leave the stack when they yield, and come back bit by bit.
fn of_virtual_threads(jdk: &Jdk, flags: &[&str]) {
    check(Profiled::on(jdk).flags(flags), "heap=events", "virtual");
}

/// New code comes to lie where other code was, whose return addresses threads remember: each stack is compared with the VM's.
fn where_other_code_was(jdk: &Jdk, collector: Collector) {
    let profiled = Profiled::on(jdk).collector(collector).flags(&[
        "-Xmx64m",
        "-Xbatch",
        "-XX:TieredStopAtLevel=1",
        "-XX:CompileThresholdScaling=0.02",
        "-XX:ReservedCodeCacheSize=8m",
        "-XX:CompileCommand=quiet",
        "-XX:CompileCommand=compileonly,recompiled.*::*",
    ]);
    let profiled = profiled.variable("MARTINI_COMPARE_STACKS", "all").no_schema();
    let profiled = profiled.options("heap=vm,lifetimes=false,stack=4").main("recompiled.Main").args(&["40"]);
    let found = profiled.run_and_read::<Found>().trace;
    assert_eq!(found.mismatches, Some(0));
    assert!(found.compared.is_some_and(|compared| compared > 500_000), "{:?}", found.compared);
}

/// New classes come to lie where other classes were, which collections without an event have unloaded.
fn where_other_classes_were(jdk: &Jdk, collector: Collector) {
    let profiled = Profiled::on(jdk).collector(collector).flags(&["-Xmx256m", "-Xint"]);
    let profiled = profiled.variable("MARTINI_COMPARE_STACKS", "all").no_schema();
    let profiled = profiled.options("heap=events,lifetimes=false,stack=4").main("recompiled.Unloaded").args(&["20"]);
    let found = profiled.run_and_read::<Found>().trace;
    assert_eq!(found.mismatches, Some(0));
    assert!(found.compared.is_some_and(|compared| compared > 1_000), "{:?}", found.compared);
}

/// Virtual threads that begin, wait, move and end while their allocations are reported: each stack is what the VM says, and the VM
/// says something at each.
fn while_virtual_threads_come_and_go(jdk: &Jdk, heap: Heap) {
    let profiled = Profiled::on(jdk).heap(heap).options("lifetimes=false,stack=8,juc=on").no_schema();
    let profiled = profiled.variable("MARTINI_COMPARE_STACKS", "all").main("torture.Virtual").args(&["100"]);
    let found = profiled.run_and_read::<Found>().trace;
    assert_eq!(found.mismatches, (!is_safe_mode()).then_some(0));
    if !is_safe_mode() {
        assert!(found.compared.is_some_and(|compared| compared > 1_000), "{:?}", found.compared);
    }
    assert_eq!(found.lost, 0);
}
