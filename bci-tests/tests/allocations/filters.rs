//! Which classes a trace holds: the first rule that matches decides, and what it leaves out is left out wholly.

use std::fs;

use bci_tests::jdk::Jdk;
use bci_tests::profiled::Profiled;
use bci_tests::recorded::Recorded;
use bci_tests::suite::Suite;
use bci_tests::windows;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(one_package);
    suite.each_jdk(all_but_the_class_library);
    suite.each_jdk(the_first_match_decides);
    suite.each_jdk(a_name_without_star_is_one_class_and_its_arrays);
    suite.each_jdk(a_star_in_front);
    suite.each_jdk(arrays_of_primitives);
    suite.each_jdk(filter_file);
    suite.any_jdk(tptp_spelling);
    suite.every_jdk(classes_of_the_cds_archive);
}

/// Runs `shapes.Main` under rules; its trace must hold exactly those classes of which `reported` is true, with the numbers of the
/// program.
#[track_caller]
fn check(profiled: Profiled<'_>, reported: impl Fn(&str) -> bool) {
    let ran = profiled.main("shapes.Main").args(&["600", "100"]).run_and_read::<Recorded>();
    let strangers: Vec<&str> = ran.trace.by_class().into_keys().filter(|class| !reported(class)).collect();
    assert!(strangers.is_empty(), "{strangers:?}");

    let mut windows = windows::printed(&ran.out());
    for window in &mut windows {
        window.expected.retain(|class, _| reported(class));
    }
    let differences = windows::differences(&windows, &ran.trace);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

fn package(class: &str) -> bool {
    class.starts_with("shapes.")
}

fn one_package(jdk: &Jdk) {
    check(Profiled::on(jdk).options("include=shapes.*,exclude=*"), package);
}

fn all_but_the_class_library(jdk: &Jdk) {
    // Tables show all proxies as `jdk.proxy.$Proxy`, whose package on JDK 11 is `com.sun.proxy`.
    let library = ["java.", "jdk.", "sun.", "javax.", "com.sun.proxy."];
    check(Profiled::on(jdk).options("exclude=java.*,exclude=jdk.*,exclude=sun.*,exclude=javax.*"), |class| {
        !library.iter().any(|prefix| class.starts_with(prefix))
    });
}

fn the_first_match_decides(jdk: &Jdk) {
    let rules = "include=shapes.Window$*,exclude=shapes.PlainShapes*,include=shapes.*,exclude=*";
    check(Profiled::on(jdk).options(rules), |class| package(class) && !class.starts_with("shapes.PlainShapes"));
}

fn a_name_without_star_is_one_class_and_its_arrays(jdk: &Jdk) {
    let rules = "include=shapes.Window$*,include=shapes.ArrayShapes$Cell,exclude=*";
    check(Profiled::on(jdk).options(rules), |class| {
        let element = class.trim_end_matches("[]");
        element.starts_with("shapes.Window$") || element == "shapes.ArrayShapes$Cell"
    });
}

fn a_star_in_front(jdk: &Jdk) {
    check(Profiled::on(jdk).options("include=*Begin,include=*End,include=*Cell,exclude=*"), |class| {
        let element = class.trim_end_matches("[]");
        ["Begin", "End", "Cell"].iter().any(|suffix| element.ends_with(suffix))
    });
}

fn arrays_of_primitives(jdk: &Jdk) {
    check(Profiled::on(jdk).options("include=shapes.Window$*,include=int,include=byte,exclude=*"), |class| {
        let element = class.trim_end_matches("[]");
        element.starts_with("shapes.Window$") || element == "int" || element == "byte"
    });
}

fn filter_file(jdk: &Jdk) {
    let profiled = Profiled::on(jdk);
    let file = profiled.dir().join("filters.txt");
    let rules = "shapes.Window$*  *  INCLUDE\n\nshapes.GridShapes*\t*\tEXCLUDE\nshapes.*  *  INCLUDE\n*  *  EXCLUDE\n";
    fs::write(&file, rules).expect("the folder is ours");
    check(profiled.option("filters", file.display()), |class| {
        package(class) && !class.starts_with("shapes.GridShapes")
    });
}

fn tptp_spelling(jdk: &Jdk) {
    let profiled = Profiled::on(jdk);
    let filters = profiled.dir().join("filters.txt");
    fs::write(&filters, "endings.* * INCLUDE\n* * EXCLUDE\n").expect("the folder is ours");
    let options =
        format!("JPIAgent:server=standalone,file={{file}},filters={};HeapProf:allocsites=true", filters.display());
    let profiled = profiled.spelled(&options).main("endings.Main").args(&["return"]);
    let trace = profiled.run_and_read::<Recorded>().trace;
    assert_eq!(trace.by_class().into_iter().collect::<Vec<_>>(), [("endings.Main$Cell", 1000)]);
    assert!(trace.objects.iter().all(|object| object.has_site));
}

/// Classes out of the JDK's CDS archive may have their call of `Object.<init>` resolved already.
fn classes_of_the_cds_archive(jdk: &Jdk) {
    let ran = Profiled::on(jdk).option("include", "java.util.jar.*").main("archived.Main").run_and_read::<Recorded>();
    let made = |class: &str| ran.trace.of_class(class).count();
    assert!(made("java.util.jar.Manifest") >= 10_000, "{}", made("java.util.jar.Manifest"));
    // Each manifest has attributes of its own.
    assert!(made("java.util.jar.Attributes") >= 20_000, "{}", made("java.util.jar.Attributes"));
}
