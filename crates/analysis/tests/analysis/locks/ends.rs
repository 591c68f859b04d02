//! Where a trace ends that has no end of its own.

use analysis::locks::LockStats;
use trace::ids::{ObjectId, ThreadId};
use trace::model::{Element, GcFinish, MonWait, ThreadStart, TraceStart};
use trace::time::{Nanos, Time};

#[test]
fn a_trace_ends_at_its_last_event_of_any_kind() {
    let mut stats = LockStats::default();
    for element in [
        Element::TraceStart(TraceStart { trace_id: "t".into(), agent_id: "a".into(), time: Time(1_000) }),
        Element::ThreadStart(ThreadStart {
            thread_id: ThreadId(1),
            time: Time(1_000),
            thread_name: "main".into(),
            group_name: "".into(),
            parent_name: "".into(),
            object: None,
            kind: None,
        }),
        Element::MonWait(MonWait {
            thread: ThreadId(1),
            time: Time(3_000),
            object: ObjectId(7),
            timeout_millis: 0,
            stack: None,
            parked: None,
        }),
        Element::GcFinish(GcFinish { time: Time(9_000), used_objects: None, used_space: None, total_space: None }),
    ] {
        stats.element(&element);
    }
    stats.end_document();
    let report = stats.finish();
    assert_eq!(report.span(), Some((Time(1_000), Time(9_000))));
    let main = &report.threads(false, |_| true)[0];
    assert_eq!((main.running, main.waiting.total), (Nanos(2_000), Nanos(6_000)));
}
