//! `warmup=on`: what the trace says of the start is what the JVM itself logs and counts, and who causes an initialiser is named.

use std::collections::BTreeMap;
use std::fs;

use analysis::warm_up::{WarmUpReport, WarmUpStats};
use bci_tests::jdk::Jdk;
use bci_tests::martini::workspace;
use bci_tests::profiled::Profiled;
use bci_tests::profiled::is_safe_mode;
use bci_tests::read::TraceData;
use bci_tests::suite::Suite;
use trace::model::{CodeTier, Element};

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(compilations_are_those_of_the_jvms_log);
    suite.each_jdk(who_causes_an_initialiser_is_named);
    suite.each_jdk(counters_are_those_of_the_jvm);
    suite.each_jdk(look_ups_that_fail_are_counted);
}

/// What a trace says of the start.
#[derive(Default)]
struct Read {
    stats: WarmUpStats,
    compiled: BTreeMap<u64, (String, CodeTier)>,
}

impl TraceData for Read {
    fn element(&mut self, element: &Element<'_>) {
        self.stats.element(element);
        if let Element::Compilation(compilation) = element {
            let before = self.compiled.insert(compilation.id, (compilation.method.to_string(), compilation.tier));
            assert!(before.is_none() || compilation.tier == CodeTier::Native, "twice: {compilation:?}");
        }
    }

    fn end(&mut self, _: bool) {
        self.stats.end_document();
    }
}

fn program(jdk: &Jdk) -> Profiled<'_> {
    Profiled::on(jdk).options("warmup=on").main("start.Main").flags(&["-Xmx256m", "-XX:+UseSerialGC"])
}

/// What a line of the program says behind a word.
fn said(out: &str, word: &str) -> u64 {
    let line = out.lines().find_map(|line| line.strip_prefix(word)).unwrap_or_else(|| panic!("{out}"));
    line.trim().parse().unwrap_or_else(|_| panic!("{line}"))
}

/// Compilations, in their order, from what the JVM writes into a file of its own in the same run; without wrappers of native methods.
fn logged(log: &str) -> Vec<(u64, (String, CodeTier))> {
    let begun = log.lines().filter(|line| !line.contains("made not entrant") && !line.contains("made zombie"));
    let compilation = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let method = words.iter().position(|word| word.contains("::"))?;
        let level = words[..method].iter().skip(1).rev().find_map(|word| word.parse().ok())?;
        let tier = CodeTier::of_level(level).filter(|&tier| tier != CodeTier::Native)?;
        Some((words[0].parse().ok()?, (words[method].to_owned(), tier)))
    };
    begun.filter_map(compilation).collect()
}

fn compilations_are_those_of_the_jvms_log(jdk: &Jdk) {
    /// Compilers that begin at the same time write both logs in an order of their own.
    const AT_ONCE: usize = 8;
    let profiled = program(jdk);
    let file = profiled.dir().join("compilations.log");
    let flag = format!("-Xlog:jit+compilation=debug:file={}:none", file.display());
    let ran = profiled.flags(&[&flag]).run_and_read::<Read>();
    ran.out();
    let logged = logged(&fs::read_to_string(&file).expect("the JVM's log"));
    let recorded = &ran.trace.compiled;
    let is_recorded = |(id, code): &(u64, (String, CodeTier))| recorded.get(id) == Some(code);
    // Those before the recording, and behind its end, are not in the trace.
    let first = logged.iter().position(is_recorded).unwrap_or_else(|| panic!("nothing is recorded: {logged:?}"));
    let last = logged.iter().rposition(is_recorded).expect("the first one, at least");
    assert!(last > first + 4 * AT_ONCE, "{recorded:?}");
    let missing: Vec<_> = logged[first + AT_ONCE..last - AT_ONCE].iter().filter(|one| !is_recorded(one)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let known = logged.iter().filter(|one| is_recorded(one)).count();
    let compiled = recorded.values().filter(|(_, tier)| *tier != CodeTier::Native).count();
    assert_eq!(known, compiled, "{recorded:?}");
}

/// The line of the program that ends in this comment.
fn line(of: &str) -> u32 {
    let source = workspace().join("bci-tests/java/11/start/Main.java");
    let text = fs::read_to_string(source).expect("the program's source");
    let at = text.lines().position(|line| line.ends_with(&format!("// line of {of}"))).expect("its line");
    at as u32 + 1
}

fn who_causes_an_initialiser_is_named(jdk: &Jdk) {
    let ran = program(jdk).run_and_read::<Read>();
    let (out, report): (String, WarmUpReport) = (ran.out(), ran.trace.stats.finish());
    let rows = report.initialisers(Vec::new());
    if is_safe_mode() {
        assert!(rows.is_empty(), "{rows:#?}");
        return;
    }
    let find = |class: &str| rows.iter().find(|row| row.class == class).unwrap_or_else(|| panic!("{class}: {rows:#?}"));
    let (rules, tables) = (find("start.Main$Rules"), find("start.Main$Tables"));
    let first = said(&out, "first");
    // The end is seen by a look, which waits for a processor on a busy machine.
    for row in [rules, tables] {
        assert!(row.total.0 >= 100_000_000 && row.total.0 <= first + 2_000_000_000, "{first} {row:#?}");
    }
    assert!(rules.total.0 >= 300_000_000 && rules.own.0 <= rules.total.0 - 100_000_000, "{rules:#?}");
    let Some(cause) = rules.caused_by else { panic!("{rules:#?}") };
    assert_eq!((cause.class, cause.method, cause.line), ("start.Main", "validate", Some(line("Rules"))));
    assert_eq!(tables.caused_by.map(|at| at.class), Some("start.Main$Rules"), "{tables:#?}");
    // A thread that has ended when the element is written is not named any more.
    assert!(rules.thread.is_none_or(|thread| thread == "main"), "{rules:#?}");
    let frames: Vec<&str> = rules.stack.iter().map(|at| at.method).collect();
    assert_eq!(frames, ["-clinit-", "validate", "handle", "main"]);
}

fn look_ups_that_fail_are_counted(jdk: &Jdk) {
    let ran = program(jdk).run_and_read::<Read>();
    let (out, report) = (ran.out(), ran.trace.stats.finish());
    let rows = report.failed_lookups(Vec::new());
    let of_program = rows.iter().find(|row| row.caused_by.is_some_and(|at| at.method == "probe"));
    let Some(row) = of_program else { panic!("{rows:#?}") };
    assert_eq!(row.count, said(&out, "absent"), "{rows:#?}");
    assert!(row.loader.starts_with("jdk.internal.loader."), "{row:#?}");
}

fn counters_are_those_of_the_jvm(jdk: &Jdk) {
    let ran = program(jdk).run_and_read::<Read>();
    let (out, report) = (ran.out(), ran.trace.stats.finish());
    if is_safe_mode() {
        assert!(!report.has_counters());
        return;
    }
    // The end of the program loads some more.
    let loaded = said(&out, "loaded");
    assert!((loaded..loaded + 200).contains(&report.loaded_classes()), "{loaded} {}", report.loaded_classes());
    let collections: u64 = report
        .counters()
        .filter(|(name, _)| name.starts_with("sun.gc.collector.") && name.ends_with(".invocations"))
        .map(|(_, value)| value)
        .sum();
    // The recording ends with one.
    let of_program = said(&out, "collections");
    assert!((of_program..=of_program + 2).contains(&collections), "{of_program} {collections}");
    // The parts of the axis add up to them.
    let intervals = report.intervals();
    let classes: u64 = intervals.iter().map(|interval| interval.classes).sum();
    assert_eq!(classes, report.loaded_classes());
}
