//! The options of the agent that are drawn.

use std::path::Path;

use crate::random::Random;

/// The options of one run, and what they lead to expect.
#[derive(Clone, Debug, Default)]
pub(super) struct Mode {
    /// Names and values, in the order in which they are given.
    pub(super) options: Vec<(&'static str, &'static str)>,
}

/// Methods of which many run at once, are compiled, redefined, or never run.
const MARKS: &[&str] = &[
    "java.lang.Object.<init>",
    "java.lang.String.hashCode",
    "java.lang.Thread.run",
    "java.util.HashMap.put",
    "java.util.concurrent.locks.LockSupport.park",
    "torture.Main.main",
    "torture.Main.never",
];

/// The moments at which dumps are made.
const MOMENTS: &[&str] = &["end", "oom", "request", "gc:1", "gc:4", "end+oom+request", "oom+gc:2", "end+request+gc:3"];

impl Mode {
    /// Draws one; `fills_heap` makes it likely that the heap is dumped when it is full, `samples` that threads are interrupted as often
    /// as can be.
    pub(super) fn draw(random: &mut Random, fills_heap: bool, samples: bool) -> Self {
        let mut mode = Self::default();
        mode.heap(random);
        mode.locks(random);
        mode.dump(random, fills_heap);
        mode.file(random);
        if samples {
            mode.add("cpu", "100us");
            mode.sometimes(random, 2, "wall", &["1ms"]);
            mode.sampled(random, 1, &["1k"]);
            mode.sometimes(random, 2, "ttsp", &["on"]);
        } else {
            mode.sampled(random, 4, &["1k", "64k", "512k"]);
            mode.sometimes(random, 8, "ttsp", &["on"]);
            mode.sometimes(random, 3, "cpu", &["100us", "1ms", "10ms"]);
            mode.sometimes(random, 6, "wall", &["1ms", "20ms"]);
            mode.sometimes(random, 6, "internals", &["off"]);
        }
        mode.sometimes(random, 8, "stacks", &["jvmti"]);
        mode.sometimes(random, 6, "warmup", &["on"]);
        mode.sometimes(random, 8, "requests", &["on"]);
        mode.sometimes(random, 8, "request", &["*.*", "*.run", "java.util.*.get"]);
        mode.sometimes(random, 12, "ready", &["on", "jmx"]);
        mode
    }

    /// Whether threads are interrupted to see what they do.
    pub(super) fn samples_threads(&self) -> bool {
        self.value("cpu").or(self.value("wall")).is_some()
    }

    /// The value of an option, if it is given.
    pub(super) fn value(&self, name: &str) -> Option<&'static str> {
        self.options.iter().find(|(of, _)| *of == name).map(|(_, value)| *value)
    }

    /// Names and values, of which files lie in that folder.
    pub(super) fn values(&self, dir: &Path) -> impl Iterator<Item = (&'static str, String)> {
        let dir = dir.display().to_string();
        self.options.iter().map(move |(name, value)| (*name, value.replace("{dir}", &dir)))
    }

    /// The name of the trace.
    pub(super) fn trace_name(&self) -> &'static str {
        if self.is("format", "zip") { "app.trcxml.zip" } else { "app.trcxml" }
    }

    /// All options, as the agent is given them.
    pub(super) fn described(&self) -> String {
        let options: Vec<String> = self.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
        options.join(",")
    }

    pub(super) fn is(&self, name: &str, value: &str) -> bool {
        self.value(name) == Some(value)
    }

    /// Whether a heap dump is to be made at this moment.
    pub(super) fn dumps_at(&self, moment: &str) -> bool {
        self.value("dump").is_some_and(|moments| moments.split('+').any(|of| of.split(':').next() == Some(moment)))
    }

    /// Whether the JIT removes objects although each is to be reported: the flags that keep it from that are private memory.
    pub(super) fn leaves_the_jit_alone(&self) -> bool {
        self.is("internals", "off") && self.is("heap", "events")
    }

    /// Whether every object of a class that is reported is to be in the trace, in one way or another.
    pub(super) fn counts_all(&self) -> bool {
        (self.is("heap", "counts") || self.is("heap", "events"))
            && self.value("limit").is_none()
            && self.value("exclude").is_none()
    }

    fn add(&mut self, name: &'static str, value: &'static str) {
        self.options.push((name, value));
    }

    /// One of the values, once in `n` times.
    fn sometimes(&mut self, random: &mut Random, n: u64, name: &'static str, values: &[&'static str]) {
        if random.once_in(n) {
            self.add(name, random.pick(values));
        }
    }

    fn heap(&mut self, random: &mut Random) {
        self.add("heap", random.pick(&["counts", "counts", "counts", "events", "events", "events", "vm", "vm", "off"]));
        match self.value("heap") {
            Some("counts") => {
                self.sometimes(random, 2, "callers", &["1k", "16k", "512k"]);
                self.sometimes(random, 3, "every", &["0", "5"]);
            }
            Some("events" | "vm") => {
                self.sometimes(random, 4, "lifetimes", &["false"]);
                self.sometimes(random, 3, "allocsites", &["true"]);
                self.sometimes(random, 2, "stack", &["1", "4", "16", "64"]);
                self.sometimes(random, 6, "buffer", &["1m", "4m"]);
            }
            _ => {}
        }
        self.sometimes(random, 4, "live", &["true"]);
        if random.once_in(8) {
            self.add(random.pick(&["include", "exclude"]), random.pick(&["java.*", "torture.*", "*[]"]));
        }
    }

    /// Samples objects once in `n` times, if not all of them are recorded.
    fn sampled(&mut self, random: &mut Random, n: u64, sizes: &[&'static str]) {
        if self.is("heap", "counts") || self.is("heap", "off") {
            self.sometimes(random, n, "sampled", sizes);
        }
    }

    fn locks(&mut self, random: &mut Random) {
        match random.below(5) {
            0 | 1 => {}
            2 => self.add("locks", "on"),
            _ => self.add("juc", "on"),
        }
        if self.value("locks").or(self.value("juc")).is_none() {
            return;
        }
        self.sometimes(random, 2, "owners", &["on", "off", "jvmti"]);
        self.sometimes(random, 2, "lockstack", &["0", "3", "64"]);
        self.sometimes(random, 4, "locknames", &["off"]);
        self.sometimes(random, 4, "locklog", &["{dir}/locks.txt"]);
    }

    fn dump(&mut self, random: &mut Random, fills_heap: bool) {
        if fills_heap && random.once_in(2) {
            self.add("dump", random.pick(&["oom", "end+oom", "oom+request"]));
        } else {
            self.sometimes(random, 3, "dump", MOMENTS);
        }
        if self.value("dump").is_some() {
            self.sometimes(random, 4, "dumpformat", &["xml"]);
            self.sometimes(random, 4, "dumpcontents", &["zero"]);
        }
    }

    fn file(&mut self, random: &mut Random) {
        self.sometimes(random, 5, "format", &["zip"]);
        self.sometimes(random, 12, "limit", &["200k", "2m"]);
        for _ in 0..2 {
            self.sometimes(random, 8, "mark", MARKS);
        }
    }
}
