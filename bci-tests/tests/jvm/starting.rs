//! How a trace begins, and that no class and no object of the start is missed.

use std::fs;
use std::process::Command;

use bci_tests::counted::Counted;
use bci_tests::jdk::{self, Jdk};
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::recorded::Recorded;
use bci_tests::suite::Suite;
use bci_tests::{martini, process};

/// Threads of `early.Main`.
const THREADS: usize = 4;

/// Classes of the JDK that are loaded before the agent can change them, and of whose arrays `early.Main` makes large ones.
const EARLY_CLASSES: [&str; 2] = ["java.util.WeakHashMap$Entry[]", "java.util.Hashtable$Entry[]"];

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(nothing_before_vm_init_and_everything_afterwards);
    // The program is over before classes are rewritten, at about that time, and long after.
    let times = [("over_before", 1), ("over_meanwhile", 40), ("over_long_after", 1000)];
    suite.each_jdk_and(&times, arrays_of_classes_that_change_while_the_program_runs);
    for jdk in jdk::all() {
        for way in ways_to_start(jdk) {
            let name = format!("starting::counts_of_classes_loaded_during_start_up::jdk{}::{}", jdk.version, way.name);
            let is_first = jdk::of(jdk.feature).is_some_and(|first| first.home == jdk.home);
            suite.add_where(is_first, name, move || counts_of_classes_loaded_during_start_up(jdk, &way));
        }
    }
    // Flags of older JDKs show that an archive is asked for; newer ones are tested with the archive that they come with.
    suite.jdks(19..25).each(an_archive_that_has_to_be_there);
}

/// Nothing that happened before VMInit is reported, whatever was loaded and allocated by then. Objects of the class library that are
/// allocated afterwards are seen, though their classes were loaded long before.
fn nothing_before_vm_init_and_everything_afterwards(jdk: &Jdk) {
    let trace = Profiled::on(jdk).main("shapes.Main").args(&["100", "100"]).run_and_read::<Recorded>().trace;
    let initialised = trace.initialised.expect("runtimeInitDone is in the trace");
    assert!(trace.objects.iter().all(|object| object.born >= initialised));
    // What the launcher itself makes right after VMInit is there already.
    assert!(trace.of_class("java.lang.String").next().is_some());
    let objects = trace.by_class();
    for class in ["java.lang.String", "byte[]", "java.util.HashMap$Node", "java.util.HashMap$Node[]"] {
        assert!(objects.get(class).is_some_and(|&count| count > 100), "{class} {:?}", objects.get(class));
    }
}

fn early(jdk: &Jdk, times: usize) -> Profiled<'_> {
    Profiled::on(jdk).main("early.Main").args(&[THREADS.to_string(), times.to_string()])
}

/// No array is lost or reported twice while such classes are rewritten, which JDK 25 does beside the running program.
fn arrays_of_classes_that_change_while_the_program_runs(jdk: &Jdk, times: usize) {
    let trace = early(jdk, times).run_and_read::<Recorded>().trace;
    for class in EARLY_CLASSES {
        let found = trace.of_class(class).filter(|array| array.size > 16_000).count();
        assert_eq!(found, THREADS * times, "{class}");
    }
}

/// How the JVM is asked to use its archive of classes.
struct Way {
    name: &'static str,
    flag: String,
    /// Whether classes are redefined then, which they are only where an archive is asked for, and from JDK 25 on where there is one.
    is_redefined: bool,
}

fn ways_to_start(jdk: &Jdk) -> Vec<Way> {
    let archive = jdk.home.join("lib/server/classes.jsa");
    let way = |name, flag: &str, is_redefined| Way { name, flag: flag.to_owned(), is_redefined };
    let mut ways = vec![
        way("usual", "-Xshare:auto", jdk.feature >= 25 && archive.exists()),
        way("without_archive", "-Xshare:off", false),
        // There or not.
        way("named_archive", &format!("-XX:SharedArchiveFile={}", archive.display()), true),
    ];
    if archive.exists() {
        ways.push(way("required_archive", "-Xshare:on", true));
        // A flag up to JDK 18.
        ways.extend((jdk.feature < 19).then(|| way("required_spaces", "-XX:+RequireSharedSpaces", true)));
    }
    ways
}

/// Arrays are counted once, whether their class was rewritten as the VM loaded it, or redefined afterwards.
fn counts_of_classes_loaded_during_start_up(jdk: &Jdk, way: &Way) {
    const TIMES: usize = 40;
    /// Of all others of these classes together.
    const LEAST_BYTES: u64 = 16_400;
    let profiled = early(jdk, TIMES).heap(Heap::Counts);
    let log = profiled.dir().join("redefined.txt");
    let log_flag = format!("-Xlog:redefine*=info:file={}", log.display());
    let profiled = profiled.flags(&["-XX:+UnlockDiagnosticVMOptions", &way.flag, &log_flag]);
    let trace = profiled.run_and_read::<Counted>();
    let redefinitions = fs::read_to_string(&log).expect("the JVM's log").lines().count();
    assert_eq!(redefinitions > 0, way.is_redefined, "{redefinitions} lines");
    for class in EARLY_CLASSES {
        let of_class = trace.trace.sites.iter().filter(|(site, _)| site.class == class);
        let bytes: u64 = of_class.map(|(_, sum)| sum.bytes).sum();
        assert_eq!(bytes / LEAST_BYTES, (THREADS * TIMES) as u64, "{class}");
    }
}

/// A program that needs the JVM's own archive starts with the agent, on JDKs too whose flags do not show that it does (19 to 24), and
/// that come without one.
fn an_archive_that_has_to_be_there(jdk: &Jdk) {
    let profiled = Profiled::on(jdk).heap(Heap::Counts);
    let home = profiled.dir().join("jdk");
    let copied = Command::new("cp").arg("-rL").arg(&jdk.home).arg(&home).status();
    assert!(copied.expect("cp starts").success(), "the JDK cannot be copied");
    let java = || Command::new(home.join("bin/java"));
    process::run(java().arg("-Xshare:dump")).success();
    process::run(java().args(["-Xshare:on", "-version"])).success();
    let trace = profiled.dir().join("on.trcxml");
    let agent = martini::built().agent_path(&format!("heap=counts,file={}", trace.display()));
    process::run(java().arg("-Xshare:on").arg(agent).arg("-version")).success();
}
