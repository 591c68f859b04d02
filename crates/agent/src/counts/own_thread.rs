//! What the current thread has counted so far, site by site, for Java: budgets of tests compare two such reports
//! (`integrations/junit`).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ptr::null_mut;

use jvmti::jni_sys::{JNIEnv, jbyteArray};

use super::current_thread::Here;
use super::feature::Counts;
use super::sites::ResolvePhase;
use super::sums::Totals;
use agent_base::helpers::is_helper_frame;
use agent_base::ids::{AllocationSite, CodeLocation, StackIndex};
use agent_core::core::Jvm;
use agent_core::core::context::callback;

/// `martini.junit.Counts.before`: the report as UTF-8, and from now on the thread counts with stacks; null if nothing is counted.
///
/// # Safety
/// Called by the VM.
pub unsafe fn begin_own_counts(jni: *mut JNIEnv) -> jbyteArray {
    // SAFETY: the VM passes this thread's environment.
    unsafe { report_and(jni, |here| here.begin_callers()) }
}

/// `martini.junit.Counts.end`: the same report, with the stacks since then.
///
/// # Safety
/// Called by the VM.
pub unsafe fn end_own_counts(jni: *mut JNIEnv) -> jbyteArray {
    // SAFETY: the VM passes this thread's environment.
    unsafe { report_and(jni, |here| here.end_callers()) }
}

/// # Safety
/// `jni` is the current thread's environment.
unsafe fn report_and(jni: *mut JNIEnv, then: impl FnOnce(&mut Here<'_>)) -> jbyteArray {
    let mut array = null_mut();
    // SAFETY: by the caller's promise.
    unsafe {
        callback(jni, |counts: &Counts, jni, thread, state| {
            let mut here = Here::new(&counts.threads, jni, thread, state);
            counts.core.exclude(jni, thread.carrier, || {
                array = jni.new_bytes(report(counts, &mut here).as_bytes()).unwrap_or_else(|_| {
                    jni.exception_clear();
                    null_mut()
                });
            });
            then(&mut here);
        });
    }
    array
}

/// A line for each class and site: objects, bytes, the class, the site's class and method, and its line, with tabs between. What is
/// not known is `?`. Then the same for each stack that was seen, with a column for each frame, from the innermost one on.
fn report(counts: &Counts, here: &mut Here<'_>) -> String {
    let (threads, jvm) = (&counts.threads, counts.core.jvm);
    let own = here.own().clone();
    threads.settle(&own, jvm.accounting.current_thread_bytes(here.jni), false);
    counts.resolve(here.jni, Some(&own), ResolvePhase::Meanwhile);
    let mut lines: BTreeMap<Vec<String>, Totals> = BTreeMap::new();
    threads.for_each_of(&own, |counter, value| {
        let (totals, site) = threads.meaning(counter, value);
        *lines.entry(columns(jvm, site).into()).or_default() += totals;
    });
    for (counter, stack, seen) in here.state.callers.iter().flat_map(|callers| callers.seen()) {
        let (mut totals, site) = threads.meaning(counter, seen.instances);
        if seen.bytes > 0 {
            totals += threads.meaning(counter.next(), seen.bytes).0;
        }
        *lines.entry(columns(jvm, site).into_iter().chain(frames(jvm, stack)).collect()).or_default() += totals;
    }
    let mut text = String::new();
    for (columns, Totals { instances, bytes }) in lines {
        writeln!(text, "{}\t{}\t{}", instances as i64, bytes as i64, columns.join("\t")).expect("writing to a String");
    }
    text
}

fn columns(jvm: &Jvm, site: Option<AllocationSite>) -> [String; 4] {
    let class = site.and_then(|site| jvm.classes.get(site.class));
    let [declaring, method, line] = location(jvm, site.and_then(|site| site.location));
    [column(class.map(|class| class.name.as_str())), declaring, method, line]
}

fn location(jvm: &Jvm, location: Option<CodeLocation>) -> [String; 3] {
    let method = location.and_then(|CodeLocation { method, .. }| jvm.methods.get(method));
    let line = location.map(|location| location.line).filter(|&line| line > 0);
    [
        column(method.and_then(|method| jvm.classes.get(method.class)).map(|class| class.name.as_str())),
        column(method.map(|method| method.name.as_str())),
        column(line.map(|line| line.to_string()).as_deref()),
    ]
}

/// The frames of a stack as `class.method:line`, without ours.
fn frames(jvm: &Jvm, stack: StackIndex) -> impl Iterator<Item = String> {
    let frames = jvm.stacks.get(stack).map_or(&[][..], |stack| &stack.frames);
    let named = frames.iter().map(|&frame| location(jvm, Some(frame)));
    named
        .skip_while(|[class, ..]| is_helper_frame(class))
        .map(|[class, method, line]| format!("{class}.{method}:{line}"))
}

/// A name as a column: names may have any characters in them.
fn column(name: Option<&str>) -> String {
    name.unwrap_or("?").replace(['\t', '\n', '\r'], "?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_in_its_column() {
        assert_eq!(column(Some("a\tb\r\nc")), "a?b??c");
        assert_eq!(column(None), "?");
    }
}
