//! The program `shapes.Main` against its trace.
//!
//! The program brackets what each shape allocates by two marker objects and prints what lies between them. In the trace
//! the same markers, on the same thread, enclose the same objects: nothing that the JDK allocates for itself before,
//! after or on other threads can blur the comparison.

use std::collections::BTreeMap;

use crate::recorded::Recorded;

/// Name of the class whose object opens a window.
const BEGIN: &str = "shapes.Window$Begin";
/// Name of the class whose object closes a window.
const END: &str = "shapes.Window$End";

/// Instances and bytes of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Number of objects.
    pub count: u64,
    /// Their bytes; none where the program does not foretell them.
    pub bytes: Option<u64>,
}

/// What one thread allocated between two markers.
#[derive(Debug)]
pub struct Window {
    /// Thread name.
    pub thread: String,
    /// Number of the window on its thread.
    pub index: usize,
    /// Name of the shape.
    pub shape: String,
    /// Whether nothing but the listed classes may appear.
    pub exact: bool,
    /// By class name.
    pub expected: BTreeMap<String, Amount>,
}

/// The windows that the program printed.
///
/// # Panics
/// On a line that is not the program's.
pub fn printed(stdout: &str) -> Vec<Window> {
    let mut windows: Vec<Window> = Vec::new();
    for line in stdout.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields[..] {
            ["window", thread, index, shape, exactness] => windows.push(Window {
                thread: thread.to_owned(),
                index: index.parse().expect("a window has a number"),
                shape: shape.to_owned(),
                exact: exactness == "exact",
                expected: BTreeMap::new(),
            }),
            ["expect", count, bytes, class] => {
                let amount = Amount { count: count.parse().expect("a count"), bytes: bytes.parse().ok() };
                let window = windows.last_mut().expect("a window comes first");
                add(&mut window.expected, class, amount);
            }
            ["done"] | ["absent", _] => {}
            _ => panic!("shapes.Main printed {line:?}"),
        }
    }
    windows
}

/// What the trace holds in the windows of each thread, in order.
pub fn recorded(trace: &Recorded) -> BTreeMap<&str, Vec<BTreeMap<String, Amount>>> {
    struct Thread {
        closed: Vec<BTreeMap<usize, (u64, u64)>>,
        open: Option<BTreeMap<usize, (u64, u64)>>,
    }
    let mut threads: BTreeMap<usize, Thread> = BTreeMap::new();
    for object in &trace.objects {
        let Some(thread) = object.thread else { continue };
        let thread = threads.entry(thread).or_insert_with(|| Thread { closed: Vec::new(), open: None });
        match trace.names[object.class].as_str() {
            BEGIN => thread.open = Some(BTreeMap::new()),
            END => thread.closed.extend(thread.open.take()),
            _ => {
                if let Some(open) = &mut thread.open {
                    let amount = open.entry(object.class).or_default();
                    amount.0 += 1;
                    amount.1 += object.size;
                }
            }
        }
    }
    let named = |window: BTreeMap<usize, (u64, u64)>| {
        let mut by_name = BTreeMap::new();
        for (class, (count, bytes)) in window {
            add(&mut by_name, &trace.names[class], Amount { count, bytes: Some(bytes) });
        }
        by_name
    };
    let all = threads.into_iter().filter(|(_, thread)| !thread.closed.is_empty());
    all.map(|(name, thread)| (trace.names[name].as_str(), thread.closed.into_iter().map(named).collect())).collect()
}

fn add(amounts: &mut BTreeMap<String, Amount>, class: &str, amount: Amount) {
    let sum = amounts.entry(plain(class)).or_insert(Amount { count: 0, bytes: Some(0) });
    sum.count += amount.count;
    sum.bytes = sum.bytes.zip(amount.bytes).map(|(a, b)| a + b);
}

/// Objects of a class of the library that may come on top in a window: a string for each constant that is used for the first
/// time, and what the VM makes to load a class or to link a call.
const VMS_OWN: u64 = 100;

/// Whether so many objects are as many as expected, or some that the VM made for itself come on top.
fn fits(class: &str, expected: u64, found: u64) -> bool {
    let most = if class.starts_with("shapes.") { expected } else { expected + VMS_OWN };
    (expected..=most).contains(&found)
}

/// Every difference between what the program did and what its trace says, one sentence each.
pub fn differences(windows: &[Window], trace: &Recorded) -> Vec<String> {
    let recorded = recorded(trace);
    let mut differences = Vec::new();
    for window in windows {
        let place = format!("{} on thread {}", window.shape, window.thread);
        let Some(found) = recorded.get(window.thread.as_str()).and_then(|all| all.get(window.index)) else {
            differences.push(format!("{place}: the trace has no such window"));
            continue;
        };
        for (class, expected) in &window.expected {
            let found = found.get(class).copied().unwrap_or_default();
            if !fits(class, expected.count, found.count) {
                differences.push(format!("{place}: {} of {class}, the trace has {}", expected.count, found.count));
            } else if expected.count == found.count && expected.bytes.is_some() && found.bytes != expected.bytes {
                differences.push(format!("{place}: {expected:?} of {class}, the trace has {found:?}"));
            }
        }
        if window.exact {
            for (class, found) in found {
                if !window.expected.contains_key(class) && !fits(class, 0, found.count) {
                    differences.push(format!("{place}: none of {class}, the trace has {}", found.count));
                }
            }
        }
    }
    differences
}

/// A class name in one form. Classes behind lambdas are named by an address or a hash that `Class.getName` and JVMTI
/// write differently, so they are counted by the class and number of the lambda, where the JVM gives it one.
fn plain(class: &str) -> String {
    let Some(lambda) = class.find("$$Lambda") else { return class.replace('/', ".") };
    let end = class[lambda..].find(['/', '.']).map_or(class.len(), |at| lambda + at);
    class[..end].to_owned()
}
