//! Leaks planted beside a real program are named by `martini heap`: what piles up, the way to it from a root, and from Martini's
//! dumps the line that made it and how old it is.

use bci_tests::jdk::{self, Jdk};
use bci_tests::profiled::Heap;
use bci_tests::programs;
use bci_tests::suite::Suite;
use serde_json::Value;

use crate::support::{dumped_by_the_jvm, report, request};

/// Each leak on another JDK.
pub(crate) fn tests(suite: &mut Suite) {
    if let Some(reason) = programs::hsqldb().missing() {
        return suite.skip("leaks".to_owned(), reason);
    }
    let jdk = |feature| jdk::of(feature).unwrap_or_else(jdk::any);
    suite.on(jdk(11), a_list_of_listeners);
    suite.on(jdk(17), what_grows_is_reported_with_its_ages);
    suite.on(jdk(21), a_thread_local);
    suite.on(jdk(25), class_loaders);
}

/// What `martini heap` says of a leaking program.
struct Reported {
    /// Suspects of the JVM's own dump.
    jvms: Vec<Value>,
    /// Suspects of Martini's dump.
    ours: Vec<Value>,
    /// What grows, by Martini's dump.
    growing: Value,
    /// What grows, by the trace alone.
    growing_in_trace: Value,
}

/// Runs a leaking program.
#[track_caller]
fn leaking(leak: &str, jdk: &Jdk) -> Reported {
    let profiled =
        programs::hsqldb().behind(&["leaks.Main", leak], jdk).heap(Heap::Events).options("stack=8,dump=request");
    let folder = profiled.dir().to_owned();
    let mut program = profiled.flags(&["-Xmx512m", "-XX:+UseSerialGC"]).in_folder(&folder).no_schema().start();
    program.wait_for("held");
    let ours = request(&program, 1);
    let jvms = folder.join("heap.hprof");
    dumped_by_the_jvm(jdk, program.pid(), &jvms);
    let ran = program.finish();
    let [jvms, ours, trace] = [&jvms, &ours, &ran.file].map(|file| report(file, &["--show", "suspects"]));
    let suspects = |report: &Value| report["suspects"].as_array().expect("an array").clone();
    Reported {
        jvms: suspects(&jvms),
        ours: suspects(&ours),
        growing: ours["growing"].clone(),
        growing_in_trace: trace["growing"].clone(),
    }
}

/// Where Martini's dump says that the objects of a suspect's largest part were made.
#[track_caller]
fn site(suspect: &Value) -> (&str, &Value) {
    let site = &suspect["parts"][0]["site"];
    (site["at"].as_str().unwrap_or_else(|| panic!("no site in {suspect:#}")), &site["objects"])
}

/// The suspect, if one of the first three, that lies behind a field of a class.
#[track_caller]
fn behind<'a>(suspects: &'a [Value], class: &str, field: &str) -> &'a Value {
    let leads = |suspect: &&Value| {
        let steps = suspect["path"]["steps"].as_array().expect("an array");
        steps.windows(2).any(|pair| {
            let owner = pair[0]["is_class"].as_str().or(pair[0]["class"].as_str());
            owner == Some(class) && pair[1]["by"] == field
        })
    };
    let found = suspects.iter().take(3).find(leads);
    found.unwrap_or_else(|| panic!("{class}.{field} leads to none of {suspects:#?}"))
}

fn a_list_of_listeners(jdk: &Jdk) {
    let Reported { jvms, ours, .. } = leaking("listeners", jdk);
    for suspects in [&jvms, &ours] {
        let suspect = behind(suspects, "leaks.Main$Feed", "static LISTENERS");
        assert_eq!(suspect["holder"]["class"], "java.lang.Object[]");
        let part = &suspect["parts"][0];
        assert_eq!((&part["class"], &part["objects"]), (&"leaks.Main$Watch".into(), &20_000.into()));
        assert_eq!(part["inside"][0]["class"], "byte[]");
    }
    let suspect = behind(&ours, "leaks.Main$Feed", "static LISTENERS");
    let (at, objects) = site(suspect);
    assert!(at.starts_with("leaks.Main.listeners(Main.java:"), "{at}");
    assert_eq!((objects, &suspect["parts"][0]["generations"]), (&20_000.into(), &1.into()));
    let inside = suspect["parts"][0]["inside"][0]["frames"][0].as_str().expect("a site");
    assert!(inside.starts_with("leaks.Main$Watch.<init>("), "{inside}");
}

fn a_thread_local(jdk: &Jdk) {
    let Reported { jvms, ours, .. } = leaking("thread-local", jdk);
    for suspects in [&jvms, &ours] {
        let suspect = behind(suspects, "java.lang.ThreadLocal$ThreadLocalMap$Entry", "value");
        let first = &suspect["path"]["steps"][0];
        assert_eq!((&first["class"], &first["text"]), (&"java.lang.Thread".into(), &"request-worker".into()));
        assert_eq!(suspect["parts"][0]["objects"], 20_000);
        let inside = suspect["parts"][0]["inside"].as_array().expect("an array");
        assert!(inside.iter().any(|object| object["class"] == "leaks.Main$Request"), "{suspect:#}");
    }
    // The entries are the JDK's; the line to blame is the one that puts them in.
    let (at, objects) = site(behind(&ours, "java.lang.ThreadLocal$ThreadLocalMap$Entry", "value"));
    assert!(at.starts_with("leaks.Main.lambda$threadLocal$"), "{at}");
    assert_eq!(objects, 20_000);
}

fn class_loaders(jdk: &Jdk) {
    let Reported { jvms, ours, .. } = leaking("loaders", jdk);
    for suspects in [&jvms, &ours] {
        let suspect = behind(suspects, "leaks.Main$Registry", "static PLUGINS");
        assert_eq!(suspect["parts"][0]["objects"], 200);
        let inside = suspect["parts"][0]["inside"].as_array().expect("an array");
        assert!(inside.iter().any(|object| object["is_class"] == "leaks.Plugin"), "{suspect:#}");
    }
    let (at, objects) = site(behind(&ours, "leaks.Main$Registry", "static PLUGINS"));
    assert!(at.starts_with("leaks.Main.loaders(Main.java:"), "{at}");
    assert_eq!(objects, 200);
}

fn what_grows_is_reported_with_its_ages(jdk: &Jdk) {
    let reported = leaking("growing", jdk);
    // Six batches, a collection after each, and as many collections for all after the last.
    let part = &behind(&reported.ours, "leaks.Main$Feed", "static LISTENERS")["parts"][0];
    assert_eq!((&part["objects"], &part["generations"], &part["grows"]), (&18_000.into(), &6.into(), &true.into()));
    let of_watches = |rows: &Value| {
        let mut rows = rows.as_array().expect("an array").iter().filter(|row| row["class"] == "leaks.Main$Watch");
        (rows.next().expect("it grows").clone(), rows.next().is_none())
    };
    let (row, is_alone) = of_watches(&reported.growing);
    assert!(is_alone && row["at"].as_str().is_some_and(|at| at.starts_with("leaks.Main.growing(")), "{row:#}");
    assert_eq!((&row["instances"], &row["generations"]), (&18_000.into(), &6.into()));
    let oldest = row["oldest"].as_f64().expect("a number");
    assert_eq!(row["average_age"], oldest - 2.5, "one collection between two batches");
    let (row, is_alone) = of_watches(&reported.growing_in_trace);
    assert_eq!((is_alone, &row["site"]["method"]), (true, &"growing".into()));
    assert_eq!((&row["live"], &row["generations"]), (&18_000.into(), &6.into()));
}
