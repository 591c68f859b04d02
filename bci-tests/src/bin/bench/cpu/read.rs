//! Reads what the profilers leave.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use bci_tests::jdk;
use trace::ids::{MethodId, StackId, ThreadId};
use trace::model::Element;
use trace::reader::{Event, TraceReader};

use super::split::{Profile, Truth};

/// The collapsed stacks of async-profiler: thread and frames from the outermost on, and how often they were seen.
pub(super) fn async_profiler(file: &Path, truth: &Truth) -> Result<Profile, String> {
    let file = File::open(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let mut profile = Profile::new(truth);
    for line in BufReader::new(file).lines() {
        let line = line.map_err(|e| e.to_string())?.replace('/', ".");
        let Some((stack, count)) = line.rsplit_once(' ') else { continue };
        let count: u64 = count.parse().map_err(|_| format!("async-profiler wrote {line:?}"))?;
        let (thread, frames) = stack.split_once(';').unwrap_or((stack, ""));
        let thread = thread.trim_start_matches('[').split(" tid=").next().unwrap_or_default();
        // A thread without frames has one that says so.
        let frames = frames.rsplit(';').filter(|frame| !frame.is_empty() && *frame != "[unknown]");
        profile.add(thread, frames, count, count as f64);
    }
    Ok(profile)
}

/// The samples of a flight recording, as the JDK's tool prints them.
pub(super) fn flight_recorder(file: &Path, truth: &Truth) -> Result<Profile, String> {
    let mut tool = jdk::compiler().tool("jfr");
    let events = "jdk.ExecutionSample,jdk.NativeMethodSample,jdk.CPUTimeSample";
    tool.args(["print", "--events", events, "--stack-depth", "64"]).arg(file);
    let mut child = tool.stdout(Stdio::piped()).spawn().map_err(|e| format!("{tool:?} does not start: {e}"))?;
    let out = child.stdout.take().ok_or("no output")?;
    let profile = printed(BufReader::new(out), truth);
    let status = child.wait().map_err(|e| e.to_string())?;
    if !status.success() {
        return Err(format!("{tool:?} ended with {status}"));
    }
    profile
}

fn printed(out: impl BufRead, truth: &Truth) -> Result<Profile, String> {
    let mut profile = Profile::new(truth);
    let (mut thread, mut frames, mut is_in_stack) = (String::new(), Vec::new(), false);
    for line in out.lines() {
        let line = line.map_err(|e| e.to_string())?;
        let words = line.trim();
        if let Some((_, name)) = words.split_once("hread = ") {
            thread = name.split('"').nth(1).unwrap_or_default().to_owned();
        } else if words == "stackTrace = [" {
            is_in_stack = true;
        } else if words == "]" {
            is_in_stack = false;
        } else if line == "}" {
            profile.add(&thread, frames.iter().map(String::as_str), 1, 1.0);
            (thread, frames) = (String::new(), Vec::new());
        } else if is_in_stack && words != "..." {
            frames.push(words.split('(').next().unwrap_or_default().to_owned());
        }
    }
    Ok(profile)
}

/// What a trace's samples add up to beside the clocks of its threads.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Conservation {
    /// Samples of the worker in terms of its clock.
    pub(super) worker: f64,
    /// Samples of all threads in terms of all clocks.
    pub(super) all: f64,
}

/// The samples of a trace.
pub(super) fn martini(file: &Path, truth: &Truth) -> Result<(Profile, Conservation), String> {
    let mut reader = TraceReader::open(file).map_err(|e| e.to_string())?;
    let mut names = Names::default();
    let mut profile = Profile::new(truth);
    let (mut sampled, mut clocks) = (HashMap::<ThreadId, u64>::new(), HashMap::<ThreadId, u64>::new());
    while let Some(event) = reader.next_event().map_err(|e| format!("{}: {e}", file.display()))? {
        let Event::Element { element, .. } = event else { continue };
        match &element {
            Element::CpuSample(sample) => {
                *sampled.entry(sample.thread).or_default() += sample.cpu.0;
                let frames = sample.stack.and_then(|stack| names.stacks.get(&stack)).map_or(&[][..], Vec::as_slice);
                let thread = names.threads.get(&sample.thread).map_or("", String::as_str);
                profile.add(thread, frames.iter().map(String::as_str), 1, sample.cpu.0 as f64);
            }
            Element::ThreadCpu(clock) => {
                clocks.insert(clock.thread, clock.cpu.0);
            }
            element => names.element(element),
        }
    }
    let is_worker = |thread: &ThreadId| names.threads.get(thread).is_some_and(|name| super::split::is_worker(name));
    let ratio = |is_wanted: &dyn Fn(&ThreadId) -> bool| {
        let sum = |of: &HashMap<ThreadId, u64>| of.iter().filter(|(t, _)| is_wanted(t)).map(|(_, n)| n).sum::<u64>();
        sum(&sampled) as f64 / sum(&clocks) as f64
    };
    Ok((profile, Conservation { worker: ratio(&is_worker), all: ratio(&|_| true) }))
}

#[derive(Default)]
struct Names {
    classes: HashMap<trace::ids::ClassId, String>,
    methods: HashMap<MethodId, String>,
    threads: HashMap<ThreadId, String>,
    stacks: HashMap<StackId, Vec<String>>,
}

impl Names {
    fn element(&mut self, element: &Element<'_>) {
        match element {
            Element::ThreadStart(start) => {
                self.threads.insert(start.thread_id, start.thread_name.to_string());
            }
            Element::ClassDef(class) => {
                self.classes.insert(class.class_id, class.name.replace('/', "."));
            }
            Element::MethodDef(method) => {
                let class = self.classes.get(&method.class).map_or("", String::as_str);
                self.methods.insert(method.method_id, format!("{class}.{}", method.name));
            }
            Element::StackDef(stack) => {
                let name = |method: &MethodId| self.methods.get(method).cloned().unwrap_or_default();
                let frames = stack.frames.0.iter().map(|frame| name(&frame.method)).collect();
                self.stacks.insert(stack.stack_id, frames);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn truth() -> Truth {
        Truth::of("part.split.A=6\npart.split.B=3\nworker=10\n").expect("the times")
    }

    #[test]
    fn collapsed_stacks_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("out");
        let text = "[worker tid=7];java/lang/Thread.run;split/A.run;java/lang/String.indexOf 3\n\
                    [worker tid=7];[unknown] 1\n[main tid=6];split/A.run 9\n";
        fs::write(&file, text).expect("a file");
        let profile = async_profiler(&file, &truth()).expect("stacks");
        assert_eq!(profile.shares(), [75.0, 0.0]);
        assert_eq!((profile.samples(), profile.lost()), (4, 25.0));
    }

    #[test]
    fn a_recording_is_read_as_it_is_printed() {
        let text = "jdk.ExecutionSample {\n  startTime = 00:34:16.704 (2026-11-25)\n  sampledThread = \"worker\" (javaThreadId = 24)\n  \
                    state = \"STATE_RUNNABLE\"\n  stackTrace = [\n    java.lang.String.indexOf(String, int)\n    \
                    split.B.run(int) line: 22\n    ...\n  ]\n}\n\n\
                    jdk.CPUTimeSample {\n  failed = true\n  eventThread = \"worker\" (javaThreadId = 24)\n}\n";
        let profile = printed(text.as_bytes(), &truth()).expect("samples");
        assert_eq!(profile.shares(), [0.0, 50.0]);
        assert_eq!((profile.samples(), profile.lost()), (2, 50.0));
    }
}
