//! What threads do that wait for nobody: they sleep, run, and wait for input. The report says what the program measures itself.

use std::collections::HashMap;

use analysis::locks::{LockReport, LockStats, ProcessorTime, Selection, ThreadSummary};
use bci_tests::jdk::Jdk;
use bci_tests::profiled::Profiled;
use bci_tests::read::TraceData;
use bci_tests::suite::Suite;
use trace::model::Element;

/// How long the program does each thing at least, in nanoseconds.
const LENGTH: u64 = 300_000_000;
/// What a thread may run beside what it does: to begin, to end, and for the agent.
const BESIDE: u64 = 100_000_000;

pub(crate) fn tests(suite: &mut Suite) {
    let options = [("locks", "heap=off,juc=on"), ("counts", "heap=counts,locks=on"), ("events", "heap=events,juc=on")];
    suite.each_jdk_and(&options, threads_did_what_they_measured);
    let options =
        [("locks", "heap=off,locks=on"), ("counts", "heap=counts,juc=on"), ("events", "heap=events,locks=on")];
    suite.jdks(21..).each_and(&options, virtual_threads_live_from_their_start);
}

/// The report of `martini threads`.
struct Report(LockStats<'static>);

impl Default for Report {
    fn default() -> Self {
        Report(LockStats::new(Selection::default(), None))
    }
}

impl TraceData for Report {
    fn element(&mut self, element: &Element<'_>) {
        self.0.element(element);
    }
}

/// One run: the report, and what each thread printed of its time and of its processor time.
fn run(profiled: Profiled<'_>, main: &str) -> (LockReport, HashMap<String, (u64, u64)>) {
    let ran = profiled.main(main).run_and_read::<Report>();
    assert_eq!(ran.err(), "");
    let line = |line: &str| {
        let mut fields = line.split(' ');
        let name = fields.next().expect("a name").to_owned();
        let mut number = || fields.next().and_then(|number| number.parse().ok()).expect("nanoseconds");
        (name, (number(), number()))
    };
    let printed = ran.out().lines().map(line).collect();
    let mut stats = ran.trace.0;
    stats.end_document();
    let report = stats.finish();
    for key in ["events.lost", "waits.withoutBegin", "waits.withoutEnd", "agent.panics"] {
        let count = report.facts().counts.iter().find(|count| count.key == key);
        assert!(count.is_none_or(|count| count.value == 0), "{count:?}");
    }
    (report, printed)
}

fn of<'r>(threads: &'r [ThreadSummary<'r>], name: &str) -> &'r ThreadSummary<'r> {
    threads.iter().find(|row| row.thread.name == name).unwrap_or_else(|| panic!("no {name}: {threads:#?}"))
}

fn threads_did_what_they_measured(jdk: &Jdk, options: &str) {
    let (report, printed) = run(Profiled::on(jdk).options(options), "times.Main");
    let threads = report.threads(false, |_| true);
    assert_eq!(printed.len(), 6, "{printed:?}");
    for (name, &(nanos, cpu)) in &printed {
        let row = of(&threads, name);
        let ProcessorTime { cpu: found, queued, elsewhere } = row.processor.expect("the trace says it");
        // The system is not asked about a short life.
        if name == "t-interrupted" && queued.is_none() {
            assert!(elsewhere.is_none() && row.sleeping.count == 1 && found.0 <= row.alive().0, "{row:#?}");
            continue;
        }
        let (queued, elsewhere) = (queued.expect("the system says it"), elsewhere.expect("it follows"));
        // It lived longer than it did anything.
        assert!(row.alive().0 >= nanos, "{row:#?} measured {nanos}");
        assert!(found.0 <= row.alive().0, "{row:#?}");
        assert!((cpu..cpu + BESIDE).contains(&found.0), "{row:#?} measured {cpu} on a processor");
        assert_eq!(elsewhere.0, row.running.0.saturating_sub(found.0 + queued.0), "{row:#?}");
        assert!(row.sleeping.total.0 <= nanos, "{row:#?} measured {nanos}");
        let times = match name.as_str() {
            "t-sleep" | "t-interrupted" => 1,
            "t-sleep-twice" => 2,
            _ => 0,
        };
        assert_eq!(row.sleeping.count, times, "{row:#?}");
        let parked = u64::from(name == "t-park" && options.contains("juc=on"));
        assert!(row.parked.count >= parked && (parked > 0 || row.parked.count == 0), "{row:#?}");
        let least = |what: u64| assert!(what >= LENGTH, "{row:#?} measured {nanos}");
        match name.as_str() {
            "t-sleep" | "t-sleep-twice" => least(row.sleeping.total.0),
            "t-park" if parked > 0 => assert!(row.parked.total.0 <= nanos && row.parked.total.0 > 0, "{row:#?}"),
            "t-compute" => least(found.0),
            // It neither ran nor waited for a processor.
            "t-read" | "t-park" => least(elsewhere.0 + found.0 + queued.0),
            _ => assert!(row.sleeping.total.0 > 0, "{row:#?}"),
        }
    }
}

fn virtual_threads_live_from_their_start(jdk: &Jdk, options: &str) {
    let (report, printed) = run(Profiled::on(jdk).options(options), "times.Virtual");
    let threads = report.threads(false, |_| true);
    for (name, times) in [("t-sleep", 1), ("t-interrupted", 2), ("t-short", 0)] {
        let row = of(&threads, name);
        let (nanos, _) = printed[name];
        assert!(row.alive().0 >= nanos, "{row:#?} measured {nanos}");
        assert_eq!(row.sleeping.count, times, "{row:#?}");
        assert!(row.sleeping.total.0 <= nanos, "{row:#?} measured {nanos}");
        assert_eq!(row.processor, None, "{row:#?}");
        assert_eq!(row.at_end.iter().sum::<u64>(), 0, "{row:#?}");
    }
    assert!(of(&threads, "t-sleep").sleeping.total.0 >= LENGTH, "{threads:#?}");
    let lasting = of(&threads, "t-lasting");
    assert_eq!((lasting.sleeping.count, lasting.at_end), (1, [0, 0, 0, 1, 0]), "{lasting:#?}");
    assert!(lasting.alive().0 >= printed["t-sleep"].0, "{lasting:#?}");
}
