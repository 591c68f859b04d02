//! `threadCount`: what the agent says the JVM accounts to a thread is what the JVM tells the program itself.

use std::collections::BTreeMap;

use bci_tests::jdk;
use bci_tests::recorded::Recorded;
use bci_tests::schema::{self, Schema};
use bci_tests::workdir::Workdir;
use bci_tests::{java, martini, process};
use trace::model::ThreadCount;

/// A thread may allocate this much between its own last look and its end.
const LAST_BREATH: u64 = 1024;

#[test]
fn the_jvm_says_the_same_to_the_program_and_to_the_agent() {
    for jdk in jdk::each_feature() {
        for flags in [&["-XX:+UseSerialGC"][..], &["-XX:+UseG1GC"], &["-XX:-UseTLAB", "-Xint"]] {
            let dir = Workdir::new();
            let file = dir.join("accounts.trcxml");
            let agent = martini::built().agent_path(&format!("heap=events,file={}", file.display()));
            let run = process::run(&mut java::with_agent(jdk, flags, Some(agent), "accounts.Main", &[])).success();
            let place = format!("JDK {jdk} {flags:?}");

            let trace = Recorded::read(&file);
            let told: BTreeMap<&str, u64> =
                trace.accounts.iter().map(|(name, count)| (&**name, count.vm_bytes.expect("accounted"))).collect();
            let said = run.out();
            let said: Vec<(&str, u64)> = said
                .lines()
                .filter_map(|line| line.split_once(' '))
                .map(|(name, n)| (name, n.parse().unwrap()))
                .collect();
            // One that ended, three that are parked, and from JDK 21 on the carriers of virtual threads.
            assert!(said.len() >= if jdk.feature < 21 { 4 } else { 5 }, "{place}: {said:?}");
            for (name, bytes) in said {
                let slack = if name == "ended" { LAST_BREATH } else { 0 };
                let told = told.get(name).copied();
                assert!(
                    told.is_some_and(|told| (bytes..=bytes + slack).contains(&told)),
                    "{place}: {name} {bytes} {told:?}"
                );
            }
            // The bytes of a thread are those of its objects, virtual threads' counted for their carriers.
            let of_objects: u64 = trace.objects.iter().map(|object| object.size).sum();
            let of_accounts: u64 = trace.accounts.iter().map(|(_, count)| count.bytes).sum();
            assert!(
                of_accounts <= of_objects && of_objects - of_accounts < 4096,
                "{place}: {of_accounts} {of_objects}"
            );
            // The end of the trace has their sums.
            let sum = |of: fn(&ThreadCount) -> u64| trace.accounts.iter().map(|(_, count)| of(count)).sum::<u64>();
            let counted = |key: &str| trace.counts.iter().find(|(k, _, _)| k == key).map(|(_, _, value)| *value);
            assert_eq!(counted("coverage.reported"), Some(of_accounts), "{place}");
            assert_eq!(counted("coverage.accounted"), Some(sum(|c| c.vm_bytes.unwrap_or(0))), "{place}");
            assert_eq!(
                counted("coverage.missing"),
                Some(sum(|c| c.vm_bytes.unwrap_or(0).saturating_sub(c.bytes))),
                "{place}"
            );
            assert_eq!((counted("coverage.unknown"), counted("coverage.filtered")), (Some(0), None), "{place}");
            for name in ["parked-1", "parked-2", "parked-3"] {
                let (_, account) = trace.accounts.iter().find(|(thread, _)| thread == name).expect("told above");
                let objects: Vec<u64> = trace
                    .objects
                    .iter()
                    .filter(|object| object.thread.is_some_and(|thread| trace.names[thread] == name))
                    .map(|object| object.size)
                    .collect();
                let sum: u64 = objects.iter().sum();
                assert_eq!((account.instances, account.bytes), (objects.len() as u64, sum), "{place}: {name}");
            }
            schema::check(&file, Schema::Strict);
            schema::validate(&file);
        }
    }
}

#[test]
fn a_trace_ends_cleanly_at_its_limit_and_the_program_goes_on() {
    for options in ["limit=200k", "limit=1m", "limit=1m,format=zip"] {
        for jdk in jdk::each_feature() {
            let dir = Workdir::new();
            let file = dir.join("limited.trcxml");
            let agent = martini::built().agent_path(&format!("{options},file={}", file.display()));
            let run = process::run(&mut java::with_agent(jdk, &[], Some(agent), "accounts.Main", &[])).success();
            let place = format!("JDK {jdk} {options}");
            assert!(run.out().starts_with("ended ") && run.out().contains("\nparked-3 "), "{place}: {}", run.out());
            assert_eq!(run.err().lines().count(), 1, "{place}: {}", run.err());
            assert!(run.err().contains("has reached its limit of"), "{place}: {}", run.err());

            let limit: u64 = if options.starts_with("limit=1m") { 1 << 20 } else { 200 << 10 };
            let length = file.metadata().expect("the trace is there").len();
            assert!(length <= limit, "{place}: {length}");
            let trace = Recorded::read(&file);
            assert!(trace.complete, "{place}");
            assert!(
                trace.counts.contains(&("limit.reached".into(), String::new(), limit)),
                "{place}: {:?}",
                trace.counts
            );
            assert!(!trace.accounts.is_empty(), "{place}");
            schema::validate(&file);
        }
    }
}
