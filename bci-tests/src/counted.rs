//! What a trace adds up to, read in one pass without keeping its objects: sites, threads, and windows between markers.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use trace::ids::{ClassId, MethodId, StackId, ThreadId};
use trace::model::{Element, ThreadCount};
use trace::time::Time;

use crate::read::{self, Judged, TraceData};

/// Instances and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Number of objects.
    pub instances: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Sum {
    fn add(&mut self, instances: u64, bytes: u64) {
        self.instances += instances;
        self.bytes += bytes;
    }
}

/// One element that sums up, resolved.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// Name of the allocated class.
    pub class: String,
    /// Class and name of the method; empty if not known.
    pub method: String,
    /// Source line; 0 if not known.
    pub line: i64,
    /// Whether the JVM counted it, not bytecode.
    pub from_vm: bool,
}

/// What a trace says in sums.
#[derive(Debug, Default)]
pub struct Counted {
    /// Of `allocCount`; of several classes with one name the sum.
    pub sites: BTreeMap<Site, Sum>,
    /// Of `allocSample`, by site.
    pub estimates: BTreeMap<Site, u64>,
    /// The same by site and stack, whose frames are class, method and line, innermost first.
    pub by_stack: BTreeMap<(Site, Vec<String>), Sampled>,
    /// Of `liveSample`, what the last look found, by site and age.
    pub living: BTreeMap<(Site, u64), Sampled>,
    /// Number of looks.
    pub looks: u64,
    /// The account of each thread, by name; of several threads with one name the last.
    pub threads: BTreeMap<String, ThreadCount>,
    /// Bytes reported in the accounts of all threads, also of those that share a name.
    pub reported: u64,
    /// Of `objAlloc`, between the markers on one thread, by thread name and class name.
    pub windows: BTreeMap<String, BTreeMap<String, Sum>>,
    /// Of `objAlloc`, all.
    pub objects: Sum,
    /// What the trace says about its own completeness, by key and detail.
    pub counts: BTreeMap<(String, String), u64>,
    /// Whether it ended as it should.
    pub complete: bool,
    markers: Option<Markers>,
    names: Names,
}

/// What samples stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sampled {
    /// How many there are.
    pub samples: u64,
    /// How many bytes they stand for.
    pub bytes: u64,
    /// The square of their standard error.
    pub variance: u64,
}

/// The classes whose instances open and close a window.
#[derive(Clone, Copy, Debug)]
pub struct Markers {
    /// Opens it.
    pub begin: &'static str,
    /// Closes it.
    pub end: &'static str,
}

#[derive(Debug, Default)]
struct Names {
    classes: HashMap<ClassId, String>,
    methods: HashMap<MethodId, String>,
    threads: HashMap<ThreadId, String>,
    accounts: HashMap<ThreadId, ThreadCount>,
    /// What was reported last.
    sites: HashMap<(ClassId, Option<MethodId>, i64, bool), Sum>,
    open: HashMap<ThreadId, HashMap<ClassId, Sum>>,
    stacks: HashMap<StackId, Vec<String>>,
    /// What was reported last.
    samples: HashMap<SampleIds, Sampled>,
    /// When it was looked last for what lives.
    looked: Option<Time>,
}

/// Class, method, line, stack and thread.
type SampleIds = (ClassId, Option<MethodId>, i64, Option<StackId>, Option<ThreadId>);

impl Names {
    fn site(&self, class: ClassId, method: Option<MethodId>, line: Option<i64>, from_vm: bool) -> Site {
        let method = method.map(|method| self.methods[&method].clone()).unwrap_or_default();
        Site { class: self.classes[&class].clone(), method, line: line.unwrap_or(0), from_vm }
    }
}

impl Counted {
    /// Counts in windows too, which these markers open and close.
    pub fn between(markers: Markers) -> Self {
        Self { markers: Some(markers), ..Self::default() }
    }

    /// Reads a trace of one document that is valid but for its end.
    ///
    /// # Panics
    /// If it cannot be read, or refers to what it does not define.
    pub fn read(path: &Path) -> Self {
        read::trace(path, Self::default(), Judged::NotJudged)
    }

    /// What the values of all `martiniCount` of a key add up to, whatever their details.
    pub fn sum(&self, key: &str) -> u64 {
        self.counts.iter().filter(|((of, _), _)| of == key).map(|(_, value)| value).sum()
    }

    /// The value of a `martiniCount` without detail; 0 if there is none.
    pub fn count(&self, key: &str) -> u64 {
        self.counts.get(&(key.to_owned(), String::new())).copied().unwrap_or(0)
    }
}

impl TraceData for Counted {
    fn element(&mut self, element: &Element<'_>) {
        let names = &mut self.names;
        match element {
            Element::ThreadStart(start) => {
                names.threads.insert(start.thread_id, start.thread_name.to_string());
            }
            Element::ClassDef(class) => {
                names.classes.insert(class.class_id, class.name.to_string());
            }
            Element::MethodDef(method) => {
                let name = format!("{}.{}", names.classes[&method.class], method.name);
                names.methods.insert(method.method_id, name);
            }
            Element::AllocCount(count) => {
                let site = names.site(count.class, count.method, count.line, count.source.is_some());
                let key = (count.class, count.method, site.line, site.from_vm);
                let (instances, bytes) = (count.instances, count.bytes);
                let before = names.sites.insert(key, Sum { instances, bytes }).unwrap_or_default();
                self.sites.entry(site).or_default().add(instances - before.instances, bytes - before.bytes);
            }
            Element::StackDef(stack) => {
                let frames = stack.frames.0.iter();
                let frames = frames.map(|frame| format!("{}:{}", names.methods[&frame.method], frame.line)).collect();
                names.stacks.insert(stack.stack_id, frames);
            }
            Element::AllocSample(sample) => {
                let site = names.site(sample.class, sample.method, sample.line, false);
                let ids = (sample.class, sample.method, site.line, sample.stack, sample.thread);
                let now = Sampled { samples: sample.samples, bytes: sample.bytes, variance: sample.error.pow(2) };
                let before = names.samples.insert(ids, now).unwrap_or_default();
                *self.estimates.entry(site.clone()).or_default() += now.bytes - before.bytes;
                let frames = sample.stack.map(|stack| names.stacks[&stack].clone()).unwrap_or_default();
                let sum = self.by_stack.entry((site, frames)).or_default();
                sum.samples += now.samples - before.samples;
                sum.bytes += now.bytes - before.bytes;
                sum.variance += now.variance - before.variance;
            }
            Element::LiveSample(sample) => {
                if names.looked.replace(sample.time) != Some(sample.time) {
                    self.living.clear();
                    self.looks += 1;
                }
                let site = names.site(sample.class, sample.method, sample.line, false);
                let sum = self.living.entry((site, sample.age)).or_default();
                sum.samples += sample.samples;
                sum.bytes += sample.bytes;
                sum.variance += sample.error.pow(2);
            }
            Element::ThreadCount(count) => {
                names.accounts.insert(count.thread, count.clone());
            }
            Element::ObjAlloc(object) => {
                self.objects.add(1, object.size);
                let Some(thread) = object.thread else { return };
                match names.classes[&object.class].as_str() {
                    class if self.markers.is_some_and(|markers| class == markers.begin) => {
                        names.open.insert(thread, HashMap::new());
                    }
                    class if self.markers.is_some_and(|markers| class == markers.end) => {
                        let open = names.open.remove(&thread).expect("a window is opened before it is closed");
                        let window = self.windows.entry(names.threads[&thread].clone()).or_default();
                        for (class, sum) in open {
                            window.entry(names.classes[&class].clone()).or_default().add(sum.instances, sum.bytes);
                        }
                    }
                    _ => {
                        if let Some(window) = names.open.get_mut(&thread) {
                            window.entry(object.class).or_default().add(1, object.size);
                        }
                    }
                }
            }
            Element::MartiniCount(count) => {
                let detail = count.detail.as_deref().unwrap_or_default().to_owned();
                *self.counts.entry((count.key.to_string(), detail)).or_default() += count.value;
            }
            _ => {}
        }
    }

    fn end(&mut self, is_complete: bool) {
        self.complete = is_complete;
        self.reported = self.names.accounts.values().map(|account| account.bytes).sum();
        let accounts = self.names.accounts.drain();
        self.threads = accounts.map(|(thread, count)| (self.names.threads[&thread].clone(), count)).collect();
    }
}
