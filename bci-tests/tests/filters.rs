//! Which classes a trace holds: the first rule that matches decides, and what it leaves out is left out wholly.

use std::fs;

use bci_tests::java;
use bci_tests::jdk;
use bci_tests::martini;
use bci_tests::process;
use bci_tests::recorded::Recorded;
use bci_tests::schema::{self, Schema};
use bci_tests::windows;
use bci_tests::workdir::Workdir;

/// Runs `shapes.Main` under rules on each JDK; its trace must hold exactly those classes of which `reported` is true,
/// with the numbers of the program.
#[track_caller]
fn check(options: &str, reported: impl Fn(&str) -> bool) {
    for jdk in jdk::each_feature() {
        let dir = Workdir::new();
        let file = dir.join("filtered.trcxml");
        let agent = martini::built().agent_path(&format!("file={},{options}", file.display()));
        let ran = process::run(&mut java::with_agent(jdk, &[], Some(agent), "shapes.Main", &["600", "100"])).success();
        schema::check(&file, Schema::Strict);
        schema::validate(&file);
        let trace = Recorded::read(&file);
        let strangers: Vec<&str> = trace.by_class().into_keys().filter(|class| !reported(class)).collect();
        assert!(strangers.is_empty(), "JDK {jdk}, {options}: {strangers:?}");

        let mut windows = windows::printed(&ran.out());
        for window in &mut windows {
            window.expected.retain(|class, _| reported(class));
        }
        let differences = windows::differences(&windows, &trace);
        assert!(differences.is_empty(), "JDK {jdk}, {options}: {}", differences.join("\n"));
    }
}

fn package(class: &str) -> bool {
    class.starts_with("shapes.")
}

#[test]
fn one_package() {
    check("include=shapes.*,exclude=*", package);
}

#[test]
fn all_but_the_class_library() {
    check("exclude=java.*,exclude=jdk.*,exclude=sun.*,exclude=javax.*", |class| {
        !["java.", "jdk.", "sun.", "javax."].iter().any(|prefix| class.starts_with(prefix))
    });
}

#[test]
fn the_first_match_decides() {
    check("include=shapes.Window$*,exclude=shapes.PlainShapes*,include=shapes.*,exclude=*", |class| {
        package(class) && !class.starts_with("shapes.PlainShapes")
    });
}

#[test]
fn a_name_without_star_is_one_class_and_its_arrays() {
    check("include=shapes.Window$*,include=shapes.ArrayShapes$Cell,exclude=*", |class| {
        let element = class.trim_end_matches("[]");
        element.starts_with("shapes.Window$") || element == "shapes.ArrayShapes$Cell"
    });
}

#[test]
fn a_star_in_front() {
    check("include=*Begin,include=*End,include=*Cell,exclude=*", |class| {
        let element = class.trim_end_matches("[]");
        ["Begin", "End", "Cell"].iter().any(|suffix| element.ends_with(suffix))
    });
}

#[test]
fn arrays_of_primitives() {
    check("include=shapes.Window$*,include=int,include=byte,exclude=*", |class| {
        let element = class.trim_end_matches("[]");
        element.starts_with("shapes.Window$") || element == "int" || element == "byte"
    });
}

#[test]
fn filter_file() {
    let dir = Workdir::new();
    let file = dir.join("filters.txt");
    let rules = "shapes.Window$*  *  INCLUDE\n\nshapes.GridShapes*\t*\tEXCLUDE\nshapes.*  *  INCLUDE\n*  *  EXCLUDE\n";
    fs::write(&file, rules).expect("the folder is ours");
    check(&format!("filters={}", file.display()), |class| package(class) && !class.starts_with("shapes.GridShapes"));
}

#[test]
fn tptp_spelling() {
    let dir = Workdir::new();
    let (filters, file) = (dir.join("filters.txt"), dir.join("tptp.trcxml"));
    fs::write(&filters, "endings.* * INCLUDE\n* * EXCLUDE\n").expect("the folder is ours");
    let options = format!(
        "JPIAgent:server=standalone,file={},filters={};HeapProf:allocsites=true",
        file.display(),
        filters.display()
    );
    let agent = martini::built().agent_path(&options);
    process::run(&mut java::with_agent(jdk::any(), &[], Some(agent), "endings.Main", &["return"])).success();
    schema::check(&file, Schema::Strict);
    let trace = Recorded::read(&file);
    assert_eq!(trace.by_class().into_iter().collect::<Vec<_>>(), [("endings.Main$Cell", 1000)]);
    assert!(trace.objects.iter().all(|object| object.has_site));
}

/// Classes out of the JDK's CDS archive may have their call of `Object.<init>` resolved already.
#[test]
fn classes_of_the_cds_archive() {
    for jdk in jdk::all() {
        let dir = Workdir::new();
        let file = dir.join("archived.trcxml");
        let agent = martini::built().agent_path(&format!("file={},include=java.util.jar.*", file.display()));
        process::run(&mut java::with_agent(jdk, &[], Some(agent), "archived.Main", &[])).success();
        let trace = Recorded::read(&file);
        let made = |class: &str| trace.of_class(class).count();
        assert!(made("java.util.jar.Manifest") >= 10_000, "JDK {jdk}: {}", made("java.util.jar.Manifest"));
        // Each manifest has attributes of its own.
        assert!(made("java.util.jar.Attributes") >= 20_000, "JDK {jdk}: {}", made("java.util.jar.Attributes"));
    }
}
