//! The JVM's own count of the objects in its heap, which knows nothing of ours.

use std::collections::BTreeMap;

use crate::jdk::Jdk;
use crate::process;

/// Which objects to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Everything in the heap, dead or alive.
    All,
    /// What is left after a collection.
    Living,
}

/// What `jmap -histo` prints.
#[derive(Debug)]
pub struct Histogram {
    /// Instances and bytes by class name (`[Lfoo.Bar;` for arrays).
    pub classes: BTreeMap<String, (u64, u64)>,
}

impl Histogram {
    /// Counts the objects in the heap of a running JVM.
    #[track_caller]
    pub fn of(jdk: &Jdk, pid: u32, which: Which) -> Self {
        let option = match which {
            Which::All => "-histo",
            Which::Living => "-histo:live",
        };
        let ran = process::run(jdk.tool("jmap").arg(option).arg(pid.to_string())).success();
        let mut classes = BTreeMap::new();
        for line in ran.out().lines() {
            // num: instances bytes class [(module@version)]
            let fields: Vec<&str> = line.split_whitespace().collect();
            let [number, instances, bytes, class] = fields.get(..4).unwrap_or_default() else { continue };
            let (true, Ok(instances), Ok(bytes)) =
                (number.ends_with(':'), instances.parse::<u64>(), bytes.parse::<u64>())
            else {
                continue;
            };
            let sum: &mut (u64, u64) = classes.entry(family(class).to_owned()).or_default();
            sum.0 += instances;
            sum.1 += bytes;
        }
        assert!(classes.len() > 100, "jmap printed no histogram:\n{}", ran.out());
        Self { classes }
    }

    /// Number of instances of a class.
    pub fn instances(&self, class: &str) -> u64 {
        self.classes.get(class).map_or(0, |(instances, _)| *instances)
    }
}

/// The name under which a class is counted. Hidden classes and those behind lambdas carry an address or a number,
/// written differently by different tools, so they are counted by what made them; other generated classes, as reports name them.
pub fn family(class: &str) -> &str {
    let lambda = class.find("$$Lambda").map(|at| at + "$$Lambda".len());
    let cut = lambda.or_else(|| class.find(['/', '+'])).or_else(|| class.find(".0x"));
    trace::generated::plain_element_name(cut.map_or(class, |at| &class[..at]))
}
