//! The busy program, the requests that it gets, and what the traces say.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::{fmt, fs};

use bci_tests::attach;
use bci_tests::jdk::Jdk;
use bci_tests::profiled::is_safe_mode;
use bci_tests::read::{self, Judged, TraceData};
use bci_tests::schema::{self, Schema};
use trace::ids::ClassId;
use trace::model::Element;

/// The class whose objects the program counts itself.
pub(crate) const NODE: &str = "attach.Main$Node";
const NODES: &str = "attach.Main$Node[]";

/// The program, running.
pub(crate) struct Program(attach::Program);

impl Deref for Program {
    type Target = attach::Program;

    fn deref(&self) -> &attach::Program {
        &self.0
    }
}

impl DerefMut for Program {
    fn deref_mut(&mut self) -> &mut attach::Program {
        &mut self.0
    }
}

impl Program {
    pub(crate) fn start(jdk: &Jdk, flags: &[&str], variables: &[(&str, &str)]) -> Self {
        // The JIT removes no object that is counted.
        let removed = ["-XX:-DoEscapeAnalysis", "-XX:-EliminateAutoBox"];
        Self(attach::Program::start(jdk, &[&removed, flags].concat(), variables))
    }

    /// One with another `main`, which takes lines on its standard input and says that it is right at its end.
    pub(crate) fn start_main(jdk: &Jdk, main: &str, flags: &[&str]) -> Self {
        Self(attach::Program::start_main(jdk, main, flags, &[]))
    }

    /// Records with these options while `body` runs.
    pub(crate) fn record(&mut self, options: &str, body: impl FnOnce(&mut Self)) -> Found {
        let trace = self.trace();
        let is_started = format!("ok\ntrace {}\n", trace.display());
        let options = format!("{options},file={}", trace.display());
        // In safe mode some of it is done without, which is said.
        let is_shown = |line: &&str| !(is_safe_mode() && line.starts_with("note "));
        let answer = self.ask("start", &options);
        assert_eq!(answer.split_inclusive('\n').filter(is_shown).collect::<String>(), is_started);
        body(self);
        assert_eq!(self.ask("stop", ""), is_started, "{options}");
        let found = read(&trace);
        fs::remove_file(trace).expect("it is there");
        found
    }

    /// Has the program make so many nodes.
    pub(crate) fn make(&mut self, nodes: u64) {
        self.have_made("run", nodes);
    }

    /// Has the program make so many nodes that the JIT can remove, each in an array.
    pub(crate) fn hide(&mut self, nodes: u64) {
        self.have_made("hide", nodes);
    }

    fn have_made(&mut self, how: &str, nodes: u64) {
        self.command(&format!("{how} {nodes}"), &format!("sum {}", nodes * (nodes - 1) / 2));
    }

    /// Has one of its threads wait for a lock: that they meet by chance cannot be relied on.
    pub(crate) fn contend(&mut self) {
        self.command("contend", "contended");
    }

    /// Has the program do what a line says, until it answers with that one.
    pub(crate) fn command(&mut self, line: &str, answer: &str) {
        self.running.send(line);
        self.running.wait_for(answer);
    }

    /// Ends it. It says itself whether it has done what it should.
    pub(crate) fn finish(self) -> String {
        let finished = self.0.running.finish().success();
        assert!(finished.out().ends_with("right\n"), "{}", finished.out());
        finished.err()
    }
}

/// Reads a trace, which has to be complete, and what the schema allows.
pub(crate) fn read(trace: &Path) -> Found {
    schema::check(trace, Schema::Strict);
    read::trace(trace, Found::default(), Judged::Valid)
}

/// The names of classes, too many to be shown.
#[derive(Default)]
struct Classes(HashMap<ClassId, String>);

impl fmt::Debug for Classes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} classes", self.0.len())
    }
}

/// What a trace says.
#[derive(Debug, Default)]
pub(crate) struct Found {
    classes: Classes,
    /// Arrays of nodes.
    pub(crate) arrays: u64,
    /// Nodes as objects, as counted, and as they are estimated.
    pub(crate) nodes: u64,
    pub(crate) counted_nodes: u64,
    pub(crate) sampled_nodes: u64,
    /// Elements of other kinds.
    pub(crate) elements: HashMap<&'static str, u64>,
    /// Bytes that were reported and that the JVM accounts.
    pub(crate) reported: u64,
    pub(crate) accounted: u64,
    pub(crate) rewritten: u64,
}

impl TraceData for Found {
    fn element(&mut self, element: &Element<'_>) {
        let is_of = |class: &ClassId, name| self.classes.0.get(class).is_some_and(|found| found == name);
        let is_node = |class: &ClassId| is_of(class, NODE);
        let kind = match element {
            Element::ClassDef(class) => {
                self.classes.0.insert(class.class_id, class.name.to_string());
                return;
            }
            Element::ObjAlloc(object) => {
                self.nodes += u64::from(is_node(&object.class));
                self.arrays += u64::from(is_of(&object.class, NODES));
                return;
            }
            Element::AllocCount(count) if is_node(&count.class) => {
                // Each element has all so far.
                self.counted_nodes = self.counted_nodes.max(count.instances);
                return;
            }
            Element::AllocSample(sample) if is_node(&sample.class) => {
                self.sampled_nodes = self.sampled_nodes.max(sample.instances);
                return;
            }
            Element::MartiniCount(count) => {
                match &*count.key {
                    "coverage.reported" => self.reported = count.value,
                    "coverage.accounted" => self.accounted = count.value,
                    "classes.rewritten" => self.rewritten = count.value,
                    _ => {}
                }
                return;
            }
            Element::ThreadStart(_) => "threadStart",
            Element::CpuSample(_) => "cpuSample",
            Element::WallSample(_) => "wallSample",
            Element::MonContendedEnter(_) => "monContendedEnter",
            Element::SafepointCount(_) => "safepointCount",
            Element::Request(_) => "request",
            Element::LiveCount(count) if is_node(&count.class) => "liveNodes",
            _ => return,
        };
        *self.elements.entry(kind).or_default() += 1;
    }
}

impl Found {
    pub(crate) fn has(&self, kind: &str) -> bool {
        self.elements.get(kind).is_some_and(|&number| number > 0)
    }

    /// Whether what was counted differs from the JVM's accounts by no more than a hundredth.
    pub(crate) fn is_covered(&self) -> bool {
        self.accounted > 0 && self.reported.abs_diff(self.accounted) <= self.accounted / 100
    }
}
