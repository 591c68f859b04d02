//! Beside what else people load into a JVM: other agents, a debugger, archives of classes. The program prints what it prints alone,
//! and its objects are all there.

mod agents;
mod archives;
mod debugger;

use bci_tests::jdk::Jdk;
use bci_tests::profiled::{Heap, Profiled, Ran};
use bci_tests::read::TraceData;
use bci_tests::suite::Suite;
use trace::ids::ClassId;
use trace::model::Element;

pub(crate) fn tests(suite: &mut Suite) {
    agents::tests(suite);
    debugger::tests(suite);
    archives::tests(suite);
}

const CELL: &str = "endings.Main$Cell";

/// A small program of which the number of objects is known.
fn program<'a>(jdk: &'a Jdk, heap: Heap) -> Profiled<'a> {
    Profiled::on(jdk).heap(heap).options("juc=on,stack=8").main("endings.Main").args(&["return"])
}

/// What a trace says of the objects, and of its own completeness.
#[derive(Debug, Default)]
struct Seen {
    cell: Option<ClassId>,
    cells: u64,
    /// What was lost.
    lost: Vec<String>,
    mismatches: u64,
}

impl TraceData for Seen {
    fn element(&mut self, element: &Element<'_>) {
        match element {
            Element::ClassDef(class) if class.name == CELL => self.cell = Some(class.class_id),
            Element::ObjAlloc(object) if Some(object.class) == self.cell => self.cells += 1,
            // The last one of a site counts; here each comes once.
            Element::AllocCount(count) if Some(count.class) == self.cell => self.cells += count.instances,
            Element::MartiniCount(count) if count.key == "events.lost" => {
                self.lost.push(count.detail.as_deref().unwrap_or_default().to_owned());
            }
            Element::MartiniCount(count) if count.key == "stackCache.mismatches" => self.mismatches += count.value,
            _ => {}
        }
    }
}

/// That the program has printed what it prints alone, and that all its objects were seen.
#[track_caller]
fn assert_whole(ran: &Ran<Seen>) {
    assert_eq!(ran.out(), "1000 cells \u{e4}\n", "{}", ran.err());
    assert_eq!(ran.trace.cells, 1000);
    // Classes that another agent makes may be gone before the VM says which they were.
    assert!(ran.trace.lost.iter().all(|lost| lost == "site not found"), "{:?}", ran.trace.lost);
    assert_eq!(ran.trace.mismatches, 0);
}
