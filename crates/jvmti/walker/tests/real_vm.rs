//! The stack walker in real JVMs: what it makes of stacks is what the VM says.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use bci_tests::jdk::Jdk;
use bci_tests::martini::{profile_folder, workspace};
use bci_tests::{java, jdk, process, suite};

/// Microseconds between the signals to all threads.
const PERIOD: u32 = 300;

/// Builds the agent; the path of its library.
fn agent() -> PathBuf {
    let folder = profile_folder();
    let target = folder.parent().expect("a profile's folder lies in the target folder");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", "walker-agent", "--target-dir"]).arg(target);
    assert!(cargo.current_dir(workspace()).status().expect("cargo starts").success());
    target.join("debug/libwalker_agent.so")
}

/// What came of the comparisons with one of the VM's two ways: by outcome, wherever the thread was stopped.
type Outcomes = BTreeMap<String, u64>;

/// Runs the program of all kinds of stacks; the outcomes of `async` and `jvmti`, and all that the agent wrote.
fn walked(jdk: &Jdk, agent: &Path, flags: &[&str]) -> (Outcomes, Outcomes, String) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let file = folder.path().join("walked.txt");
    let mut option = OsString::from("-agentpath:");
    option.push(agent);
    option.push(format!("={PERIOD},{}", file.display()));
    let finished = process::run(&mut java::with_agent(jdk, flags, Some(option), "walked.Main", &["4"])).success();
    assert_eq!(finished.out(), "done\n", "{jdk}: {}", finished.err());
    let text = std::fs::read_to_string(&file).expect("the agent has written it");
    let of = |kind: &str| {
        let mut outcomes = Outcomes::new();
        for line in text.lines().filter_map(|line| line.strip_prefix(kind)) {
            let mut words = line.split_whitespace().skip(1);
            let outcome = words.next().expect("an outcome").to_owned();
            *outcomes.entry(outcome).or_default() +=
                words.next().and_then(|n| n.parse::<u64>().ok()).expect("a number");
        }
        outcomes
    };
    (of("async "), of("jvmti "), text)
}

fn sum(outcomes: &Outcomes, names: &[&str]) -> u64 {
    names.iter().filter_map(|&name| outcomes.get(name)).sum()
}

#[test]
fn stacks_are_those_of_the_vm_on_every_jdk() {
    let agent = agent();
    let jdks = jdk::each_feature();
    for (turn, jdk) in jdks.iter().enumerate() {
        // The newest in both ways, the others in turn, unless all tests are to run.
        let ways = [&["-XX:+UseSerialGC"][..], &["-XX:+UseG1GC", "-XX:TieredStopAtLevel=1"]];
        let is_newest = turn + 1 == jdks.len();
        for flags in if suite::runs_all() || is_newest { &ways[..] } else { &ways[turn % 2..=turn % 2] } {
            let (by_signal, by_jvmti, text) = walked(jdk, &agent, flags);
            let shown = || format!("{jdk} {flags:?}:\n{text}");
            // Where the VM itself can see the stack, all are the same. Of a virtual thread whose outer frames are in the heap ours
            // has the beginning.
            let all = sum(&by_jvmti, &["all"]);
            assert!(all > 200, "{}", shown());
            assert_eq!(sum(&by_jvmti, &["same", "bothEmpty", "cut"]), all, "{}", shown());
            // At any instruction the VM's other way is no judge: it fails where ours does not, and ends early.
            let all = sum(&by_signal, &["all"]) - sum(&by_signal, &["bothEmpty"]);
            let failed = sum(&by_signal, &["oursFails", "bothFail"]);
            assert!(all > 1_000 && failed * 20 <= all, "{failed} of {all}: {}", shown());
            assert!(failed <= sum(&by_signal, &["vmFails", "bothFail"]), "{}", shown());
            let same = sum(&by_signal, &["same", "cut", "carrier"]);
            let other = sum(&by_signal, &["lines", "oneMore", "oneLess", "shorter", "longer", "differ"]);
            // Lines and inlined frames at calls of the VM's functions without a frame of their own: up to a tenth on JDK 11.
            assert!(other * 4 <= same, "{other} beside {same}: {}", shown());
        }
    }
}
