//! `dump=oom` where the VM ends at the first `OutOfMemoryError`, before any agent hears of it: with `CrashOnOutOfMemoryError`, and in
//! safe mode with `ExitOnOutOfMemoryError`. The VM writes the dump itself then, which it does in front of its end.

use std::ffi::CString;
use std::sync::atomic::{AtomicBool, Ordering};

use jvmti::{Jni, is_flag_on, run_diagnostic_command};

use agent_base::message::message;
use agent_core::core::Core;

/// Whether the VM writes a dump because the agent has asked for one.
#[derive(Default)]
pub(super) struct DumpByVm {
    is_asked: AtomicBool,
}

impl DumpByVm {
    /// Has the VM write a dump before it ends, if it would end; the user is told.
    pub(super) fn begin(&self, core: &Core, jni: Jni) {
        let is_on = |flag| is_flag_on(jni, flag) == Some(true);
        let flag = match (is_on(c"CrashOnOutOfMemoryError"), is_on(c"ExitOnOutOfMemoryError")) {
            (true, _) => "CrashOnOutOfMemoryError",
            (_, true) => "ExitOnOutOfMemoryError",
            _ => return,
        };
        let dump = if is_on(c"HeapDumpOnOutOfMemoryError") {
            "-XX:+HeapDumpOnOutOfMemoryError is all the dump there is".to_owned()
        } else {
            // It overwrites none.
            let paths = (1..).map(|number| core.options.dump.path(&core.trace_path, number));
            let path = paths.take(1000).find(|path| !path.exists()).unwrap_or_default();
            let path = std::path::absolute(&path).unwrap_or(path).display().to_string();
            let is_set = set(jni, "HeapDumpPath", &path) && set(jni, "HeapDumpOnOutOfMemoryError", "1");
            self.is_asked.store(is_set, Ordering::Relaxed);
            match is_set {
                true => format!("the JVM writes {path} itself, without the trace's ids"),
                false => "no dump is written".to_owned(),
            }
        };
        message(&format!(
            "with -XX:+{flag} the JVM ends before dump=oom is told: {dump}, and the trace has no end there"
        ));
    }

    /// The VM goes on.
    pub(super) fn stop(&self, jni: Jni) {
        if self.is_asked.swap(false, Ordering::Relaxed) {
            set(jni, "HeapDumpOnOutOfMemoryError", "0");
            set(jni, "HeapDumpPath", "");
        }
    }
}

/// Sets a flag that may change while the VM runs. False if the VM refuses.
fn set(jni: Jni, flag: &str, value: &str) -> bool {
    let command = CString::new(format!("VM.set_flag {flag} \"{value}\""));
    let quoted = command.ok().filter(|_| !value.contains('"'));
    quoted.is_some_and(|command| matches!(run_diagnostic_command(jni, &command), Some(Ok(_))))
}
