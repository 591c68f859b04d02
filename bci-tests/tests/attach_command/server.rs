//! A server under load is recorded with every engine: no request fails, and what it does is named.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bci_tests::jdk::{self, Jdk};
use bci_tests::process::Running;
use bci_tests::profiled::is_safe_mode;
use bci_tests::suite::Suite;
use bci_tests::tomcat::{self, ENOUGH, load, load_while, load_with};
use bci_tests::workdir::Workdir;
use serde_json::Value;

use crate::{ALL_ENGINES, about, about_file, assert_valid, end};

pub(crate) fn tests(suite: &mut Suite) {
    each_jdk(suite, "no_request_fails", no_request_fails);
    each_jdk(suite, "nothing_stands_out_where_nothing_is_wrong", nothing_stands_out_where_nothing_is_wrong);
}

fn each_jdk(suite: &mut Suite, test: &str, run: fn(&Jdk)) {
    let is_there = tomcat::jars().is_some();
    for feature in jdk::features() {
        let name = format!("server::{test}::jdk{feature}");
        match jdk::of(feature) {
            _ if !is_there => suite.skip(name, "MARTINI_REAL_PROGRAMS names no folder with Tomcat's jars"),
            _ if is_safe_mode() => suite.skip(name, "samples of threads need what safe mode leaves alone"),
            None => suite.skip(name, &format!("no JDK {feature}")),
            Some(jdk) => suite.add_where(jdk.is_end(), name, move || run(jdk)),
        }
    }
}

/// A server that has answered for a second, and its port.
fn warm_server(jdk: &Jdk, folder: &Workdir) -> (Running, u16) {
    let mut java = jdk.tool("java");
    java.arg("-Xmx256m").arg("-cp").arg(std::env::join_paths(tomcat::class_path()).expect("no colons"));
    let mut server = Running::start(java.arg("Server").arg(folder.path()));
    server.wait_for("ready");
    let port = fs::read_to_string(folder.join("port")).expect("written before").parse().expect("a port");
    let warm = load(port, 1);
    assert_eq!(warm.failed, [""; 0], "before it is recorded");
    (server, port)
}

/// Two clients ask now and then: there are connections for all of them, and time.
fn nothing_stands_out_where_nothing_is_wrong(jdk: &Jdk) {
    let folder = Workdir::new();
    let (server, port) = warm_server(jdk, &folder);
    let is_done = Arc::new(AtomicBool::new(false));
    let goes_on = is_done.clone();
    let clients = std::thread::spawn(move || {
        load_with(2, port, move |_| {
            std::thread::sleep(Duration::from_millis(20));
            !goes_on.load(Ordering::Relaxed)
        })
    });
    let mut attach = about(folder.path(), "attach", server.pid(), &[]);
    end(attach.args(["--duration", "3s"])).success();
    is_done.store(true, Ordering::Relaxed);
    assert_eq!(clients.join().expect("it does not panic").failed, [""; 0]);
    let trace = folder.join(&format!("martini-{}.trcxml", server.pid()));
    let explained = about_file("explain", &trace, &["--json"]).success().out;
    let document: Value = serde_json::from_str(&explained).expect("JSON");
    let findings = document["traces"][0]["findings"].as_array().unwrap_or_else(|| panic!("{document}"));
    for kind in ["deadlock", "stuck", "growth", "rise", "churn", "lock", "start", "lookups"] {
        assert!(findings.iter().all(|finding| finding["kind"] != kind), "{findings:#?}");
    }
    server.finish().success();
}

fn no_request_fails(jdk: &Jdk) {
    let folder = Workdir::new();
    let (server, port) = warm_server(jdk, &folder);
    // Classes are rewritten before the recording, and given back after it: the clients ask all the time.
    let is_done = Arc::new(AtomicBool::new(false));
    let goes_on = is_done.clone();
    let clients = std::thread::spawn(move || {
        load_while(port, move |answered| !goes_on.load(Ordering::Relaxed) || answered <= ENOUGH)
    });
    let mut attach = about(folder.path(), "attach", server.pid(), &ALL_ENGINES);
    let attached = end(attach.args(["--duration", "3s", "--top", "0"])).success();
    is_done.store(true, Ordering::Relaxed);
    let load = clients.join().expect("it does not panic");
    assert_eq!(load.failed, [""; 0], "{}", attached.err);
    assert!(load.answered > ENOUGH, "{} answers", load.answered);
    let trace = folder.join(&format!("martini-{}.trcxml", server.pid()));
    assert_valid(&trace);

    // The program's own code, in both tables, and its locks. Whether one stands out depends on what else the machine does.
    let tables: Vec<_> = attached.err.split("where, in your code").skip(1).collect();
    let [_, allocations] = tables[..] else { panic!("{}", attached.err) };
    // On a busy machine its lines have few samples each, and text leaves such rows out.
    let cpu = about_file("stats", &trace, &["--cpu", "--json"]).success();
    assert!(cpu.out.contains("\"Server$"), "{}", cpu.out);
    assert!(allocations.contains("Server$Connection.query("), "{}", attached.err);

    let locks = about_file("locks", &trace, &["--top", "5"]).success();
    assert!(locks.out.contains(" Server"), "{}", locks.out);

    let finished = server.finish().success();
    assert!(finished.out().ends_with("stopped\n"), "{}", finished.out());
}
