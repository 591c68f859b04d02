//! `mark=METHOD`: when a method is entered for the first time.
//!
//! A breakpoint at its beginning, which goes when it is reached, so the method costs nothing from then on. Methods of one name in
//! several classes of one name, and overloaded ones, are one mark: the first of them counts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agent_options::MethodName;
use jvmti::jni_sys::{JNIEnv, jclass, jmethodID};
use jvmti::sys::{JVMTI_EVENT_BREAKPOINT, jlocation, jthread, jvmtiEnv, jvmtiEventCallbacks};
use jvmti::{Error, Jni, guard};

use trace::model::Record;

use agent_base::clock::Ticks;
use agent_base::events::event::Event;
use agent_base::message::message;
use agent_core::core::Core;
use agent_core::core::asking::Wanted;
use agent_core::core::context::{Entry, enter};
use agent_core::core::current::Current;
use agent_core::core::feature::{End, Feature};
use agent_trace::{Document, Section, SourceNumber};

/// The thread that reaches a mark waits so long for the counts so far; it takes a few milliseconds.
const LONGEST_SNAPSHOT: Duration = Duration::from_secs(2);

/// The feature.
pub(crate) struct MarkedMethods {
    core: &'static Core,
    /// As many as there are options, in their order.
    marks: Box<[MarkedMethod]>,
}

struct MarkedMethod {
    method: MethodName,
    /// The signature of its class.
    signature: Vec<u8>,
    is_reached: AtomicBool,
}

static CURRENT: Current<MarkedMethods> = Current::none();

impl MarkedMethods {
    /// What it writes into the trace.
    pub(crate) fn section(&'static self) -> Box<dyn Section> {
        Box::new(MarkSection)
    }

    /// Those of a recording's options.
    pub(crate) fn new(core: &'static Core) -> MarkedMethods {
        let mark = |method: &MethodName| MarkedMethod {
            signature: format!("L{};", method.class.replace('.', "/")).into_bytes(),
            method: method.clone(),
            is_reached: AtomicBool::new(false),
        };
        MarkedMethods { core, marks: core.options.marks.iter().map(mark).collect() }
    }

    /// Those of a class that are not reached yet, and which they are.
    ///
    /// # Safety
    /// `class` is a live reference.
    unsafe fn of_class(&self, class: jclass) -> Vec<(usize, &MarkedMethod)> {
        // SAFETY: by the caller's promise.
        let Ok(signature) = (unsafe { self.core.jvm.env.get_class_signature(class) }) else { return Vec::new() };
        let is_it = |(_, mark): &(usize, &MarkedMethod)| {
            mark.signature == *signature && !mark.is_reached.load(Ordering::Relaxed)
        };
        self.marks.iter().enumerate().filter(is_it).collect()
    }

    /// Sets the breakpoints of a linked class.
    ///
    /// # Safety
    /// `class` is a live reference.
    unsafe fn arm(&self, class: jclass) {
        let env = self.core.jvm.env;
        // SAFETY: by the caller's promise; the methods are those of the class.
        for (mark, methods) in unsafe { self.methods(class) } {
            for method in methods {
                // SAFETY: as above.
                match unsafe { env.set_entry_breakpoint(method) } {
                    Ok(()) | Err(Error::DUPLICATE) => {}
                    Err(Error::NATIVE_METHOD | Error::INVALID_LOCATION) => {
                        message(&format!("cannot mark {}: it is native or abstract", mark.method));
                    }
                    Err(error) => message(&format!("cannot mark {}: {}", mark.method, error.name())),
                }
            }
        }
    }

    /// Takes away the breakpoints of a class that were not reached.
    ///
    /// # Safety
    /// `class` is a live reference.
    unsafe fn disarm(&self, class: jclass) {
        // SAFETY: by the caller's promise; the methods are those of the class.
        for method in unsafe { self.methods(class) }.into_iter().flat_map(|(_, methods)| methods) {
            // SAFETY: as above.
            let _ = unsafe { self.core.jvm.env.clear_entry_breakpoint(method) };
        }
    }

    /// The methods of a class for each of its marks that is not reached yet.
    ///
    /// # Safety
    /// `class` is a live reference.
    unsafe fn methods(&self, class: jclass) -> Vec<(&MarkedMethod, Vec<jmethodID>)> {
        // SAFETY: by the caller's promise.
        let marks = unsafe { self.of_class(class) };
        if marks.is_empty() {
            return Vec::new();
        }
        let env = self.core.jvm.env;
        // SAFETY: by the caller's promise. One that is not linked yet has none.
        let Ok(methods) = (unsafe { env.get_class_methods(class) }) else { return Vec::new() };
        // SAFETY: the methods are those of a live class.
        let is_of = |mark: &MarkedMethod, method: jmethodID| is_named(unsafe { env.get_method_name(method) }, mark);
        let of = |(_, mark)| (mark, methods.iter().copied().filter(|&method| is_of(mark, method)).collect());
        marks.into_iter().map(of).collect()
    }

    /// Visits all classes that are loaded.
    fn each_class(&self, jni: Jni, visit: impl Fn(jclass)) {
        let _ = self.core.jvm.classes.each_loaded(jni, |class| {
            visit(class);
            Ok(())
        });
    }

    /// A breakpoint is reached.
    ///
    /// # Safety
    /// `method` is that of the current frame.
    unsafe fn reached(&self, jni: Jni, method: jmethodID) {
        // What the agent calls is none of the program's; the breakpoint stays.
        if Entry::is_inside() {
            return;
        }
        let now = Ticks::now();
        let env = self.core.jvm.env;
        // SAFETY: the method runs, so its class lives; the reference is deleted when it is done with.
        let found = unsafe {
            let Ok(class) = env.get_method_declaring_class(method) else { return };
            let wanted = self.of_class(class);
            jni.delete_local_ref(class);
            // Also those of a mark that another thread, or another method of that name, has reached.
            let _ = env.clear_entry_breakpoint(method);
            wanted.into_iter().find(|(_, mark)| is_named(env.get_method_name(method), mark))
        };
        let Some((index, mark)) = found else { return };
        if self.core.is_reporting() && !mark.is_reached.swap(true, Ordering::AcqRel) {
            enter(
                self.core,
                jni,
                || now,
                |local| {
                    let thread = local.thread.current;
                    local.thread.push(Event::Mark { thread, mark: index as u32 }, now);
                },
            );
            // Before it goes on, so that what it counts from then on is none of what was counted before.
            self.core.ask_snapshot(Wanted { live: false, at: Some(now) }, LONGEST_SNAPSHOT);
        }
    }
}

fn is_named(name: jvmti::Result<jvmti::MethodName>, mark: &MarkedMethod) -> bool {
    name.is_ok_and(|name| *name.name == *mark.method.method.as_bytes())
}

impl Feature for MarkedMethods {
    fn install(&'static self) {
        CURRENT.set(self);
    }

    fn callbacks(&self, main: &mut jvmtiEventCallbacks, _: &mut jvmtiEventCallbacks) {
        main.Breakpoint = Some(breakpoint);
    }

    fn begin(&'static self, _: Jni) -> Result<(), String> {
        Ok(())
    }

    /// Once classes are rewritten that were loaded before: that takes breakpoints away.
    fn resume(&'static self, jni: Jni) {
        let env = self.core.jvm.env;
        if let Err(error) = env.enable_event(JVMTI_EVENT_BREAKPOINT) {
            return message(&format!("cannot mark methods: {}", error.name()));
        }
        // SAFETY: live references.
        self.each_class(jni, |class| unsafe { self.arm(class) });
    }

    unsafe fn class_prepared(&'static self, _: Jni, class: jclass) {
        // SAFETY: by the caller's promise.
        unsafe { self.arm(class) }
    }

    fn stop(&'static self, jni: Jni, end: End) {
        let _ = self.core.jvm.env.disable_event(JVMTI_EVENT_BREAKPOINT);
        if end.is_survived() {
            // SAFETY: live references.
            self.each_class(jni, |class| unsafe { self.disarm(class) });
        }
        for mark in self.marks.iter().filter(|mark| !mark.is_reached.load(Ordering::Relaxed)) {
            message(&format!("{} was never entered, so the trace has no mark for it; check its name", mark.method));
        }
    }
}

/// JVMTI `Breakpoint`.
///
/// # Safety
/// Called by the VM.
unsafe extern "system" fn breakpoint(_: *mut jvmtiEnv, jni: *mut JNIEnv, _: jthread, method: jmethodID, _: jlocation) {
    guard(|| {
        let Some(marks) = CURRENT.get() else { return };
        // SAFETY: the VM passes this thread's environment, and the method that is about to run.
        unsafe { marks.reached(Jni::from_raw(jni), method) }
    });
}

/// Writes which methods were entered for the first time.
pub(crate) struct MarkSection;

impl Section for MarkSection {
    fn event(&mut self, document: &mut Document, _: SourceNumber, ticks: Ticks, event: Event) -> bool {
        let Event::Mark { thread, mark } = event else { return false };
        if let Some(method) = document.core.options.marks.get(mark as usize) {
            let (time, thread, method) = (document.time(ticks), document.thread_id(thread), method.to_string());
            document.emit(|out| trace::model::Mark { method: method.into(), thread, time }.write(out));
        }
        true
    }
}
