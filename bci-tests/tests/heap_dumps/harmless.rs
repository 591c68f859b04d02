//! Dumps and walks that would harm the program.

use std::process::Command;

use bci_tests::jdk::{Collector, Jdk};
use bci_tests::process::{self, Running};
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::suite::Suite;
use bci_tests::workdir::Workdir;
use bci_tests::{java, martini};

pub(crate) fn tests(suite: &mut Suite) {
    suite.jdks(..).each_with(&[("zgc", Collector::Z, ())], a_dump_keeps_no_garbage);
    suite.jdks(..).each_with(&[("zgc", Collector::Z, ())], a_dump_as_a_recording_ends_keeps_no_garbage);
    suite.jdks(17..21).each(a_jvm_that_crashes_in_its_own_dumper_is_not_asked);
    suite.each_jdk(no_walk_waits_for_an_endless_stack);
}

/// The program fills its heap with garbage as fast as it is collected: if a dump kept that for one collection more it would have no
/// room. The first pause of the collector asks for the dump.
fn a_dump_keeps_no_garbage(jdk: &Jdk, collector: Collector, (): ()) {
    for _ in 0..3 {
        let profiled = Profiled::on(jdk).collector(collector).heap(Heap::Vm).option("dump", "gc:1").no_schema();
        let ran = profiled.flags(&["-Xmx256m"]).main("torture.Main").args(&["Arrays", "100"]).run();
        assert_eq!(ran.err(), "");
    }
}

/// The same program goes on when recordings of it have ended with a dump.
fn a_dump_as_a_recording_ends_keeps_no_garbage(jdk: &Jdk, collector: Collector, (): ()) {
    let dir = Workdir::new();
    let flags = [collector.flags(), &["-Xmx256m"]].concat();
    let mut command = java::program(jdk, &flags, "torture.Main", &["Arrays", "2000"]);
    let mut running = Running::start(command.current_dir(dir.path()));
    running.wait_for("= begins");
    for number in 0..6 {
        let mut attach = Command::new(&martini::built().command);
        attach.arg("attach").arg(running.pid().to_string()).args(["--heap", "events", "--dump", "end"]);
        // The program may have ended by itself.
        let ran = process::run(attach.args(["--duration", "300ms", "--file"]).arg(dir.join("late.trcxml")));
        if number == 0 {
            // What the agent does without is said by the command. JDK 11 would keep garbage even so.
            let is_refused = ran.err().contains("martini: no heap dumps before the program ends: with this JDK's ZGC");
            assert_eq!(is_refused, jdk.keeps_garbage_of_dumps(collector), "{}", ran.err());
        }
    }
    let ran = running.finish().success();
    assert!(!ran.err().contains("OutOfMemoryError"), "{}", ran.err());
}

/// JDK 17 with G1 and without class unloading, which crashes for `jcmd GC.heap_dump` too.
fn a_jvm_that_crashes_in_its_own_dumper_is_not_asked(jdk: &Jdk) {
    let profiled = Profiled::on(jdk).flags(&["-XX:+UseG1GC", "-XX:-ClassUnloading"]).heap(Heap::Counts);
    let ran = profiled.option("dump", "end").main("torture.Main").args(&["Arrays", "10"]).run();
    let expected =
        "martini: cannot dump the heap: this JVM's heap dumper crashes with -XX:+UseG1GC and -XX:-ClassUnloading";
    assert_eq!(ran.err().trim_end(), expected);
}

/// From JDK 16 on the JVM would stand still for minutes before it walks the heap.
fn no_walk_waits_for_an_endless_stack(jdk: &Jdk) {
    let walks = |depth: &str| {
        let profiled = Profiled::on(jdk).heap(Heap::Counts).option("live", "true");
        let ran = profiled.main("graph.DeepStack").args(&[depth]).run();
        assert_eq!(ran.out().trim_end(), "deep");
        !ran.err().contains("martini: skipped the heap walk: a stack has ")
    };
    assert!(walks("10000"));
    assert_eq!(walks("1000000"), jdk.feature < 16);
}
