//! `mark=METHOD`: what is between two marks is what the program does between its methods.

use std::collections::BTreeMap;
use std::process::Command;

use bci_tests::jdk::Jdk;
use bci_tests::jdwp;
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::read::TraceData;
use bci_tests::suite::Suite;
use bci_tests::{martini, process};
use serde_json::Value;
use trace::ids::{ClassId, ThreadId};
use trace::model::Element;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(counts_between_marks_are_exact);
    suite.each_jdk(objects_between_marks_stand_between_them);
    suite.each_jdk(what_cannot_be_marked_is_said);
    suite.each_jdk(a_debugger_comes_first);
}

const MARKS: &str = "mark=marks.Main.work,mark=marks.Main.done";

fn counts_between_marks_are_exact(jdk: &Jdk) {
    let ran = Profiled::on(jdk).heap(Heap::Counts).options(MARKS).main("marks.Main").run();
    let counted = |flags: &[&str]| {
        let mut stats = Command::new(&martini::built().command);
        stats.args(["stats", "--json", "--in", "marks.*"]).args(flags).arg(&ran.file);
        let json: Value = serde_json::from_slice(&process::run(&mut stats).success().stdout).expect("JSON");
        let rows = json["traces"][0]["tables"]["class"].as_array().expect("rows").clone();
        let of = |row: &Value| {
            (row["class"].as_str().expect("a class").to_owned(), row["total"].as_u64().expect("a number"))
        };
        rows.iter().map(of).collect::<BTreeMap<_, _>>()
    };
    let expected = |rows: &[(&str, u64)]| rows.iter().map(|&(class, n)| (class.to_owned(), n)).collect();
    assert_eq!(counted(&["--to", "marks.Main.work"]), expected(&[("byte[]", 3_000)]));
    assert_eq!(counted(&["--from", "marks.Main.work", "--to", "marks.Main.done"]), expected(&[("int[]", 2_000)]));
    // Entered twice; the first counts.
    assert_eq!(counted(&["--begin", "marks.Main.done"]), expected(&[("long[]", 1_000)]));
}

/// The marks, and how many arrays stood in front of each.
#[derive(Debug, Default)]
struct Order {
    arrays: BTreeMap<ClassId, String>,
    seen: BTreeMap<String, u64>,
    marks: Vec<(String, ThreadId, BTreeMap<String, u64>)>,
}

impl TraceData for Order {
    fn element(&mut self, element: &Element<'_>) {
        match element {
            Element::ClassDef(class) if class.name.ends_with("[]") => {
                self.arrays.insert(class.class_id, class.name.to_string());
            }
            Element::ObjAlloc(object) => {
                let large = self.arrays.get(&object.class).filter(|_| object.size > 800);
                large.inspect(|&class| *self.seen.entry(class.clone()).or_default() += 1);
            }
            Element::Mark(mark) => self.marks.push((mark.method.to_string(), mark.thread, self.seen.clone())),
            _ => {}
        }
    }
}

fn objects_between_marks_stand_between_them(jdk: &Jdk) {
    let profiled = Profiled::on(jdk).heap(Heap::Events).options(MARKS).both_schemas();
    let order = profiled.main("marks.Main").run_and_read::<Order>().trace;
    let [work, done] = &order.marks[..] else { panic!("{:?}", order.marks) };
    assert_eq!((&*work.0, &*done.0), ("marks.Main.work", "marks.Main.done"));
    assert_eq!(work.1, done.1, "the main thread");
    let between = |class: &str| done.2.get(class).unwrap_or(&0) - work.2.get(class).unwrap_or(&0);
    assert_eq!((between("byte[]"), between("int[]"), between("long[]")), (0, 2_000, 0), "{order:?}");
}

fn what_cannot_be_marked_is_said(jdk: &Jdk) {
    let options =
        "mark=marks.Main.never,mark=java.lang.Object.hashCode,mark=java.lang.Runnable.run,mark=marks.Main.work";
    let ran = Profiled::on(jdk).options(options).main("marks.Main").run();
    for said in [
        "marks.Main.never was never entered",
        "cannot mark java.lang.Object.hashCode: it is native or abstract",
        "cannot mark java.lang.Runnable.run: it is native or abstract",
    ] {
        assert!(ran.err().contains(&format!("martini: {said}")), "{}", ran.err());
    }
    assert!(!ran.err().contains("marks.Main.work"), "{}", ran.err());
}

/// It needs the breakpoints, and its agent would end the JVM without them.
fn a_debugger_comes_first(jdk: &Jdk) {
    if !jdwp::is_there(jdk) {
        return;
    }
    for behind in [false, true] {
        let debugger = [jdwp::OPTION];
        let profiled = Profiled::on(jdk).options(MARKS).main("marks.Main");
        let ran = if behind { profiled.flags_behind(&debugger) } else { profiled.flags(&debugger) }.run();
        assert!(ran.err().contains("cannot mark methods: only one agent can use breakpoints"), "{}", ran.err());
    }
}
