//! Time to safepoint (`ttsp=on`): how long the VM waits until all threads have stopped, for which operation, and for whom.
//!
//! ```text
//! log, line     what the VM logs of each stop: exact, for every operation            totals
//! watch         wakes when threads are to stop, and looks which are late             late
//! spending      what that costs, which bounds how often it wakes
//! report        what the writer takes
//! ```
//!
//! Only `watch` needs HotSpot's private memory. Where the VM's state is not known, everything but the late threads is recorded.

mod late;
mod line;
mod log;
mod report;
mod section;
mod spending;
mod totals;
mod watch;

use std::sync::OnceLock;
use std::thread::JoinHandle;

use jvmti::Jni;

use crate::mailbox::Mailbox;
use crate::notice::{Ender, Waiting};
use agent_base::clock::Ticks;
use agent_base::message::message;
use agent_base::mutex::Mutex;
use agent_base::native_thread;
use agent_core::core::Core;
use agent_core::core::context::inside;
use agent_core::core::feature::{End, Feature};
use agent_trace::Section;
use hotspot::Hotspot;
use hotspot::safepoints::SafepointLayout;
use hotspot::walk::Walker;
use log::SafepointLog;
use report::Reports;
use section::SafepointSection;
use spending::Spending;
use watch::{LateFinder, Watcher};

pub(crate) use late::LateThread;
pub(crate) use line::Stop;
pub(crate) use report::Report;
pub(crate) use totals::Totals;

/// The feature.
pub(crate) struct Safepoints {
    core: &'static Core,
    /// Where the VM's state is, if that is known.
    layout: OnceLock<&'static SafepointLayout>,
    /// What walks the stacks of late threads, if that is trusted.
    walker: OnceLock<&'static Walker>,
    watcher: Mutex<Option<(Ender, JoinHandle<Watcher>)>>,
    spending: Spending,
    reports: Reports,
}

impl Safepoints {
    /// What it writes into the trace.
    pub(crate) fn section(&'static self) -> Box<dyn Section> {
        Box::new(SafepointSection(self))
    }

    /// For a recording.
    pub(crate) fn new(core: &'static Core) -> Safepoints {
        Safepoints {
            core,
            layout: OnceLock::new(),
            walker: OnceLock::new(),
            watcher: Mutex::default(),
            spending: Spending::new(),
            reports: Reports::default(),
        }
    }

    /// What the writer has not taken yet.
    pub(crate) fn take_reports(&self) -> Vec<Report> {
        self.reports.take()
    }

    /// What has walked the stacks of late threads.
    pub(crate) fn walker(&self) -> Option<&'static Walker> {
        self.walker.get().copied()
    }

    fn find_layout(&self, jni: Jni) -> Result<&'static SafepointLayout, &'static str> {
        let hotspot = self.core.hotspot.ok_or("the JVM's private memory is not read")?;
        let layout = hotspot.safepoints(self.core.jvm.env, jni)?;
        self.core.living.layout().ok_or("cannot map the JVM's threads to OS threads").map(|_| layout)
    }

    /// Who asks late threads where they are.
    fn find_mailbox(&self, jni: Jni) -> Result<Mailbox, String> {
        let jvm = self.core.jvm;
        let hotspot: &'static Hotspot = self.core.hotspot.ok_or("the JVM's private memory is not read")?;
        let (walker, loads) = hotspot.trusted_walker(jvm.env, jni, jvm.java)?;
        let mailbox = Mailbox::open(walker, loads)?;
        let _ = self.walker.set(walker);
        Ok(mailbox)
    }
}

impl Feature for Safepoints {
    fn begin(&'static self, jni: Jni) -> Result<(), String> {
        match self.find_layout(jni) {
            Ok(layout) => drop(self.layout.set(layout)),
            Err(why) => message(&format!(
                "only how long safepoints take is recorded, not which threads delay them: the safepoint state is \
                 unknown ({why})"
            )),
        }
        Ok(())
    }

    fn resume(&'static self, jni: Jni) {
        let log = match inside(self.core, jni, || SafepointLog::begin(jni, self.layout.get().is_some())) {
            Some(Ok(log)) => log,
            Some(Err(why)) => return message(&format!("safepoints are not recorded: {why}")),
            None => return,
        };
        let finder = self.layout.get().map(|&layout| {
            let mailbox = self.find_mailbox(jni).map_err(|why| {
                message(&format!("the stacks of threads that delay safepoints are not recorded: {why}"));
                "noWalker"
            });
            LateFinder { layout, mailbox }
        });
        let started = Waiting::new().and_then(|(waiting, ender)| {
            let watcher = Watcher::new(self, log, waiting, finder);
            Ok((ender, native_thread::start("martini-ttsp", move || watcher.run())?))
        });
        match started {
            Ok(watcher) => *self.watcher.lock() = Some(watcher),
            Err(error) => message(&format!("safepoints are not recorded: cannot start the watcher thread: {error}")),
        }
    }

    fn stop(&'static self, jni: Jni, _: End) {
        let Some((ender, handle)) = self.watcher.lock().take() else { return };
        ender.end();
        let Ok(mut watcher) = handle.join() else { return };
        inside(self.core, jni, || watcher.log.end(jni));
        watcher.read(Ticks::now());
        watcher.hand_totals(Ticks::now());
    }

    fn release(&'static self, _: Jni) {
        drop(self.reports.take());
    }
}
