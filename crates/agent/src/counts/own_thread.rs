//! What the current thread has counted so far, site by site, for Java: budgets of tests compare two such reports
//! (`integrations/junit`).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ptr::null_mut;

use jvmti::Jni;
use jvmti::jni_sys::{JNIEnv, jbyteArray};

use super::current_thread::Here;
use super::feature::Counts;
use super::sites::ResolvePhase;
use super::sums::Totals;
use super::threads::ThreadCounts;
use agent_base::ids::{AllocationSite, CodeLocation};
use agent_core::core::Jvm;
use agent_core::core::context::callback;

/// `martini.junit.Counts.read`: the report as UTF-8; null if nothing is counted.
///
/// # Safety
/// Called by the VM.
pub unsafe fn read_own_counts(jni: *mut JNIEnv) -> jbyteArray {
    let mut array = null_mut();
    // SAFETY: the VM passes this thread's environment.
    unsafe {
        callback(jni, |counts: &Counts, jni, thread, state| {
            let own = Here::new(&counts.threads, jni, thread, state).own().clone();
            counts.core.exclude(jni, thread.carrier, || {
                array = jni.new_bytes(report(counts, jni, &own).as_bytes()).unwrap_or_else(|_| {
                    jni.exception_clear();
                    null_mut()
                });
            });
        });
    }
    array
}

/// A line for each class and site: objects, bytes, the class, the site's class and method, and its line, with tabs between. What is
/// not known is `?`.
fn report(counts: &Counts, jni: Jni, own: &ThreadCounts) -> String {
    let threads = &counts.threads;
    threads.settle(own, counts.core.jvm.accounting.current_thread_bytes(jni), false);
    counts.resolve(jni, Some(own), ResolvePhase::Meanwhile);
    let mut sites: BTreeMap<[String; 4], Totals> = BTreeMap::new();
    threads.for_each_of(own, |counter, value| {
        let (totals, site) = threads.meaning(counter, value);
        *sites.entry(columns(counts.core.jvm, site)).or_default() += totals;
    });
    let mut text = String::new();
    for (columns, Totals { instances, bytes }) in sites {
        writeln!(text, "{}\t{}\t{}", instances as i64, bytes as i64, columns.join("\t")).expect("writing to a String");
    }
    text
}

fn columns(jvm: &Jvm, site: Option<AllocationSite>) -> [String; 4] {
    let class_name = |class| jvm.classes.get(class).map(|class| class.name.as_str());
    let location = site.and_then(|site| site.location);
    let method = location.and_then(|CodeLocation { method, .. }| jvm.methods.get(method));
    let line = location.map(|location| location.line).filter(|&line| line > 0);
    [
        column(site.and_then(|site| class_name(site.class))),
        column(method.and_then(|method| class_name(method.class))),
        column(method.map(|method| method.name.as_str())),
        column(line.map(|line| line.to_string()).as_deref()),
    ]
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
