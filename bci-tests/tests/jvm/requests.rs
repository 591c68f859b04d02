//! `request=METHOD`: each call is one request, however it ends, and its bytes are those of its own objects. `requests=on`: those that a
//! servlet hands over are flagged.

use std::collections::BTreeMap;

use bci_tests::jdk::{Jdk, Mode};
use bci_tests::profiled::{Profiled, Ran};
use bci_tests::read::TraceData;
use bci_tests::suite::Suite;
use bci_tests::tomcat;
use trace::durations::{self, DurationSlot};
use trace::model::{Element, Flag};

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk_and(&[("mixed", Mode::Default), ("interpreted", Mode::Interpreted)], each_call_is_one_request);
    suite.each_jdk(a_pattern_without_a_method_is_said);
    suite.jdks(21..).each(a_virtual_thread_has_its_own_bytes);
    if tomcat::jars().is_some() {
        suite.each_jdk_and(&[("known", Of::Server), ("named", Of::Servlet)], what_a_servlet_hands_over_is_flagged);
    } else {
        suite.skip(
            "requests::what_a_servlet_hands_over_is_flagged".to_owned(),
            "MARTINI_REAL_PROGRAMS names no folder with Tomcat's jars",
        );
    }
}

/// What a trace says of one entry point.
#[derive(Default, Debug)]
struct Entry {
    kind: Option<String>,
    /// By their elements.
    single: Vec<Single>,
    /// By the sums.
    requests: u64,
    failures: u64,
    handovers: u64,
    bytes: u64,
    by_slot: BTreeMap<DurationSlot, u64>,
}

#[derive(Debug)]
struct Single {
    number: u64,
    slot: DurationSlot,
    bytes: u64,
    failed: bool,
    handed_over: bool,
}

/// What a trace says of requests.
#[derive(Default)]
struct Read {
    entries: BTreeMap<u64, (String, Entry)>,
}

impl Read {
    fn entry(&mut self, id: u64) -> &mut Entry {
        &mut self.entries.get_mut(&id).expect("it is defined before").1
    }

    /// By the name of the method.
    fn by_method(&self) -> BTreeMap<&str, &Entry> {
        let simple = |method: &'_ str| method.rfind('.').map_or(0, |at| at + 1);
        self.entries.values().map(|(method, entry)| (&method[simple(method)..], entry)).collect()
    }
}

impl TraceData for Read {
    fn element(&mut self, element: &Element<'_>) {
        match element {
            Element::RequestEntry(entry) => {
                let kind = entry.kind.as_deref().map(str::to_owned);
                let of = Entry { kind, ..Entry::default() };
                let before = self.entries.insert(entry.entry, (entry.method.to_string(), of));
                assert!(before.is_none(), "{entry:?}");
            }
            Element::Request(request) => {
                assert!(request.cpu.is_some_and(|cpu| cpu <= request.took), "{request:?}");
                self.entry(request.entry).single.push(Single {
                    number: request.number,
                    slot: DurationSlot::of(request.took),
                    bytes: request.bytes.expect("the JVM says how many"),
                    failed: request.failed == Some(Flag::Yes),
                    handed_over: request.handed_over == Some(Flag::Yes),
                });
            }
            Element::RequestCount(count) => {
                let entry = self.entry(count.entry);
                entry.requests += count.requests;
                entry.failures += count.failures.unwrap_or(0);
                entry.handovers += count.handovers.unwrap_or(0);
                entry.bytes += count.bytes.unwrap_or(0);
                durations::read(&count.durations).for_each(|(slot, n)| *entry.by_slot.entry(slot).or_default() += n);
            }
            _ => {}
        }
    }

    fn end(&mut self, _: bool) {}
}

/// The names, calls and failures that the program says.
fn called(out: &str) -> BTreeMap<&str, (u64, u64)> {
    let line = |line| {
        let words: Vec<&str> = str::strip_prefix(line, "called ")?.split(' ').collect();
        Some((words[0], (words[1].parse().ok()?, words[2].parse().ok()?)))
    };
    out.lines().filter_map(line).collect()
}

fn assert_as_said(ran: &Ran<Read>) {
    let out = ran.out();
    let (called, recorded) = (called(&out), ran.trace.by_method());
    assert_eq!(called.len(), 12, "{out}");
    assert_eq!(called.keys().collect::<Vec<_>>(), recorded.keys().collect::<Vec<_>>());
    for (method, (calls, failures)) in called {
        let entry = recorded[method];
        assert_eq!((entry.requests, entry.failures), (calls, failures), "{method}: {entry:?}");
        assert_eq!(entry.kind, None);
        let mut numbers: Vec<u64> = entry.single.iter().map(|single| single.number).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=calls).collect::<Vec<_>>(), "{method}");
        assert_eq!(entry.single.iter().filter(|single| single.failed).count() as u64, failures);
        let mut by_slot: BTreeMap<DurationSlot, u64> = BTreeMap::new();
        entry.single.iter().for_each(|single| *by_slot.entry(single.slot).or_default() += 1);
        assert_eq!(by_slot, entry.by_slot, "{method}");
        assert_eq!(entry.single.iter().map(|single| single.bytes).sum::<u64>(), entry.bytes, "{method}");
    }
    for (method, bytes) in [("allocate", 100_016), ("longs", 0), ("nothing", 0)] {
        assert!(recorded[method].single.iter().all(|single| single.bytes == bytes), "{:?}", recorded[method]);
    }
}

fn each_call_is_one_request(jdk: &Jdk, mode: Mode) {
    let program = Profiled::on(jdk).options("request=requests.Main$Api.*").main("requests.Main").mode(mode);
    assert_as_said(&program.run_and_read::<Read>());
}

fn a_pattern_without_a_method_is_said(jdk: &Jdk) {
    let options = "requests=on,request=requests.Absent.handle,request=requests.Main$Api.longs,heap=counts";
    let ran = Profiled::on(jdk).options(options).main("requests.Main").run_and_read::<Read>();
    assert_eq!(ran.trace.by_method()["longs"].requests, 100, "those within `outer` are requests of their own here");
    let said = "martini: request=requests.Absent.handle matches no method of a class that was loaded; check its name\n";
    assert_eq!(ran.err(), said);
}

fn a_virtual_thread_has_its_own_bytes(jdk: &Jdk) {
    /// What sleeps of a virtual thread make the JDK allocate, the first of all at most; less than one array of another thread.
    const OF_SLEEPS: u64 = 19_000;
    let ran = Profiled::on(jdk)
        .options("request=requests.Virtual.hops,cpu=10ms")
        .main("requests.Virtual")
        .run_and_read::<Read>();
    let out = ran.out();
    let said = |word: &str| -> u64 {
        let line = out.lines().find_map(|line| line.strip_prefix(word)).unwrap_or_else(|| panic!("{out}"));
        line.trim().parse().expect("a number")
    };
    let (requests, bytes) = (said("requests"), said("bytes"));
    let recorded = ran.trace.by_method();
    let hops = recorded["hops"];
    assert_eq!((hops.requests, hops.single.len() as u64, hops.failures), (requests, requests, 0));
    for single in &hops.single {
        assert!((bytes..bytes + OF_SLEEPS).contains(&single.bytes), "{bytes} {single:?}");
    }
}

/// Whose calls are requests.
#[derive(Clone, Copy)]
enum Of {
    /// The server's, which are found.
    Server,
    /// The servlet's, which is named.
    Servlet,
}

fn what_a_servlet_hands_over_is_flagged(jdk: &Jdk, of: Of) {
    let options = match of {
        Of::Server => "requests=on",
        Of::Servlet => "request=Asynchronous$Handed.doGet",
    };
    let program = Profiled::on(jdk).options(options).jars(tomcat::asynchronous()).main("Asynchronous").args(&["208"]);
    let ran = program.run_and_read::<Read>();
    let out = ran.out();
    let said: Vec<u64> = out.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [calls, handed, dispatched] = said[..] else { panic!("{out}") };
    assert_eq!((calls, handed, dispatched), (208, 104, 52), "{}", ran.err());
    let recorded = ran.trace.entries.values().map(|(method, entry)| {
        let flagged = entry.single.iter().filter(|single| single.handed_over).count() as u64;
        assert_eq!(flagged, entry.handovers, "{method}");
        (&**method, entry.kind.as_deref(), entry.requests, entry.handovers)
    });
    let mut recorded: Vec<_> = recorded.collect();
    recorded.sort_unstable();
    match of {
        // Where it is dispatched to is a request of its own.
        Of::Server => assert_eq!(
            recorded,
            [
                ("jakarta.servlet.http.HttpServlet.service", Some("servlet"), dispatched, 0),
                ("org.apache.catalina.connector.CoyoteAdapter.service", Some("tomcat"), calls, handed),
            ]
        ),
        Of::Servlet => assert_eq!(recorded, [("Asynchronous$Handed.doGet", None, calls + dispatched, handed)]),
    }
}
