//! Waits that are no problem: those of a thread that has nothing to do, for its next work.
//!
//! The rule: a thread is idle while the code that fetches the next task of a pool, timer or event loop, or the next dead object
//! of a reference queue, waits. The stack of the wait shows that code. A wait without stack is never idle.

use crate::location::Location;

/// Where on the stack the method is while its thread is idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    /// Anywhere: it only fetches.
    Anywhere,
    /// Innermost, apart from frames that only wait: the same method runs what it has fetched.
    Innermost,
}

/// The methods that fetch work.
const FETCHING: [(&str, &str, Position); 11] = [
    ("java.util.concurrent.ThreadPoolExecutor", "getTask", Position::Anywhere),
    // Where so few frames were recorded that the pool's are not among them.
    ("java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue", "take", Position::Anywhere),
    ("java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue", "poll", Position::Anywhere),
    ("java.util.concurrent.ForkJoinPool", "awaitWork", Position::Innermost),
    ("java.util.concurrent.ForkJoinPool", "runWorker", Position::Innermost),
    ("java.util.TimerThread", "mainLoop", Position::Innermost),
    ("java.lang.ref.ReferenceQueue", "remove", Position::Anywhere),
    ("java.awt.EventQueue", "getNextEvent", Position::Anywhere),
    ("jdk.jfr.internal.PlatformRecorder", "takeNap", Position::Anywhere),
    // Servers have pools of their own: Tomcat, Jetty.
    ("org.apache.tomcat.util.threads.ThreadPoolExecutor", "getTask", Position::Anywhere),
    ("org.eclipse.jetty.util.thread.QueuedThreadPool", "idleJobPoll", Position::Anywhere),
];

/// Whether a thread with this stack, innermost first, waits for work. `waits` are the classes that do nothing but wait.
pub(super) fn is_idle<'a>(frames: impl Iterator<Item = Location<'a>>, waits: impl Fn(&str) -> bool) -> bool {
    let mut is_innermost = true;
    for frame in frames {
        let fetches = |&(class, method, position): &(&str, &str, Position)| {
            (position == Position::Anywhere || is_innermost) && frame.class == class && frame.method == method
        };
        if FETCHING.iter().any(fetches) {
            return true;
        }
        is_innermost &= waits(frame.class);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idles(frames: &[(&str, &str)]) -> bool {
        let frames =
            frames.iter().map(|&(class, method)| Location { class, method, signature: "", source: "", line: None });
        is_idle(frames, |class| class == "java.lang.Object" || class.starts_with("java.util.concurrent.locks."))
    }

    #[test]
    fn workers_without_work_are_idle_and_their_tasks_are_not() {
        let await_ = ("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject", "await");
        let pool = "java.util.concurrent.ThreadPoolExecutor";
        let take = ("java.util.concurrent.LinkedBlockingQueue", "take");
        assert!(idles(&[await_, take, (pool, "getTask"), (pool, "runWorker")]));
        assert!(!idles(&[await_, take, ("demo.Task", "run"), (pool, "runWorker")]));
        assert!(!idles(&[]));
    }

    #[test]
    fn loops_that_run_their_work_are_idle_only_where_they_wait_themselves() {
        let wait = ("java.lang.Object", "wait");
        let timer = ("java.util.TimerThread", "mainLoop");
        assert!(idles(&[timer]) && idles(&[wait, timer]));
        assert!(!idles(&[wait, ("demo.Task", "run"), timer]));
        let worker = ("java.util.concurrent.ForkJoinPool", "runWorker");
        assert!(idles(&[worker, ("java.util.concurrent.ForkJoinWorkerThread", "run")]));
        assert!(!idles(&[("java.util.concurrent.CountDownLatch", "await"), ("demo.Task", "exec"), worker]));
    }
}
