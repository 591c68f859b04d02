//! What a trace holds besides the rows of the tables, and what is wrong or missing in it.

use trace::model::{Element, FilterMode};
use trace::time::Time;

/// Maximum number of different counters. Agents write a handful; a hostile trace may hold millions.
const MAX_COUNTS: usize = 256;

/// Who recorded a document, as its head says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Name of the agent.
    pub agent: String,
    /// Its version.
    pub version: String,
    /// The options it ran with.
    pub parameters: String,
    /// The format of the file that the document was made of, if Martini did not record it.
    pub imported_from: Option<String>,
    /// Process id of the JVM.
    pub pid: u64,
    /// The command line of the JVM, quoted for a shell; empty if the document does not say.
    pub command: String,
    /// The version of the VM; empty if the document does not say.
    pub java_version: String,
    /// Host name of the machine.
    pub host: String,
    /// The service that the JVM is one of, its release and its pod, if the document says so.
    pub service: Option<String>,
    /// See [`Origin::service`].
    pub release: Option<String>,
    /// See [`Origin::service`].
    pub pod: Option<String>,
    /// The document has elements that only Martini writes.
    pub has_additions: bool,
    /// The document has a `traceEnd`.
    pub has_end: bool,
}

impl Origin {
    /// Whether Martini recorded the document. TPTP's last profiler has the same name and version, but its parameters begin
    /// with the kind of its server.
    pub fn is_martini(&self) -> bool {
        self.has_additions || self.agent == "org.eclipse.tptp.jvmti" && !self.parameters.starts_with("server=")
    }
}

/// A number that the agent wrote into the trace about its own completeness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// What was counted, such as `events.dropped`.
    pub key: String,
    /// Which of several, such as the reason of a refusal.
    pub detail: Option<String>,
    /// How many, added up over the documents.
    pub value: u64,
}

/// Facts about a whole trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Documents in the trace; a zip may hold several.
    pub documents: u64,
    /// Documents that end as they should, with `traceEnd`. Others of Martini's were cut off, as by a kill of the JVM.
    pub ended: u64,
    /// The heads of the documents, in their order.
    pub origins: Vec<Origin>,
    /// Elements of any kind.
    pub elements: u64,
    /// Elements that the format does not have.
    pub unknown: u64,
    /// `objAlloc` elements; where allocations are analysed, without those of [`Facts::monitors`].
    pub allocations: u64,
    /// Where allocations are analysed: objects that are in the trace only because a thread waits for them.
    pub monitors: u64,
    /// `allocCount` elements: totals of allocation sites, without single objects.
    pub site_counts: u64,
    /// `liveCount` elements.
    pub live_counts: u64,
    /// `allocSample` elements: what a sampler says of allocations.
    pub alloc_samples: u64,
    /// Bytes between two samples of objects, the largest of all documents.
    pub sampled_interval: Option<u64>,
    /// `liveSample` elements: sampled objects that live.
    pub live_samples: u64,
    /// `cpuSample` elements: threads that were seen on a processor.
    pub cpu_samples: u64,
    /// `wallSample` elements: threads that were looked at, whether they ran or not.
    pub wall_samples: u64,
    /// Objects that the JVM reported and no site counted, and their bytes.
    pub counted_by_vm: (u64, u64),
    /// Bytes between two samples of the sampler that estimates what is really allocated, the largest of all documents.
    pub estimate_interval: Option<u64>,
    /// `stackDef` elements.
    pub stacks: u64,
    /// Some filter leaves classes out.
    pub is_filtered: bool,
    /// `objFree` elements.
    pub frees: u64,
    /// `gcFinish` elements.
    pub collections: u64,
    /// The names of heap dumps, in their order: why each was made, and its file.
    pub dumps: Vec<String>,
    /// `methodEntry` and `methodExit` elements, and those of aggregated calls.
    pub calls: u64,
    /// When collection began: the earliest `traceStart`.
    pub begin: Option<Time>,
    /// The latest time of an allocation, a death, a collection or an end.
    pub end: Option<Time>,
    /// Classes, threads, methods and stacks that were referred to without a definition.
    pub undefined_ids: u64,
    /// `objFree` elements of objects that were never announced or are dead already.
    pub unknown_frees: u64,
    /// `objAlloc` elements with the id of a live object. The earlier object counts as collected.
    pub reused_ids: u64,
    /// What the agent counted, in the order of the trace.
    pub counts: Vec<Count>,
}

impl Facts {
    /// Takes over what an element says about the trace as a whole.
    pub(crate) fn note(&mut self, element: &Element<'_>) {
        self.elements += 1;
        if let Some(origin) = self.origins.last_mut() {
            origin.has_end |= matches!(element, Element::TraceEnd(_));
            origin.has_additions |= element.is_addition();
        }
        match element {
            Element::Node(node) => self.origins.push(Origin { host: node.hostname.to_string(), ..Origin::default() }),
            Element::ProcessCreate(process) => {
                if let Some(origin) = self.origins.last_mut() {
                    origin.pid = process.pid;
                    origin.command = process.name.as_deref().unwrap_or_default().to_owned();
                    origin.java_version = process.java_version.as_deref().unwrap_or_default().to_owned();
                }
            }
            Element::AgentCreate(agent) => {
                if let Some(origin) = self.origins.last_mut() {
                    origin.agent = agent.agent_name.to_string();
                    origin.version = agent.version.to_string();
                    origin.parameters = agent.agent_parameters.to_string();
                    origin.imported_from = agent.imported_from.as_deref().map(str::to_owned);
                }
            }
            Element::TraceOption(option) => {
                let Some(origin) = self.origins.last_mut() else { return };
                let label = match &*option.key {
                    "service" => &mut origin.service,
                    "release" => &mut origin.release,
                    "pod" => &mut origin.pod,
                    _ => return,
                };
                *label = Some(option.value.to_string());
            }
            Element::TraceStart(start) => {
                self.begin = Some(self.begin.map_or(start.time, |begin| begin.min(start.time)));
            }
            Element::TraceEnd(end) => {
                self.ended += 1;
                self.reach(end.time);
            }
            Element::ObjAlloc(alloc) => {
                self.allocations += 1;
                self.reach(alloc.time);
            }
            Element::AllocCount(count) => {
                self.site_counts += 1;
                self.reach(count.time);
            }
            Element::LiveCount(count) => {
                self.live_counts += 1;
                self.reach(count.time);
            }
            Element::AllocSample(sample) => {
                self.alloc_samples += 1;
                self.reach(sample.time);
            }
            Element::LiveSample(sample) => {
                self.live_samples += 1;
                self.reach(sample.time);
            }
            Element::CpuSample(sample) => {
                self.cpu_samples += 1;
                self.reach(sample.time);
            }
            Element::WallSample(sample) => {
                self.wall_samples += 1;
                self.reach(sample.time);
            }
            Element::Filter(filter) => self.is_filtered |= filter.mode == FilterMode::Exclude,
            Element::ObjFree(free) => {
                self.frees += 1;
                self.reach(free.time);
            }
            Element::GcFinish(finish) => {
                self.collections += 1;
                self.reach(finish.time);
            }
            Element::HeapDumpDef(dump) => self.dumps.push(dump.name.as_deref().unwrap_or_default().to_owned()),
            Element::MethodEntry(_) | Element::MethodExit(_) | Element::AgMethodEntry(_) | Element::AgMethodExit(_) => {
                self.calls += 1
            }
            Element::StackDef(_) => self.stacks += 1,
            Element::Other(_) => self.unknown += 1,
            Element::MartiniCount(count) if count.key == "callers.interval" => {
                self.estimate_interval = self.estimate_interval.max(Some(count.value));
            }
            Element::MartiniCount(count) if count.key == "sampled.interval" => {
                self.sampled_interval = self.sampled_interval.max(Some(count.value));
            }
            Element::MartiniCount(count) => self.count(&count.key, count.detail.as_deref(), count.value),
            _ => {}
        }
    }

    fn reach(&mut self, time: Time) {
        self.end = self.end.max(Some(time));
    }

    pub(crate) fn count(&mut self, key: &str, detail: Option<&str>, value: u64) {
        let (key, detail) = if self.counts.len() < MAX_COUNTS { (key, detail) } else { ("...", None) };
        let known = self.counts.iter_mut().find(|known| known.key == key && known.detail.as_deref() == detail);
        match known {
            Some(known) => known.value = known.value.saturating_add(value),
            None => self.counts.push(Count { key: key.to_owned(), detail: detail.map(str::to_owned), value }),
        }
    }
}

#[cfg(test)]
mod tests {
    use trace::model::MartiniCount;

    use super::*;

    #[test]
    fn martini_is_known_by_its_parameters_and_its_elements() {
        let origin = |agent: &str, parameters: &str, has_additions| Origin {
            agent: agent.to_owned(),
            parameters: parameters.to_owned(),
            has_additions,
            ..Origin::default()
        };
        assert!(origin("org.eclipse.tptp.jvmti", "heap=events", false).is_martini());
        assert!(origin("org.eclipse.tptp.jvmti", "JPIAgent:server=standalone;HeapProf", false).is_martini());
        assert!(origin("org.eclipse.tptp.jvmti", "server=controlled", true).is_martini());
        assert!(!origin("org.eclipse.tptp.jvmti", "server=controlled", false).is_martini());
        assert!(!origin("Java Profiling Agent", "server=controlled", false).is_martini());
    }

    #[test]
    fn counts_are_added_up_by_key_and_detail_and_never_pile_up() {
        let mut facts = Facts::default();
        let mut count = |key: &str, detail: Option<&str>| {
            let element = MartiniCount { key: key.into(), detail: detail.map(Into::into), value: 2 };
            facts.note(&Element::MartiniCount(element));
        };
        for _ in 0..3 {
            count("lost", None);
            count("lost", Some("full"));
        }
        for number in 0..1000 {
            count(&number.to_string(), None);
        }
        assert_eq!(facts.counts[0], Count { key: "lost".into(), detail: None, value: 6 });
        assert_eq!(facts.counts[1], Count { key: "lost".into(), detail: Some("full".into()), value: 6 });
        assert_eq!(facts.counts.len(), MAX_COUNTS + 1);
        assert_eq!(facts.counts.iter().map(|count| count.value).sum::<u64>(), 2012);
    }
}
