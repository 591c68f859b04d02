//! Agents of other people, before Martini on the command line and behind it.

use std::path::PathBuf;

use bci_tests::jdk::{self, Jdk};
use bci_tests::profiled::Heap;
use bci_tests::programs;
use bci_tests::suite::Suite;

use super::{Seen, assert_whole, program};

/// One agent.
#[derive(Clone, Copy, Debug)]
struct Agent {
    name: &'static str,
    /// In the folder of the real programs.
    jar: &'static str,
    options: &'static str,
}

const AGENTS: [Agent; 3] = [
    Agent { name: "jacoco", jar: "org.jacoco.agent-0.8.14-runtime.jar", options: "=output=none" },
    Agent { name: "byte_buddy", jar: "byte-buddy-agent-1.17.8.jar", options: "" },
    Agent { name: "opentelemetry", jar: "opentelemetry-javaagent-2.20.1.jar", options: "" },
];

/// Which of the two the JVM starts first.
#[derive(Clone, Copy, Debug)]
enum First {
    Martini,
    Other,
}

pub(crate) fn tests(suite: &mut Suite) {
    for agent in AGENTS {
        let jar = programs::jars().map(|folder| folder.join(agent.jar)).filter(|jar| jar.is_file());
        let Some(jar) = jar else {
            suite.skip(format!("beside::agents::{}", agent.name), "MARTINI_REAL_PROGRAMS names no folder with its jar");
            continue;
        };
        // Each way beside each agent, on the oldest and the newest JDK in turn.
        for jdk in jdk::each_feature() {
            for (turn, (order, first, heap)) in [
                ("in_front", First::Other, Heap::Counts),
                ("in_front", First::Other, Heap::Events),
                ("behind", First::Martini, Heap::Counts),
                ("behind", First::Martini, Heap::Vm),
            ]
            .into_iter()
            .enumerate()
            {
                let name = format!("beside::agents::{}::jdk{}::{order}_{}", agent.name, jdk.feature, heap.name());
                let jar = jar.clone();
                suite.add_where(jdk::ends()[turn % 2].feature == jdk.feature, name, move || {
                    both_work(jdk, agent, jar, first, heap)
                });
            }
        }
    }
}

fn both_work(jdk: &Jdk, agent: Agent, jar: PathBuf, first: First, heap: Heap) {
    let other = format!("-javaagent:{}{}", jar.display(), agent.options);
    let exporters = ["traces", "metrics", "logs"].map(|what| format!("-Dotel.{what}.exporter=none"));
    let alone = program(jdk, heap).flags(&exporters).flags(&["-Dotel.javaagent.logging=none"]);
    let both = match first {
        First::Martini => alone.flags_behind(&[other]),
        First::Other => alone.flags(&[other]),
    };
    // Millions of elements, some of them.
    let ran = both.no_schema().run_and_read::<Seen>();
    assert_whole(&ran);
}
