//! The JVM's own count of its live objects.

use std::collections::BTreeMap;

use bci_tests::jdk::Jdk;
use bci_tests::process;
use bci_tests::recorded::Recorded;

/// What `jmap -histo:live` prints.
#[derive(Debug)]
pub(crate) struct Histogram {
    /// Instances and bytes by class and module; the module is empty for classes of the class path.
    classes: BTreeMap<(String, String), (u64, u64)>,
}

impl Histogram {
    /// Collects garbage in the JVM and counts what is left.
    #[track_caller]
    pub(crate) fn of_living(jdk: &Jdk, pid: u32) -> Self {
        let ran = process::run(jdk.tool("jmap").arg("-histo:live").arg(pid.to_string())).success();
        let mut classes = BTreeMap::new();
        for line in ran.out().lines() {
            let fields: Vec<&str> = line.split_whitespace().collect();
            // num: instances bytes class [(module@version)]
            let (number, instances, bytes, class, module) = match fields[..] {
                [number, instances, bytes, class] => (number, instances, bytes, class, ""),
                [number, instances, bytes, class, module] => (number, instances, bytes, class, module),
                _ => continue,
            };
            if !number.ends_with(':') {
                continue;
            }
            let module = module.trim_start_matches('(').split(['@', ')']).next().unwrap_or_default().to_owned();
            let (Ok(instances), Ok(bytes)) = (instances.parse::<u64>(), bytes.parse::<u64>()) else { continue };
            let sum: &mut (u64, u64) = classes.entry((family(class), module)).or_default();
            sum.0 += instances;
            sum.1 += bytes;
        }
        assert!(classes.len() > 100, "jmap printed no histogram:\n{}", ran.out());
        Self { classes }
    }

    /// Each difference between these live objects and those of the trace, over the classes of the program itself.
    pub(crate) fn differences(&self, trace: &Recorded, modules: &[&str]) -> Vec<String> {
        let mut recorded: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for object in trace.objects.iter().filter(|object| object.freed.is_none()) {
            let sum = recorded.entry(family(&trace.names[object.class])).or_default();
            sum.0 += 1;
            sum.1 += object.size;
        }
        let mut differences = Vec::new();
        let mut compared = 0;
        for ((class, module), counted) in &self.classes {
            let own = module.is_empty() || modules.contains(&module.as_str());
            let found = recorded.remove(class).unwrap_or_default();
            if !own || class.starts_with('[') {
                continue;
            }
            compared += 1;
            if found != *counted {
                differences.push(format!("{class}: jmap counts {counted:?} (instances, bytes), the trace {found:?}"));
            }
        }
        for (class, found) in recorded {
            if !class.ends_with("[]") {
                differences.push(format!("{class}: jmap counts none, the trace {found:?}"));
            }
        }
        if compared < 5 {
            differences.push(format!("only {compared} classes of the program are alive"));
        }
        differences
    }
}

/// The name under which a class is counted. Hidden classes and those behind lambdas carry an address or a number,
/// written differently by different tools, so they are counted by what made them.
fn family(class: &str) -> String {
    let cut = class.find("$$Lambda").or_else(|| class.find(['/', '+']));
    cut.map_or(class, |at| &class[..at]).to_owned()
}
