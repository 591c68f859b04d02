//! Which waits `Selection::classes` selects.

use analysis::locks::{LockHolders, LockReport, LockStats, Selection};
use trace::ids::{ClassId, ObjectId, StackId, ThreadId};
use trace::model::{Element, LockName, MonContendedEnter, MonContendedEntered, ObjAlloc};
use trace::time::Time;

use crate::made;

const CLASSES: [&str; 3] = ["java.lang.Object", "shop.Stock", "web.Page"];

/// Two locks of class Object for which code of `web.Page` waits, 10 and 100 ns; the first is in a field of `shop.Stock`.
fn report(class: &str, names: LockHolders) -> LockReport {
    let mut stats =
        LockStats::new(Selection { classes: vec![class.parse().unwrap()], names, ..Selection::default() }, None);
    for (id, name) in (1..).zip(CLASSES) {
        stats.element(&made::class(id, name));
    }
    let (thread, object, stack) = (ThreadId(1), ObjectId, Some(StackId(9)));
    let code = [made::method(5, 3, "show"), Element::StackDef(made::stack(9, [(5, 7)])), made::thread(1, "main", None)];
    for element in code {
        stats.element(&element);
    }
    for (id, since, until) in [(1, 10, 20), (2, 100, 200)] {
        for element in [
            Element::ObjAlloc(ObjAlloc {
                thread: None,
                is_array: None,
                size: 16,
                obj_id: object(id),
                class: ClassId(1),
                method: None,
                line: None,
                stack: None,
                time: Time(since),
            }),
            Element::MonContendedEnter(MonContendedEnter {
                thread,
                time: Time(since),
                object: object(id),
                owner: None,
                owner_object: None,
                stack,
                owner_stack: None,
                parked: None,
                look_interval: None,
            }),
            Element::MonContendedEntered(MonContendedEntered {
                thread,
                time: Time(until),
                object: object(id),
                parked: None,
            }),
        ] {
            stats.element(&element);
        }
    }
    let name = LockName { object: object(1), class: ClassId(2), field: Some("lock".into()), time: Time(300) };
    stats.element(&Element::LockName(name));
    stats.end_document();
    stats.finish()
}

#[test]
fn a_lock_is_of_its_class_or_of_its_field_or_else_of_the_code_that_waits() {
    let waited = |class, names| report(class, names).sums().contended.total.0;
    let names = report("*", LockHolders::default()).lock_holders();
    let known = |class| waited(class, names.clone());
    assert_eq!((known("java.*"), known("shop.*"), known("web.*"), known("other.*")), (110, 10, 100, 0));
    // A trace that can be read only once says the names too late.
    let unknown = |class| waited(class, LockHolders::default());
    assert_eq!((unknown("java.*"), unknown("shop.*"), unknown("web.*")), (110, 0, 110));
}
