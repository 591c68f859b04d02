//! JVMs in other name spaces, and of other users. Only root can start these: for others the tests are listed as ignored.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use bci_tests::jdk::Jdk;
use bci_tests::process::wait_until;
use bci_tests::suite::Suite;
use bci_tests::workdir::Workdir;
use bci_tests::{java, martini};
use serde_json::Value;

use crate::{Busy, about, assert_valid, end, leftovers};

pub(crate) fn tests(suite: &mut Suite) {
    let can = |arguments: &[&str]| {
        let ended = Command::new(arguments[0]).args(&arguments[1..]).output();
        ended.is_ok_and(|ended| ended.status.success())
    };
    if can(&["unshare", "--mount", "--pid", "--fork", "mount", "-t", "tmpfs", "none", "/mnt"]) {
        suite.each_jdk(in_a_container);
        let variants = [("noexec", ("noexec", "is mounted noexec")), ("read_only", ("ro", "make its /tmp writable"))];
        suite.jdks(..).of(&[17]).each_and(&variants, where_no_copy_can_be);
    } else {
        suite.skip("apart::in_a_container".to_owned(), "no right to make name spaces");
    }
    if can(&["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "true"]) {
        suite.each_jdk(of_another_user);
    } else {
        suite.skip("apart::of_another_user".to_owned(), "no right to become another user");
    }
}

/// The options of a program that is started by others: the class path may be where they must not look, so it is copied.
fn java_words(jdk: &Jdk, classes: &Path) -> Vec<String> {
    let java = jdk.home.join("bin/java").display().to_string();
    vec![java, "-Xmx128m".into(), "-cp".into(), classes.display().to_string(), "busy.Main".into()]
}

/// A folder with the program that everybody may read.
fn classes(folder: &Path) -> PathBuf {
    let path = folder.join("classes");
    std::fs::create_dir_all(path.join("busy")).expect("a folder of ours");
    let compiled = std::env::split_paths(java::class_path()).map(|path| path.join("busy/Main.class"));
    let compiled = compiled.into_iter().find(|path| path.is_file()).expect("it is compiled");
    std::fs::copy(compiled, path.join("busy/Main.class")).expect("a file of ours");
    let open = Command::new("chmod").args(["-R", "a+rX"]).arg(folder).status();
    assert!(open.expect("chmod starts").success());
    path
}

/// A program with a /tmp, a /proc and process ids of its own; the options of its /tmp.
fn contained(jdk: &Jdk, folder: &Workdir, tmp: &str) -> (Busy, u32) {
    let home = folder.join("home");
    classes(&home);
    let words = java_words(jdk, Path::new("/mnt/classes")).join(" ");
    let home = home.display();
    let script = format!(
        "mount --bind {home} /mnt && mount -t tmpfs -o {tmp} none /tmp && mount -t proc proc /proc && exec {words}"
    );
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", &script]);
    let busy = Busy::start(&mut command);
    let pid = child_of(busy.pid());
    (busy, pid)
}

/// The agent cannot be put where such a JVM could load it.
fn where_no_copy_can_be(jdk: &'static Jdk, (tmp, words): (&'static str, &'static str)) {
    let folder = Workdir::new();
    let (busy, pid) = contained(jdk, &folder, tmp);
    end(&mut about(busy.folder.path(), "attach", pid, &["--duration", "1s"])).refused(words);
    assert_eq!(end(&mut about(busy.folder.path(), "doctor", pid, &[])).status, Some(1));
    assert_eq!(leftovers(&PathBuf::from(format!("/proc/{pid}/root/tmp"))), Vec::<String>::new());
    busy.end();
}

/// With a /tmp, a /proc and process ids of its own.
fn in_a_container(jdk: &'static Jdk) {
    let folder = Workdir::new();
    let (busy, pid) = contained(jdk, &folder, "rw");
    let doctor = end(&mut about(busy.folder.path(), "doctor", pid, &[])).success().out;
    assert!(doctor.contains("note  files: the JVM is in a container"), "{doctor}");
    let attached = end(&mut about(busy.folder.path(), "attach", pid, &["--duration", "1s", "--dump", "end"])).success();
    assert!(attached.err.contains("busy.Main.allocate(Main.java:24)"), "{}", attached.err);
    assert_valid(&busy.trace(pid, 1));
    // The dump lies beside the trace.
    assert!(busy.folder.join(&format!("martini-{pid}-1.hprof")).is_file(), "{}", attached.err);
    let inner_tmp = PathBuf::from(format!("/proc/{pid}/root/tmp"));
    assert_eq!(leftovers(&inner_tmp), Vec::<String>::new());
    // Left alone, and fetched by another command.
    end(&mut about(busy.folder.path(), "attach", pid, &["--detach", "--locks"])).success();
    let status = end(&mut about(busy.folder.path(), "status", pid, &["--json"])).success().out;
    let status: Value = serde_json::from_str(&status).expect("JSON");
    assert!(status["trace"].as_str().expect("a path").starts_with("/tmp/martini-files-"), "{status}");
    end(&mut about(busy.folder.path(), "stop", pid, &["--file", "fetched.trcxml"])).success();
    assert_valid(&busy.folder.join("fetched.trcxml"));
    assert_eq!(leftovers(&inner_tmp), Vec::<String>::new());
    let jvms = end(Command::new(&martini::built().command).args(["ps", "--json"])).success().out;
    let jvms: Value = serde_json::from_str(&jvms).expect("JSON");
    let found = jvms["jvms"].as_array().expect("a list").iter().find(|jvm| jvm["pid"] == pid).expect("it runs");
    assert_eq!((&found["container"], &found["inner_pid"]), (&true.into(), &1.into()), "{found}");
    assert_eq!(found["version"], jdk.version.as_str(), "{found}");
    busy.end();
}

/// The only child of a process.
fn child_of(pid: u32) -> u32 {
    let mut child = None;
    wait_until(|| {
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        child = children.split_whitespace().next().and_then(|pid| pid.parse().ok());
        child.is_some()
    });
    child.expect("waited for")
}

/// Whose JVM cannot write to our folder.
fn of_another_user(jdk: &'static Jdk) {
    let shared = tempfile_for_all();
    let words = java_words(jdk, &classes(shared.path()));
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).args(words).current_dir("/");
    let busy = Busy::start(&mut command);
    // Left behind by a process of root's that had this number.
    let socket = format!("/tmp/.java_pid{}", busy.pid());
    let _ = fs::remove_file(&socket);
    drop(UnixListener::bind(&socket).expect("nobody has it"));
    fs::set_permissions(&socket, Permissions::from_mode(0o600)).expect("it is ours");
    let attached = busy.martini("attach", &["--duration", "1s"]).success();
    assert!(attached.err.contains("busy.Main.allocate(Main.java:24)"), "{}", attached.err);
    assert_valid(&busy.trace(busy.pid(), 1));
    busy.end();
}

/// A folder that other users may look into, unlike those of the tests.
fn tempfile_for_all() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("martini-test-").tempdir().expect("a temporary folder")
}
