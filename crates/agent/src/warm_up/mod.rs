//! The start of a JVM, and how it becomes warm (`warmup=on`): static initialisers, compilations, and the VM's own counters.
//!
//! ```text
//! line           what the VM logs of classes, initialisers and compilations, which cost it a line each
//! initialisers   those that run for a millisecond or more, and who made them run
//! compilations   what is compiled, and how long that takes
//! counters       what the VM itself counts of classes, compilers, collections
//! exceptions     exceptions that are made, and look-ups of classes that failed
//! archive        whether archives of classes are used that the command line names, and if not why
//! watch          the thread that does all this but exceptions and archives; archives that have to be read whole have a thread of their own
//! report         what the writer takes
//! ```

mod archive;
mod compilations;
mod counters;
mod exceptions;
mod initialisers;
mod line;
mod report;
mod section;
mod watch;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use jvmti::Jni;
use trace::time::Nanos;

use crate::mailbox::Mailbox;
use crate::notice::{Ender, Waiting};
use crate::reports::Reports;
use crate::vm_log::VmLog;
use agent_base::clock::Ticks;
use agent_base::helpers::{EXCEPTIONS, HelperClass};
use agent_base::message::message;
use agent_base::mutex::Mutex;
use agent_base::native_thread;
use agent_core::core::Core;
use agent_core::core::context::{Reporter, inside};
use agent_core::core::feature::{End, Feature};
use agent_trace::Section;
use archive::{Look, Unread};
use compilations::Compilers;
use counters::Counters;
use exceptions::{CURRENT, Exceptions, WarmUpThread};
use hotspot::Hotspot;
use hotspot::walk::Walker;
use initialisers::Initialisers;
use report::Report;
use section::WarmUpSection;
use watch::{Asker, Watcher};

pub use exceptions::NATIVES;

/// What is logged: a class that is loaded; an initialiser that begins; a compilation that begins, and code that is discarded.
const LOGGED: &str = "class+load=info,class+init=info,jit+compilation=debug";

/// The feature.
pub(crate) struct WarmUp {
    core: &'static Core,
    archives: archive::Named,
    /// Those that are being read, or will be; empty from the end of the recording on.
    unread: Mutex<Vec<Unread>>,
    watcher: Mutex<Option<(Ender, JoinHandle<Watcher>)>>,
    reports: Reports<Report>,
    exceptions: Exceptions,
    /// What wraps the native method of exceptions, if the VM takes it.
    helper: OnceLock<HelperClass>,
    /// What has walked stacks.
    walker: OnceLock<&'static Walker>,
    /// For how many nanoseconds it looked less often than usual.
    widened: AtomicU64,
    /// Methods that C2 has compiled.
    optimized: AtomicU64,
}

impl WarmUp {
    /// For a recording.
    pub(crate) fn new(core: &'static Core) -> WarmUp {
        WarmUp {
            core,
            archives: archive::Named::of(core),
            unread: Mutex::default(),
            watcher: Mutex::default(),
            reports: Reports::default(),
            exceptions: Exceptions::default(),
            helper: OnceLock::new(),
            walker: OnceLock::new(),
            widened: AtomicU64::new(0),
            optimized: AtomicU64::new(0),
        }
    }

    /// What it writes into the trace.
    pub(crate) fn section(&'static self) -> Box<dyn Section> {
        Box::new(WarmUpSection::new(self))
    }

    /// Hands something to the writer.
    fn add(&self, report: Report) {
        if !self.reports.add(report) {
            self.core.count_lost("initialisers and compilations", 1);
        }
    }

    /// Looks whether the archives are used that the command line names.
    fn look_at_archives(&'static self) {
        for look in self.archives.look(self.core) {
            match look {
                Look::Known(archive) => self.add(Report::Archive(archive, Ticks::now())),
                Look::Unread(unread) => self.unread.lock().push(unread),
            }
        }
        // Without the thread they stay unread.
        if !self.unread.lock().is_empty() {
            let _ = native_thread::start("martini-archives", || self.read_archives());
        }
    }

    /// Reads the archives that are to be read, until the recording ends.
    fn read_archives(&self) {
        loop {
            let Some(unread) = self.unread.lock().first().cloned() else { return };
            let archive = unread.read(|| !self.unread.lock().is_empty());
            let mut left = self.unread.lock();
            if !left.is_empty() {
                left.remove(0);
                self.add(Report::Archive(archive, Ticks::now()));
            }
        }
    }

    /// Methods that C2 has compiled since the recording began.
    pub(crate) fn optimized(&self) -> u64 {
        self.optimized.load(Ordering::Relaxed)
    }

    fn note_widened(&self, time: Nanos) {
        self.widened.fetch_add(time.0, Ordering::Relaxed);
    }

    /// Who asks threads that run initialisers where they are.
    ///
    /// # Errors
    /// Why nobody is asked: part of a sentence.
    fn find_asker(&self, jni: Jni) -> Result<(Mailbox, &'static Walker), String> {
        let jvm = self.core.jvm;
        let hotspot: &'static Hotspot = self.core.hotspot.ok_or("the JVM's private memory is not read")?;
        let (walker, loads) = hotspot.trusted_walker(jvm.env, jni, jvm.java)?;
        self.core.living.layout().ok_or("cannot map the JVM's threads to OS threads")?;
        let mailbox = Mailbox::open(walker, loads)?;
        let _ = self.walker.set(walker);
        Ok((mailbox, walker))
    }

    /// The watcher, and who ends it.
    ///
    /// # Errors
    /// Why there is none: part of a sentence.
    fn prepare_watcher(&'static self, jni: Jni) -> Result<(Watcher, Ender), String> {
        let memory = self.core.hotspot.ok_or("the JVM's private memory is not read");
        let states = memory.and_then(Hotspot::class_states).map_err(|why| {
            message(&format!("static initialisers are not recorded: {why}"));
        });
        let counters = memory.and_then(Hotspot::perf_counters).map_err(|why| {
            message(&format!("the JVM's own counters of its start are not recorded: {why}"));
        });
        let asker = self.find_asker(jni).map_err(|why| {
            message(&format!("who makes static initialisers run is not recorded: {why}"));
            "noWalker"
        });
        let (waiting, ender) = Waiting::new().map_err(|error| format!("cannot make a pipe: {error}"))?;
        let log = VmLog::begin(jni, LOGGED, "timenanos,tid")?;
        let watcher = Watcher {
            warm_up: self,
            notice: None,
            log,
            waiting,
            states: states.ok(),
            asker: Asker(asker),
            counters: counters.ok().map(Counters::new),
            initialisers: Initialisers::default(),
            compilers: Compilers::default(),
        };
        Ok((watcher, ender))
    }
}

impl Reporter for WarmUp {
    type State = WarmUpThread;

    fn current() -> Option<&'static WarmUp> {
        CURRENT.get()
    }

    fn core(&self) -> &'static Core {
        self.core
    }
}

impl Feature for WarmUp {
    fn install(&'static self) {
        CURRENT.set(self);
    }

    fn prepare(&'static self, jni: Jni) -> Result<(), String> {
        self.look_at_archives();
        // Everything else can be recorded without it.
        match self.core.jvm.helpers.define(jni, &EXCEPTIONS) {
            Ok(class) => drop(self.helper.set(class)),
            Err(error) => message(&format!("exceptions are not counted: {error}")),
        }
        Ok(())
    }

    fn begin(&'static self, jni: Jni) -> Result<(), String> {
        if self.helper.get().is_some_and(|&class| !exceptions::wrap(class, jni)) {
            message("exceptions are not counted: the VM's own function is not found");
        }
        Ok(())
    }

    fn resume(&'static self, jni: Jni) {
        let started = match inside(self.core, jni, || self.prepare_watcher(jni)) {
            Some(Ok((watcher, ender))) => {
                let thread = native_thread::start("martini-warmup", move || watcher.run());
                thread
                    .map(|thread| (ender, thread))
                    .map_err(|error| format!("cannot start the watcher thread: {error}"))
            }
            Some(Err(why)) => Err(why),
            None => return,
        };
        match started {
            Ok(watcher) => *self.watcher.lock() = Some(watcher),
            Err(why) => message(&format!("the start of the JVM is not recorded: {why}")),
        }
    }

    fn stop(&'static self, jni: Jni, _: End) {
        for unread in std::mem::take(&mut *self.unread.lock()) {
            self.add(Report::Archive(unread.unexamined(), Ticks::now()));
        }
        let Some((ender, handle)) = self.watcher.lock().take() else { return };
        ender.end();
        let Ok(mut watcher) = handle.join() else { return };
        inside(self.core, jni, || watcher.log.end(jni));
        watcher.end(Ticks::now());
    }
}
