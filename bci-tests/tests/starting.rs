//! How a trace begins, and that the agent is silent.

use std::fs;
use std::process::Command;

use bci_tests::counted::{Counted, Markers};
use bci_tests::java;
use bci_tests::jdk;
use bci_tests::martini;
use bci_tests::process;
use bci_tests::recorded::Recorded;
use bci_tests::workdir::Workdir;

/// Nothing that happened before VMInit is reported, whatever was loaded and allocated by then.
#[test]
fn nothing_before_the_vm_is_initialised() {
    for jdk in jdk::each_feature() {
        let dir = Workdir::new();
        let file = dir.join("start.trcxml");
        let agent = martini::built().agent_path(&format!("file={}", file.display()));
        process::run(&mut java::with_agent(jdk, &[], Some(agent), "endings.Main", &["return"])).success();
        let trace = Recorded::read(&file);
        let initialised = trace.initialised.expect("runtimeInitDone is in the trace");
        assert!(trace.objects.iter().all(|object| object.born >= initialised), "JDK {jdk}");
        // What the launcher itself makes right after VMInit is there already.
        assert!(trace.of_class("java.lang.String").next().is_some(), "JDK {jdk}");
    }
}

/// Objects of the class library, allocated by classes that were loaded long before VMInit, are seen too.
#[test]
fn classes_loaded_before_the_agent_could_change_them() {
    for jdk in jdk::each_feature() {
        let dir = Workdir::new();
        let file = dir.join("early.trcxml");
        let agent = martini::built().agent_path(&format!("file={}", file.display()));
        process::run(&mut java::with_agent(jdk, &[], Some(agent), "shapes.Main", &["100", "100"])).success();
        let objects = Recorded::read(&file);
        let objects = objects.by_class();
        for class in ["java.lang.String", "byte[]", "java.util.HashMap$Node", "java.util.HashMap$Node[]"] {
            assert!(
                objects.get(class).is_some_and(|&count| count > 100),
                "JDK {jdk}: {class} {:?}",
                objects.get(class)
            );
        }
    }
}

/// No array is lost or told twice while such classes are rewritten, which JDK 25 does beside the running program. The program
/// is over before that is done, at about that time, and long after.
#[test]
fn arrays_of_classes_that_change_while_the_program_runs() {
    const THREADS: usize = 4;
    for jdk in jdk::each_feature() {
        for times in [1, 40, 1000] {
            let dir = Workdir::new();
            let file = dir.join("early.trcxml");
            let agent = martini::built().agent_path(&format!("file={}", file.display()));
            let arguments = [THREADS.to_string(), times.to_string()];
            process::run(&mut java::with_agent(
                jdk,
                &[],
                Some(agent),
                "early.Main",
                &arguments.each_ref().map(|a| &**a),
            ))
            .success();
            let trace = Recorded::read(&file);
            for class in ["java.util.WeakHashMap$Entry[]", "java.util.Hashtable$Entry[]"] {
                let found = trace.of_class(class).filter(|array| array.size > 16_000).count();
                assert_eq!(found, THREADS * times, "JDK {jdk}: {class}");
            }
        }
    }
}

/// Arrays are counted once, whether their class was rewritten as the VM loaded it, or redefined afterwards, which it is only where an
/// archive is asked for, and from JDK 25 on where there is one.
#[test]
fn counts_of_classes_that_are_loaded_while_the_vm_sets_itself_up() {
    const THREADS: u64 = 4;
    const TIMES: u64 = 40;
    /// Of all others of these classes together.
    const LEAST_BYTES: u64 = 16_400;
    for jdk in jdk::all() {
        let archive = jdk.home.join("lib/server/classes.jsa");
        let named = format!("-XX:SharedArchiveFile={}", archive.display());
        let mut ways = vec![
            ("-Xshare:auto", jdk.feature >= 25 && archive.exists()),
            ("-Xshare:off", false),
            // There or not.
            (&named, true),
        ];
        if archive.exists() {
            ways.push(("-Xshare:on", true));
            // A flag up to JDK 18.
            ways.extend((jdk.feature < 19).then_some(("-XX:+RequireSharedSpaces", true)));
        }
        for (sharing, is_redefined) in ways {
            let dir = Workdir::new();
            let file = dir.join("early.trcxml");
            let agent = martini::built().agent_path(&format!("heap=counts,file={}", file.display()));
            let log = dir.join("redefined.txt");
            let log_flag = format!("-Xlog:redefine*=info:file={}", log.display());
            let arguments = [THREADS.to_string(), TIMES.to_string()];
            let arguments = arguments.each_ref().map(|a| &**a);
            let flags = ["-XX:+UnlockDiagnosticVMOptions", sharing, &log_flag];
            process::run(&mut java::with_agent(jdk, &flags, Some(agent), "early.Main", &arguments)).success();
            let redefinitions = fs::read_to_string(&log).expect("the JVM's log").lines().count();
            assert_eq!(redefinitions > 0, is_redefined, "JDK {jdk}, {sharing}: {redefinitions} lines");
            let trace = Counted::read(&file, Markers { begin: "", end: "" });
            for class in ["java.util.WeakHashMap$Entry[]", "java.util.Hashtable$Entry[]"] {
                let of_class = trace.sites.iter().filter(|(site, _)| site.class == class);
                let bytes: u64 = of_class.map(|(_, sum)| sum.bytes).sum();
                assert_eq!(bytes / LEAST_BYTES, THREADS * TIMES, "JDK {jdk}, {sharing}: {class}");
            }
        }
    }
}

/// A program that needs the JVM's own archive starts with the agent, on JDKs too whose flags do not show that it does (19 to 24), and
/// that come without one.
#[test]
fn an_archive_that_has_to_be_there() {
    for jdk in jdk::each_feature().into_iter().filter(|jdk| (19..25).contains(&jdk.feature)) {
        let dir = Workdir::new();
        let home = dir.join("jdk");
        let copied = Command::new("cp").arg("-rL").arg(&jdk.home).arg(&home).status();
        assert!(copied.expect("cp starts").success(), "JDK {jdk} cannot be copied");
        let java = || Command::new(home.join("bin/java"));
        process::run(java().arg("-Xshare:dump")).success();
        let agent = martini::built().agent_path(&format!("heap=counts,file={}", dir.join("on.trcxml").display()));
        process::run(java().args(["-Xshare:on", "-version"])).success();
        process::run(java().arg("-Xshare:on").arg(agent).arg("-version")).success();
    }
}
