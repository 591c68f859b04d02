//! How long requests take (`requests=on`, `request=METHOD`): each call of an entry point, unless it is within another one.
//!
//! ```text
//! entry_points   the methods that are entry points, by name
//! hooks          they are rewritten to call MartiniRequests
//! under_way      what a thread had when its request began
//! statistics     sums of each entry point, and which requests are recorded one by one
//! section        what the writer writes
//! ```

mod entry_points;
mod hooks;
mod section;
mod statistics;
mod under_way;

use std::sync::OnceLock;

use jvmti::Jni;
use jvmti::jni_sys::{jboolean, jint, jobject};

use crate::reports::Reports;
use agent_base::clock::Ticks;
use agent_base::helpers::{HelperClass, Natives, REQUESTS};
use agent_base::ids::ThreadIndex;
use agent_base::message::message;
use agent_base::natives;
use agent_core::core::context::{LocalThread, Reporter, enter_for};
use agent_core::core::current::Current;
use agent_core::core::feature::{End, Feature, Rewriter};
use agent_core::core::{Core, accounting};
use agent_core::instrument::retransform::internal_name;
use agent_trace::Section;
use entry_points::{EntryNumber, EntryPoints};
use section::RequestSection;
use statistics::Ended;
use under_way::{Aside, Request, RequestThread, Start};

/// The feature.
pub(crate) struct Requests {
    core: &'static Core,
    points: EntryPoints,
    aside: Aside,
    /// Those that are recorded one by one.
    ended: Reports<(EntryNumber, ThreadIndex, Ended)>,
    helper: OnceLock<HelperClass>,
    /// What the helper class could not report.
    lost: OnceLock<u64>,
    /// Whether an interface of listeners was loaded when the recording began.
    listens: OnceLock<bool>,
}

static CURRENT: Current<Requests> = Current::none();

impl Requests {
    /// For a recording.
    pub(crate) fn new(core: &'static Core) -> Requests {
        Requests {
            core,
            points: EntryPoints::new(&core.options.requests),
            aside: Aside::default(),
            ended: Reports::default(),
            helper: OnceLock::new(),
            lost: OnceLock::new(),
            listens: OnceLock::new(),
        }
    }

    /// Whether classes that are loaded may implement an interface of listeners: if such an interface is.
    fn find_listeners(&self, jni: Jni) -> bool {
        let mut found = false;
        let visited = self.core.jvm.classes.each_loaded(jni, |class| {
            // SAFETY: a live reference.
            let signature = unsafe { self.core.jvm.env.get_class_signature(class) };
            let name = signature.as_ref().ok().and_then(|signature| internal_name(signature));
            found |= name.is_some_and(|name| EntryPoints::interfaces().contains(&name));
            Ok(())
        });
        found || visited.is_err()
    }

    /// What it writes into the trace.
    pub(crate) fn section(&'static self) -> Box<dyn Section> {
        Box::new(RequestSection::new(self))
    }

    /// All that have ended.
    pub(crate) fn ended(&self) -> warmth::Requests {
        let ended = self.points.iter().map(|(_, point)| point.statistics.ended());
        let add = |(number, log_sum), (more, logs)| (number + more, log_sum + logs);
        let (number, log_sum) = ended.fold((0, 0.0), add);
        warmth::Requests { number, log_sum }
    }

    fn add(&self, entry: EntryNumber, thread: ThreadIndex, ended: Ended) {
        if !self.ended.add((entry, thread, ended)) {
            self.core.count_lost("requests", 1);
        }
    }
}

/// Those of MartiniRequests.
pub static NATIVES: Natives = natives! {
    entered(entry: jint), c"entered", c"(I)V";
    left(entry: jint, failed: jboolean), c"left", c"(IZ)V";
};

/// The current thread has entered an entry point.
fn entered(jni: Jni, entry: jint) {
    let entry = EntryNumber(entry);
    enter_for(jni, |requests: &Requests, jni, context, state: &mut RequestThread| {
        if let Some(request) = &mut state.request {
            return request.enter(entry);
        }
        let Some(point) = requests.points.get(entry) else { return };
        let begun = Ticks::now();
        let number = point.statistics.begin(begun);
        // A virtual thread waits for a carrier, of which the system knows nothing.
        let queued = if context.is_virtual { None } else { state.queue.before(number, begun) };
        let start = Start { entry, number, begun, queued };
        state.set_thread(context.current);
        state.request = Some(Request::begin(requests.core, jni, context.carrier, start));
    });
}

/// The current thread leaves an entry point or a departure.
fn left(jni: Jni, entry: jint, failed: jboolean) {
    let entry = EntryNumber(entry);
    enter_for(jni, |requests: &Requests, jni, context, state: &mut RequestThread| {
        if entry == EntryNumber::DEPARTURE {
            return state.request.iter_mut().for_each(Request::depart);
        }
        let Some(request) = state.request.take_if(|request| request.leave(entry)) else { return };
        let Some(point) = requests.points.get(entry) else { return };
        let end = under_way::End { failed, queue: &mut state.queue };
        let ended = request.end(requests.core, jni, context.carrier, end);
        if point.statistics.add(&ended) {
            requests.add(entry, context.current, ended);
        }
    });
}

impl Reporter for Requests {
    type State = RequestThread;

    fn current() -> Option<&'static Requests> {
        CURRENT.get()
    }

    fn core(&self) -> &'static Core {
        self.core
    }
}

impl Feature for Requests {
    fn install(&'static self) {
        CURRENT.set(self);
    }

    fn prepare(&'static self, jni: Jni) -> Result<(), String> {
        let class = self.core.jvm.helpers.define(jni, &REQUESTS);
        let class =
            class.map_err(|error| format!("cannot define MartiniRequests, which rewritten classes need: {error}"))?;
        let _ = self.helper.set(class);
        Ok(())
    }

    fn begin(&'static self, jni: Jni) -> Result<(), String> {
        accounting::prepare(self.core, jni);
        // A look at the constant pool of each class would take far longer.
        self.listens.get_or_init(|| self.core.options.requests.known && self.find_listeners(jni));
        Ok(())
    }

    fn resume(&'static self, jni: Jni) {
        self.helper.get().inspect(|class| class.set_boolean(jni, c"on", true));
    }

    fn switched(&'static self, jni: Jni, local: &mut LocalThread) {
        let (context, state) = local.with::<RequestThread>();
        state.switch(&self.aside, self.core, jni, context.carrier, context.current);
    }

    unsafe fn thread_leaves(&'static self, _: Jni, _: jobject, index: ThreadIndex) {
        // Nothing of it is left there, unless its end was not seen.
        self.aside.take(index);
    }

    fn stop(&'static self, jni: Jni, _: End) {
        if let Some(class) = self.helper.get() {
            class.set_boolean(jni, c"on", false);
            let _ = self.lost.set(class.lost(jni));
        }
        self.points.complaints().iter().for_each(|complaint| message(complaint));
    }

    fn rewriter(&'static self) -> Option<&'static dyn Rewriter> {
        Some(self)
    }
}
