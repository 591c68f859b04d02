//! For tests, also of the packages above: tests in processes of their own: handlers of signals belong to all tests of a process, and some of those start a JVM.

use std::env;
use std::process::{Command, Output};

/// Set where a test runs alone.
const ALONE: &str = "MARTINI_TEST_ALONE";

/// Runs the body of a test in a process that runs nothing else: how that ended. `None` in that process itself.
pub fn alone(module: &str, test: &str, body: impl FnOnce()) -> Option<Output> {
    if env::var_os(ALONE).is_some() {
        body();
        return None;
    }
    let (_, module) = module.split_once("::").expect("a module lies in a crate");
    let mut command = Command::new(env::current_exe().expect("this is a program"));
    command.args([&format!("{module}::{test}"), "--exact", "--nocapture", "--test-threads=1"]).env(ALONE, "1");
    Some(command.output().expect("a test starts"))
}

/// The same for a test that passes.
pub fn passes_alone(module: &str, test: &str, body: impl FnOnce()) {
    if let Some(Output { status, stdout, stderr }) = alone(module, test, body) {
        let (out, err) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        assert!(status.success() && out.contains("1 passed"), "{status}\n{out}\n{err}");
    }
}
